"""The files that hold the truth, layer by layer: how many, how large, how new, and whether git keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from quire.anchors.working_tree import WorkingTree, look
from quire.files.git import Blob, Git
from quire.index.catalog import Index
from quire.layers.facts.layout import FILE as FACTS
from quire.layers.graph.layout import FOLDER, GENERATED
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import IGNORED as JOURNAL_IGNORED
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.model.errors import GitRequired
from quire.model.records import Problem
from quire.model.times import timestamp
from quire.model.vocabulary import LayerName
from quire.upkeep.folders import path_from_root

_FACTS = f"{FOLDER}/{FACTS}"
_PROFILE = f"{PROFILE_FOLDER}/{PROFILE_FILE}"
_FOLDERS: dict[LayerName, str] = {
    "graph": FOLDER,
    "facts": _FACTS,
    "profile": PROFILE_FOLDER,
    "journal": JOURNAL_FOLDER,
}
_LOOKED_AT = (FOLDER, _PROFILE, JOURNAL_FOLDER)
_LEFT_OUT = frozenset([*(f"{FOLDER}/{name}" for name in GENERATED), *(name.rstrip("/") for name in JOURNAL_IGNORED)])
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
            tally = tallies[layer]
            tally.files += 1
            tally.bytes += found.st_size
            tally.newest_ns = max(tally.newest_ns, found.st_mtime_ns)
    has_git = _ask_git(root, git, tallies)
    problems = index.problems()
    layers = tuple(_layer(layer, tallies[layer], index, problems, has_git=has_git) for layer in _FOLDERS)
    return FileHealth(layers=layers, index=_index(root, index_folder))


def without_private(found: FileHealth, records: int) -> FileHealth:
    """The same for others: of the profile so many records, and nothing of what is wrong with it.

    What is wrong may be wrong with the private document, and names entries of it.
    """

    def told(layer: LayerFiles) -> LayerFiles:
        if layer.layer != "profile":
            return layer
        present = layer.files > 0 or records > 0
        return msgspec.structs.replace(layer, present=present, records=records, problems=())

    return msgspec.structs.replace(found, layers=tuple(map(told, found.layers)))


def layer_of_file(path: str) -> LayerName | None:
    """The layer that a file from the project's root belongs to; None for what is none's, or is no truth."""
    if path == _FACTS:
        return "facts"
    if path == _PROFILE:
        return "profile"
    top, _, rest = path.partition("/")
    if f"{top}/{rest.partition('/')[0]}" in _LEFT_OUT:
        return None
    return "graph" if top == FOLDER else "journal" if top == JOURNAL_FOLDER else None


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
        told.append(Problem(code="MoreProblems", message=more, hint="`memory check` names all of them."))
    return tuple(told)


def _time(newest_ns: int) -> str:
    try:
        return timestamp(datetime.fromtimestamp(newest_ns / 1e9, UTC)) if newest_ns else ""
    except (OverflowError, OSError, ValueError):
        return ""


# -- on the disk ----------------------------------------------------------------------------


def _files(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files of all layers; no link is followed, and folders that hold no truth are not opened."""
    folders = [name for name in (FOLDER, JOURNAL_FOLDER) if not os.path.islink(os.path.join(root, name))]
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
    profile = os.path.join(root, _PROFILE)
    found = None if os.path.islink(os.path.dirname(profile)) or os.path.islink(profile) else _stat(profile)
    if found and os.path.isfile(profile):
        yield _PROFILE, found


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
    tree = look(root, git, _LOOKED_AT)
    if tree.missing:
        return False
    try:
        committed = git.committed(_LOOKED_AT)
    except GitRequired:
        return False
    for path in {*committed, *tree.staged, *tree.untracked}:
        layer = layer_of_file(path)
        if layer:
            tallies[layer].tracked += path in tree.staged
            tallies[layer].changed += _differs(tree, committed.get(path), path)
    return True


def _differs(tree: WorkingTree, committed: Blob | None, path: str) -> bool:
    staged = tree.staged.get(path)
    if staged is None or committed is None or committed.id != staged:
        return True
    return tree.is_dirty(path)
