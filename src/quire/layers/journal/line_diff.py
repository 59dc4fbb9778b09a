"""Compare two texts line by line: unchanged, removed, added."""

from __future__ import annotations

import re

from quire.files.shortest_edit import differences

_END = re.compile(r"\r?\n")
_EDITS = 1_500
"""Texts that differ in more lines than this are shown as one that goes and one that comes."""


def diff_lines(before: str, after: str, path: str) -> str | None:
    """The comparison, or None where the texts are the same. What goes stands before what comes in its place."""
    if before == after:
        return None
    old, new = _END.split(before), _END.split(after)
    head = [f"--- {path}", f"+++ {path}"]
    if old == new:
        return "\n".join([*head, "\\ Only the ends of lines differ."])
    said: list[str] = []
    at_old = 0
    for first, last, new_first, new_last in [*differences(old, new, _EDITS), (len(old), len(old), 0, 0)]:
        said += [f" {line}" for line in old[at_old:first]]
        said += [f"-{line}" for line in old[first:last]]
        said += [f"+{line}" for line in new[new_first:new_last]]
        at_old = last
    return "\n".join(head + said)


def shortened(diff: str, most: int = 80) -> str:
    """At most so many lines of a comparison, and how many more there are."""
    lines = diff.split("\n")
    if len(lines) <= most:
        return diff
    return "\n".join([*lines[:most], f"... {len(lines) - most} more lines ..."])
