"""Events of a record that the memory itself logged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quire.layers.graph.store import GraphStore
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.upkeep.views.record_history import RecordChange

_CHARS = 200
_EVENTS = {
    "memory.created": "Created",
    "memory.updated": "Updated",
    "memory.marked_stale": "Marked stale",
    "memory.superseded": "Superseded",
    "memory.deleted": "Deleted",
}


def graph_events(store: GraphStore, refs: Iterable[str]) -> dict[str, list[RecordChange]]:
    """What the log says of these nodes; lines that a merge left twice count once."""
    wanted = set(refs)
    found: dict[str, dict[RecordChange, None]] = {}
    for _, _, event in store.events():
        if isinstance(event, Problem) or not isinstance(event.id, str) or event.id not in wanted:
            continue
        payload: dict[str, Any] = event.payload or {}
        entry = _event(
            event.timestamp,
            "Confirmed" if payload.get("confirmed") is True else _EVENTS.get(event.event, event.event),
            event.actor,
            ("by", payload.get("superseded_by")),
            ("reason", event.reason or None),
            ("changed", payload.get("fields")),
            ("task", payload.get("task")),
        )
        found.setdefault(event.id, {})[entry] = None
    return {ref: list(entries) for ref, entries in found.items()}


def _event(at: str, title: str, by: str, *about: tuple[str, Any]) -> RecordChange:
    said = []
    for name, value in about:
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
        if text:
            said.append(cut(f"{name}: {one_line(text)}", _CHARS))
    return RecordChange(at=at, how="event", title=title, by=one_line(by), changes=tuple(said))


def kept_dates(record: Record) -> list[RecordChange]:
    """What a record of another layer says of its own life."""
    found = _fact(record) if record.kind == "fact" else _dated(record)
    return [entry for entry in found if entry.at]


def _fact(record: Record) -> Iterator[RecordChange]:
    from quire.layers.facts.records import held_of

    fact = held_of(record).fact
    yield _event(fact.created_at, "Stored", fact.source, ("replaces", fact.supersedes))
    if fact.last_reinforced and fact.last_reinforced != fact.created_at:
        times = f"{fact.reinforcement_count} times in all"
        yield _event(fact.last_reinforced, "Confirmed", "", ("said", times), ("by", fact.evidence))
    if fact.superseded_at:
        yield _event(fact.superseded_at, "Superseded", "", ("reason", fact.reason))
    if fact.archived_at:
        yield _event(fact.archived_at, "Archived", "", ("reason", fact.reason), ("same as", fact.same_as))
    known = (fact.created_at, fact.last_reinforced, fact.superseded_at, fact.archived_at)
    if fact.updated_at and fact.updated_at not in known:
        yield _event(fact.updated_at, "Updated", "")


def _dated(record: Record) -> Iterator[RecordChange]:
    title = "Recorded" if record.layer != "journal" else "Happened" if record.kind == "event" else "Written"
    yield _event(record.created_at, title, record.origin)
    if record.updated_at != record.created_at:
        yield _event(record.updated_at, "Updated", "")
