"""The one token counter: an estimate that needs no download."""

from __future__ import annotations

import re

_WIDE = re.compile(rb"[\xe0-\xff]")

__all__ = ["count_tokens"]


def count_tokens(text: str) -> int:
    """About four ASCII characters to a token, two of the other alphabets, one of what is wider (CJK, emoji)."""
    if text.isascii():
        return -(-len(text) // 4)
    data = text.encode("utf-8", "surrogatepass")
    return -(-(len(data) + len(_WIDE.findall(data))) // 4)
