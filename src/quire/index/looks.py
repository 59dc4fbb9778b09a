"""When a process that stays alive last looked at every file, so that it need not do so at every question.

A look at each file of a large store takes longer than the answer. Whatever replaces a file (every write of ours, git,
most editors) changes the folder that it lies in, and that is looked at each time. Only an edit inside a file leaves no
such trace. Where the kernel tells of those, too, a look counts until it does; elsewhere every file is looked at again
when the last look is two seconds old. A command, which lives for one question, always looks at everything.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from time import monotonic

import msgspec

from quire.files.watching import FolderWatch, watch_folders

SECONDS, WATCHED_SECONDS = 2.0, 60.0
"""How long a look counts: by itself, and where the kernel would have told of a change."""
_SETTLED = 0.1
"""File systems tell times apart that are a few milliseconds apart: what may have changed within one is not trusted."""
_STORES = 32
Watch = Callable[[Iterable[str]], FolderWatch | None]


class _Seen(msgspec.Struct):
    """What is known of one layer of one store."""

    folders: dict[str, int]
    first: float
    """When the folders were first seen like this."""
    watch: FolderWatch | None
    whole: float = -1.0
    """When every file was last looked at, the folders being like this; negative where that no longer counts."""
    times: int = 0
    """How often something was touched."""


class Looks:
    """The looks of one process at its stores."""

    def __init__(self, watch: Watch = watch_folders) -> None:
        self._watch = watch
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._guard = threading.Lock()

    def suffices(self, place: str, layer: str, folders: dict[str, int]) -> bool:
        """Whether the last look at every file still counts."""
        with self._guard:
            seen = self._heed((place, layer))
            if seen is None or seen.folders != folders or seen.whole < 0:
                return False
            limit = WATCHED_SECONDS if seen.watch is not None else SECONDS
            return monotonic() - seen.whole < limit and seen.whole - seen.first >= _SETTLED

    def begin(self, place: str, layer: str, folders: dict[str, int], base: str) -> tuple[float, int]:
        """A look at every file begins, the folders having been seen; what `note` wants to be told."""
        with self._guard:
            key = (place, layer)
            seen = self._heed(key)
            if seen is None or seen.folders != folders:
                self._renew(key, seen, folders, base)
            return monotonic(), self._seen[key].times

    def note(self, place: str, layer: str, folders: dict[str, int], begun: tuple[float, int]) -> None:
        """Every file was looked at; it counts if nothing was touched meanwhile."""
        with self._guard:
            seen = self._heed((place, layer))
            if seen is not None and seen.folders == folders and seen.times == begun[1]:
                seen.whole = begun[0]

    def _heed(self, key: tuple[str, str]) -> _Seen | None:
        """What is known, after hearing what the kernel has to tell. Whoever hears it makes it known to all."""
        seen = self._seen.get(key)
        if seen is not None and seen.watch is not None and seen.watch.touched():
            seen.whole, seen.times = -1.0, seen.times + 1
        return seen

    def _renew(self, key: tuple[str, str], seen: _Seen | None, folders: dict[str, int], base: str) -> None:
        watch = seen.watch if seen is not None else None
        if seen is None or seen.folders.keys() != folders.keys():
            if watch is not None:
                watch.close()
            if seen is None and len(self._seen) >= _STORES:
                self._forget_one()
            watch = self._watch(os.path.join(base, folder) for folder in folders) if folders else None
        times = seen.times + 1 if seen is not None else 0
        self._seen[key] = _Seen(folders=folders, first=monotonic(), watch=watch, times=times)

    def _forget_one(self) -> None:
        oldest = self._seen.pop(next(iter(self._seen)))
        if oldest.watch is not None:
            oldest.watch.close()
