"""Choose the valid line among several for one id, independent of their order.

The highest version wins. The winner is completed with what poorer lines know and it does not say; a line that says
something else is kept as history. Completing only ever raises a line in the order below, so doing it twice is the same
as doing it once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Generic

import msgspec

from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import ACTIVE, OTHER_RANK, REPLACES, STATUS_RANK
from quire.layers.facts.lines import defaults_of, encode_record
from quire.layers.facts.records import fact_ref
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored, StoredT, name_of
from quire.model.times import instant

# What a record is about. Where two lines differ in this, one is an edit of the other, never a poorer copy.
_ESSENCE: dict[type[Stored], tuple[str, ...]] = {
    Fact: ("content", "section", "mind"),
    Connection: ("source_id", "target_id", "relation"),
    Episode: ("narrative", "title", "date", "mind"),
    Mind: (),
}
# Taken together or not at all: a count without its time would be a confirmation that nobody gave.
_SCORE = ("last_reinforced", "reinforcement_count", "evidence", "confidence", "decay_rate")
# These belong to the status beside them.
_OF_STATUS = ("superseded_at", "archived_at", "reason", "same_as")
# They say how a line came about, or how it is counted; losing them loses no knowledge.
_PASSING = {"version", "content_hash", "updated_at", "last_accessed", *_SCORE}


class FactConflict(msgspec.Struct, Generic[StoredT], frozen=True):
    """Lines about one thing that say different things."""

    winner: StoredT
    losers: tuple[StoredT, ...]

    @property
    def is_tie(self) -> bool:
        """Whether two wrote at the same time; else the others are only older."""
        return any(loser.version == self.winner.version for loser in self.losers)


def settle(records: Iterable[StoredT]) -> tuple[dict[str, StoredT], dict[str, FactConflict[StoredT]]]:
    """The winner for every id, and the losers that say something else."""
    winners: dict[str, StoredT] = {}
    several: dict[str, list[StoredT]] = {}
    for record in records:
        name = name_of(record)
        first = winners.setdefault(name, record)
        if first is not record:
            several.setdefault(name, [first]).append(record)
    conflicts = {}
    for name, group in several.items():
        conflict = _contest(group)
        winners[name] = conflict.winner
        if conflict.losers:
            conflicts[name] = conflict
    return winners, conflicts


def by_time(text: str | None) -> tuple[int, float, str]:
    """Times in their order: none, then what names no time, then instants."""
    if not text:
        return (0, 0.0, "")
    moment = instant(text)
    return (1, 0.0, text) if moment is None else (2, moment.timestamp(), text)


def _contest(group: list[StoredT]) -> FactConflict[StoredT]:
    texts = {encode_record(record): record for record in group}
    if len(texts) == 1:
        return FactConflict(next(iter(texts.values())), ())
    names = sorted({name for record in group for name in record.extra})
    ordered = sorted(texts.items(), key=lambda item: _rank(item[1], names, item[0]), reverse=True)
    losers = [record for _, record in ordered]
    whole = _completed(losers.pop(0), losers)
    return FactConflict(whole, tuple(loser for loser in losers if not _covers(whole, loser)))


def _rank(record: Stored, names: list[str], text: bytes) -> tuple[Any, ...]:
    status = getattr(record, "status", ACTIVE)
    kind = type(record)
    return (
        record.version,
        STATUS_RANK.get(status, OTHER_RANK),
        status,
        by_time(record.updated_at),
        by_time(getattr(record, "last_reinforced", None)),
        *(getattr(record, name) for name in _ESSENCE[kind]),
        *(_said(record, name, default) for name, default in _optional(kind)),
        *((1, msgspec.json.encode(record.extra[name])) if name in record.extra else (0, b"") for name in names),
        text,
    )


def _said(record: Stored, name: str, default: Any) -> tuple[Any, ...]:
    value = getattr(record, name)
    return (0,) if value == default else (1, value)


def _completed(winner: StoredT, losers: list[StoredT]) -> StoredT:
    """The winner with what only others say."""
    kind = type(winner)
    changes: dict[str, Any] = {}
    for name, default in _optional(kind):
        if name in _PASSING and name != "last_accessed":
            continue
        if name in winner.extra or getattr(winner, name) != default:
            continue
        for loser in losers:
            value = getattr(loser, name)
            if value != default and (name not in _OF_STATUS or _is_put_away_alike(winner, loser)):
                changes[name] = value
                break
    changes |= _score(winner, losers)
    known = kind.__struct_fields__
    extra = dict(winner.extra)
    for loser in losers:
        for name in sorted(loser.extra):
            if name not in extra and name not in known:
                extra[name] = loser.extra[name]
    if len(extra) > len(winner.extra):
        changes["extra"] = extra
    return msgspec.structs.replace(winner, **changes) if changes else winner


def _is_put_away_alike(winner: Stored, loser: Stored) -> bool:
    """Whether what one says of its status can be said of the other: they say the same thing in the same state."""
    same = all(getattr(winner, name) == getattr(loser, name) for name in _ESSENCE[type(winner)])
    return same and _status(loser) == _status(winner)


def _score(winner: Stored, losers: list[StoredT]) -> dict[str, Any]:
    if not isinstance(winner, Fact | Connection):
        return {}
    defaults = dict(_optional(type(winner)))
    if any(name in winner.extra or getattr(winner, name) != defaults[name] for name in _SCORE):
        return {}
    for loser in losers:
        if isinstance(loser, Fact | Connection) and loser.last_reinforced:
            return {name: getattr(loser, name) for name in _SCORE}
    return {}


def _covers(winner: Stored, loser: Stored) -> bool:
    """Whether the winner says all that the loser says; then nothing is lost with it."""
    if any(getattr(winner, name) != getattr(loser, name) for name in _ESSENCE[type(winner)]):
        return False
    if _status(loser) not in (ACTIVE, _status(winner)):
        return False
    for name, default in _optional(type(winner)):
        value = getattr(loser, name)
        if name not in _PASSING and value != default and value != getattr(winner, name):
            return False
    return all(
        name in _PASSING
        or (name in winner.extra and msgspec.json.encode(winner.extra[name]) == msgspec.json.encode(value))
        for name, value in loser.extra.items()
    )


def _status(record: Stored) -> str:
    return getattr(record, "status", ACTIVE)


@cache
def _optional(kind: type[Stored]) -> list[tuple[str, Any]]:
    """The fields that a line may leave out, with what that means."""
    own = {"id", "name", "status", "version", "updated_at", "content_hash", *_ESSENCE[kind]}
    return [(name, default) for name, default in defaults_of(kind) if name not in own]


def replacements_of(draft: FactsDraft, fact_id: str) -> list[Fact]:
    """The live facts that stand for one that was put away."""
    found: dict[str, Fact] = {}
    seen = {fact_ref(fact_id)}
    waiting = [fact_ref(fact_id)]
    while waiting:
        ref = waiting.pop()
        for edge in draft.edges_of(ref):
            if edge.predicate != REPLACES or edge.target != ref or edge.status != "active" or edge.source in seen:
                continue
            seen.add(edge.source)
            held = draft.fact(edge.source)
            if held is not None and held.fact.is_active:
                found[held.fact.id] = held.fact
            elif held is not None:
                waiting.append(edge.source)
    return list(found.values())
