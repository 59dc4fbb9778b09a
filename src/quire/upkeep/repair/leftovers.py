"""Find temporary files of writers that died.

A file counts only if its process is gone and it is older than an hour: on a disk that several machines share, the
number of a process says nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime

import msgspec

from quire.files.digests import sha256
from quire.files.durable_write import writer_of
from quire.files.file_lock import is_alive
from quire.files.git import Git
from quire.files.git_history import or_else
from quire.files.layout import BACKUP, INDEX, LOCAL, RECOVERY
from quire.files.paths import is_text, read_or_none
from quire.files.transaction import FileUpdate
from quire.model.anchors import OWN_FOLDERS
from quire.model.records import Problem, RepairStep

LEFTOVERS = "LeftoverFiles"
REPAIRS = "repairs"
_OLD_SECONDS = 3600.0
_SKIPPED = (INDEX, RECOVERY, BACKUP, f"{LOCAL}/{INDEX}", f"{LOCAL}/{REPAIRS}", "backup")


def leftover_problems(root: str, top: str, now: datetime) -> list[Problem]:
    """One finding for each folder that holds some."""
    return [_problem(folder, names) for folder, names in _leftovers(root, top, now)]


def _problem(folder: str, names: list[str]) -> Problem:
    said = f"Temporary files of interrupted writers: {len(names):,}, such as `{names[0]}`."
    hint = "They are not used. `memory check --repair` removes them."
    return Problem(code="LeftoverFiles", severity="warning", path=folder, message=said, hint=hint)


def _repair(folder: str, count: int) -> RepairStep:
    return RepairStep(
        code=LEFTOVERS, path=folder, message=f"Temporary files of interrupted writers are removed: {count:,}."
    )


def _removals(root: str, folder: str, names: list[str]) -> list[FileUpdate]:
    """The removal of each that can be read: what is taken away is copied first."""
    return [
        FileUpdate(path=f"{folder}/{name}".lstrip("/"), data=None, planned=sha256(data))
        for name in names
        if (data := read_or_none(os.path.join(root, folder, name))) is not None
    ]


def plan_leftovers(root: str, top: str, now: datetime) -> tuple[list[RepairStep], list[FileUpdate]]:
    """What takes them away, below the layer's folder."""
    fixes, changes = [], []
    for folder, names in _leftovers(root, top, now):
        gone = _removals(root, folder, names)
        if len(gone) == len(names):
            fixes.append(_repair(folder, len(gone)))
            changes += [msgspec.structs.replace(change, path=change.path.removeprefix(f"{top}/")) for change in gone]
    return fixes, changes


def leftovers_around(root: str, git: Git, now: datetime) -> dict[str, list[str]]:
    """The folders of the project that hold some outside of the memory, and their names: such as those of agents."""
    listed = or_else([], git.untracked, []) if git.available else []
    found: dict[str, list[str]] = {}
    for path in listed:
        folder, _, name = path.rpartition("/")
        is_outside = path.split("/")[0] not in OWN_FOLDERS
        if is_outside and writer_of(name) is not None and _is_left(os.path.join(root, path), name, now):
            found.setdefault(folder, []).append(name)
    return found


def around_problems(root: str, git: Git, now: datetime) -> list[Problem]:
    return [_problem(folder or ".", names) for folder, names in leftovers_around(root, git, now).items()]


def plan_leftovers_around(root: str, git: Git, now: datetime) -> tuple[list[RepairStep], list[FileUpdate]]:
    """What takes away those that lie outside of the memory."""
    fixes, changes = [], []
    for folder, names in leftovers_around(root, git, now).items():
        gone = _removals(root, folder, names)
        fixes.append(_repair(folder or ".", len(gone)))
        changes += gone
    return fixes, changes


def _leftovers(root: str, top: str, now: datetime) -> Iterator[tuple[str, list[str]]]:
    """The folders that hold some, below the project, and their names. No link is followed."""
    if os.path.islink(os.path.join(root, top)):
        return
    pending = [""]
    while pending:
        inner = pending.pop()
        folder = f"{top}/{inner}".rstrip("/")
        try:
            with os.scandir(os.path.join(root, folder)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        names = []
        for entry in entries:
            below = f"{inner}/{entry.name}".lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                if below not in _SKIPPED and is_text(entry.name):
                    pending.append(below)
            elif _is_left(entry.path, entry.name, now):
                names.append(entry.name)
        if names:
            yield folder, names


def _is_left(path: str, name: str, now: datetime) -> bool:
    pid = writer_of(name)
    if pid is None or not is_text(name):
        return False
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and now.timestamp() - found.st_mtime > _OLD_SECONDS and not is_alive(pid)
