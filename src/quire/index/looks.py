"""When a process that stays alive last looked at every file, so that it need not do so at every question.

A look at each file of a large store takes longer than the answer. Whatever replaces a file (every write of ours, git,
most editors) changes the folder that it lies in, and that is looked at each time. Only an edit inside a file leaves no
such trace; for its sake every file is looked at again when the last look is two seconds old. A command, which lives for
one question, always looks at everything.
"""

from __future__ import annotations

from time import monotonic

import msgspec

SECONDS = 2.0
_SETTLED = 0.1
"""File systems tell times apart that are a few milliseconds apart: what may have changed within one is not trusted."""

__all__ = ["Looks"]


class _Look(msgspec.Struct, frozen=True):
    folders: dict[str, int]
    first: float
    """When the folders were first seen like this."""
    whole: float
    """When every file was last looked at, the folders being like this."""


class Looks:
    """The looks of one process at one store or more."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Look] = {}

    def suffices(self, place: str, layer: str, folders: dict[str, int]) -> bool:
        """Whether the last look at every file still counts."""
        look = self._seen.get((place, layer))
        if look is None or look.folders != folders:
            return False
        return monotonic() - look.whole < SECONDS and look.whole - look.first >= _SETTLED

    def note(self, place: str, layer: str, folders: dict[str, int], began: float) -> None:
        """Every file was looked at; the look began at this moment, after the folders were seen."""
        before = self._seen.get((place, layer))
        first = before.first if before is not None and before.folders == folders else began
        self._seen[(place, layer)] = _Look(folders, first, began)
