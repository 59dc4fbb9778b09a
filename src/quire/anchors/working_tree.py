"""List the working tree: every file that git tracks or would track, with its blob id.

A file that looks to git as it did when it was staged has the id that the index holds, and is not opened. Any other is
read and hashed here, when someone asks for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from functools import cached_property

from quire.anchors.commit_tree import FileTree, parts_for
from quire.files.digests import blob_id, hash_file
from quire.files.git import Git
from quire.files.git_history import filtered_paths
from quire.files.git_snapshot import PendingSnapshot, Snapshot
from quire.files.paths import follow_inside, read_bytes
from quire.model.errors import GitRequired, OutsideProject

_HEAD = len("H 100644 ")
_TAIL = len(" 0\t")
_HASH_BYTES = 256 * 1024 * 1024
"""A file that differs from the index and is larger than this is not read: it counts as one that cannot be."""
_CRLF_BYTES = 8 * 1024 * 1024
_NOTHING = Snapshot([], [], {})


def read_working_tree(root: str, git: Git, anchors: Iterable[str] | None = None) -> WorkingTree:
    """Read the working tree, or the parts that these anchors can match."""
    return TreeReader(root, git, anchors).tree()


class TreeReader:
    """Reads the working tree in the background; `tree` waits for the result."""

    def __init__(self, root: str, git: Git, anchors: Iterable[str] | None = None) -> None:
        self._root = root
        self._git = git
        self._missing = ""
        self._pending: PendingSnapshot | None = None
        self._tree: WorkingTree | None = None
        self._paths = parts_for(anchors)
        if os.path.lexists(os.path.join(root, ".gitmodules")):
            self._paths = []  # of a path that leads into a submodule git says nothing at all
        try:
            self._pending = git.begin_snapshot(self._paths)
        except GitRequired as error:
            self._missing = error.message.rstrip(".")

    def differing(self) -> list[str] | None:
        """The files that are not as the index has them, known before anything else; None where that is not known."""
        try:
            untracked, touched = self._pending.differing() if self._pending else ([], None)
        except GitRequired:
            return None
        return None if touched is None else sorted([*untracked, *touched])

    def tree(self) -> WorkingTree:
        if self._tree is None:
            try:
                snapshot = self._pending.finish() if self._pending else _NOTHING
            except GitRequired as error:
                snapshot, self._missing = _NOTHING, error.message.rstrip(".")
            self._tree = WorkingTree(self._root, self._git, snapshot, self._missing)
            self._tree.parts = self._paths
        return self._tree


class WorkingTree(FileTree):
    """The current files. `missing` says why git could not list them; empty if it could."""

    def __init__(self, root: str, git: Git, snapshot: Snapshot, missing: str) -> None:
        staged = snapshot.staged
        self._id_chars = len(staged[0].partition("\t")[0]) - _HEAD - _TAIL + 1 if staged else 0
        begin, end = _HEAD, _HEAD + self._id_chars
        self.staged = {entry[end + _TAIL :]: entry[begin:end] for entry in staged}
        self.root = root
        self.missing = missing
        self.parts: list[str] = []
        """The paths that were looked at; none means everywhere."""
        self.modules: dict[str, WorkingTree | None] = {}
        self.hidden: set[str] = set()
        """Files that a sparse checkout keeps out of the working tree."""
        self.links: set[str] = set()
        self.untracked = snapshot.untracked
        self.gone = {path for path, how in (snapshot.touched or {}).items() if how == "D"}
        self._plain_lines = snapshot.plain_lines
        self._unsure: set[str] = set(snapshot.untracked)
        """Files whose content the index does not vouch for."""
        self.doubtful: set[str] = set()
        """Files that git was told not to look at."""
        self._hashed: dict[str, str | None] = {}
        self._filtered: set[str] | None = None
        self.git = git
        self._note_exceptions(snapshot, end + _TAIL)
        super().__init__(git, self._present(snapshot.untracked))

    def _present(self, untracked: list[str]) -> dict[str, str]:
        if not self.gone and not untracked:
            return self.staged
        present = {path: content for path, content in self.staged.items() if path not in self.gone}
        present.update(dict.fromkeys(untracked, ""))
        return present

    def _note_exceptions(self, snapshot: Snapshot, path_at: int) -> None:
        # Almost every line begins alike; the others are looked at one by one.
        for entry in snapshot.staged:
            if entry.startswith(("H 100644", "H 100755")) and entry[path_at - 2] == "0":
                continue
            path = entry[path_at:]
            if entry[2:8] == "160000":
                self.modules[path] = None
            elif entry[0] in "Ss" and not os.path.lexists(os.path.join(self.root, path)):
                self.hidden.add(path)
            elif entry[0] != "H" or entry[path_at - 2] != "0":
                self.doubtful.add(path)
            if entry[2:8] == "120000":
                self.links.add(path)
        if snapshot.touched is None:
            self.doubtful |= self.staged.keys() - self.modules.keys() - self.hidden
        else:
            self._unsure |= {path for path, how in snapshot.touched.items() if how != "D"}
        # Of these git does not say whether they are there at all.
        self.gone |= {path for path in self.doubtful if not os.path.lexists(os.path.join(self.root, path))}
        self._unsure |= self.doubtful - self.gone
        self.doubtful |= self.hidden

    @cached_property
    def ignored_folders(self) -> set[str]:
        """Folders in which nothing counts."""
        return {path.rstrip("/") for path in self.git.ignored_folders(self.parts)}

    def is_dirty(self, path: str) -> bool:
        """Whether a file differs from the index, or the index does not know it."""
        if path in self._unsure:
            return self.content(path) != self.staged.get(path)
        return path in self.gone

    def dirty(self) -> set[str]:
        """Every file that differs from the index, or that it does not know."""
        return {path for path in self._unsure if self.is_dirty(path)} | self.gone

    def content(self, path: str) -> str | None:
        if path in self.modules:
            module = self._module(path)
            return None if module.missing else module.digest(range(len(module.paths)))
        if path in self._unsure or path not in self.staged:
            if path not in self._hashed:
                self._hashed[path] = self._hash(path) if path in self._unsure or self.is_file(path) else None
            return self._hashed[path]
        return None if path in self.gone else self.staged[path]

    def contents(self, positions: Sequence[int]) -> list[tuple[str, str | None]]:
        paths, staged, unsure = self.paths, self.staged, self._unsure
        if self.modules:
            return super().contents(positions)
        if not unsure:
            return [(paths[place], staged[paths[place]]) for place in positions]
        return [
            (path, self.content(path) if path in unsure else staged[path])
            for path in (paths[place] for place in positions)
        ]

    def is_link(self, path: str) -> bool:
        return path in self.links or (path not in self.staged and os.path.islink(os.path.join(self.root, path)))

    def behind(self, path: str) -> str | None:
        """The target of a link, relative to the root; None if it is no file of the project."""
        try:
            real = follow_inside(self.root, path)
        except OutsideProject:
            return None
        return os.path.relpath(real, os.path.realpath(self.root)) if os.path.isfile(real) else None

    def is_file(self, path: str) -> bool:
        """Whether there is such a file on the disk, spelled exactly so, and inside the project."""
        full = os.path.join(self.root, path)
        try:
            found = os.lstat(full)
            follow_inside(self.root, path)
        except (OSError, OutsideProject, ValueError):
            return False
        return (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)) and _spelled_so(full)

    def is_too_large(self, path: str) -> bool:
        """Whether a file would take too long to be read as a whole."""
        try:
            return os.lstat(os.path.join(self.root, path)).st_size > _HASH_BYTES
        except OSError:
            return False

    def read(self, path: str, limit: int) -> bytes:
        if path in self.hidden:
            return self.git.blob(self.staged[path])[: limit + 1]
        try:
            return read_bytes(follow_inside(self.root, path), limit)
        except OutsideProject as error:
            raise OSError(error.message) from error

    def within(self, path: str) -> tuple[WorkingTree, str] | None:
        """The submodule that a path leads into, and the rest of the path."""
        for module in self.modules:
            if path.startswith(f"{module}/"):
                return self._module(module), path.removeprefix(f"{module}/")
        return None

    def _module(self, path: str) -> WorkingTree:
        found = self.modules[path]
        if found is None:
            full = os.path.join(self.root, path)
            found = self.modules[path] = read_working_tree(full, self.git.elsewhere(full))
        return found

    def _like(self, path: str) -> str:
        """An id of the length that this repository's have."""
        if path in self.staged:
            return self.staged[path]
        if not self._id_chars:
            self._id_chars = self.git.id_chars() if not self.missing else 40
        return "0" * self._id_chars

    def _hash(self, path: str) -> str | None:
        full = os.path.join(self.root, path)
        like = self._like(path)
        try:
            found = os.lstat(full)
            if stat.S_ISLNK(found.st_mode):
                return blob_id(os.fsencode(os.readlink(full)), like)
            if found.st_size > _HASH_BYTES:
                return None
            digest = hash_file(full, like)
            if digest == like:
                return digest
            if found.st_size <= _CRLF_BYTES:
                digest = self._as_committed(full, path, digest, like)
        except (OSError, ValueError):
            return None
        return None if digest != like and self._is_filtered(path) else digest

    def _as_committed(self, full: str, path: str, digest: str, like: str) -> str:
        """A checkout may have turned line ends: then the file has the id that it would be committed with."""
        staged = self.staged.get(path)
        if staged is None and not self._plain_lines:
            return digest
        data = read_bytes(full, _CRLF_BYTES)
        if b"\r\n" not in data or b"\0" in data[:8000]:
            return digest
        plain = blob_id(data.replace(b"\r\n", b"\n"), like)
        try:
            return plain if staged in (None, plain) or b"\r\n" not in self.git.blob(staged) else digest
        except GitRequired:
            return digest

    def _is_filtered(self, path: str) -> bool:
        """Whether a file is stored otherwise than it lies here: what it would be stored as cannot be known."""
        if self._filtered is None:
            known = [] if self.missing else [name for name in self._unsure if name in self.staged]
            self._filtered = set(filtered_paths(self.git, known))
        return path in self._filtered


def _spelled_so(full: str) -> bool:
    """Whether the folder has this very name: some disks take any case for another."""
    folder, name = os.path.split(full)
    try:
        return name in os.listdir(folder)
    except OSError:
        return False
