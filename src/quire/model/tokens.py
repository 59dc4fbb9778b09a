"""The one token counter: an estimate that needs no table and no download.

It counts what a byte-pair encoding would mostly keep together: up to nine letters, three digits, three marks, a line
break with its indentation; a wide character by itself. How far it is from real encodings on each kind of text is
measured by `benchmarks/tokens.py` and stated in the documentation.
"""

from __future__ import annotations

import re

_TOGETHER = re.compile(r"[A-Za-z]{1,9}|[0-9]{1,3}|_+|[^\w\s]{1,3}|\n\s*")
_WIDE = re.compile(r"[\u2e80-\U0010ffff]")
_NARROW = re.compile(r"[^\W\x00-\x7f\u2e80-\U0010ffff]")

__all__ = ["count_tokens"]


def count_tokens(text: str) -> int:
    """About how many tokens a text costs; rather too many than too few."""
    count = len(_TOGETHER.findall(text))
    if text.isascii():
        return count
    return count + len(_WIDE.findall(text)) + -(-len(_NARROW.findall(text)) * 3 // 5)
