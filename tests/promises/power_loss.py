"""The power fails at every system call of a save, and the disk forgets what was not synced. Run as a script.

The calls of the seam are recorded as the operating system sees them. For every prefix of them the disks that may be
found afterwards are made: file contents last once the file is synced, names once their folder is; of the rest any part
may be missing. Each such disk is opened and judged like the store of a killed process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from crashing import STALE_MAP, Case, Tree, open_project, prepare, read_space, spread, store_of

from quire.files import disk

FOLDER = -1
Names = dict[str, int]


class Effect(NamedTuple):
    """A change that is not on the disk yet: a name given (or taken away), or a file's bytes."""

    name: str = ""
    inode: int | None = None
    gone: str = ""
    data: bytes | None = None


class Recorder:
    """Stands in for `os` in the seam: does what it is told, and notes it. A mutant leaves out some of the syncs."""

    def __init__(self, mutant: str) -> None:
        self.log: list[tuple[str, str, Any]] = []
        self.paths: dict[int, str] = {}
        self.mutant = mutant

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT and not os.path.lexists(path):
            self.log.append(("create", path, None))
        descriptor = os.open(path, flags, mode)
        self.paths[descriptor] = path
        return descriptor

    def write(self, descriptor: int, data: bytes) -> int:
        self.log.append(("write", self.paths[descriptor], bytes(data)))
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        path = self.paths[descriptor]
        kind = "folder" if os.path.isdir(path) else "file"
        if self.mutant != f"no {kind} sync":
            self.log.append(("sync", path, None))

    def replace(self, source: str, target: str) -> None:
        self.log.append(("rename", target, source))
        os.replace(source, target)

    def unlink(self, path: str) -> None:
        self.log.append(("remove", path, None))
        os.unlink(path)

    def mkdir(self, path: str) -> None:
        self.log.append(("mkdir", path, None))
        os.mkdir(path)

    def rmdir(self, path: str) -> None:
        self.log.append(("remove", path, None))
        os.rmdir(path)


class Disk:
    """What the process sees, what surely lasts, and the effects in between."""

    def __init__(self, top: str) -> None:
        self.names: Names = {}
        self.lasting: Names = {}
        self.data: dict[int, bytes] = {}
        self.lasting_data: dict[int, bytes] = {}
        self.pending: list[Effect] = []
        for folder, folders, files in os.walk(top):
            self.names[folder] = FOLDER
            folders[:] = [name for name in folders if name not in (".git", "index")]
            for name in files:
                path = os.path.join(folder, name)
                self.names[path] = len(self.data)
                with open(path, "rb") as file:
                    self.data[len(self.data)] = file.read()
        self.lasting, self.lasting_data = dict(self.names), dict(self.data)

    def play(self, operation: str, path: str, extra: Any) -> None:
        if operation == "sync":
            self.sync(path)
            return
        if operation == "create":
            effect = Effect(path, len(self.data))
            self.data[len(self.data)] = b""
        elif operation == "write":
            inode = self.names[path]
            effect = Effect(inode=inode, data=self.data[inode] + extra)
        elif operation == "mkdir":
            effect = Effect(path, FOLDER)
        elif operation == "rename":
            effect = Effect(path, self.names[extra], gone=extra)
        else:
            effect = Effect(gone=path)
        apply(effect, self.names, self.data)
        self.pending.append(effect)

    def sync(self, path: str) -> None:
        inode = self.names[path]
        for effect in list(self.pending):
            in_folder = os.path.dirname(effect.name or effect.gone) == path
            if in_folder if inode == FOLDER else (effect.data is not None and effect.inode == inode):
                apply(effect, self.lasting, self.lasting_data)
                self.pending.remove(effect)

    def survivors(self) -> Iterator[Tree]:
        """The trees that may be found after the power fails here."""
        effects = self.pending
        contents = [effect for effect in effects if effect.data is not None]
        names = [effect for effect in effects if effect.data is None]
        choices = [[], effects, contents, names, *([one] for one in effects)]
        choices += [[other for other in effects if other is not one] for one in effects]
        for chosen in choices:
            found, data = dict(self.lasting), dict(self.lasting_data)
            for effect in chosen:
                apply(effect, found, data)
            yield {
                path: data.get(inode, b"")
                for path, inode in found.items()
                if inode != FOLDER and reachable(path, found)
            }


def apply(effect: Effect, names: Names, data: dict[int, bytes]) -> None:
    if effect.data is not None and effect.inode is not None:
        data[effect.inode] = effect.data
        return
    names.pop(effect.gone, None)
    if effect.inode is not None:
        names[effect.name] = effect.inode


def reachable(path: str, names: Names) -> bool:
    folder = os.path.dirname(path)
    return names.get(folder) == FOLDER and (os.path.dirname(folder) not in names or reachable(folder, names))


def explore(scenario: str, mutant: str, folder: str, most: str) -> dict[str, Any]:
    case, _ = prepare(scenario, folder)
    case.restore()
    model = Disk(case.space)
    recorder = Recorder(mutant)
    disk.os = recorder  # type: ignore[attr-defined]
    case.act()
    disk.os = os  # type: ignore[attr-defined]
    seen: set[int] = set()
    violations: list[str] = []
    entries = [*recorder.log, None]
    chosen = set(spread(range(len(entries)), int(most)))
    for number, entry in enumerate(entries):
        for tree in model.survivors() if number in chosen else ():
            key = hash((frozenset(tree.items()), entry is None))
            if key in seen:
                continue
            seen.add(key)
            rebuild(case, tree)
            found = list(case.judge()) if entry else acknowledged(case)
            violations += [f"{number} before {entry and entry[0]}: {text}" for text in found if STALE_MAP not in text]
            if violations and mutant:
                return {"states": len(seen), "violations": violations}
        if entry:
            model.play(*entry)
    return {"states": len(seen), "violations": violations}


def rebuild(case: Case, tree: Tree) -> None:
    """Put a tree in the place of the prepared one."""
    case.restore()
    for path in [os.path.join(case.space, name) for name in read_space(case.space)]:
        if path not in tree:
            os.unlink(path)
    for path, data in tree.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


def acknowledged(case: Case) -> list[str]:
    """The save was reported as done: it must be there."""
    open_project(case.space).status()
    lost = store_of(read_space(case.space)) != store_of(case.after)
    return ["acknowledged and lost"] if lost else []


if __name__ == "__main__":
    print(json.dumps(explore(*sys.argv[1:])))
