"""Assemble the start page: recent changes, records to review, current work, pending proposals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from quire.files.git import Git
from quire.files.git_history import describe_known
from quire.inbox.proposals import Proposal
from quire.layers.facts.notes import QuickNote
from quire.layers.facts.records import episode_of_record
from quire.layers.journal.layout import IMPORTED_SESSION
from quire.layers.record_parts import item_number
from quire.model.records import Problem, Record
from quire.model.text import cut
from quire.model.times import EPOCH, instant
from quire.model.verdicts import Verdict
from quire.upkeep.views.items import RecordItem, is_current, item_of, items_of
from quire.upkeep.views.record_list import newest_first

CHANGED = 200
LISTED = 100
WAITING = 20
_TEXT_CHARS = 4_000
_VALUE_CHARS = 2_000
_PARTS = 40
_COMMITS = 20_000
"""So many fit into one command line."""
_WORST_FIRST = ("orphaned", "moved", "changed")
_FOCUS, _STEPS = "current-focus", "next-steps"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a record: created, updated, closed (a question), retired, or drifted from the code."""

    item: RecordItem
    how: str
    at: str


class NamedValue(msgspec.Struct, frozen=True):
    name: str
    value: str


class ShownEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal rests on."""

    quote: str
    by: str
    where: str
    at: str


class ShownProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A record that may be made."""

    id: str
    into: str
    kind: str
    text: str
    origin: str
    source: str
    by: str
    proposed_at: str
    evidence: tuple[ShownEvidence, ...]
    fields: tuple[NamedValue, ...]
    standing: str
    said: str
    updates: str


class PendingGroup(msgspec.Struct, frozen=True, kw_only=True):
    """How much is pending of one source and kind."""

    source: str
    kind: str
    count: int


class InboxPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the pending proposals by source and kind, the oldest source first, and how many there are in all."""

    pending: int
    offset: int
    items: tuple[ShownProposal, ...]
    groups: tuple[PendingGroup, ...]


class Today(msgspec.Struct, frozen=True, kw_only=True):
    """A project as someone finds it who was away for a while."""

    since: str
    until: str
    changed: tuple[Change, ...]
    changed_total: int
    digest: dict[str, int]
    attention: tuple[RecordItem, ...]
    attention_total: int
    focus: tuple[RecordItem, ...]
    next_steps: tuple[RecordItem, ...]
    pins: tuple[RecordItem, ...]
    notes: tuple[QuickNote, ...]
    building: tuple[RecordItem, ...]
    questions: tuple[RecordItem, ...]
    inbox: InboxPage
    problems: tuple[Problem, ...]


class _Happened(msgspec.Struct, frozen=True):
    record: Record
    how: str
    at: str
    moment: datetime


def today_of(
    records: Sequence[Record],
    verdicts: dict[str, Verdict],
    git: Git,
    *,
    since: datetime,
    times: tuple[str, str],
    pins: Iterable[Record],
    notes: Sequence[QuickNote],
    inbox: InboxPage,
    problems: Sequence[Problem],
) -> Today:
    """`times` are since when and until when, as text; what is kept elsewhere than in records is handed in."""
    happened = [*_recorded(_told_once(records), since), *_drifted(records, verdicts, git, since)]
    happened.sort(key=lambda item: (-item.moment.timestamp(), item.record.ref, item.how))
    attention = _attention(records, verdicts)
    bundle = [record for record in records if record.layer == "journal" and record.kind == "bundle"]

    def listed(found: Iterable[Record]) -> tuple[RecordItem, ...]:
        return items_of(list(found)[:LISTED], verdicts)

    def graph(fits: Callable[[Record], bool]) -> tuple[RecordItem, ...]:
        return listed(newest_first(record for record in records if record.layer == "graph" and fits(record)))

    return Today(
        since=times[0],
        until=times[1],
        changed=tuple(
            Change(item=item_of(item.record, verdicts.get(item.record.ref)), how=item.how, at=item.at)
            for item in happened[:CHANGED]
        ),
        changed_total=len(happened),
        digest=_digest(happened),
        attention=listed(attention),
        attention_total=len(attention),
        focus=listed(record for record in bundle if record.section == _FOCUS and record.text.strip()),
        next_steps=listed(sorted((record for record in bundle if record.section == _STEPS), key=_place)),
        pins=listed(pins),
        notes=tuple(notes[:LISTED]),
        building=graph(lambda record: record.kind == "feature" and record.stage == "building" and is_current(record)),
        questions=graph(lambda record: record.kind == "question" and record.status == "open"),
        inbox=inbox,
        problems=tuple(problems[:LISTED]),
    )


# -- what changed -------------------------------------------------------------------------------


def _recorded(records: Iterable[Record], since: datetime) -> Iterable[_Happened]:
    """What someone told, changed or retired."""
    for record in records:
        if not _is_news(record):
            continue
        created, updated = instant(record.created_at), instant(record.updated_at)
        if created is not None and created >= since:
            yield _Happened(record, "created", record.created_at, created)
        elif updated is not None and updated >= since:
            yield _Happened(record, _became(record), record.updated_at, updated)


def _became(record: Record) -> str:
    if is_current(record):
        return "updated"
    return "closed" if record.status == "closed" else "retired"


def _told_once(records: Sequence[Record]) -> Iterable[Record]:
    """Of a session that is both imported into the journal and kept as an episode, the episode."""
    episodes = (record for record in records if (record.layer, record.kind) == ("facts", "episode"))
    kept = [f'"{session}"'.encode() for record in episodes if (session := episode_of_record(record).session_id)]
    for record in records:
        if record.section != IMPORTED_SESSION or not any(session in record.raw for session in kept):
            yield record


def _is_news(record: Record) -> bool:
    """Not the project itself; of the journal the sessions alone: it writes all else anew with every change."""
    if record.layer == "journal":
        return record.section == IMPORTED_SESSION
    return record.kind != "project"


def _drifted(records: Iterable[Record], verdicts: dict[str, Verdict], git: Git, since: datetime) -> Iterable[_Happened]:
    """What became out of date, by the commit that did it; what is not committed has no time."""
    causes = {
        ref: [anchor.commit for anchor in verdict.anchors if anchor.commit]
        for ref, verdict in verdicts.items()
        if verdict.needs_a_look
    }
    named = list(dict.fromkeys(commit for found in causes.values() for commit in found))
    commits = describe_known(git, named[:_COMMITS])
    for record in records:
        dates = [commits[name].date for name in causes.get(record.ref, ()) if name in commits]
        moments = [(moment, date) for date in dates if (moment := instant(date)) is not None]
        if record.layer == "graph" and moments and (newest := max(moments))[0] >= since:
            yield _Happened(record, "drifted", newest[1], newest[0])


def _digest(happened: Iterable[_Happened]) -> dict[str, int]:
    counts = Counter(dict.fromkeys(("created", "updated", "closed", "retired", "drifted"), 0))
    counts.update({"decisions": 0, "questions_opened": 0})
    for item in happened:
        counts[item.how] += 1
        if item.record.layer == "graph" and item.how == "created":
            counts["decisions"] += item.record.kind == "decision"
            counts["questions_opened"] += item.record.kind == "question"
    return dict(counts)


# -- what needs a look, and what is worked on ---------------------------------------------------


def _attention(records: Iterable[Record], verdicts: dict[str, Verdict]) -> list[Record]:
    """The worst first; of equals, what nobody touched for longest."""
    doubted = [record for record in records if record.ref in verdicts and verdicts[record.ref].verdict in _WORST_FIRST]
    return sorted(
        doubted,
        key=lambda record: (
            _WORST_FIRST.index(verdicts[record.ref].verdict),
            (instant(record.updated_at) or EPOCH).timestamp(),
            record.ref,
        ),
    )


def _place(record: Record) -> tuple[int, str]:
    """Where one of the bundle's steps stands: their order means something."""
    return item_number(record.raw), record.ref


