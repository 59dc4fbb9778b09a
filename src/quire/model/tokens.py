"""Estimate tokens without a table or a download.

It counts what a byte-pair encoding would mostly keep together: up to nine letters, three digits, three marks, a line
break with its indentation; a wide character by itself. How far it is from real encodings on each kind of text is
measured by `benchmarks/tokens.py` and stated in the documentation.
"""

from __future__ import annotations

import re

_TOGETHER = re.compile(r"[A-Za-z]{1,9}|[0-9]{1,3}|_+|[^\w\s]{1,3}|\n\s*")
_OTHER = re.compile(r"[^\x00-\x7f]")


def count_tokens(text: str) -> int:
    """About how many tokens a text costs."""
    count = len(_TOGETHER.findall(text))
    if text.isascii():
        return count
    # Compiling a pattern for "letters of other alphabets" takes longer than most commands run.
    others: list[str] = _OTHER.findall(text)
    wide = sum(char >= "\u2e80" for char in others)
    narrow = sum(char < "\u2e80" and char.isalnum() for char in others)
    return count + wide + -(-narrow * 3 // 5)
