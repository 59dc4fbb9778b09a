"""Compare texts of the journal: normal form, topics, share of common words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.layers.journal.collation import collation_key

_NOT_WORDS = re.compile(r"[\W_]+")
_MARK = re.compile(r"\s*(NEXT|DONE)\s*[:：]\s*", re.IGNORECASE)
_COLON = re.compile(r"[:：]")
_BREAKS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")
_HALVES = re.compile(r"[\ud800-\udfff]")

NEXT = "NEXT"
DONE = "DONE"
ALIKE = 0.8
"""From which share of common words on two texts say the same."""


def normal_text(text: str) -> str:
    """Lower case, and one space for all that is neither letter nor digit."""
    return _NOT_WORDS.sub(" ", text.lower()).strip()


def unmarked(hint: str) -> str:
    """A hint without the `NEXT:` or `DONE:` that it may begin with."""
    return _MARK.sub("", hint, count=1) if _MARK.match(hint) else hint


def mark_of(hint: str) -> str:
    """`NEXT`, `DONE`, or nothing."""
    found = _MARK.match(hint)
    return found[1].upper() if found else ""


def shown_topic(text: str) -> str:
    """What stands before the first colon, ASCII or full-width; the whole text where nothing does."""
    return _COLON.split(text, maxsplit=1)[0].strip() or text.strip()


def topic_of(text: str) -> str:
    return normal_text(shown_topic(text))


def words_of(normal: str) -> frozenset[str]:
    """The words that count: single letters do not, single digits do."""
    return frozenset(word for word in normal.split() if len(word) > 1 or word.isnumeric())


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of common words in the longer of the two; none where one has no words."""
    if not first or not second:
        return 0.0
    return len(first & second) / max(len(first), len(second))


def are_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two texts are one said twice. Texts with other numbers never are: step 1 is not step 2."""
    if overlap(first, second) < ALIKE:
        return False
    return not any(char.isnumeric() for word in first ^ second for char in word)


def longer(first: str, second: str) -> str:
    """The longer of two texts; of equally long ones the first in the order of names."""
    sizes = _size(first), _size(second)
    if sizes[0] != sizes[1]:
        return first if sizes[0] > sizes[1] else second
    return first if collation_key(first) <= collation_key(second) else second


def flat(text: str) -> str:
    """On one line, and without half characters, which no file can hold."""
    text = _BREAKS.sub(" ", text)
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def _size(text: str) -> int:
    """The length as JavaScript counts it."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def unique(texts: Iterable[str]) -> list[str]:
    """Each once, in the order of its first appearance; what says nothing is left out."""
    return list(dict.fromkeys(text for text in texts if text.strip()))
