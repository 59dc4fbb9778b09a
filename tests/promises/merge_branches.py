"""Branches of a project: each does its own, and git puts them together."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import msgspec
from journal_trials import say

from installed import Git
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory

__all__ = ["AGENTS", "ATTRIBUTES", "Act", "Yard", "no_attributes"]

AGENTS = "AGENTS.md"
ATTRIBUTES = (".memory/.gitattributes", ".agent-memory/.gitattributes")
NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)

Act = Callable[["Yard"], object]
"""What is done on a branch."""


class Yard:
    """A repository with a memory. Its clock goes on by a minute with every command."""

    def __init__(self, root: Path, world: World, git: Git) -> None:
        self.root, self.git = root, git
        ticks, tokens = count(), count()
        self.world = msgspec.structs.replace(
            world, now=lambda: NOW + timedelta(minutes=next(ticks)), token=lambda: f"{next(tokens):016x}"
        )

    @property
    def project(self) -> Project:
        """A process of its own: nothing is known from before."""
        return Project.open(str(self.root), self.world)

    def begin(self, *acts: Act) -> None:
        """What both branches begin with, committed on `main`."""
        (self.root / AGENTS).write_text("# Rules\n\nBe kind.\n", encoding="utf-8")
        init_memory(self.project, layers=("facts", "profile", "journal"))
        for act in acts:
            act(self)
        self.git.commit("begin")

    def branch(self, name: str, act: Act, *, start: str = "main") -> None:
        """A branch that goes on from the beginning."""
        self.git("checkout", "--quiet", "-b", name, start)
        act(self)
        self.git.commit(name)

    def merge(self, name: str) -> list[str]:
        """Merge a branch into what is checked out; the files that git left in conflict."""
        line = ["git", "merge", "--quiet", "--no-edit", name]
        done = subprocess.run(line, cwd=self.root, env=self.git.env, capture_output=True, check=False)
        found = sorted(set(self.git("diff", "--name-only", "--diff-filter=U").split()))
        assert (done.returncode == 0) == (not found), done.stderr
        return found

    @property
    def sessions(self) -> Path:
        """Where an agent of this machine keeps its sessions."""
        return self.root.parent / "sessions"

    def say(self, number: int, day: str = "2026-03-01") -> None:
        """A session of an agent, beside the project."""
        say(str(self.sessions), str(self.root), number, day=day)

    def checked(self) -> dict[str, set[str]]:
        """The codes of what a check calls an error, by path."""
        found: dict[str, set[str]] = {}
        for problem in check_files(self.project).errors:
            found.setdefault(str(problem.path), set()).add(problem.code)
        return found

    def warned(self) -> dict[str, set[str]]:
        """The same of what a check warns of."""
        found: dict[str, set[str]] = {}
        for problem in check_files(self.project).warnings:
            found.setdefault(str(problem.path), set()).add(problem.code)
        return found

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")


def no_attributes(yard: Yard) -> None:
    """A host that knows nothing of our attributes: it merges every file as text."""
    for path in ATTRIBUTES:
        (yard.root / path).unlink(missing_ok=True)
