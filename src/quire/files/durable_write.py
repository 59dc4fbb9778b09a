"""Write single files durably: a reader sees the old bytes or the new, and a crash loses neither."""

from __future__ import annotations

import contextlib
import os
import stat
from contextvars import ContextVar
from types import EllipsisType
from typing import TYPE_CHECKING

from quire.files import disk
from quire.files.file_lock import is_alive
from quire.files.paths import read_bytes, read_if_there, storage_failed
from quire.model.errors import Conflict, StorageFailed

if TYPE_CHECKING:
    from quire.files.undo_recorder import UndoRecorder

noticed: ContextVar[UndoRecorder | None] = ContextVar("noticed", default=None)
"""Who notes what is written here, and by transactions; nobody, unless `noting_changes` holds."""

TEMPORARY_PREFIX = ".quire-"
TEMPORARY_SUFFIX = ".tmp"


def ensure_folder(path: str) -> None:
    """The folder and its parents exist and are on the disk."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    ensure_folder(parent)
    with contextlib.suppress(FileExistsError):
        disk.make_folder(path)
    disk.sync_folder(parent)


def stage(path: str, data: bytes, like: str | None = None) -> None:
    """A new file whose bytes were read back and compared; with the mode of `like` where that exists."""
    mode = None
    if like is not None:
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(like).st_mode)
    # Set before the file is synced: a mode that is set later may be lost with the power, and it may keep others out.
    disk.create(path, data, exactly=mode)
    if read_bytes(path, limit=len(data)) != data:
        raise StorageFailed(
            f"`{os.path.basename(path)}` does not hold the data that was written.",
            hint="The disk may be failing. Nothing was replaced.",
        )


def write_file(path: str, data: bytes, token: str, expects: bytes | EllipsisType | None = ...) -> None:
    """Replace or create one file, durably. A symbolic link is kept: what it points to is replaced.

    With `expects`, only if it still holds these bytes, or is still missing: it may be someone else's, too.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f"{TEMPORARY_PREFIX}{os.getpid()}-{token}{TEMPORARY_SUFFIX}")
    notes = noticed.get()
    before = notes.held(target) if notes else None
    try:
        _refuse_devices(target, path)
        sweep_temporaries(folder)
        try:
            stage(temporary, data, like=target)
            if expects is not ... and read_if_there(target) != expects:
                raise Conflict(f"`{os.path.basename(path)}` was changed by another program.", hint="Run it again.")
            disk.rename(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                disk.remove(temporary)
            raise
        if notes:
            notes.replaced(folder, os.path.basename(target), before, data)
        disk.sync_folder(folder)
    except OSError as error:
        raise storage_failed(error, f"write `{os.path.basename(path)}`", folder) from error


def _refuse_devices(target: str, path: str) -> None:
    """A link may lead to a device, a pipe or a socket: whoever has the rights would put a file in its place."""
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise StorageFailed(
            f"`{os.path.basename(path)}` is not a regular file; it was not changed.",
            hint="Remove it, or replace it with a regular file.",
        )


def sweep_temporaries(folder: str) -> None:
    """Remove what writers that were killed left beside the file; their names say which process made them."""
    for name in os.listdir(folder):
        pid = writer_of(name)
        if pid is not None and not is_alive(pid):
            with contextlib.suppress(OSError):
                disk.remove(os.path.join(folder, name))


def writer_of(name: str) -> int | None:
    """The process that made a temporary file, by the file's name; None for any other file."""
    if name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX):
        pid = name.removeprefix(TEMPORARY_PREFIX).partition("-")[0]
        if pid.isascii() and pid.isdecimal():
            return int(pid)
    return None
