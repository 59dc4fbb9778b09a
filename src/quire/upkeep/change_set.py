"""List the files of a change: uncommitted, between two commits, or of a branch since it left the default branch."""

from __future__ import annotations

import msgspec

from quire.anchors.commit_tree import without_own
from quire.anchors.working_tree import read_working_tree
from quire.files.git import Git
from quire.files.git_history import changes_between, changes_staged, common_ancestor, resolve_commit
from quire.model.errors import InputError

_MAIN = ("main", "master", "trunk", "develop")


class ChangeSet(msgspec.Struct, frozen=True):
    """Which files, and what to call the change."""

    name: str
    files: list[str]


def files_changed(git: Git, *, diff: str | None = None, branch: str | None = None) -> ChangeSet:
    """The files of a range or of a branch; without either, or with an empty range, of what is not committed."""
    if branch is not None:
        return _of_branch(git, branch or None)
    if diff:
        return _of_range(git, diff)
    return ChangeSet("the uncommitted changes", _own(_working(git)))


def _of_range(git: Git, text: str) -> ChangeSet:
    """`A..B` compares two commits, `A...B` the second with where they parted, `A` alone the working tree with it."""
    if "..." in text:
        first, _, second = text.partition("...")
        new = _commit(git, second or "HEAD")
        old = common_ancestor(git, _commit(git, first or "HEAD"), new)
        if old is None:
            raise InputError(
                f"`{first or 'HEAD'}` and `{second or 'HEAD'}` have no common past.",
                hint="Use two dots to compare them directly.",
                details={"field": "diff"},
            )
        return ChangeSet(text, _own(_between(git, old, new)))
    first, dots, second = text.partition("..")
    old = _commit(git, first or "HEAD")
    if dots:
        return ChangeSet(text, _own(_between(git, old, _commit(git, second or "HEAD"))))
    return ChangeSet(f"{text} to the working tree", _own([*_between(git, old, "HEAD"), *_working(git)]))


def _of_branch(git: Git, name: str | None) -> ChangeSet:
    """What a branch holds that the main one does not; for the current branch also what is not committed."""
    current = git.branch()
    tip = _commit(git, name or "HEAD")
    main = _main(git, name or current, tip)
    old = common_ancestor(git, main, tip) if main else None
    if old is None:
        raise InputError(
            "The main branch was not found, so it cannot be said what this one changed.",
            hint="Name the range instead: memory brief --diff <base>...HEAD",
            details={"field": "branch"},
        )
    files = _between(git, old, tip)
    files += _working(git) if name in (None, current) else []
    return ChangeSet(f"the branch {name or current or 'at HEAD'}", _own(files))


def _main(git: Git, branch: str | None, tip: str) -> str | None:
    """Where the branch that work is merged into stands, by the names it usually has; for that branch, its own tip."""
    for name in ("origin/HEAD", *_MAIN, "origin/main", "origin/master"):
        found = resolve_commit(git, name)
        if found:
            return tip if name == branch else found
    return None


def _commit(git: Git, name: str) -> str:
    found = resolve_commit(git, name)
    if found is None:
        raise InputError(
            f"`{name[:80]}` names no commit of this repository.",
            hint="Give a branch, a tag or a commit, or a range such as main...HEAD.",
            details={"field": "diff"},
        )
    return found


def _between(git: Git, old: str, new: str) -> list[str]:
    return [path for change in changes_between(git, old, new) for path in (change.old, change.new)]


def _working(git: Git) -> list[str]:
    staged = changes_staged(git) if git.head() else []
    tree = read_working_tree(git.root, git)
    return [path for change in staged for path in (change.old, change.new)] + sorted(tree.dirty())


def _own(paths: list[str]) -> list[str]:
    """The user's files; the memory's own are not governed by it."""
    return without_own(sorted(set(paths)))
