"""Compare two versions of a text line by line: hunks for the page, or line counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_CONTEXT = 3
_LINES = 400
_LINE_CHARS = 2_000
_LOOKED_AT = 3_000
"""So many lines of each side are compared; what differs further down would not be shown anyway."""
_EXACT = 1_000_000
"""How many pairs of lines may be compared; of more, lines that are everywhere do not count."""
_SNIFFED = 8_000


class Hunk(msgspec.Struct, frozen=True):
    header: str
    lines: tuple[tuple[Literal[" ", "+", "-"], str], ...]


class DiffFile(msgspec.Struct, frozen=True, kw_only=True):
    """What changed in one file."""

    path: str
    old_path: str = ""
    """Before, where it was called otherwise."""
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    cut: bool = False
    """Whether something of it is not shown."""


class TextDiff(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    files: tuple[DiffFile, ...] = ()
    cut: bool = False
    """Whether whole files were left out."""


def compare(
    path: str, before: bytes | None, after: bytes | None, old_path: str = "", above: tuple[int, int] = (0, 0)
) -> DiffFile:
    """One file, before and after; None where there was none. `above` is how many lines of each stand above a part."""
    if any(b"\0" in (data or b"")[:_SNIFFED] for data in (before, after)):
        return DiffFile(path=path, old_path=old_path, binary=True)
    old, new = _lines(before), _lines(after)
    if before is not None and b"\r\n" not in before:
        new = [line.removesuffix("\r") for line in new]  # a checkout may have turned line ends
    hunks, is_cut = _hunks(old, new, above)
    return DiffFile(path=path, old_path=old_path, hunks=tuple(hunks), cut=is_cut)


def line_counts(before: str, after: str) -> tuple[int, int]:
    """How many lines came, and how many went."""
    old, new = _lines(before.encode("utf-8", "replace")), _lines(after.encode("utf-8", "replace"))
    top, end = same_ends(old, new)
    old, new = old[top : len(old) - end], new[top : len(new) - end]
    if len(old) > _LOOKED_AT or len(new) > _LOOKED_AT:
        return len(new), len(old)
    came = went = 0
    for how, first, last, new_first, new_last in _matcher(old, new).get_opcodes():
        if how != "equal":
            came, went = came + new_last - new_first, went + last - first
    return came, went


def _lines(data: bytes | None) -> list[str]:
    # Only line feeds end a line here: str.splitlines would also split at characters that prose may hold.
    parts = (data or b"").decode("utf-8", "replace").split("\n")
    return parts[:-1] if parts[-1] == "" else parts


def same_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """How many lines are the same from the beginning, and how many of the rest from the end."""
    shortest = min(len(old), len(new))
    top = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    rest = shortest - top
    return top, next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)


def _matcher(old: list[str], new: list[str]) -> SequenceMatcher[str]:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > _EXACT)


def _hunks(old: list[str], new: list[str], above: tuple[int, int]) -> tuple[list[Hunk], bool]:
    """What differs, with a few lines around it, and whether there is more."""
    top, end = same_ends(old, new)
    if top == len(old) == len(new):
        return [], False
    start = max(top - _CONTEXT, 0)
    last_old, last_new = (len(lines) - max(end - _CONTEXT, 0) for lines in (old, new))
    is_cut = max(last_old, last_new) - start > _LOOKED_AT
    old, new = old[start : min(last_old, start + _LOOKED_AT)], new[start : min(last_new, start + _LOOKED_AT)]
    hunks: list[Hunk] = []
    room = _LINES
    for group in _matcher(old, new).get_grouped_opcodes(_CONTEXT):
        if room <= 0:
            return hunks, True
        lines: list[tuple[Literal[" ", "+", "-"], str]] = []
        for how, first, last, new_first, new_last in group:
            if how == "equal":
                lines += [(" ", line) for line in old[first:last]]
            else:
                lines += [("-", line) for line in old[first:last]]
                lines += [("+", line) for line in new[new_first:new_last]]
        is_cut = is_cut or len(lines) > room or any(len(line) > _LINE_CHARS for _, line in lines[:room])
        shown = tuple((sign, _shortened(line)) for sign, line in lines[:room])
        ranges = (group[0][1], group[-1][2]), (group[0][3], group[-1][4])
        places = (
            (start + lines_above + first, start + lines_above + last)
            for lines_above, (first, last) in zip(above, ranges, strict=True)
        )
        old_range, new_range = (_range(*place) for place in places)
        hunks.append(Hunk(f"@@ -{old_range} +{new_range} @@", shown))
        room -= len(shown)
    return hunks, is_cut


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"


def _range(first: int, last: int) -> str:
    """Lines as unified diffs count them: from 1, or the line before where there are none."""
    length = last - first
    return f"{first + 1}" if length == 1 else f"{first if not length else first + 1},{length}"
