"""The fewest pieces in which two lists differ, by Myers' greedy search over diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Range = tuple[int, int, int, int]
"""Where a stretch begins and ends in the old list, and in the new one."""


def differences(old: Sequence[Any], new: Sequence[Any], most: int) -> list[Range]:
    """The ranges in which two lists differ: the fewest pieces, or one range where more than so many differ."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shorter - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[start : len(old) - tail], new[start : len(new) - tail]
    if not inner_old and not inner_new:
        return []
    whole = [(0, len(inner_old), 0, len(inner_new))]
    found = whole if not inner_old or not inner_new else _shortest(inner_old, inner_new, most) or whole
    return [(a + start, b + start, c + start, d + start) for a, b, c, d in found]


def _shortest(old: Sequence[Any], new: Sequence[Any], most: int) -> list[Range]:
    """The shortest edit script; nothing where it is longer than `most`."""
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(most + 1):
        trace.append(reach)
        reach = dict(reach)
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
            x = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _script(trace, len(old), len(new))
    return []


def _script(trace: list[dict[int, int]], x: int, y: int) -> list[Range]:
    """The ranges of a script, read backwards from the end of the search; those that meet are one."""
    found: list[Range] = []
    for steps in range(len(trace) - 1, 0, -1):
        reach, diagonal = trace[steps], x - y
        down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        old_x = reach[before]
        old_y = old_x - before
        piece = (old_x, old_x, old_y, old_y + 1) if down else (old_x, old_x + 1, old_y, old_y)
        if found and found[-1][0] == piece[1] and found[-1][2] == piece[3]:
            last = found.pop()
            piece = (piece[0], last[1], piece[2], last[3])
        found.append(piece)
        x, y = old_x, old_y
    return found[::-1]
