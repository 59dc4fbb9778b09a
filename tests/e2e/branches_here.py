"""A clone with a memory and branches that write to it, each through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commanding import Here

from installed import Git

__all__ = ["clone", "commit", "in_conflict", "on_branch", "save"]


def clone(repo: Path, git: Git, environment: dict[str, str], *acts: Callable[[Here], object]) -> Here:
    """A clone on its default branch, with a feature of three paragraphs, a decision, and what is done besides."""
    found = Here(repo, environment)
    (repo / "src").mkdir()
    (repo / "src/pay.py").write_text("def pay(): return 1\n")
    assert found("init").code == 0
    save(found, {"kind": "feature", "title": "Pay", "body": "One.\n\nTwo.\n\nThree.", "anchors": ["src/pay.py"]})
    save(found, {"kind": "decision", "title": "Queue", "body": "In Postgres.", "anchors": ["src/pay.py"]})
    for act in acts:
        act(found)
    commit(git, "base")
    git("branch", "-M", "main")
    git("update-ref", "refs/remotes/origin/main", "main")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return found


def save(here: Here, *nodes: dict[str, object], **lists: object) -> None:
    said = here("save", "--stdin", stdin=json.dumps({"task": "a change", "nodes": list(nodes), **lists}))
    assert said.code == 0, said.err


def commit(git: Git, name: str) -> None:
    git("add", "-A")
    git("commit", "-qm", name)


def on_branch(git: Git, name: str, *acts: Callable[[], object]) -> None:
    """A new branch of `main` that does this; without an act it is what is checked out then."""
    git("checkout", "-q", "-b", name, "main")
    for act in acts:
        act()
    if acts:
        commit(git, name)
        git("checkout", "-q", "main")


def in_conflict(git: Git, name: str) -> None:
    """Git leaves a conflict when it merges this branch."""
    with pytest.raises(AssertionError):
        git("merge", "-q", "--no-edit", name)
    assert git("ls-files", "--unmerged")
