"""Find records that say nearly the same as a text, or the opposite; or all such pairs of a memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter, Searcher
from quire.index.text_analysis import all_words, question_words
from quire.model.records import Record
from quire.model.vocabulary import LIVE_STATUSES, LayerName
from quire.retrieval.relevance import measure, sort_into_tiers
from quire.retrieval.statements import LEAST

if TYPE_CHECKING:
    from quire.retrieval.statements import Statement

_ALIKE = 0.6
"""The share of the words of both texts that both have."""
_MOST = 0.5
"""What holds half of the rarest words of another, by their rarity, may still be about something else."""
_LOOK = 60
_LEAST_WORDS = 4
_WORDS = 16
"""By so many of the first words of a text others are looked up; a long text says early what it is about."""
_NEAREST = 20
_RARE = 64
"""A word that more records hold says nothing."""
_COMPARED: tuple[LayerName, ...] = ("graph", "facts", "profile")
"""The journal says what happened: to say it twice, or otherwise the next day, is no fault."""
_HAPPENED = ("episode",)
"""Among the facts, these say what happened: two sessions may well be alike."""
_CLAIM_END = re.compile(r"(?<=[.!?])\s|,? (?:because|so that|weil|porque|parce que)\b|, since\b", re.I)
"""Where a text has said what it claims, and its reason or another sentence begins."""
_BY_TAGS = "related-to"
"""What the profile links by itself; any other link says that a person has looked at both."""


class Similar(msgspec.Struct, frozen=True):
    """A record that says nearly the same, and how nearly, 0 to 1."""

    record: Record
    share: float


class Alike(msgspec.Struct, frozen=True):
    """Two live records of a layer that say nearly the same, or the opposite; and how nearly, 0 to 1."""

    record: Record
    older: Record
    share: float
    is_opposite: bool


def similar_to(
    index: Index, text: str, allowed: Filter, limit: int = 3, said: Callable[[Record], str] = attrgetter("text")
) -> list[Similar]:
    """Records with nearly these words, the nearest first; `said` is what of a record is held against them."""
    searcher = index.searcher()
    stems = set(searcher.stems(text))
    if len(stems) < _LEAST_WORDS:
        return []
    alike = []
    words = all_words(text)
    # Whoever shares that many words will share some of the rarest, and those are cheap to look up.
    found = searcher.sharing(words, int(len(words) * (1 - _ALIKE)) + 2, min(2, len(words)))
    for record in _allowed(index, found, allowed, _LOOK):
        others = set(searcher.stems(said(record)))
        share = len(stems & others) / len(stems | others)
        if share >= _ALIKE:
            alike.append(Similar(record, round(share, 4)))
    return sorted(alike, key=lambda item: (-item.share, item.record.ref))[:limit]


def alike_to(index: Index, record: Record, limit: int = 3, beside: Iterable[Record] = ()) -> list[Alike]:
    """The live records of the same layer and kind that say nearly what this one says, or the opposite.

    `beside` are records that are not in the index yet.
    """
    if record.status not in LIVE_STATUSES or record.kind in _HAPPENED:
        return []
    allowed = Filter(layers=(record.layer,), kinds=(record.kind,), statuses=LIVE_STATUSES, scope=record.scope)
    near: dict[str, Record] = {}
    for text in _said(record):
        words = question_words(text, _WORDS)
        found_by = _near(index.holding(words, _RARE).values(), len(words))
        near |= {other.ref: other for other in _allowed(index, found_by, allowed, _NEAREST)}
    near |= {other.ref: other for other in beside if allowed.allows(other)}
    for ref in (record.ref, *_linked(index, record)):
        near.pop(ref, None)
    if not near:
        return []
    found = []
    searcher = index.searcher()
    said = _statements(record, searcher)
    for other in near.values():
        share, is_opposite = _compare(said, _statements(other, searcher))
        if share:
            found.append(Alike(record, other, round(share, 4), is_opposite))
    return _first(found)[:limit]


def answers_to(index: Index, record: Record) -> list[Record]:
    """The live records of any kind and layer that answer what this one claims, and hold most of its rarest words."""
    said = _said(record)[0]
    question = index.searcher().question(_CLAIM_END.split(said, maxsplit=1)[0])
    if len(question.rarest) < LEAST:
        question = index.searcher().question(said)
    if len(question.rarest) < LEAST:
        return []
    allowed = Filter(layers=_COMPARED, statuses=LIVE_STATUSES, scope=record.scope)
    measured = measure(index, question, allowed)
    sort_into_tiers(measured, question)
    numbers = [item.id for item in measured if item.tier == "answer" and item.coverage > _MOST]
    known = {record.ref, *_linked(index, record)}
    found = _allowed(index, numbers, allowed, _NEAREST)
    return [other for other in found if other.ref not in known and other.kind not in (*_HAPPENED, "project")]


def alike_pairs(index: Index) -> list[Alike]:
    """All similar or opposite pairs, each once. Only records that share a rare word are compared."""
    found = []
    searcher = index.searcher()
    for layer in _COMPARED:
        records = [record for record in index.records(layer, statuses=LIVE_STATUSES) if record.kind not in _HAPPENED]
        said = [_statements(record, searcher) for record in records]
        rare = _rare_words(said)
        holding: dict[tuple[int, str, str], dict[str, list[int]]] = {}
        for number, record in enumerate(records):
            near: set[int] = set()
            for part, one in enumerate(said[number]):
                known = holding.setdefault((part, record.kind, record.scope), {})
                held = [known.setdefault(word, []) for word in one.words & rare[part]]
                near.update(_near(held, len(one.words)))
                for before in held:
                    before.append(number)
            pairs = [(records[other], *_compare(said[number], said[other])) for other in sorted(near)]
            linked = _linked(index, record) if any(share for _, share, _ in pairs) else set()
            for other_record, share, is_opposite in pairs:
                if share and other_record.ref not in linked:
                    older, newer = sorted((record, other_record), key=lambda item: (item.created_at, item.ref))
                    found.append(Alike(newer, older, round(share, 4), is_opposite))
    return _first(found)


def _rare_words(said: Sequence[Sequence[Statement]]) -> list[set[str]]:
    """For each part of what is said, the words that several records hold, but not so many that it says nothing."""
    holders: list[Counter[str]] = []
    for several in said:
        while len(holders) < len(several):
            holders.append(Counter())
        for held, one in zip(holders, several, strict=False):
            held.update(one.words)
    return [{word for word, count in held.items() if 1 < count <= _RARE} for held in holders]


def _near(holding: Iterable[list[int]], words: int) -> list[int]:
    """Who may be alike, the nearest first: all but a few of the words are in both, also of the rarest half."""
    rarest = sorted(holding, key=len)[: words // 2 + 1]
    least = max(2, len(rarest) - words // 3 - 1)
    if len(rarest) < least:
        return []
    shared = Counter(chain.from_iterable(rarest))
    near = [(number, count) for number, count in shared.items() if count >= least]
    return [number for number, _ in sorted(near, key=lambda item: -item[1])]


def _first(found: Iterable[Alike]) -> list[Alike]:
    return sorted(found, key=lambda item: (not item.is_opposite, -item.share, item.older.ref, item.record.ref))


def _said(record: Record) -> tuple[str, ...]:
    """What a record says, part by part: a title is held against titles."""
    if record.layer == "graph":
        return record.title, record.text
    if record.layer == "profile":
        from quire.layers.profile.records import entry_of

        return (entry_of(record).value,)
    return (record.text,)


def _statements(record: Record, searcher: Searcher) -> list[Statement]:
    from quire.retrieval.statements import read_statement

    return [read_statement(text, searcher.stems) for text in _said(record)]


def _compare(one: Sequence[Statement], other: Sequence[Statement]) -> tuple[float, bool]:
    """The part in which two records are most alike; an opposite counts before the same."""
    from quire.retrieval.statements import likeness

    return max(map(likeness, one, other), key=lambda item: (item[1], item[0]))


def _linked(index: Index, record: Record) -> set[str]:
    edges = index.edges_of(record.ref)
    return {end for edge in edges if edge.predicate != _BY_TAGS for end in (edge.source, edge.target)}


def _allowed(index: Index, found: list[int], allowed: Filter, look: int) -> list[Record]:
    """Of these the first that may answer, as many as are worth a closer look."""
    records: list[Record] = []
    for at in range(0, len(found), look):
        several = index.by_ids(found[at : at + look])
        # One that is missing was replaced meanwhile, by whoever else writes to the index.
        there = [several[number] for number in found[at : at + look] if number in several]
        records += [record for record in there if allowed.allows(record)]
        if len(records) >= look:
            break
    return records
