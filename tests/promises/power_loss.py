"""The disks that a power cut may leave.

The calls of the seam are recorded as the operating system sees them. File contents last once the file is synced, names
once their folder is; of the rest any part may be missing: all of it, none, contents or names alone, each one alone, all
but one, and where there are few of them every selection. A write that was not synced may also have reached the disk by
half, or with its length alone: zeros.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from crash_faults import Call
from crash_space import Tree, walk_files

import quire

__all__ = ["Disk", "Entry", "Recorder", "in_place"]

OURS = os.path.dirname(quire.__file__) + os.sep
"""The folder of the package: a clone may be called the same."""
FOLDER = -1
Names = dict[str, int]
SYNCING = ("sync_folder(", "disk.create(", "disk.append(", "disk.truncate(", "fsync(", "disk.rename(")


class Entry(NamedTuple):
    """A call as it was recorded; `site` is the line of ours that made it."""

    name: str
    path: str
    extra: Any = None
    site: str = ""


class Effect(NamedTuple):
    """A change that is not on the disk yet: a name given (or taken away), a file's bytes, or its mode."""

    name: str = ""
    inode: int | None = None
    gone: str = ""
    data: bytes | None = None
    since: int | None = None
    """Where the bytes of this write begin."""
    mode: int | None = None

    @property
    def is_content(self) -> bool:
        return self.data is not None or self.mode is not None


class Recorder:
    """A fault that lets everything pass, and notes it."""

    def __init__(self) -> None:
        self.log: list[Entry] = []

    def __call__(self, call: Call) -> Any:
        path, site = call.path, site_of()
        if call.name == "write":
            self.log.append(Entry("write", path, bytes(call.arguments[1]), site))
        elif call.name == "fsync":
            self.log.append(Entry("sync", path, None, site))
        elif call.name == "replace":
            self.log.append(Entry("rename", path, call.arguments[0], site))
        elif call.name == "ftruncate":
            self.log.append(Entry("truncate", path, call.arguments[1], site))
        elif call.name in ("chmod", "fchmod"):
            self.log.append(Entry("mode", path, call.arguments[1], site))
        elif call.name in ("create", "mkdir"):
            self.log.append(Entry(call.name, path, None, site))
        elif call.name in ("unlink", "rmdir"):
            self.log.append(Entry("remove", path, None, site))
        return call.do()


def site_of() -> str:
    """The function that asked the seam for this, and which of its calls it was."""
    frame = sys._getframe(1)
    while not is_ours(frame.f_code.co_filename):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    code = frame.f_code
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : frame.f_lineno]
    turn = sum(any(word in line for word in SYNCING) for line in lines)
    module = os.path.basename(code.co_filename).removesuffix(".py")
    return f"{module}.{code.co_name} {turn}"


def is_ours(file: str) -> bool:
    return file.startswith(OURS) and not file.endswith(f"{os.sep}disk.py")


def in_place(entry: Entry, model: Disk) -> list[Entry]:
    """What a rename would be to a writer that copies the bytes into the file instead."""
    data = model.data[model.names[entry.extra]]
    first = Entry("truncate", entry.path, 0) if entry.path in model.names else Entry("create", entry.path)
    return [first, Entry("write", entry.path, data), Entry("remove", entry.extra)]


