"""Whether anything in some folders was touched since the last time somebody asked: told by the kernel, where it can.

Linux tells a process about every change in a folder that it watches, edits inside of files included. Nothing runs for
that: what happened waits until it is asked for. Only file systems of this machine are watched, since changes that
another machine makes on a shared one are not told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

_LOCAL = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Modified, attributes, closed after writing, moved, created, deleted, and the folder itself gone or moved."""
_BUFFER = 1 << 16


class FolderWatch:
    """A watch over some folders."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def touched(self) -> bool:
        """Whether something happened since the last time."""
        happened = False
        while True:
            try:
                happened = bool(os.read(self._descriptor, _BUFFER)) or happened
            except BlockingIOError:
                return happened
            except OSError:
                return True

    def close(self) -> None:
        os.close(self._descriptor)


def watch_folders(folders: Iterable[str]) -> FolderWatch | None:
    """A watch over these folders, not over those inside; nothing where the system does not offer one that is sure."""
    places = list(folders)
    if not sys.platform.startswith("linux") or not places or not all(map(_is_local, places)):
        return None
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return None
    if descriptor < 0:
        return None
    for place in places:
        if library.inotify_add_watch(descriptor, os.fsencode(place), _CHANGES) < 0:
            os.close(descriptor)
            return None
    return FolderWatch(descriptor)


def _is_local(place: str) -> bool:
    """Whether the file system that holds this folder is one of this machine's own."""
    try:
        device = os.stat(place).st_dev
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            wanted = f"{os.major(device)}:{os.minor(device)}"
            for line in mounts:
                before, _, after = line.partition(" - ")
                if before.split(" ")[2] == wanted:
                    return after.split(" ")[0] in _LOCAL
    except (OSError, IndexError):
        return False
    return False
