"""Show what a repair would change, as line diffs."""

from __future__ import annotations

import os

import msgspec

from quire.files.paths import read_inside_or_none
from quire.guard.hostile_text import make_safe
from quire.model.text import cut
from quire.upkeep.repair.plan import RepairPlan

_BYTES = 2 * 1024 * 1024 * 1024
_COMPARED = 200_000
"""Larger files are named, and not compared."""
_LINES = 60
_CHARS = 200
_FILES = 200


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A file that would change; the path is below the project."""

    path: str
    action: str
    """created, changed, removed"""
    diff: str = ""
    """How the change begins; empty for what is removed, or too large to compare."""


def differences_of(root: str, plan: RepairPlan) -> list[Difference]:
    """The files of a plan, the first of them with their differences."""
    found: list[Difference] = []
    for path, data in (
        *((f"{plan.folder}/{change.path}", change.data) for change in plan.changes if change.path not in plan.passing),
        *((change.path, change.data) for change in plan.around),
    ):
        before = read_inside_or_none(root, path, _BYTES)
        action = "removed" if data is None else "created" if before is None else "changed"
        shown = _diff(path, before, data) if action == "changed" and len(found) < _FILES else ""
        found.append(Difference(path=path, action=action, diff=shown))
    return found


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    from difflib import unified_diff

    if len(before or b"") + len(after or b"") > _COMPARED:
        return ""
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    name = os.path.basename(path)
    lines = list(unified_diff(old, new, name, name, lineterm="", n=1))
    more = [f"… {len(lines) - _LINES:,} lines more"] if len(lines) > _LINES else []
    return "\n".join([*(make_safe(cut(line, _CHARS)) for line in lines[2 : _LINES + 2]), *more])