class Disk:
    """What the process sees, what surely lasts, and the effects in between."""

    def __init__(self, top: str) -> None:
        self.names: Names = {}
        self.data: dict[int, bytes] = {}
        self.modes: dict[int, int] = {}
        self.pending: list[Effect] = []
        for folder, folders, files in os.walk(top):
            self.names[folder] = FOLDER
            folders[:] = [name for name in folders if name not in (".git", "index")]
            for name in files:
                path = os.path.join(folder, name)
                self.names[path] = len(self.data)
                self.modes[len(self.data)] = os.stat(path).st_mode & 0o777
                with open(path, "rb") as file:
                    self.data[len(self.data)] = file.read()
        self.lasting, self.lasting_data, self.lasting_modes = dict(self.names), dict(self.data), dict(self.modes)
        self.first = {path: self.modes[inode] for path, inode in self.names.items() if inode != FOLDER}
        self.made = dict(self.names)

    def copy(self) -> Disk:
        other = Disk.__new__(Disk)
        other.names, other.data, other.modes = dict(self.names), dict(self.data), dict(self.modes)
        other.pending, other.first, other.made = list(self.pending), self.first, self.made
        other.lasting, other.lasting_data = dict(self.lasting), dict(self.lasting_data)
        other.lasting_modes = dict(self.lasting_modes)
        return other

    def play(self, entry: Entry) -> None:
        name, path, extra = entry[:3]
        if name == "sync":
            self.sync(path)
            return
        if name == "create":
            effect = Effect(path, len(self.data))
            self.data[len(self.data)] = b""
        elif name == "write":
            inode = self.names[path]
            effect = Effect(inode=inode, data=self.data[inode] + extra, since=len(self.data[inode]))
        elif name == "truncate":
            inode = self.names[path]
            effect = Effect(inode=inode, data=self.data[inode][:extra].ljust(extra, b"\0"))
        elif name == "mode":
            inode = self.names.get(path, FOLDER)
            if inode == FOLDER:
                return
            effect = Effect(inode=inode, mode=extra & 0o777)
        elif name == "mkdir":
            effect = Effect(path, FOLDER)
        elif name == "rename":
            effect = Effect(path, self.names[extra], gone=extra)
        else:
            effect = Effect(gone=path)
        apply(effect, self.names, self.data, self.modes)
        self.pending.append(effect)

    def sync(self, path: str) -> None:
        inode = self.names[path]
        for effect in list(self.pending):
            in_folder = not effect.is_content and os.path.dirname(effect.name or effect.gone) == path
            if in_folder if inode == FOLDER else (effect.is_content and effect.inode == inode):
                apply(effect, self.lasting, self.lasting_data, self.lasting_modes)
                self.pending.remove(effect)

    def survivors(self, few: int = 3) -> Iterator[Tree]:
        """The trees that may be found after the power fails here; every selection of up to `few` effects."""
        for chosen in self.choices(few):
            yield self.tree(chosen)[0]

    def choices(self, few: int) -> Iterator[list[Effect]]:
        effects = self.pending
        contents = [effect for effect in effects if effect.is_content]
        yield from ([], list(effects), contents, [effect for effect in effects if not effect.is_content])
        if len(effects) <= few:
            for size in range(1, len(effects)):
                yield from map(list, combinations(effects, size))
        else:
            yield from ([one] for one in effects)
            yield from ([other for other in effects if other is not one] for one in effects)
        for one in contents:
            for spoiled in spoilt(one):
                yield [spoiled if other is one else other for other in effects]
                yield [spoiled]

    def tree(self, chosen: list[Effect]) -> tuple[Tree, list[str]]:
        """The files, and those that were replaced and lost their mode."""
        names, data, modes = dict(self.lasting), dict(self.lasting_data), dict(self.lasting_modes)
        for effect in chosen:
            apply(effect, names, data, modes)
        files = {path: inode for path, inode in names.items() if inode != FOLDER and reachable(path, names)}
        bare = [
            path
            for path, mode in self.first.items()
            if path in files and files[path] != self.made[path] and modes.get(files[path], 0o644) != mode
        ]
        return {path: data.get(inode, b"") for path, inode in files.items()}, bare


def spoilt(effect: Effect) -> Iterator[Effect]:
    """A write that reached the disk by half, or as zeros."""
    if effect.data is not None and effect.since is not None and len(effect.data) > effect.since:
        size = len(effect.data) - effect.since
        yield effect._replace(data=effect.data[: effect.since + size // 2])
        yield effect._replace(data=effect.data[: effect.since] + bytes(size))


def apply(effect: Effect, names: Names, data: dict[int, bytes], modes: dict[int, int]) -> None:
    if effect.is_content and effect.inode is not None:
        if effect.data is not None:
            data[effect.inode] = effect.data
        if effect.mode is not None:
            modes[effect.inode] = effect.mode
        return
    names.pop(effect.gone, None)
    if effect.inode is not None:
        names[effect.name] = effect.inode


def reachable(path: str, names: Names) -> bool:
    folder = os.path.dirname(path)
    return names.get(folder) == FOLDER and (os.path.dirname(folder) not in names or reachable(folder, names))


def put(tree: Tree, space: str) -> None:
    """Make a space hold these files and no others, git's and the index left alone."""
    for path in list(walk_files(space, (".git", "index"))):
        if path not in tree:
            os.unlink(path)
    for path, data in tree.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Whoever wrote it is gone, like every other process.
        with open(path.replace(f"/.quire-{os.getpid()}-", "/.quire-99999999-"), "wb") as file:
            file.write(data)
