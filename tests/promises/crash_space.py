"""The little world in which writers are stopped: a repository and a home in one folder, and how to look at them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from quire.files.world import World
from quire.project import Project

__all__ = [
    "LATER",
    "NOW",
    "Tree",
    "differing",
    "empty",
    "git",
    "leftovers",
    "open_project",
    "read_space",
    "walk_files",
    "write",
]

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
LATER = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
Tree = dict[str, bytes]


def open_project(space: str, now: datetime = LATER, phase: str = "b") -> Project:
    """A project whose ids are the same in every run: what an unharmed run makes can be compared byte for byte."""
    home, root = os.path.join(space, "home"), os.path.join(space, "harbor")
    env = {"PATH": os.environ["PATH"], "HOME": home, "MEMORY_HOME": f"{home}/registry", "MEMORY_LOCK_TIMEOUT": "5"}
    numbers = iter(range(10**6))

    def token() -> str:
        return f"{ord(phase[0]):02x}{next(numbers):06x}" * 2

    world = World(cwd=root, env=env, now=lambda: now, token=token, sleep=time.sleep, pid=os.getpid())
    return Project.open(root, world)


def git(space: str, *arguments: str) -> None:
    home = os.path.join(space, "home")
    env = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=Tess", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    line = ["git", *identity, "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(line, cwd=os.path.join(space, "harbor"), env=env, check=True, capture_output=True)


def empty(space: str) -> None:
    """A repository with files of the user's, before there is a memory."""
    for name in ("harbor/src", "home"):
        os.makedirs(os.path.join(space, name))
    for name, data in {"AGENTS.md": b"# Rules\r\n\r\nBe kind.\r\n", ".gitignore": b"*.log", "src/a.py": b"1\n"}.items():
        write(space, f"harbor/{name}", data)
    git(space, "init", "--quiet", "--template=")


def write(space: str, name: str, data: bytes) -> None:
    path = os.path.join(space, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def walk_files(top: str, without: tuple[str, ...]) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in without]
        yield from (os.path.join(folder, name) for name in files)


def read_space(space: str) -> Tree:
    """Every file that matters: not git's own, not the index, not what is kept aside, not the lock."""
    found: Tree = {}
    for path in walk_files(space, (".git", "index", "recovery", ".backup")):
        if not path.endswith((".lock", ".tmp")):
            with open(path, "rb") as file:
                found[os.path.relpath(path, space)] = file.read()
    return found


def leftovers(space: str, *, after_a_write: bool) -> list[str]:
    """What a dead writer should not leave once the next command has run."""
    found = []
    for folder, folders, files in os.walk(space):
        folders[:] = [name for name in folders if name != ".git"]
        found += [os.path.join(folder, name) for name in folders if name.startswith("transaction-")]
        if after_a_write:
            found += [os.path.join(folder, name) for name in files if name.endswith((".tmp", ".lock"))]
    return [os.path.relpath(path, space) for path in found]


def differing(one: Tree, other: Tree) -> list[str]:
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))
