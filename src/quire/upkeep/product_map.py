"""The product map: one screen that every session starts with, within a fixed number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from quire.files import Git, Markers
from quire.index import Index
from quire.model import LIVE_STATUSES, Record, count_tokens, cut, first_sentence, limits, one_line
from quire.upkeep.anchors import dead_anchors

MARKERS = Markers("<!-- memory:map:start -->", "<!-- memory:map:end -->")
SHOWN_STAGES = ("building", "shipped", "paused", "idea")

_HEADING = "## Product map"
_NOTE = "Written by `memory` on every save; edits in this section are lost. Context, not instructions."
_EMPTY = "Nothing is recorded yet. `memory init --brief` says how to fill the memory."
_LISTED = 60
_INTENT_CHARS = (90, 45)
_PROJECT_CHARS = 300

__all__ = ["MARKERS", "SHOWN_STAGES", "render_map"]


class _Group(msgspec.Struct):
    """A titled list; `total` counts also what is not shown."""

    title: str
    lines: Callable[[int], list[str]]
    total: int
    shown: int
    command: str

    def render(self, intent_chars: int) -> list[str]:
        if not self.total:
            return []
        lines = ["", f"**{self.title}**", *self.lines(intent_chars)[: self.shown]]
        if self.total > self.shown:
            lines.append(f"- and {self.total - self.shown} more: `{self.command}`")
        return lines


def render_map(index: Index, root: str, git: Git) -> str:
    """The section's text: the same for the same memory, whoever renders it."""
    features = [_features(index, stage) for stage in SHOWN_STAGES]
    decisions = index.records("graph", "decision", ("active",), limit=5)
    questions = index.records("graph", "question", ("open",), limit=5)
    shown = [record for group, records in features for record in records]
    stale = _stale_lines(root, git, [*shown, *decisions, *questions])
    groups = [group for group, _ in features]
    groups.append(_titles("Recent decisions", decisions, index, "decision", "active"))
    groups.append(_titles("Open questions", questions, index, "question", "open"))
    groups.append(
        _Group("Anchors that match no file", lambda _: stale, len(stale), min(5, len(stale)), "memory status")
    )
    return _fit(_opening(index), groups)


def _opening(index: Index) -> list[str]:
    lines = [_HEADING, _NOTE]
    for project in index.records("graph", "project", ("active",), limit=1):
        summary = one_line(f"**{project.title}** — {first_sentence(project.text)}")
        lines += ["", cut(summary, _PROJECT_CHARS)]
    return lines


def _features(index: Index, stage: str) -> tuple[_Group, list[Record]]:
    stages = (stage, "") if stage == "idea" else (stage,)
    records: list[Record] = []
    total = 0
    for name in stages:
        records += index.records("graph", "feature", ("active",), stage=name, limit=_LISTED)
        total += index.counts("graph").get(("feature", "active", name or None), 0)
    records = records[:_LISTED]

    def lines(intent_chars: int) -> list[str]:
        return [_feature_line(record, intent_chars) for record in records]

    return _Group(stage.capitalize(), lines, total, len(records), "memory status"), records


def _feature_line(record: Record, intent_chars: int) -> str:
    intent = cut(first_sentence(record.text), intent_chars)
    anchor = f" (`{record.anchors[0]}`)" if record.anchors else ""
    return one_line(f"- `{record.ref}` {record.title}: {intent}{anchor}")


def _titles(title: str, records: list[Record], index: Index, kind: str, status: str) -> _Group:
    total = index.counts("graph").get((kind, status, None), 0)
    listed = [one_line(f"- `{record.ref}` {cut(record.title, 160)}") for record in records]
    return _Group(title, lambda _: listed, total, len(listed), "memory status")


def _stale_lines(root: str, git: Git, records: Iterable[Record]) -> list[str]:
    """Warnings for what the map itself shows; `memory status` looks at every node."""
    live = [record for record in records if record.status in LIVE_STATUSES]
    dead = dead_anchors(root, git, (anchor for record in live for anchor in record.anchors))
    return [
        f"- `{record.ref}` `{anchor}`"
        for record in sorted(live, key=lambda record: record.ref)
        for anchor in record.anchors
        if anchor in dead
    ]


def _fit(opening: list[str], groups: list[_Group]) -> str:
    """Shorten from the end of least use until the limit holds: warnings, questions, decisions, late stages."""
    stages, (decisions, questions, stale) = groups[:-3], groups[-3:]
    if not any(group.total for group in groups):
        return "\n".join([*opening, "", _EMPTY])
    intent_chars = _INTENT_CHARS[0]
    while True:
        text = "\n".join([*opening, *(line for group in groups for line in group.render(intent_chars))])
        if count_tokens(text) <= limits.MAP_TOKENS:
            return text
        if stale.shown > 1:
            stale.shown -= 1
        elif questions.shown > 2:
            questions.shown -= 1
        elif intent_chars != _INTENT_CHARS[1]:
            intent_chars = _INTENT_CHARS[1]
        elif decisions.shown > 2:
            decisions.shown -= 1
        else:
            last = next((group for group in [*reversed(stages), questions, decisions, stale] if group.shown), None)
            if last is None:
                return text
            last.shown -= 1
