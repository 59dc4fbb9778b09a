"""Compare two texts line by line: unchanged, removed, added."""

from __future__ import annotations

import re

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
    same = _common(old, new)
    said: list[str] = []
    at_old = at_new = 0
    for in_old, in_new in [*same, (len(old), len(new))]:
        said += [f"-{line}" for line in old[at_old:in_old]]
        said += [f"+{line}" for line in new[at_new:in_new]]
        said += [f" {line}" for line in old[in_old : in_old + 1]]
        at_old, at_new = in_old + 1, in_new + 1
    return "\n".join(head + said)


def shortened(diff: str, most: int = 80) -> str:
    """At most so many lines of a comparison, and how many more there are."""
    lines = diff.split("\n")
    if len(lines) <= most:
        return diff
    return "\n".join([*lines[:most], f"... {len(lines) - most} more lines ..."])


def _common(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common sequence of lines, found in time that grows with the number of differences."""
    begin = 0
    while begin < len(old) and begin < len(new) and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < min(len(old), len(new)) - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    middle = _shortest_edit(old[begin : len(old) - end], new[begin : len(new) - end])
    return [
        *((place, place) for place in range(begin)),
        *((begin + in_old, begin + in_new) for in_old, in_new in middle),
        *((len(old) - step, len(new) - step) for step in range(end, 0, -1)),
    ]


def _shortest_edit(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Myers: on each diagonal the furthest point that so many edits reach; then back along the way that arrived."""
    reach = {1: 0}
    passed: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _EDITS) + 1):
        passed.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            at_old = _entry(reach, diagonal, edits)
            at_new = at_old - diagonal
            while at_old < len(old) and at_new < len(new) and old[at_old] == new[at_new]:
                at_old, at_new = at_old + 1, at_new + 1
            reach[diagonal] = at_old
            if at_old >= len(old) and at_new >= len(new):
                return _way_back(passed, len(old), len(new))
    return []


def _entry(reach: dict[int, int], diagonal: int, edits: int) -> int:
    """Where a diagonal is entered: from the one below by a new line, or from the one above by a line that goes."""
    if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
        return reach[diagonal + 1]
    return reach[diagonal - 1] + 1


def _way_back(passed: list[dict[int, int]], at_old: int, at_new: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for edits in range(len(passed) - 1, -1, -1):
        reach, diagonal = passed[edits], at_old - at_new
        entered = _entry(reach, diagonal, edits)
        while at_old > entered:
            at_old, at_new = at_old - 1, at_new - 1
            found.append((at_old, at_new))
        if edits:
            is_new = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
            at_old, at_new = (at_old, at_new - 1) if is_new else (at_old - 1, at_new)
    return found[::-1]
