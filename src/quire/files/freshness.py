"""Tell whether files have changed since they were last read, without opening them.

- `stamp_of` and `joint_stamp` reduce the metadata of one file, or of many, to a value that can be compared.
- `FolderWatch` asks the Linux kernel (inotify) whether anything below some folders was touched.
- `Freshness` is the file-stamp cache of a long-lived process. To stat every file of a large store takes longer than to
  answer a question. Whatever replaces a file (our own writes, git, most editors) changes its folder, so folders are
  checked at every question; all files are checked again only after a folder changed, after an inotify event, or when
  the last check is two seconds old. A command, which answers one question, always checks everything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from time import monotonic

import msgspec

SECONDS, WATCHED_SECONDS = 2.0, 60.0
"""How long a check of all files counts: without inotify, and with it."""
_SETTLED = 0.1
"""File systems distinguish times that are a few milliseconds apart: what may have changed within one is not trusted."""
_STORES = 32
_LOCAL = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
"""Only file systems of this machine are watched: of changes that another machine makes the kernel says nothing."""
_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Modified, attributes, closed after writing, moved, created, deleted, and the folder itself gone or moved."""
_BUFFER = 1 << 16


def stamp_of(stat: os.stat_result) -> str:
    """What says that a file is still the one it was, without opening it."""
    # The inode's own time too: a file put back with its old time and length is still another one.
    return f"{stat.st_mtime_ns}.{stat.st_ctime_ns}.{stat.st_size}"


def stamp_at(path: str) -> str:
    """The stamp of a file, which may be a link; empty where there is none."""
    try:
        return stamp_of(os.stat(path, follow_symlinks=False))
    except OSError:
        return ""


def joint_stamp(root: str, paths: Iterable[str], known: dict[str, tuple[int, ...]]) -> int:
    """One number for the metadata of all these paths; `known` caches what was read already."""
    found = []
    for path in paths:
        one = known.get(path)
        if one is None:
            one = known[path] = _metadata(os.path.join(root, path))
        found.append(one)
    return hash(tuple(found))


def _metadata(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


class FolderWatch:
    """An inotify watch over some folders. No thread runs: events wait in the kernel until someone asks."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def touched(self) -> bool:
        """Whether something happened since the last call."""
        happened = False
        while True:
            try:
                happened = bool(os.read(self._descriptor, _BUFFER)) or happened
            except BlockingIOError:
                return happened
            except OSError:
                return True

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    # The system gives each user few watches: one that nobody holds any longer must not count.
    __del__ = close


def watch_folders(folders: Iterable[str]) -> FolderWatch | None:
    """A watch over these folders, not over those inside; None where the system offers none that can be relied on."""
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


class _Checked(msgspec.Struct):
    """What is known of the files of one layer in one store."""

    folders: dict[str, int]
    first: float
    """When the folders first had these stamps."""
    watch: FolderWatch | None
    last: float = -1.0
    """When all files were last checked while the folders had these stamps; negative where that no longer counts."""
    touches: int = 0
    """How often something was touched."""


class Freshness:
    """Remembers, for the stores of one long-lived process, when all files of each layer were last checked."""

    def __init__(self, watch: Callable[[Iterable[str]], FolderWatch | None] = watch_folders) -> None:
        from threading import Lock

        self._watch = watch
        self._checked: dict[tuple[str, str], _Checked] = {}
        self._guard = Lock()

    def is_current(self, place: str, layer: str, folders: dict[str, int]) -> bool:
        """Whether the last check of all files still counts."""
        with self._guard:
            checked = self._read_events((place, layer))
            if checked is None or checked.folders != folders or checked.last < 0:
                return False
            limit = WATCHED_SECONDS if checked.watch is not None else SECONDS
            return monotonic() - checked.last < limit and checked.last - checked.first >= _SETTLED

    def begin_check(self, place: str, layer: str, folders: dict[str, int], base: str) -> tuple[float, int]:
        """Note that a check of all files begins, after the folders' stamps were read; the result is for `end_check`."""
        with self._guard:
            key = (place, layer)
            checked = self._read_events(key)
            if checked is None or checked.folders != folders:
                self._renew(key, checked, folders, base)
            return monotonic(), self._checked[key].touches

    def end_check(self, place: str, layer: str, folders: dict[str, int], begun: tuple[float, int]) -> None:
        """Note that all files were checked; it counts if nothing was touched meanwhile."""
        with self._guard:
            checked = self._read_events((place, layer))
            if checked is not None and checked.folders == folders and checked.touches == begun[1]:
                checked.last = begun[0]

    def close(self) -> None:
        """Close every watch and forget every check."""
        with self._guard:
            for checked in self._checked.values():
                if checked.watch is not None:
                    checked.watch.close()
            self._checked.clear()

    def _read_events(self, key: tuple[str, str]) -> _Checked | None:
        """What is known, after the kernel's events were read. They are reported once, so they are recorded for all."""
        checked = self._checked.get(key)
        if checked is not None and checked.watch is not None and checked.watch.touched():
            checked.last, checked.touches = -1.0, checked.touches + 1
        return checked

    def _renew(self, key: tuple[str, str], checked: _Checked | None, folders: dict[str, int], base: str) -> None:
        watch = checked.watch if checked is not None else None
        if checked is None or checked.folders.keys() != folders.keys():
            if watch is not None:
                watch.close()
            if checked is None and len(self._checked) >= _STORES:
                self._forget_oldest()
            watch = self._watch(os.path.join(base, folder) for folder in folders) if folders else None
        touches = checked.touches + 1 if checked is not None else 0
        self._checked[key] = _Checked(folders=folders, first=monotonic(), watch=watch, touches=touches)

    def _forget_oldest(self) -> None:
        oldest = self._checked.pop(next(iter(self._checked)))
        if oldest.watch is not None:
            oldest.watch.close()
