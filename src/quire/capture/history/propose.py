"""Make proposals of a history: surveyed, ranked, checked for what may not be kept, and tied to code."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from quire.capture.history.commits import Tell
from quire.capture.history.findings import HistoryFinding, Wish
from quire.capture.history.places import anchors_of
from quire.capture.history.ranks import ranked
from quire.capture.history.survey import survey
from quire.capture.hosts.safe_text import Guard
from quire.files.git import Git
from quire.inbox.proposals import TEXT_CHARS, Proposal, propose
from quire.model.records import Problem
from quire.model.text import cut


class HistoryRead(Struct, frozen=True, kw_only=True):
    """What a history came to."""

    proposals: tuple[Proposal, ...] = ()
    known: int = 0
    """As many of them as were decided on or are pending, by where they come from."""
    commits: int = 0
    problems: tuple[Problem, ...] = ()


def read_history(git: Git, wish: Wish, now: str, known: Collection[str] = (), tell: Tell | None = None) -> HistoryRead:
    """The best of what a history says, as proposals; those of a known origin are only counted."""
    found = survey(git, wish, tell)
    guard = Guard("git history", found.problems)
    sound = list(_passed(ranked(found.findings, 2 * wish.limit), guard))[: wish.limit]
    fresh = [item for item in sound if not {item.origin, *item.also} & set(known)]
    return HistoryRead(
        proposals=tuple(_proposal(item, git.root, now) for item in fresh),
        known=len(sound) - len(fresh),
        commits=found.commits,
        problems=guard.problems,
    )


def _passed(findings: Iterable[HistoryFinding], guard: Guard) -> Iterable[HistoryFinding]:
    """Those that hold no credential and try to steer nobody; the others are reported by their place alone."""
    for item in findings:
        guard.shown = item.evidence[0].where.partition(" by ")[0]
        said = "\n".join((item.title, item.body, *(part for one in item.evidence for part in (one.quote, one.where))))
        if guard.passed(said, 1) is not None:
            yield item


def _proposal(item: HistoryFinding, root: str, now: str) -> Proposal:
    text = item.body if item.into == "facts" else f"{item.title}\n\n{item.body}"
    return propose(
        item.into,
        item.kind,
        cut(text, TEXT_CHARS),
        item.fields(anchors_of(item, root)),
        origin=item.origin,
        by="file",
        evidence=item.evidence,
        proposed_at=now,
    )
