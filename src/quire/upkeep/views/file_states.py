"""The files of each layer: number, size, age, and whether git tracks them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from quire.anchors.working_tree import WorkingTree, read_working_tree
from quire.files.git import Git
from quire.files.git_snapshot import Blob
from quire.index.catalog import Index
from quire.layers.table import HOMES, LAYERS, layer_named, layer_of_file, layers_in, path_from_root, tracked_paths
from quire.model.errors import GitRequired
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.model.vocabulary import LayerName

_FOLDERS: dict[LayerName, str] = {
    layer.name: layer.home.folder if layers_in(layer.home.folder)[0] is layer else layer.tracked[0] for layer in LAYERS
}
"""Where the files are; a layer that shares the folder of another is known by its file."""
_LEFT_OUT = frozenset(f"{home.folder}/{name}" for home in HOMES for name in home.generated)
"""Names of what stands right below a layer's folder."""
_PROBLEMS = 100


class LayerFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one layer; what is made from them, and what belongs to this machine alone, does not count."""

    layer: LayerName
    folder: str
    present: bool
    records: int
    files: int
    bytes: int
    tracked: bool | None
    """Whether git keeps any of it; None where there is no git."""
    changed: int
    """Files that differ from the last commit, are not in it, or are gone since."""
    newest: str
    problems: tuple[Problem, ...]


class IndexFile(msgspec.Struct, frozen=True):
    """Where the index is, from the project's root; empty where it is kept in memory."""

    path: str
    bytes: int


class FileHealth(msgspec.Struct, frozen=True, kw_only=True):
    layers: tuple[LayerFiles, ...]
    index: IndexFile


class _Tally:
    """Files of a layer, while they are counted."""

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0
        self.newest_ns = 0
        self.tracked = 0
        self.changed = 0


def file_health(root: str, git: Git, index: Index, index_folder: str | None) -> FileHealth:
    """How the files of every layer stand, by one walk through their folders and one look of git."""
    tallies = {layer: _Tally() for layer in _FOLDERS}
    for path, found in _files(root):
        layer = layer_of_file(path)
        if layer:
            tally = tallies[layer.name]
            tally.files += 1
            tally.bytes += found.st_size
            tally.newest_ns = max(tally.newest_ns, found.st_mtime_ns)
    has_git = _ask_git(root, git, tallies)
    problems = index.problems()
    layers = tuple(_layer(layer, tallies[layer], index, problems, has_git=has_git) for layer in _FOLDERS)
    return FileHealth(layers=layers, index=_index(root, index_folder))


def without_private(found: FileHealth, index: Index) -> FileHealth:
    """The same for others: of a layer with private records those that are shared, and none of its problems.

    A problem may be one of the private document, and name entries of it.
    """

    def told(layer: LayerFiles) -> LayerFiles:
        declared = layer_named(layer.layer)
        if not declared.has_private:
            return layer
        records = sum(not declared.is_private(record) for record in index.records(layer.layer))
        present = layer.files > 0 or records > 0
        return msgspec.structs.replace(layer, present=present, records=records, problems=())

    return msgspec.structs.replace(found, layers=tuple(map(told, found.layers)))


def _layer(
    layer: LayerName, tally: _Tally, index: Index, problems: list[tuple[str, str, str, str]], *, has_git: bool
) -> LayerFiles:
    records = sum(index.counts(layer).values())
    return LayerFiles(
        layer=layer,
        folder=_FOLDERS[layer],
        present=tally.files > 0 or records > 0,
        records=records,
        files=tally.files,
        bytes=tally.bytes,
        tracked=tally.tracked > 0 if has_git else None,
        changed=tally.changed,
        newest=_time(tally.newest_ns),
        problems=_problems([found for found in problems if found[0] == layer]),
    )


def _problems(found: list[tuple[str, str, str, str]]) -> tuple[Problem, ...]:
    told = [
        Problem(code=code, message=message, path=path_from_root(layer, path))
        for layer, path, code, message in found[:_PROBLEMS]
    ]
    if len(found) > _PROBLEMS:
        more = f"There are {len(found) - _PROBLEMS:,} more."
        told.append(Problem(code="MoreProblems", message=more, hint="`memory check` lists all of them."))
    return tuple(told)


def _time(newest_ns: int) -> str:
    try:
        return timestamp(datetime.fromtimestamp(newest_ns / 1e9, UTC)) if newest_ns else ""
    except (OverflowError, OSError, ValueError):
        return ""


# -- on the disk ----------------------------------------------------------------------------


def _files(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files of all layers; no link is followed, and folders that hold no truth are not opened."""
    # A layer that names its file alone keeps nothing else there that would count.
    tracked = [path for path in tracked_paths() if not os.path.islink(os.path.join(root, path.split("/")[0]))]
    folders = [path for path in tracked if "/" not in path]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = list(entries)
        except OSError:
            continue
        for entry in listed:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                folders += [path] if path not in _LEFT_OUT else []
            elif entry.is_file(follow_symlinks=False) and (found := _stat(entry.path)):
                yield path, found
    for path in tracked:
        full = os.path.join(root, path)
        if "/" in path and os.path.isfile(full) and not os.path.islink(full) and (found := _stat(full)):
            yield path, found


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=False)
    except OSError:  # gone since it was listed
        return None


def _index(root: str, folder: str | None) -> IndexFile:
    if folder is None:
        return IndexFile("", 0)
    size = 0
    try:
        with os.scandir(folder) as entries:
            size = sum(found.st_size for entry in entries if entry.is_file() and (found := _stat(entry.path)))
    except OSError:
        pass
    return IndexFile(os.path.relpath(folder, root), size)


# -- in git ---------------------------------------------------------------------------------


def _ask_git(root: str, git: Git, tallies: dict[LayerName, _Tally]) -> bool:
    """Count what git keeps and what differs from its last commit; whether git could tell."""
    if not git.available:
        return False
    tree = read_working_tree(root, git, tracked_paths())
    if tree.missing:
        return False
    try:
        committed = git.committed(tracked_paths())
    except GitRequired:
        return False
    for path in {*committed, *tree.staged, *tree.untracked}:
        layer = layer_of_file(path)
        if layer:
            tallies[layer.name].tracked += path in tree.staged
            tallies[layer.name].changed += _differs(tree, committed.get(path), path)
    return True


def _differs(tree: WorkingTree, committed: Blob | None, path: str) -> bool:
    staged = tree.staged.get(path)
    if staged is None or committed is None or committed.id != staged:
        return True
    return tree.is_dirty(path)
