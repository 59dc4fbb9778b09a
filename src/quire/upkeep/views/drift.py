"""Compare memory and code over time: current verdicts, their history, the oldest open review.

Of the past we know only what the files say today: when a node was created, what was last seen of its code, and which
commit has changed that since. That a node had drifted before, and was confirmed, is not known. So a node counts as
fresh from the day it was created until what needs a look now came about. A commit may be older than the node: then a
merge brought it later, and its day counts; where no merge tells the day, it is only known that it has come now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from quire.files.commit_ranges import parents_after
from quire.files.git import Git
from quire.files.git_history import common_ancestor, describe_known, full_commit
from quire.model.errors import GitRequired
from quire.model.records import Record
from quire.model.times import EPOCH, instant, timestamp
from quire.model.verdicts import VERDICTS, Verdict
from quire.upkeep.views.items import RecordItem, item_of

_STEPS = 60
_OLDEST = 20
_COMMITS = 20_000
_LOST = ("changed", "moved", "orphaned")


class DriftPoint(msgspec.Struct, frozen=True):
    """Of the nodes that are live now, those that were there at a time: how many held, and how many had drifted."""

    at: str
    fresh: int
    drifted: int


class Drifted(msgspec.Struct, frozen=True, kw_only=True):
    """A node that needs a look, and since when."""

    item: RecordItem
    at: str
    commit: str
    """Empty where it was no commit, or none that is known."""


class AnchorHealth(msgspec.Struct, frozen=True, kw_only=True):
    now: dict[str, int]
    """How many nodes have which verdict; one that none has is left out."""
    series: tuple[DriftPoint, ...]
    """The last point is now. Empty where nothing can be held against the code."""
    oldest: tuple[Drifted, ...]


def anchor_health(records: Sequence[Record], verdicts: Mapping[str, Verdict], git: Git, now: datetime) -> AnchorHealth:
    """Of these records, all of which have a verdict."""
    counts: Counter[str] = Counter(verdicts[record.ref].verdict for record in records)
    drifted = sorted((one for one in records if verdicts[one.ref].needs_a_look), key=lambda one: one.ref)
    fresh = [record for record in records if verdicts[record.ref].verdict == "fresh"]
    causes = _causes(drifted, verdicts, git)
    waiting = sorted((timestamp(causes[record.ref][0] or now), place) for place, record in enumerate(drifted))
    return AnchorHealth(
        now={state: counts[state] for state in VERDICTS if counts[state]},
        series=_series(
            _created([*drifted, *fresh], now), [min(causes[record.ref][0] or now, now) for record in drifted], now
        ),
        oldest=tuple(
            Drifted(item=item_of(record, verdicts[record.ref]), at=at, commit=causes[record.ref][1])
            for at, place in waiting[:_OLDEST]
            for record in [drifted[place]]
        ),
    )


def _causes(
    drifted: Iterable[Record], verdicts: Mapping[str, Verdict], git: Git
) -> dict[str, tuple[datetime | None, str]]:
    """When each record began to need a look, and the commit: the earliest of its anchors'. No time means just now."""
    records = list(drifted)
    commits = {record.ref: _commits(verdicts[record.ref]) for record in records}
    dates = _dates(git, {commit for found in commits.values() for commit in found})
    seen = {record.ref: _last_seen(record) for record in records}
    # Commits that are older than what was said of their code came with a merge.
    late = {
        verdicts[record.ref].since
        for record in records
        if any((dates.get(commit) or seen[record.ref]) < seen[record.ref] for commit in commits[record.ref])
    }
    brought = _brought(git, filter(None, late)) if late else {}
    merges = _dates(git, set(brought.values()))
    causes: dict[str, tuple[datetime | None, str]] = {}
    for record in records:
        known = [
            (_arrived(dates[one], merges.get(brought.get(one, "")), seen[record.ref]), one)
            for one in commits[record.ref]
            if one in dates
        ]
        dated = sorted((at, one) for at, one in known if at is not None)
        if dated:
            causes[record.ref] = dated[0]
        elif known:
            causes[record.ref] = (None, known[0][1])
        else:
            causes[record.ref] = (_never_there(record, verdicts[record.ref]), "")
    return causes


def _last_seen(record: Record) -> datetime:
    """When someone last saw the code, to the second, as commits are dated."""
    return (instant(record.updated_at) or instant(record.created_at) or EPOCH).replace(microsecond=0)


def _arrived(committed: datetime, merged: datetime | None, seen: datetime) -> datetime | None:
    """When a commit came here, as far as it is known: not before someone last saw the code without it."""
    return next((at for at in (committed, merged) if at is not None and at >= seen), None)


def _brought(git: Git, since: Iterable[str]) -> dict[str, str]:
    """For the commits after these the one of the branch's own line that brought each: a merge, or itself."""
    begins = sorted(set(since))
    try:
        known = [commit for commit in begins if full_commit(git, commit)]
        base = common_ancestor(git, *known) if len(known) > 1 else known[0] if known else None
        parents = parents_after(git, base, ["HEAD"], _COMMITS)
    except GitRequired:
        return {}
    line = [next(iter(parents))] if parents else []
    while parents.get(line[-1] if line else "", []) and parents[line[-1]][0] in parents:
        line.append(parents[line[-1]][0])
    brought: dict[str, str] = {}
    for commit in reversed(line):
        todo = [commit]
        while todo:
            current = todo.pop()
            if current in parents and current not in brought:
                brought[current] = commit
                todo += parents[current]
    return brought


def _never_there(record: Record, verdict: Verdict) -> datetime | None:
    """What no commit ever took away was not there when it was last said, either."""
    return instant(record.updated_at) if verdict.verdict == "orphaned" else None


def _commits(verdict: Verdict) -> list[str]:
    lost = [anchor for anchor in verdict.anchors if anchor.verdict in _LOST]
    return [commit for anchor in lost if (commit := anchor.first_commit or anchor.commit)]


def _dates(git: Git, commits: Iterable[str]) -> dict[str, datetime]:
    described = describe_known(git, sorted(commits))
    return {commit: at for commit, found in described.items() if (at := instant(found.date))}


def _created(records: Iterable[Record], now: datetime) -> list[datetime]:
    """When each of these came to be; one that does not say counts from the first day on."""
    known = [instant(record.created_at) for record in records]
    first = min((at for at in known if at is not None), default=now)
    return [min(at or first, now) for at in known]


def _series(created: list[datetime], drifted: list[datetime], now: datetime) -> tuple[DriftPoint, ...]:
    """Those that drifted come first in what was created."""
    if not created:
        return ()
    ends = sorted(map(max, created, drifted))
    begins = sorted(created)
    span = now - begins[0]
    moments = [begins[0] + span * step / _STEPS for step in range(_STEPS)] if span else []
    points = []
    for moment in [*moments, now]:
        gone = bisect_right(ends, moment)
        points.append(DriftPoint(timestamp(moment), bisect_right(begins, moment) - gone, gone))
    return tuple(points)
