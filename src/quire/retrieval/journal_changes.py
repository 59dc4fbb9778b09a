"""What changed: checkpoints and events, the latest first, within a topic and since a moment where one is named."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter
from quire.layers.journal.bundles import shown
from quire.layers.journal.canonical import decode_json
from quire.model.records import Record
from quire.retrieval.journal_evidence import age_key, is_tool_run
from quire.retrieval.journal_matching import Match, Matching, has_answer

_LOOK = 256
"""How many of the latest are held against a topic besides the best matches of all: those may be old ones."""


def latest_changes(
    index: Index, matching: Matching, scope: Filter, limit: int, *, since: datetime | None, everything: bool
) -> list[Match]:
    """The latest events and checkpoints that were asked for."""
    kinds = tuple(kind for kind in scope.kinds if kind != "bundle")
    if not kinds:
        return []
    allowed = msgspec.structs.replace(scope, kinds=kinds)
    if matching.wanted.stems:
        best = {match.evidence.record.ref: match for match in matching.best(allowed, everything)}
        records = {match.evidence.record.ref: match.evidence.record for match in best.values()}
        records |= {record.ref: record for record in _latest(index, allowed, _LOOK)}
        found = [_judged(matching, record, best.get(ref)) for ref, record in records.items()]
        found = [match for match in found if has_answer(match)]
    else:
        # Twice as many: what an event and its checkpoint both tell is told once.
        found = [_judged(matching, record, None) for record in _latest(index, allowed, 2 * limit)]
    if since is not None:
        found = [match for match in found if age_key(match.evidence.record)[0] >= since]
    found.sort(key=lambda match: age_key(match.evidence.record), reverse=True)
    return _told_once(found)[:limit]


def _judged(matching: Matching, record: Record, known: Match | None) -> Match:
    """What repeats the whole bundle changed only what its first line names."""
    evidence = matching.named(record)
    if record.kind == "checkpoint" or is_tool_run(record):
        return matching.judged(msgspec.structs.replace(evidence, lines=evidence.lines[:1]))
    return known or matching.judged(evidence)


def _latest(index: Index, allowed: Filter, number: int) -> list[Record]:
    """The latest of all. Of one moment that is the highest number, so a moment is never looked at in part."""
    size = number
    while True:
        records = index.page(allowed, limit=size)
        if len(records) < size or records[number - 1].created_at != records[-1].created_at or size > number << 10:
            return sorted(records, key=age_key, reverse=True)[:number]
        size *= 2


def _told_once(matches: Iterable[Match]) -> list[Match]:
    """Without the events whose checkpoints are there: both tell of one change."""
    listed = list(matches)
    events = {_event_of(match.evidence.record) for match in listed}
    return [match for match in listed if match.evidence.record.ref not in events]


def _event_of(record: Record) -> str:
    if record.kind != "checkpoint":
        return ""
    return f"event:{shown(decode_json(record.raw), 'eventId')}"
