"""Every call that writes to disk, in one place, so that tests can simulate a crash.

Nothing else in the package opens a file for writing, renames or removes. `before` is called with the
name and the path of every operation; the tests of durability replace it and kill the process there.
"""

from __future__ import annotations

import os
from collections.abc import Callable


def _nothing(_operation: str, _path: str) -> None:
    """The world goes on."""


before: Callable[[str, str], None] = _nothing


def create(path: str, data: bytes, mode: int = 0o666, *, exactly: int | None = None) -> None:
    """Create a file with these bytes, synced when this returns. An existing file is never touched.

    Its mode is what the umask leaves of `mode`; with `exactly` it is that one, and on the disk as well.
    """
    before("create", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        _write(descriptor, data)
        if exactly is not None:
            before("set_mode", path)
            os.fchmod(descriptor, exactly)
        before("fsync", path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: str, data: bytes) -> None:
    """Bytes added at the end of a file (made if missing), on the disk when this returns."""
    descriptor = _open_end(path)
    try:
        _write(descriptor, data)
        before("fsync", path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_lightly(path: str, data: bytes) -> None:
    """Bytes added at the end in one write, not forced to the disk: for what a power cut may take."""
    descriptor = _open_end(path)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def truncate(path: str, size: int) -> None:
    before("truncate", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(source: str, target: str) -> None:
    before("rename", target)
    os.replace(source, target)


def set_mode(path: str, mode: int) -> None:
    before("set_mode", path)
    os.chmod(path, mode)


def link(target: str, path: str) -> None:
    """A symbolic link at `path`, where nothing is yet."""
    before("link", path)
    os.symlink(target, path)


def remove(path: str) -> None:
    before("remove", path)
    os.unlink(path)


def make_folder(path: str) -> None:
    before("make_folder", path)
    os.mkdir(path)


def remove_folder(path: str) -> None:
    """An empty folder goes."""
    before("remove_folder", path)
    os.rmdir(path)


def sync_folder(path: str) -> None:
    """Names created, renamed or removed in the folder are on the disk when this returns."""
    before("sync_folder", path)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_end(path: str) -> int:
    before("append", path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    # A folder may have become a link since the path was checked: it is opened as a folder first.
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.open(os.path.basename(path), flags, 0o666, dir_fd=folder)
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(folder)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
