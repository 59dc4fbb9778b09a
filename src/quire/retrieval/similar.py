"""What says nearly the same: most of the words of one text, and few others."""

from __future__ import annotations

import msgspec

from quire.index import Filter, Index, question_words
from quire.model import Record

_ALIKE = 0.6
"""The share of the words of both texts that both have."""
_LOOK = 20
_LEAST_WORDS = 4
_TELLING = 6

__all__ = ["Similar", "similar_to"]


class Similar(msgspec.Struct, frozen=True):
    """A record that says nearly the same, and how nearly, 0 to 1."""

    record: Record
    share: float


def similar_to(index: Index, text: str, allowed: Filter, limit: int = 3) -> list[Similar]:
    """Records with nearly these words, the nearest first."""
    searcher = index.searcher()
    words = question_words(text)
    stems = set(searcher.stems(text))
    if len(stems) < _LEAST_WORDS:
        return []
    # Whoever shares that many words will share one of the rarest, and those are cheap to look up.
    telling = searcher.rarest(words, min(int(len(words) * (1 - _ALIKE)) + 1, _TELLING))
    found = searcher.any_of(telling, allowed, _LOOK)
    records = index.by_ids([candidate.id for candidate in found])
    alike = []
    for record in records.values():
        others = set(searcher.stems(record.text))
        share = len(stems & others) / len(stems | others)
        if share >= _ALIKE:
            alike.append(Similar(record, round(share, 4)))
    return sorted(alike, key=lambda item: (-item.share, item.record.ref))[:limit]
