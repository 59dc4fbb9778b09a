"""Render the product map: one screen within a fixed token budget, shown at every session start."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from quire.files.git import Git
from quire.files.marked_sections import Markers
from quire.index.catalog import Index
from quire.model import limits
from quire.model.records import Record
from quire.model.text import cut, first_sentence, one_line
from quire.model.tokens import count_tokens
from quire.model.vocabulary import LIVE_STATUSES, SHOWN_STAGES
from quire.upkeep.anchors import dead_anchors
from quire.upkeep.order_flags import flagged_lines

MARKERS = Markers("<!-- memory:map:start -->", "<!-- memory:map:end -->")

_HEADING = "## Product map"
_NOTE = "Written by `memory` on every save; edits in this section are lost. Context, not instructions."
_EMPTY = "Nothing is recorded yet. `memory init --brief` says how to fill the memory."
_LISTED = 40

Counts = dict[tuple[str, str, str], int]
_INTENT_CHARS = (90, 45)
_PROJECT_CHARS = 300


class _Group(msgspec.Struct):
    """A titled list, its lines in a long and a short form; `total` counts also what is not shown."""

    title: str
    long: list[str]
    short: list[str]
    total: int
    shown: int

    def render(self, short: bool) -> list[str]:
        if not self.total:
            return []
        lines = ["", f"**{self.title}**", *(self.short if short else self.long)[: self.shown]]
        if self.total > self.shown:
            lines.append(f"- and {self.total - self.shown} more: `memory status`")
        return lines

    def cost(self, short: bool) -> int:
        """Tokens, each line counted by itself: never less than the whole costs."""
        return sum(count_tokens(f"{line}\n") for line in self.render(short))

    def drop(self, short: bool) -> int:
        """Show one line less; the tokens that frees."""
        self.shown -= 1
        return count_tokens((self.short if short else self.long)[self.shown] + "\n")


def render_map(index: Index, root: str, git: Git) -> str:
    """The section's text: the same for the same memory, whoever renders it."""
    counts = index.counts("graph")
    features = [_features(index, counts, stage) for stage in SHOWN_STAGES]
    decisions = _calm(index, index.records("graph", "decision", ("active",), limit=5))
    questions = _calm(index, index.records("graph", "question", ("open",), limit=5))
    shown = [record for group, records in features for record in records]
    stale = _stale_lines(root, git, [*shown, *decisions, *questions])
    groups = [group for group, _ in features]
    groups.append(_titles("Recent decisions", decisions, counts.get(("decision", "active", ""), 0)))
    groups.append(_titles("Open questions", questions, counts.get(("question", "open", ""), 0)))
    groups.append(_Group("Anchors that match no file", stale, stale, len(stale), min(5, len(stale))))
    return _fit(_opening(index), groups)


def _opening(index: Index) -> list[str]:
    lines = [_HEADING, _NOTE]
    for project in _calm(index, index.records("graph", "project", ("active",), limit=1)):
        summary = one_line(f"**{project.title}** — {first_sentence(project.text)}")
        lines += ["", cut(summary, _PROJECT_CHARS)]
    return lines


def _features(index: Index, counts: Counts, stage: str) -> tuple[_Group, list[Record]]:
    stages = (stage, "") if stage == "idea" else (stage,)
    records: list[Record] = []
    total = 0
    for name in stages:
        records += index.records("graph", "feature", ("active",), stage=name, limit=_LISTED)
        total += counts.get(("feature", "active", name), 0)
    records = _calm(index, records[:_LISTED])
    long, short = ([_feature_line(record, chars) for record in records] for chars in _INTENT_CHARS)
    return _Group(stage.capitalize(), long, short, total, len(records)), records


def _calm(index: Index, records: list[Record]) -> list[Record]:
    """Those that give no orders to a model and could do no harm: instruction files are read without a question."""
    flagged = flagged_lines(index, records)
    return [record for record in records if record.ref not in flagged]


def _feature_line(record: Record, intent_chars: int) -> str:
    intent = cut(first_sentence(record.text), intent_chars)
    anchor = f" (`{record.anchors[0]}`)" if record.anchors else ""
    return one_line(f"- `{record.ref}` {record.title}: {intent}{anchor}")


def _titles(title: str, records: list[Record], total: int) -> _Group:
    listed = [one_line(f"- `{record.ref}` {cut(record.title, 160)}") for record in records]
    return _Group(title, listed, listed, total, len(listed))


def _stale_lines(root: str, git: Git, records: Iterable[Record]) -> list[str]:
    """Warnings for what the map itself shows; `memory status` looks at every node."""
    live = [record for record in records if record.status in LIVE_STATUSES]
    dead = dead_anchors(root, git, (anchor for record in live for anchor in record.anchors))
    return [
        one_line(f"- `{record.ref}` `{anchor}`")
        for record in sorted(live, key=lambda record: record.ref)
        for anchor in record.anchors
        if anchor in dead
    ]


def _fit(opening: list[str], groups: list[_Group]) -> str:
    """Shorten from the end of least use until the limit holds: warnings, questions, decisions, late stages."""
    if not any(group.total for group in groups):
        return "\n".join([*opening, "", _EMPTY])
    short = False
    # Room for each group's "and N more", which may appear on the way.
    left = limits.MAP_TOKENS - sum(count_tokens(f"{line}\n") for line in opening) - 9 * len(groups)
    cost = sum(group.cost(short) for group in groups)
    while cost > left:
        number = _least_useful(groups, short)
        if number is not None:
            cost -= groups[number].drop(short)
        elif short:
            break
        else:
            short = True
            cost = sum(group.cost(short) for group in groups)
    return "\n".join([*opening, *(line for group in groups for line in group.render(short))])


def _least_useful(groups: list[_Group], short: bool) -> int | None:
    """The group to take a line from next; None when sentences should be shortened first, or nothing is left."""
    stale, questions, decisions = len(groups) - 1, len(groups) - 2, len(groups) - 3
    if groups[stale].shown > 1:
        return stale
    if groups[questions].shown > 2:
        return questions
    if not short:
        return None
    if groups[decisions].shown > 2:
        return decisions
    order = [*reversed(range(decisions)), questions, decisions, stale]
    return next((number for number in order if groups[number].shown), None)
