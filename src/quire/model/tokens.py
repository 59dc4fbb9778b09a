"""The one token counter: an estimate that needs no download and never underestimates by much."""

from __future__ import annotations

__all__ = ["count_tokens"]


def count_tokens(text: str) -> int:
    """About four ASCII characters to a token; a character outside ASCII counts as one token in itself
    when it is wide (CJK, emoji) and as half a token otherwise."""
    if text.isascii():
        return -(-len(text) // 4)
    quarters = 0
    for char in text:
        quarters += 1 if char < "\u0080" else 2 if char < "\u1100" else 4
    return -(-quarters // 4)
