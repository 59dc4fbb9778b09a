"""What says nearly the same: most of the words of one text, and few others."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from quire.index import Filter, Index, all_words
from quire.model import Record

_ALIKE = 0.6
"""The share of the words of both texts that both have."""
_LOOK = 60
_LEAST_WORDS = 4

__all__ = ["Similar", "similar_to"]


def _text(record: Record) -> str:
    return record.text


class Similar(msgspec.Struct, frozen=True):
    """A record that says nearly the same, and how nearly, 0 to 1."""

    record: Record
    share: float


def similar_to(
    index: Index, text: str, allowed: Filter, limit: int = 3, said: Callable[[Record], str] = _text
) -> list[Similar]:
    """Records with nearly these words, the nearest first; `said` is what of a record is held against them."""
    searcher = index.searcher()
    words = all_words(text)
    stems = set(searcher.stems(text))
    if len(stems) < _LEAST_WORDS:
        return []
    # Whoever shares that many words will share some of the rarest, and those are cheap to look up.
    rarest = int(len(words) * (1 - _ALIKE)) + 2
    found = searcher.sharing(words, rarest, min(2, len(words)))
    alike = []
    for record in _allowed(index, found, allowed):
        others = set(searcher.stems(said(record)))
        share = len(stems & others) / len(stems | others)
        if share >= _ALIKE:
            alike.append(Similar(record, round(share, 4)))
    return sorted(alike, key=lambda item: (-item.share, item.record.ref))[:limit]


def _allowed(index: Index, found: list[int], allowed: Filter) -> list[Record]:
    """Of these the first that may answer, as many as are worth a closer look."""
    records: list[Record] = []
    for at in range(0, len(found), _LOOK):
        several = index.by_ids(found[at : at + _LOOK])
        # One that is missing was replaced meanwhile, by whoever else writes to the index.
        there = [several[number] for number in found[at : at + _LOOK] if number in several]
        records += [record for record in there if allowed.allows(record)]
        if len(records) >= _LOOK:
            break
    return records
