"""Read the memory of a revision, and what merging it would make of the files here."""

from __future__ import annotations

import os

import msgspec

from quire.files.git import Git
from quire.files.git_history import is_shallow, read_blobs
from quire.files.paths import read_if_there
from quire.layers.protocol import Site
from quire.layers.table import layer_of_file, tracked_paths
from quire.model.errors import GitRequired, InputError
from quire.model.records import Problem
from quire.upkeep.merge.merge_files import MergedPath, RecordChanges, merge_files, record_changes

_FILE_BYTES = 64 * 1024 * 1024
_TOGETHER = 512 * 1024 * 1024
_DEPTH = 8
"""How often common commits of common commits are looked for."""


class RevisionMerge(msgspec.Struct, frozen=True, kw_only=True):
    """What merging a revision's memory would do."""

    commit: str
    base: str
    """The commit that both sides come from, or one of several; empty where they have none in common."""
    merged: list[MergedPath]
    records: RecordChanges
    warnings: list[Problem]


def merge_revision(site: Site, revision: str) -> RevisionMerge:
    """Merge the memory of a revision with the files as they are here. Nothing is written."""
    git = site.git
    if not git.available:
        raise GitRequired("This folder is not in a git repository.", hint="Run `git init` first.")
    commit = _commit(git, revision)
    head = git.head()
    bases = _bases(git, "HEAD", commit) if head else []
    theirs = read_tree(git, commit)
    known = _ancestor(git, bases)
    ours = {
        path: data
        for path in {*known, *theirs, *(read_tree(git, "HEAD") if head else {}), *site.git.untracked(tracked_paths())}
        if (data := read_if_there(os.path.join(site.root, path))) is not None
    }
    merged = merge_files(known, ours, theirs)
    return RevisionMerge(
        commit=commit,
        base=bases[0] if bases else "",
        merged=merged,
        records=record_changes(ours, merged),
        warnings=[] if bases else [_unrelated(git, revision)],
    )


def _bases(git: Git, one: str, other: str) -> list[str]:
    return git.run("merge-base", "--all", one, other, allow=(0, 1)).decode().split()


def _ancestor(git: Git, commits: list[str], depth: int = _DEPTH) -> dict[str, bytes]:
    """The files that both sides come from; several common commits, of branches that merged each other, are merged."""
    if not commits:
        return {}
    first, *others = commits
    files = read_tree(git, first)
    for other in others if depth else ():
        base = _ancestor(git, _bases(git, first, other), depth - 1)
        merged = {one.path: one.after for one in merge_files(base, files, read_tree(git, other))}
        files = {path: data for path, data in {**files, **merged}.items() if data is not None}
    return files


def _commit(git: Git, revision: str) -> str:
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", allow=(0, 1, 128))
    commit = found.decode("ascii", "replace").strip()
    if not commit:
        raise InputError(
            f"`{revision[:80]}` is not a commit of this repository.",
            hint="Give a branch, a tag or a commit; `git fetch` brings those of a remote.",
            details={"revision": revision},
        )
    return commit


def _unrelated(git: Git, revision: str) -> Problem:
    return Problem(
        code="NoMergeBase",
        severity="warning",
        message=f"HEAD and `{revision[:80]}` have no commit in common here: what one side deleted comes back.",
        hint="This is a shallow clone: `git fetch --unshallow` brings the rest." if is_shallow(git) else None,
    )


def read_tree(git: Git, commit: str) -> dict[str, bytes]:
    """The memory's files in a commit; GitRequired where the repository does not hold all of them."""
    listed = {path: blob for path, blob in git.committed(tracked_paths(), commit).items() if layer_of_file(path)}
    found = read_blobs(git, (blob.id for blob in listed.values()), each=_FILE_BYTES, together=_TOGETHER)
    missing = next((path for path, blob in listed.items() if blob.mode.startswith("100") and blob.id not in found), "")
    if missing:
        raise GitRequired(
            f"`{missing}` of {commit[:12]} is not in this repository.",
            hint="This is a partial clone, or the file is larger than 64 MiB: `git fetch` it first.",
        )
    return {path: found[blob.id] for path, blob in listed.items() if blob.id in found}
