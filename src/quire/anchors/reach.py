"""Tell which files anchors reach: the files that a change touched, or those that someone asks about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from quire.anchors.path_match import Files, is_glob, static_prefix
from quire.model.anchors import anchor_fault
from quire.model.errors import InputError
from quire.model.records import Record

_FILES_MOST = 5_000


def inner_path(root: str, cwd: str, path: str) -> str:
    """A file's path from the project's root, however it was named: from where we stand, from the root, or in full."""
    here = os.path.normpath(os.path.join(cwd, path))
    at_root = os.path.normpath(os.path.join(root, path))
    full = at_root if os.path.lexists(at_root) and not os.path.lexists(here) else here
    relative = os.path.relpath(full, root)
    fault = anchor_fault(relative)
    if fault:
        raise InputError(f"`{path}` {fault}.", hint="Name a file of this project.", details={"field": "path"})
    return relative


class Reach(Files):
    """Files by which records are found: rates how closely an anchor reaches them, and names those that it reaches.

    `counts` says of a definition in one of the files whether it counts; without it, its file stands for it.
    """

    def __init__(self, paths: Iterable[str], counts: Callable[[str, str], bool] | None = None) -> None:
        super().__init__(sorted(set(paths)))
        self._own = frozenset(self.paths)
        self._counts = counts
        self._covered: dict[str, bool] = {}
        self._rated: dict[str, dict[str, float]] = {}

    def covers(self, anchor: str) -> bool:
        """Whether any of the files lies at or below an anchor, or holds the definition that it names."""
        found = self._covered.get(anchor)
        if found is None:
            file, _, name = anchor.rpartition("#")
            found = self._covered[anchor] = self._holds(anchor) or bool(name and self._holds(file))
        return found

    def _holds(self, anchor: str) -> bool:
        return anchor.rstrip("/") in self._with_folders or (is_glob(anchor) and bool(self.at(anchor)))

    @cached_property
    def _with_folders(self) -> set[str]:
        """The files and the folders above them: most anchors are found here, or are not affected."""
        named = set[str]()
        for name in self.paths:
            while name and name not in named:
                named.add(name)
                name = name.rpartition("/")[0]
        return named

    def __call__(self, record: Record) -> float:
        """How closely a record governs the files, from 0 for not at all to 1."""
        return max(self._governed(record).values(), default=0.0)

    def files(self, record: Record) -> tuple[str, ...]:
        """The files that a record governs, the closest first."""
        governed = self._governed(record)
        return tuple(sorted(governed, key=lambda path: (-governed[path], path)))

    def _governed(self, record: Record) -> dict[str, float]:
        found: dict[str, float] = {}
        for anchor in record.anchors:
            if anchor not in self._rated:
                self._rated[anchor] = self._rate(anchor)
            for path, close in self._rated[anchor].items():
                found[path] = max(close, found.get(path, 0.0))
        return found

    def _rate(self, anchor: str) -> dict[str, float]:
        plain = anchor.rstrip("/")
        file, _, name = plain.rpartition("#")
        is_symbol = bool(file) and plain not in self._own
        reached = file if is_symbol else anchor
        close = {path: _closeness(reached, path) for path in (self.paths[place] for place in self.at(reached))}
        if is_symbol and self._counts:
            close = {path: 1.0 for path in close if self._counts(path, name)}
        # What was anchored inside a folder that was asked for, and is not there any more, governs it still.
        above = static_prefix(reached)
        while above := above.rpartition("/")[0]:
            if above in self._own:
                close[above] = 1.0
        return close


def reach_below(root: str, paths: Iterable[str], counts: Callable[[str, str], bool] | None = None) -> Reach:
    """By files and folders that someone names; a folder stands for the files in it."""

    def is_definition(file: str, name: str) -> bool:
        return not os.path.lexists(os.path.join(root, f"{file}#{name}")) and (not counts or counts(file, name))

    asked = {path.rstrip("/") for path in paths}
    return Reach({*asked, *(file for path in asked for file in _files_below(root, path))}, is_definition)


def _files_below(root: str, path: str) -> Iterator[str]:
    """The files in a folder, as many as one would read about."""
    if not path or not os.path.isdir(os.path.join(root, path)):
        return
    found = 0
    for folder, names, files in os.walk(os.path.join(root, path)):
        names[:] = sorted(name for name in names if name != ".git")
        for file in sorted(files):
            found += 1
            if found > _FILES_MOST:
                return
            yield os.path.relpath(os.path.join(folder, file), root)


def _closeness(anchor: str, path: str) -> float:
    """1 for the file itself, less for wider folders, and for patterns."""
    plain = anchor.rstrip("/")
    if path == plain:
        return 1.0
    if is_glob(anchor):
        return 0.5
    return 0.5 + 0.4 * (plain.count("/") + 1) / (path.count("/") + 1)