# -- what waits ---------------------------------------------------------------------------------


def inbox_page(pending: Sequence[Sequence[Proposal]], offset: int, limit: int, source: str = "") -> InboxPage:
    """Some of the pending proposals, of one source and kind together; of one source alone where it is named."""
    ordered = [item for group in pending for item in group if source in ("", item.source)]
    groups = (PendingGroup(source=group[0].source, kind=group[0].kind, count=len(group)) for group in pending)
    return InboxPage(
        pending=sum(map(len, pending)),
        offset=offset,
        items=tuple(_proposal(item) for item in ordered[offset : offset + limit]),
        groups=tuple(groups),
    )


def _proposal(item: Proposal) -> ShownProposal:
    values = ((name, _value(held)) for name, held in item.fields.items())
    return ShownProposal(
        id=item.id,
        into=item.into,
        kind=item.kind,
        text=cut(item.text, _TEXT_CHARS),
        origin=item.origin,
        source=item.source,
        by=item.by,
        proposed_at=item.proposed_at,
        evidence=tuple(
            ShownEvidence(quote=cut(found.quote, _VALUE_CHARS), by=found.by, where=found.where, at=found.at)
            for found in item.evidence[:_PARTS]
        ),
        fields=tuple(NamedValue(name, value) for name, value in values if value)[:_PARTS],
        standing=item.standing,
        said=cut(item.said, _VALUE_CHARS),
        updates=item.updates,
    )


def _value(held: Any) -> str:
    """A value in one text; of a list the parts one after another."""
    if isinstance(held, list):
        return cut(", ".join(filter(None, map(_value, held))), _VALUE_CHARS)
    if held is None:
        return ""
    text = held if isinstance(held, str) else msgspec.json.encode(held).decode()
    return cut(text, _VALUE_CHARS)
