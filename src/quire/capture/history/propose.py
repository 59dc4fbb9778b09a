"""Make proposals of a history: surveyed, ranked, checked for what may not be kept, and tied to code."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from quire.anchors.symbols import Symbols, has_grammar, read_symbols
from quire.capture.history.changes import is_beside
from quire.capture.history.commits import Tell
from quire.capture.history.findings import HistoryFinding, Wish
from quire.capture.history.ranks import ranked
from quire.capture.history.survey import survey
from quire.capture.hosts.safe_text import Guard
from quire.files.git import Git
from quire.files.paths import read_inside
from quire.inbox.proposals import TEXT_CHARS, Proposal, propose
from quire.model.anchors import anchor_fault, normal_anchor
from quire.model.records import Problem
from quire.model.text import cut, one_line

ANCHORS_MOST = 3
_FILE_BYTES = 512 * 1024
_MOST_OF_IT = 0.6
_BROAD = 400
"""A symbol of more lines is no closer a place than its file."""


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
    is_whole = item.into == "facts" or one_line(item.body).startswith(item.title.rstrip("…"))
    text = item.body if is_whole else f"{item.title}\n\n{item.body}"
    return propose(
        item.into,
        item.kind,
        cut(text, TEXT_CHARS),
        item.fields(_anchors_of(item, root)),
        origin=item.origin,
        by="file",
        evidence=item.evidence,
        proposed_at=now,
    )


def _anchors_of(finding: HistoryFinding, root: str) -> list[str]:
    """The anchors, the sources first; files beside them only where there is no source."""
    paths = [path for path in finding.paths if not anchor_fault(path) and normal_anchor(path) == path]
    sources = [path for path in paths if not is_beside(path)] or paths
    return [_anchor(root, path, finding.lines.get(path, frozenset())) for path in sources[:ANCHORS_MOST]]


def _anchor(root: str, path: str, about: frozenset[str]) -> str:
    if not about or not has_grammar(path) or "#" in path:
        return path
    try:
        data = read_inside(root, path, _FILE_BYTES)
    except (OSError, ValueError):
        return path
    lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
    numbers = [number for number, line in enumerate(lines, 1) if line in about]
    symbols = read_symbols(path, data)
    if not numbers or not isinstance(symbols, Symbols):
        return path
    near = [
        (symbol.last_line - symbol.first_line, symbol.name)
        for symbol in symbols
        if symbol.name.strip("_")
        and symbol.last_line - symbol.first_line < _BROAD
        and sum(symbol.first_line <= number <= symbol.last_line for number in numbers) >= _MOST_OF_IT * len(numbers)
    ]
    return f"{path}#{min(near)[1]}" if near else path
