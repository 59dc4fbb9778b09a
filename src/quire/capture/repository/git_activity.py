"""Recent git activity: the branch, the last commits, and the folders they changed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from quire.capture.repository.clean_text import said
from quire.capture.repository.tree import make_tree
from quire.files.git import Git
from quire.files.git_history import Commit, describe_commits
from quire.model.errors import QuireError

COMMITS_MOST = 30
_PATHS_MOST = 2_000
"""Of one commit, no more paths are looked at: the first commit of a project may hold all of it."""
_SUBJECT_CHARS = 120
_NOISE = re.compile(
    r"(?:merge|bump|wip|fixup!|squash!|update dependency|chore\(deps(?:-dev)?\)|build\(deps(?:-dev)?\))\b", re.I
)
_CONVENTIONAL = re.compile(r"^[a-z]{2,12}(?:\([^()]{1,40}\))?!?:\s+")


class StoryLine(Struct, frozen=True):
    """A folder and what the last commits did there, the newest first."""

    folder: str
    subjects: tuple[str, ...]


class GitActivity(Struct, frozen=True, kw_only=True):
    """The last commits. Without a repository all of it is empty."""

    is_repository: bool = False
    branch: str = ""
    """Empty where no branch is checked out."""
    count: int = 0
    first_day: str = ""
    last_day: str = ""
    latest: str = ""
    lines: tuple[StoryLine, ...] = ()
    """The folders, those with most commits first."""
    touched: tuple[str, ...] = ()
    """The files that these commits changed, those of the newest first."""


def tell_story(git: Git, folders: Iterable[str] = ()) -> GitActivity:
    """The story of the last commits without merges; `folders` are those that changes are listed by, where they
    fit."""
    if not git.available:
        return GitActivity()
    try:
        branch = git.branch() or ""
        if git.head() is None:
            return GitActivity(is_repository=True, branch=said(branch))
        ids = git.run("rev-list", f"--max-count={COMMITS_MOST}", "--no-merges", "HEAD", "--").decode().split()
        commits = describe_commits(git, ids)
        paths = _changed(git, ids)
    except QuireError:
        return GitActivity()
    told = [(commits[name], paths.get(name, [])) for name in ids if name in commits]
    return _story(said(branch), told, sorted(set(folders), key=len, reverse=True))


def _changed(git: Git, ids: list[str]) -> dict[str, list[str]]:
    """The paths that each commit changed, of those that count."""
    listing = ("-r", "-z", "--name-only", "--root", "--no-renames", "--ignore-submodules=all")
    answer = git.run("diff-tree", "--stdin", *listing, stdin="\n".join(ids).encode() + b"\n")
    found: dict[str, list[str]] = {}
    wanted = set(ids)
    current: list[str] = []
    for word in os.fsdecode(answer).split("\0"):
        if word.strip() in wanted:
            current = found.setdefault(word.strip(), [])
        elif word and len(current) < _PATHS_MOST:
            current.append(word)
    return {name: list(make_tree(git.root, some).files) for name, some in found.items()}


def _story(branch: str, told: list[tuple[Commit, list[str]]], folders: list[str]) -> GitActivity:
    subjects = [(said(commit.subject, _SUBJECT_CHARS), commit, paths) for commit, paths in told]
    spoken = [item for item in subjects if item[0] and not _NOISE.match(item[0])] or [
        item for item in subjects if item[0]
    ]
    by_folder: dict[str, list[str]] = {}
    for subject, _, paths in spoken:
        folder = _main_folder(paths, folders)
        if folder:
            by_folder.setdefault(folder, []).append(_CONVENTIONAL.sub("", subject))
    order = sorted(by_folder, key=lambda folder: -len(by_folder[folder]))
    days = [commit.date[:10] for _, commit, _ in subjects]
    return GitActivity(
        is_repository=True,
        branch=branch,
        count=len(told),
        first_day=min(days, default=""),
        last_day=max(days, default=""),
        latest=spoken[0][0] if spoken else "",
        lines=tuple(StoryLine(folder, tuple(dict.fromkeys(by_folder[folder]))) for folder in order),
        touched=tuple(dict.fromkeys(path for _, paths in told for path in paths)),
    )


def _main_folder(paths: list[str], folders: list[str]) -> str:
    """Where most of a commit's files lie: in a known part, else in one of the first two folders of their paths."""
    counted = Counter(_part(path, folders) for path in paths)
    counted.pop("", None)
    # Of tests and sources that were changed together, the sources say what it was about.
    best = sorted(counted, key=lambda folder: (folder.startswith(("test", "docs")), -counted[folder], folder))
    return best[0] if best else ""


def _part(path: str, folders: list[str]) -> str:
    for folder in folders:
        if path.startswith(f"{folder}/"):
            return folder
    return "/".join(path.split("/")[:-1][:2])
