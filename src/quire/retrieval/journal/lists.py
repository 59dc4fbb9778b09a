"""Collect the journal's lists: next steps, known traps, and the latest changes.

Steps and traps come from the bundle first, then from sessions where the bundle does not have them. A step that a later
session marked as done is left out. The events of our own runs repeat the bundle as it was; where only the history is
asked, the latest of them stands for the bundle. Changes are checkpoints and events, the latest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from quire.index.catalog import Index
from quire.index.search import Filter
from quire.layers.journal.bundles import shown
from quire.layers.journal.canonical import decode_json
from quire.layers.journal.text_match import mark_of, topic_of, unmarked
from quire.model.records import Record
from quire.retrieval.journal.evidence import JournalEvidence, actions_of, age_key, evidence_of, is_tool_run
from quire.retrieval.journal.matches import JournalMatch, JournalMatcher, has_answer

_SCANNED = 3_000
"""How many events are looked through for marks, the latest first."""
_LATEST = 256
"""How many of the latest records are compared with a topic besides its best matches, which may be old."""
_LITTLE = frozenset(("a", "an", "and", "the", "of", "in", "on", "to", "for", "with", "our", "all"))
"""Words that make no other step."""
_DONE = "DONE"
_STEP, _GOTCHA, _RISK = "Step: ", "Gotcha: ", "Risk: "


class _Marks:
    """Which steps were last called done, and where. Fed from the latest event on."""

    def __init__(self) -> None:
        self._heard: set[str] = set()
        self._done: dict[frozenset[str], Record] = {}

    def take(self, hint: str, record: Record) -> str:
        """The topic of a hint that is open; empty where it is done, or was heard of already."""
        topic, mark = topic_of(unmarked(hint)), mark_of(hint)
        if not topic or topic in self._heard or self.done(topic) is not None:
            return ""
        if mark == _DONE:
            self._done[_form(topic)] = record
            return ""
        self._heard.add(topic)
        return topic

    def done(self, topic: str) -> Record | None:
        """The event whose mark is the last word on this step, where that is that it is done."""
        if topic in self._heard:
            return None
        return self._done.get(_form(topic))


def step_evidence(index: Index, scope: Filter, matching: Iterable[Record] = ()) -> list[JournalEvidence]:
    """Steps of the bundle in their order, suggested actions, and open hints of sessions, the latest first."""
    events = _events(index, scope, matching)
    marks, hints = _Marks(), list[JournalEvidence]()
    for record in events:
        texts = _said(record, _STEP)
        # Within one session, what is said last holds.
        opened = [hint for hint in reversed(texts) if marks.take(hint, record)]
        if opened:
            hints.append(msgspec.structs.replace(evidence_of(record), lines=tuple(map(unmarked, reversed(opened)))))
    steps, late, topics = [], [], set()
    for evidence in _bundle(index, scope, "next-steps"):
        topic = topic_of(evidence.summary)
        topics.add(topic)
        done = marks.done(topic)
        if done is None:
            steps.append(evidence)
        elif age_key(done)[0] <= age_key(evidence.record)[0]:
            # The bundle was written later and names the step again: whoever reads it must know both.
            note = f"marked as done in {done.ref.partition(':')[2]}"
            late.append(msgspec.structs.replace(evidence, note=note))
    actions = [item for focus in _bundle(index, scope, "current-focus") for item in actions_of(focus)]
    return [*steps, *actions, *_unheard(hints, topics), *late]


def trap_evidence(index: Index, scope: Filter, matching: Iterable[Record] = ()) -> list[JournalEvidence]:
    """Gotchas of the bundle in their order, those of sessions, the latest first, and the risks of the current focus."""
    gotchas = _bundle(index, scope, "gotchas")
    told = [
        msgspec.structs.replace(evidence_of(record), lines=tuple(texts))
        for record in _events(index, scope, matching)
        if (texts := _said(record, _GOTCHA))
    ]
    focus = [
        msgspec.structs.replace(found, lines=risks)
        for found in _bundle(index, scope, "current-focus")
        if (risks := tuple(line.removeprefix(_RISK) for line in found.lines if line.startswith(_RISK)))
    ]
    return [*gotchas, *_unheard(told, {topic_of(item.summary) for item in gotchas}), *focus]


def _unheard(found: Iterable[JournalEvidence], topics: set[str]) -> Iterator[JournalEvidence]:
    """Only what nobody said before."""
    for evidence in found:
        new = [line for line in evidence.lines if topic_of(line) not in topics]
        topics.update(map(topic_of, new))
        if new:
            yield msgspec.structs.replace(evidence, lines=tuple(new))


def _events(index: Index, scope: Filter, matching: Iterable[Record]) -> list[Record]:
    """The events that say something of their own, the latest first: the latest of all, and any that match."""
    if "event" not in scope.kinds:
        return []
    allowed = msgspec.structs.replace(scope, kinds=("event",))
    records = {record.ref: record for record in matching if record.kind == "event"}
    records |= {record.ref: record for record in index.page(allowed, limit=_SCANNED)}
    found = sorted(records.values(), key=age_key, reverse=True)
    runs = [record for record in found if is_tool_run(record)][: 0 if "bundle" in scope.kinds else 1]
    return [record for record in found if not is_tool_run(record) or record in runs]


def _bundle(index: Index, scope: Filter, section: str) -> list[JournalEvidence]:
    if "bundle" not in scope.kinds:
        return []
    allowed = msgspec.structs.replace(scope, kinds=("bundle",), sections=(section,))
    return sorted(map(evidence_of, index.page(allowed)), key=lambda item: (len(item.source_id), item.source_id))


def _said(record: Record, label: str) -> list[str]:
    return [line.removeprefix(label) for line in record.text.split("\n")[1:] if line.startswith(label)]


def _form(topic: str) -> frozenset[str]:
    """What a topic has in common with the same in nearly the same words."""
    words = frozenset(topic.split())
    return words - _LITTLE or words


def latest_changes(
    index: Index, matching: JournalMatcher, scope: Filter, limit: int, *, since: datetime | None, everything: bool
) -> list[JournalMatch]:
    """The latest events and checkpoints that were asked for."""
    kinds = tuple(kind for kind in scope.kinds if kind != "bundle")
    if not kinds:
        return []
    allowed = msgspec.structs.replace(scope, kinds=kinds)
    if matching.wanted.stems:
        best = {match.evidence.record.ref: match for match in matching.best(allowed, everything)}
        records = {match.evidence.record.ref: match.evidence.record for match in best.values()}
        records |= {record.ref: record for record in _latest(index, allowed, _LATEST)}
        found = [_judged(matching, record, best.get(ref)) for ref, record in records.items()]
        found = [match for match in found if has_answer(match)]
    else:
        # Twice as many: what an event and its checkpoint both tell is reported once.
        found = [_judged(matching, record, None) for record in _latest(index, allowed, 2 * limit)]
    if since is not None:
        found = [match for match in found if age_key(match.evidence.record)[0] >= since]
    found.sort(key=lambda match: age_key(match.evidence.record), reverse=True)
    return _told_once(found)[:limit]


def _judged(matching: JournalMatcher, record: Record, known: JournalMatch | None) -> JournalMatch:
    """What repeats the whole bundle changed only what its first line names."""
    evidence = evidence_of(record)
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


def _told_once(matches: Iterable[JournalMatch]) -> list[JournalMatch]:
    """Without the events whose checkpoints are there: both tell of one change."""
    listed = list(matches)
    events = {_event_of(match.evidence.record) for match in listed}
    return [match for match in listed if match.evidence.record.ref not in events]


def _event_of(record: Record) -> str:
    if record.kind != "checkpoint":
        return ""
    return f"event:{shown(decode_json(record.raw), 'eventId')}"
