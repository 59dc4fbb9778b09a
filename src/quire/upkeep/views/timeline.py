"""Assemble the timeline: sessions, what became of decisions and other records, commits; each thing once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from quire.files.git import Git
from quire.files.git_history import newest_commits, or_else
from quire.index.catalog import Index
from quire.layers.facts.records import episode_of_record, held_of
from quire.layers.graph.store import GraphStore
from quire.layers.journal.layout import IMPORTED_SESSION
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.model.times import EPOCH, instant, timestamp
from quire.model.vocabulary import LayerName

_COMMITS = 20_000
_DAYS = 4_000
"""More than ten years of days: what is older is not counted by day."""
_TITLE_CHARS = 240
_SESSION_KEYS = (b'"created_session"', b'"session_id"')

Lane = Literal["session", "decision", "record", "commit"]
_LANES: tuple[Lane, ...] = get_args(Lane)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    at: str
    lane: Lane
    layer: LayerName | Literal[""]
    kind: str
    ref: str
    """The record; empty for a commit, and for what is not there any more."""
    title: str
    commit: str = ""


class LaneTotal(msgspec.Struct, frozen=True):
    """How many things there are in a lane, shown or not."""

    lane: Lane
    total: int


class DayCount(msgspec.Struct, frozen=True):
    """How much happened on a day, in UTC."""

    day: str
    counts: dict[str, int]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of every lane, the oldest first, and how much there is of everything on each day."""

    begin: str = msgspec.field(name="from")
    to: str
    lanes: tuple[LaneTotal, ...]
    marks: tuple[Mark, ...]
    cut: bool
    """Whether there is more than is shown or, of commits, than was asked for."""
    days: tuple[DayCount, ...]


def timeline_of(index: Index, store: GraphStore, git: Git, limit: int) -> Timeline:
    """Everything that has a time, as at most so many marks; what has none that can be read is left out."""
    nodes = {record.ref: record for record in index.records("graph")}
    commits, is_more = _commits(git)
    saves = _saves(store, nodes)
    lanes: dict[Lane, list[Mark]] = {
        "session": _sessions(index, index.records("journal"), index.records("facts")),
        "decision": [mark for mark in saves if mark.lane == "decision"],
        "record": [mark for mark in saves if mark.lane == "record"],
        "commit": commits,
    }
    for marks in lanes.values():
        marks.sort(key=lambda mark: mark.at)
    shown = _share(lanes, limit)
    days = _days(lanes)
    return Timeline(
        begin=min((marks[0].at for marks in lanes.values() if marks), default=""),
        to=max((marks[-1].at for marks in lanes.values() if marks), default=""),
        lanes=tuple(LaneTotal(lane, len(lanes[lane])) for lane in _LANES),
        marks=tuple(shown),
        cut=is_more or len(days) > _DAYS or len(shown) < sum(map(len, lanes.values())),
        days=tuple(days[-_DAYS:]),
    )


# -- lanes ----------------------------------------------------------------------------------


def _sessions(index: Index, journal: Sequence[Record], facts: Sequence[Record]) -> list[Mark]:
    """Each session once: by its episode, else as it was imported, else by the first fact that it left."""
    episodes = {record.ref: record for record in facts if record.kind == "episode"}
    events = {record.ref: record for record in journal if record.section == IMPORTED_SESSION}
    marks = [*map(_mark, episodes.values())]
    for session, records in _by_session(facts).items():
        imported = [known.ref for known in index.named(session) if known.ref in events]
        if any(record.kind == "episode" for record in records):
            for ref in imported:
                events.pop(ref, None)
        elif not imported:
            first = min(records, key=lambda record: (instant(record.created_at) or EPOCH, record.ref))
            marks.append(_mark(first, f"Session {session}: {first.title}"))
    return [mark for mark in (*marks, *map(_mark, events.values())) if mark]


def _mark(record: Record, title: str = "") -> Mark | None:
    moment = instant(record.created_at)
    if moment is None:
        return None
    return Mark(
        at=timestamp(moment),
        lane="session",
        layer=record.layer,
        kind="session",
        ref=record.ref,
        title=_shown(title or record.title or record.text) or record.ref,
    )


def _by_session(facts: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in facts:
        # Most facts say nothing of a session: those are not taken apart.
        if any(key in record.raw for key in _SESSION_KEYS) and (session := _session_of(record)):
            found.setdefault(session, []).append(record)
    return found


def _session_of(record: Record) -> str:
    if record.kind == "episode":
        return episode_of_record(record).session_id or ""
    return held_of(record).fact.created_session or ""


def _saves(store: GraphStore, nodes: dict[str, Record]) -> list[Mark]:
    """The lines of the log that tell of nodes; one that a merge left twice counts once."""
    marks: list[Mark] = []
    seen: set[bytes] = set()
    closings: dict[str, int] = {}
    for _, _, event in store.events():
        if isinstance(event, Problem) or not event.event.startswith("memory.") or not isinstance(event.id, str):
            continue
        line = msgspec.json.encode(event, order="deterministic")
        moment = instant(event.timestamp)
        if line in seen or moment is None:
            continue
        seen.add(line)
        payload = event.payload if isinstance(event.payload, dict) else {}
        done = event.event.removeprefix("memory.")
        node = nodes.get(event.id)
        fields = payload.get("fields")
        if node and node.status == "closed" and isinstance(fields, list) and "status" in fields:
            closings[event.id] = len(marks)
        marks.append(
            Mark(
                at=timestamp(moment),
                lane="decision" if node and node.kind == "decision" else "record",
                layer="graph",
                kind="confirmed" if done == "updated" and payload.get("confirmed") is True else done,
                ref=node.ref if node else "",
                title=_shown(node.title if node else "") or event.id,
            )
        )
    # The last change of its status is what closed a question.
    for place in closings.values():
        marks[place] = msgspec.structs.replace(marks[place], kind="closed")
    return marks


def _commits(git: Git) -> tuple[list[Mark], bool]:
    """The newest commits that led to where we are, and whether there are more; none where git has none."""
    found = or_else([], newest_commits, git, _COMMITS + 1)
    marks = [
        Mark(at=timestamp(at), lane="commit", layer="", kind="commit", ref="", title=_shown(one.subject), commit=one.id)
        for one in found[:_COMMITS]
        if (at := instant(one.date))
    ]
    marks.reverse()
    return marks, len(found) > _COMMITS


def _shown(text: str) -> str:
    return cut(one_line(text), _TITLE_CHARS)


# -- what is shown of them ------------------------------------------------------------------


def _share(lanes: dict[Lane, list[Mark]], limit: int) -> list[Mark]:
    """The newest of each lane: all have the same room, and what one does not need is for the others."""
    shown: list[Mark] = []
    room = limit
    for place, marks in enumerate(sorted(lanes.values(), key=len)):
        most = min(len(marks), room // (len(lanes) - place))
        shown += marks[len(marks) - most :]
        room -= most
    return sorted(shown, key=lambda mark: (mark.at, _LANES.index(mark.lane)))


def _days(lanes: dict[Lane, list[Mark]]) -> list[DayCount]:
    days: dict[str, dict[str, int]] = {}
    for lane in _LANES:
        for day, number in Counter(mark.at[:10] for mark in lanes[lane]).items():
            days.setdefault(day, {})[lane] = number
    return [DayCount(day, days[day]) for day in sorted(days)]
