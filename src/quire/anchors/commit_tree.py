"""List the files of a commit by path, each with its blob id."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from quire.anchors.definitions import Definitions
from quire.anchors.path_match import Files, static_prefix
from quire.anchors.symbols import Symbols, Unparsed
from quire.files.digests import hex_digest
from quire.files.git import Git
from quire.model.anchors import OWN_FILES, OWN_FOLDERS

_PATHS_MOST = 64


def read_commit_tree(git: Git, commit: str, anchors: Iterable[str] | None = None) -> FileTree:
    """Read the files of a commit, or those that these anchors can match."""
    held = git.committed(parts_for(anchors), commit)
    return FileTree(git, {path: blob.id for path, blob in held.items()})


def parts_for(anchors: Iterable[str] | None) -> list[str]:
    """The paths below which all matches of the anchors are; an empty list means everywhere."""
    paths: set[str] = set()
    for anchor in anchors or ("",):
        paths.add(static_prefix(anchor))
        if "#" in anchor:
            file = anchor.rpartition("#")[0]
            paths |= {static_prefix(file), file}
    # A file that someone edited by hand may name what no disk can hold; git cannot be asked for that either.
    return [] if "" in paths else sorted(_few(set(filter(may_be_a_path, paths))))


def _few(paths: set[str]) -> set[str]:
    """The same paths, or folders further up that hold them, so that git need not compare each file with many."""
    deepest = max((path.count("/") for path in paths), default=0)
    while len(paths) > _PATHS_MOST and deepest:
        paths = {path.rpartition("/")[0] if path.count("/") == deepest else path for path in paths}
        deepest -= 1
    return paths if len(paths) <= _PATHS_MOST else set()


def may_be_a_path(text: str) -> bool:
    """Whether a file may be called so at all."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def without_own(paths: list[str]) -> list[str]:
    """Without what the memory writes itself; the list is sorted, and changed in place."""
    for folder in OWN_FOLDERS:
        begin = bisect_left(paths, f"{folder}/")
        del paths[begin : bisect_left(paths, f"{folder}0")]
    for name in OWN_FILES:
        place = bisect_left(paths, name)
        if place < len(paths) and paths[place] == name:
            del paths[place]
    return paths


class FileTree:
    """Files by their paths, each with the id of its content."""

    missing = ""

    def __init__(self, git: Git, ids: dict[str, str]) -> None:
        self.git = git
        self._ids = ids
        self.paths = without_own(sorted(ids))
        """What folders and patterns can match."""
        self.files = Files(self.paths)
        self.sights: dict[str, Any] = {}
        """What was seen already, by anchor: many records share one."""
        self.definitions = Definitions()
        self.defined: dict[str, Symbols | Unparsed] = {}
        """All that a file defines, where someone had to look at all of it."""
        self.listed: dict[str, list[str]] = {}
        """Folders below a folder, by whoever looked for them."""

    def has(self, path: str) -> bool:
        return path in self._ids

    def is_file(self, path: str) -> bool:
        """Whether there is such a file, listed or not."""
        return path in self._ids

    def content(self, path: str) -> str | None:
        """The id of a file's content; None if there is no such file, or it cannot be read."""
        return self._ids.get(path)

    def contents(self, positions: Sequence[int]) -> list[tuple[str, str | None]]:
        """Files and their contents, by their positions in `paths`."""
        return [(path, self.content(path)) for path in (self.paths[place] for place in positions)]

    def read(self, path: str, limit: int) -> bytes:
        """A file's bytes, up to a limit; OSError or GitRequired where they cannot be had."""
        return self.git.blob(self._ids[path])[: limit + 1]

    def digest(self, positions: Sequence[int]) -> str | None:
        """One digest of all these files; None where one of them cannot be read."""
        contents = self.contents(positions)
        if any(content is None for _, content in contents):
            return None
        return hex_digest("\0".join([f"{content} {path}" for path, content in contents]))[:32]
