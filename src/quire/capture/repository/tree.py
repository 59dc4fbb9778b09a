"""The files of a project: what git lists, else a bounded walk; and the beginning of each file.

Links are never followed, neither as files nor on the way to one. Files that git ignores, folders of build results and
of other people's code, and what the memories themselves wrote are not among them.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from quire.files.git import Git
from quire.files.paths import open_regular, passes_link
from quire.guard.hostile_text import find_hostile
from quire.layers.journal import layout
from quire.model.errors import QuireError
from quire.model.text import plain_newlines, trim

_GENERATED = ".git .next .nuxt .turbo .venv __pycache__ build coverage dist node_modules out target venv"
_FOREIGN_NAMES = (
    ".cache .gradle .hypothesis .mypy_cache .nox .pytest_cache .ruff_cache .tox bower_components third_party vendor"
)
GENERATED = frozenset(_GENERATED.split())
"""Folders whose files nobody wrote here."""
_FOREIGN = frozenset(_FOREIGN_NAMES.split())
_OWN = (f"{layout.FOLDER}/", f"{layout.PROJECTIONS}/", ".memory/")
FILES_MOST = 400_000
"""What is more is left out, the same files each time."""
DEPTH_MOST = 32
HEAD_BYTES = 128 * 1024
_FILE, _LINK_FREE = stat.S_IFREG, "100"
"""The kind of a regular file, and how git's mode of one begins."""


class Tree(Struct, frozen=True, kw_only=True):
    """The files by their paths from the root, in plain order, and the folders that hold them."""

    root: str
    files: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


class Top(Struct, frozen=True):
    """What lies at the root itself, ignored or not: folders, and regular files."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def list_tree(root: str, git: Git) -> Tree:
    found = _git_files(git)
    return make_tree(root, _walk(root) if found is None else found)


def make_tree(root: str, paths: Iterable[str]) -> Tree:
    """The tree of these paths, but for those in folders that do not count or with names that cannot be shown."""
    folders: dict[str, bool] = {"": True}
    kept = [path for path in paths if _counts(folder_of(path), folders) and is_nameable(path)]
    kept.sort()
    files = tuple(kept[:FILES_MOST])
    holding = {folder_of(path) for path in files}
    for folder in list(holding):
        while folder := folder_of(folder):
            holding.add(folder)
    return Tree(root=root, files=files, names=frozenset(files), folders=frozenset(holding - {""}))


def look_at_top(root: str) -> Top:
    """The names at the root; a folder that cannot be read is empty."""
    folders: list[str] = []
    files: list[str] = []
    for name, is_folder in _entries(root, FILES_MOST):
        if is_nameable(name):
            (folders if is_folder else files).append(name)
    return Top(tuple(folders), tuple(files))


def below(tree: Tree, folder: str) -> tuple[str, ...]:
    """The files in a folder and in those below it; all of them for the root."""
    if not folder:
        return tree.files
    # The sign after the slash is the zero.
    return tree.files[bisect_left(tree.files, f"{folder}/") : bisect_left(tree.files, f"{folder}0")]


def named(tree: Tree, names: Iterable[str]) -> dict[str, list[str]]:
    """The paths of all files with these names, wherever they lie."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for path in tree.files:
        name = path.rpartition("/")[2]
        if name in found:
            found[name].append(path)
    return found


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_nameable(path: str) -> bool:
    """Whether a path can be shown and stored: a text that says something and hides nothing."""
    if path.isascii() and path.isprintable() and " " not in path:
        return bool(path)
    return not find_hostile(path, single_line=True) and all(map(trim, path.split("/")))


def is_file(tree: Tree, path: str) -> bool:
    """Whether a path of the tree is, right now, a regular file reached without a link."""
    if path not in tree.names or passes_link(tree.root, folder_of(path)):
        return False
    try:
        return stat.S_IFMT(os.lstat(os.path.join(tree.root, path)).st_mode) == _FILE
    except OSError:
        return False


def read_beginning(tree: Tree, path: str, most: int = HEAD_BYTES) -> str:
    """How a text file of the tree begins, up to the end of a line; empty for what cannot be read or is no text."""
    if path not in tree.names or passes_link(tree.root, folder_of(path)):
        return ""
    try:
        data = _first_bytes(os.path.join(tree.root, path), most + 1)
    except OSError:
        return ""
    if len(data) > most:
        data = data[: data.rfind(b"\n", 0, most) + 1] or data[:most]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return plain_newlines(data.decode("utf-16", "replace"))
    return "" if b"\0" in data else plain_newlines(data.decode("utf-8", "replace"))


def _first_bytes(path: str, most: int) -> bytes:
    descriptor, _ = open_regular(path)
    try:
        data = b""
        while len(data) < most and (chunk := os.read(descriptor, most - len(data))):
            data += chunk
        return data
    finally:
        os.close(descriptor)


def _git_files(git: Git) -> Iterator[str] | None:
    """What git tracks and would track, without links and submodules; None where there is no git to ask."""
    if not git.available:
        return None
    questions = (("--stage",), ("--deleted",), ("--others", "--exclude-standard"))
    try:
        answers = git.finish_all([git.start("ls-files", "-z", *options) for options in questions])
    except QuireError:
        return None
    staged, deleted, others = (os.fsdecode(answer).split("\0") for answer in answers)
    gone = set(deleted)
    tracked = {path for meta, _, path in (line.partition("\t") for line in staged) if meta.startswith(_LINK_FREE)}
    return (path for path in (*(tracked - gone), *others) if path and not path.endswith("/"))


def _walk(root: str) -> Iterator[str]:
    """The regular files below a folder, level by level; no more entries are looked at than may be kept."""
    waiting = deque([("", 0)])
    left = FILES_MOST
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        for name, is_folder in _entries(os.path.join(root, folder), left):
            left -= 1
            path = f"{folder}/{name}" if folder else name
            if not is_folder:
                yield path
            elif depth < DEPTH_MOST and name not in GENERATED and name not in _FOREIGN:
                waiting.append((path, depth + 1))


def _entries(folder: str, most: int) -> list[tuple[str, bool]]:
    """The regular files and the folders in a folder, by name, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in islice(entries, most)
                if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(found)


def _counts(folder: str, known: dict[str, bool]) -> bool:
    """Whether the files of a folder are those of the project; asked once for each folder."""
    found = known.get(folder)
    if found is None:
        parts = folder.split("/")
        found = GENERATED.isdisjoint(parts) and _FOREIGN.isdisjoint(parts)
        found = known[folder] = found and not f"{folder}/".startswith(_OWN)
    return found
