"""Temporary files of writers that died: nobody reads them, nobody was told that they were written.

A file counts only if its process is gone and it is older than an hour: on a disk that several machines share, the
number of a process says nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime

from quire.files import LOCAL, RECOVERY, Change, is_alive, is_text, read_bytes, sha256, writer_of
from quire.layers.graph.layout import BACKUP, INDEX
from quire.model import Mend, Problem

CODE = "LeftoverFiles"
REPAIRS = "repairs"
_OLD_SECONDS = 3600.0
_SKIPPED = (INDEX, RECOVERY, BACKUP, f"{LOCAL}/{INDEX}", f"{LOCAL}/{REPAIRS}", "backup")

__all__ = ["CODE", "REPAIRS", "leftover_problems", "plan_leftovers"]


def leftover_problems(root: str, top: str, now: datetime) -> list[Problem]:
    """One finding for each folder that holds some."""
    found = []
    for folder, names in _leftovers(root, top, now):
        said = f"Temporary files of writers that died: {len(names):,}, such as `{names[0]}`."
        hint = "Nobody reads them. `memory check --repair` takes them away."
        found.append(Problem(code="LeftoverFiles", severity="warning", path=folder, message=said, hint=hint))
    return found


def plan_leftovers(root: str, top: str, now: datetime) -> tuple[list[Mend], list[Change]]:
    """What takes them away, below the layer's folder."""
    mends, changes = [], []
    for folder, names in _leftovers(root, top, now):
        gone = []
        for name in names:
            try:
                data = read_bytes(os.path.join(root, folder, name))
            except OSError:
                continue
            path = f"{folder}/{name}".removeprefix(f"{top}/")
            gone.append(Change(path=path, data=None, planned=sha256(data)))
        if len(gone) == len(names):
            said = f"Temporary files of writers that died are taken away: {len(gone):,}."
            mends.append(Mend(code=CODE, path=folder, message=said))
            changes += gone
    return mends, changes


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
            elif _is_leftover(entry, now):
                names.append(entry.name)
        if names:
            yield folder, names


def _is_leftover(entry: os.DirEntry[str], now: datetime) -> bool:
    pid = writer_of(entry.name)
    if pid is None or not entry.is_file(follow_symlinks=False) or not is_text(entry.name):
        return False
    try:
        age = now.timestamp() - entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return False
    return age > _OLD_SECONDS and not is_alive(pid)
