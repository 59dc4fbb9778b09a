"""Find the records that are anchored to given files, and how closely."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from quire.anchors.path_match import Files, is_glob, static_prefix
from quire.anchors.symbols import find_symbol, read_symbols
from quire.files.paths import read_inside
from quire.model.anchors import anchor_fault
from quire.model.errors import InputError
from quire.model.records import Record

_SOURCE_BYTES = 1_000_000
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


class Governor:
    """Says of a record how closely it governs some files, and which of them; of one file also by the line.

    A folder stands for the files in it.
    """

    def __init__(self, root: str, paths: Iterable[str], *, line: int | None = None) -> None:
        asked = {path.rstrip("/") for path in paths}
        self._paths = sorted({*asked, *(file for path in asked for file in _files_below(root, path))})
        self._files = Files(self._paths)
        self._root = root
        self._line = line
        self._known: dict[str, dict[str, float]] = {}

    def __call__(self, record: Record) -> float:
        return max(self._governed(record).values(), default=0.0)

    def files(self, record: Record) -> tuple[str, ...]:
        """The files that a record governs, the closest first."""
        governed = self._governed(record)
        return tuple(sorted(governed, key=lambda path: (-governed[path], path)))

    def _governed(self, record: Record) -> dict[str, float]:
        found: dict[str, float] = {}
        for anchor in record.anchors:
            if anchor not in self._known:
                self._known[anchor] = self._by(anchor)
            for path, close in self._known[anchor].items():
                found[path] = max(close, found.get(path, 0.0))
        return found

    def _by(self, anchor: str) -> dict[str, float]:
        plain = anchor.rstrip("/")
        file, mark, name = plain.rpartition("#")
        if mark and plain not in self._paths and not os.path.lexists(os.path.join(self._root, plain)):
            plain, anchor = file, file
        governed = {self._paths[place]: _closeness(anchor, self._paths[place]) for place in self._files.at(anchor)}
        if plain == file and self._line is not None:
            return {path: 1.0 for path in governed if self._holds_line(path, name)}
        # What was anchored inside a folder that was asked for, and is not there any more, governs it still.
        inside = static_prefix(anchor)
        governed.update({path: 1.0 for path in self._paths if inside.startswith(f"{path}/")})
        return governed

    def _holds_line(self, path: str, name: str) -> bool:
        """Whether a symbol spans the line; where the file cannot be parsed, its file stands for it."""
        try:
            symbols = read_symbols(path, read_inside(self._root, path, _SOURCE_BYTES))
        except OSError:
            return True
        if not isinstance(symbols, list):
            return True
        symbol = find_symbol(symbols, name)
        return symbol is not None and symbol.first_line <= (self._line or 0) <= symbol.last_line


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
