"""Find files to import: one by name, those of a folder, or those of one name in all folders. Opens none.

Links are followed only where they stay within the project or the home folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from quire.capture.hosts.types import FILES_MOST, HostSource, Scope
from quire.files.paths import below, is_text, is_within

_DEPTH = 6
_FOLDERS_MOST = 5_000
"""So many folders are looked into for instructions that lie beside the code."""
# What is not the project's own work, or holds too much to look through.
_FOREIGN = (
    *("node_modules", "vendor", "venv", "env", "__pycache__", "dist", "build", "target", "out"),
    *("bower_components", "site-packages", "third_party"),
)


def project_sources(kind: str, root: str, names: Iterable[str]) -> list[HostSource]:
    """Those files of the project, by their paths from its root, that may be read."""
    found = (_source(kind, os.path.join(root, name), name, "project", root) for name in names)
    return [source for source in found if source]


def home_sources(kind: str, paths: Iterable[str], home: str) -> list[HostSource]:
    """Those files of the user's, by their absolute paths, that may be read."""
    return [source for path in paths if (source := _home_source(kind, path, home))]


def _home_source(kind: str, path: str, home: str) -> HostSource | None:
    top = home if home and below(path, home) is not None else os.path.dirname(path)
    rest = below(path, home) if home else None
    # A settings folder may lie outside the home folder; then only its last two parts are reported.
    shown = f"~/{rest}" if rest is not None else "…/" + "/".join(path.split("/")[-2:])
    return _source(kind, path, shown, "user", top)


def _source(kind: str, path: str, shown: str, scope: Scope, top: str) -> HostSource | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or not is_text(path) or not shown.isprintable() or not is_within(path, top):
        return None
    return HostSource(kind=kind, path=path, shown=shown, scope=scope, size=found.st_size)


def files_in(folder: str, endings: tuple[str, ...], depth: int = 1) -> list[str]:
    """The paths of the files with such endings in a folder and, up to a depth, in those within it, in order."""
    found: list[str] = []
    for path in _walk(folder, depth):
        if path.endswith(endings):
            found.append(path)
            if len(found) == FILES_MOST:
                break
    return found


def names_below(root: str, folder: str, endings: tuple[str, ...], depth: int) -> list[str]:
    """The same of a folder of the project, as paths from its root."""
    return [below(path, root) or "" for path in files_in(os.path.join(root, folder), endings, depth)]


def _walk(folder: str, depth: int) -> Iterator[str]:
    folders = []
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        else:
            yield entry.path
    if depth > 1:
        for inner in folders:
            yield from _walk(inner, depth - 1)


def named_files(root: str, names: tuple[str, ...]) -> list[str]:
    """The files of these names, relative to the root: at the top first, then in folders. Foreign ones are left out."""
    return _named(root, names, is_folder=False)


def named_folders(root: str, names: tuple[str, ...]) -> list[str]:
    """The folders of these names, however they are capitalised, relative to the root; none that lies in another."""
    return _named(root, names, is_folder=True)


def _named(root: str, names: tuple[str, ...], *, is_folder: bool) -> list[str]:
    found: list[str] = []
    waiting = [("", 0)]
    looked = 0
    while waiting and looked < _FOLDERS_MOST and len(found) < FILES_MOST:
        folder, depth = waiting.pop(0)
        looked += 1
        for entry in _entries(os.path.join(root, folder)):
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if not entry.is_dir(follow_symlinks=False):
                found += [relative] if entry.name in names and not is_folder else []
            elif is_folder and entry.name.lower() in names:
                found.append(relative)
            elif depth < _DEPTH and not entry.name.startswith(".") and entry.name not in _FOREIGN:
                waiting.append((relative, depth + 1))
    return found


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if is_text(entry.name)), key=lambda entry: entry.name)
    except OSError:
        return []
