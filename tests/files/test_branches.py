"""Which branch counts as the default one, with real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from quire.files.branches import current_branch, default_branch_name, is_on_default_branch
from quire.files.git import Git

ENV = {"PATH": os.environ["PATH"]}


def git(where: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True)


def commit(where: Path, name: str = "a") -> None:
    (where / name).write_text(name)
    git(where, "add", ".")
    git(where, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", name)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    where = tmp_path / "origin"
    where.mkdir()
    git(where, "init", "-q", "-b", "trunk")
    commit(where)
    return where


@pytest.fixture
def clone(tmp_path: Path, origin: Path) -> Path:
    where = tmp_path / "a clone"
    git(tmp_path, "clone", "-q", str(origin), str(where))
    return where


def on_default(where: Path, named: str = "", **env: str) -> bool:
    return is_on_default_branch(Git(str(where), {**ENV, **env}), {**ENV, **env}, named)


def test_without_git_or_without_a_remote_every_branch_is(tmp_path: Path, origin: Path) -> None:
    assert on_default(tmp_path)
    git(origin, "checkout", "-qb", "topic")
    assert on_default(origin)


def test_what_the_remotes_head_points_to_is(clone: Path) -> None:
    assert default_branch_name(Git(str(clone), ENV)) == "trunk"
    assert on_default(clone)
    git(clone, "checkout", "-qb", "feature/a/b")
    assert current_branch(Git(str(clone), ENV), {}) == "feature/a/b"
    assert not on_default(clone)
    assert on_default(clone, named="feature/a/b")


def test_packed_references_are_read(clone: Path) -> None:
    git(clone, "pack-refs", "--all")
    assert on_default(clone)
    git(clone, "checkout", "-qb", "topic")
    assert not on_default(clone)


def test_without_the_remotes_head_the_usual_names_and_the_only_branch_count(clone: Path, origin: Path) -> None:
    git(clone, "remote", "set-head", "origin", "--delete")
    assert default_branch_name(Git(str(clone), ENV)) == "trunk"
    git(origin, "branch", "other")
    git(clone, "fetch", "-q")
    assert default_branch_name(Git(str(clone), ENV)) == ""
    git(clone, "checkout", "-qb", "topic")
    assert on_default(clone)  # nobody can tell
    git(origin, "branch", "main")
    git(clone, "fetch", "-q")
    assert default_branch_name(Git(str(clone), ENV)) == "main"
    assert not on_default(clone)


def test_a_detached_head_is_on_no_branch_unless_ci_says_which(clone: Path) -> None:
    git(clone, "checkout", "-q", "--detach")
    assert not on_default(clone)
    assert on_default(clone, CI_COMMIT_BRANCH="trunk")
    assert on_default(clone, GITHUB_REF="refs/heads/trunk")
    assert not on_default(clone, GITHUB_REF="refs/pull/7/merge")
    assert not on_default(clone, GITHUB_REF="refs/heads/topic")


def test_each_working_tree_has_its_own_branch(clone: Path, tmp_path: Path) -> None:
    git(clone, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    assert on_default(clone)
    assert not on_default(tmp_path / "linked")


def test_before_the_first_commit(tmp_path: Path, clone: Path) -> None:
    git(clone, "checkout", "-q", "--orphan", "fresh")
    assert not on_default(clone)
    assert on_default(tmp_path / "nowhere")


def test_a_second_remote_does_not_hide_origin(clone: Path, origin: Path) -> None:
    git(clone, "remote", "add", "fork", str(origin))
    git(clone, "fetch", "-q", "fork")
    assert default_branch_name(Git(str(clone), ENV)) == "trunk"
