"""List the files of a change: uncommitted, staged, between two commits, or of a branch since it parted."""

from __future__ import annotations

import msgspec

from quire.anchors.commit_tree import without_own
from quire.anchors.reach import Reach
from quire.anchors.working_tree import read_working_tree
from quire.files.git import Git
from quire.files.git_history import (
    GitFileChange,
    changes_between,
    changes_staged,
    common_ancestor,
    default_branch,
    is_shallow,
    resolve_commit,
)
from quire.model.errors import GitRequired, InputError

_MAIN = ("main", "master", "trunk", "develop")


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Between which two states a change lies."""

    name: str
    old: str
    """A commit; empty before the first one."""
    new: str = ""
    """A commit; empty for git's index."""
    working: bool = False
    """Whether what is not committed belongs to it."""


def reach_of_change(git: Git, *, diff: str | None = None, branch: str | None = None) -> tuple[str, Reach]:
    """A range or a branch; without either, or with an empty range, what is not committed: its name, and its files.

    Of what is committed, a definition counts if the change touched it.
    """
    if branch is None and not diff:
        return "the uncommitted changes", Reach(_working(git))
    from quire.anchors.tree_change import TreeChange

    span = span_of_branch(git, branch or None) if branch is not None else span_of_range(git, diff or "")
    change = TreeChange(git, changes_in_span(git, span))
    change.read_ahead(change.paths.paths)
    working = set(_working(git) if span.working else ())
    return span.name, Reach(
        [*change.paths.paths, *working], lambda path, name: path in working or bool(change.touched_symbol(path, name))
    )


def changes_in_span(git: Git, span: Span) -> list[GitFileChange]:
    """Every file that differs between the two ends, renames found."""
    if span.new:
        return changes_between(git, span.old, span.new)
    if span.old:
        return [change for change in changes_staged(git) if change.how != "U"]
    return [GitFileChange("A", path, path, "0" * len(blob.id), blob.id) for path, blob in git.staged([]).items()]


def span_of_range(git: Git, text: str) -> Span:
    """`A..B` compares two commits, `A...B` the second with where they parted, `A` alone the working tree with it."""
    first, dots, second = _ends(text)
    if dots == "...":
        return _parted(git, text, _commit(git, first), _commit(git, second))
    if dots:
        return Span(name=text, old=_commit(git, first), new=_commit(git, second))
    return Span(name=f"{text} to the working tree", old=_commit(git, first), new=_commit(git, "HEAD"), working=True)


def span_of_branch(git: Git, name: str | None, *, command: str = "brief --diff") -> Span:
    """What a branch holds that the main one does not; for the current branch also what is not committed."""
    current = git.branch()
    tip = _commit(git, name or "HEAD")
    main = _main(git, name or current, tip)
    if main is None:
        raise GitRequired(
            "The default branch was not found, so there is nothing to compare with.",
            hint=f"Name the range instead: memory {command} <base>...HEAD",
            details={"field": "branch"},
        )
    shown = name or current or "HEAD"
    parted = _parted(git, f"the default branch...{shown}", main, tip)
    return msgspec.structs.replace(parted, name=f"the branch {shown}", working=name in (None, current))


def span_to_review(git: Git, text: str | None, *, staged: bool, branch: str | None) -> Span:
    """What a review looks at: stored states alone. Without a base, it is where HEAD left the default branch."""
    if staged:
        return Span(name="what is staged", old=git.head() or "")
    if branch is not None:
        return msgspec.structs.replace(span_of_branch(git, branch or None, command="review"), working=False)
    main = None if text else default_branch(git)
    if not text and main is None:
        raise GitRequired(
            "Not checked: no default branch was found, so there is nothing to compare with.",
            hint="Name the range: memory review <base>..HEAD",
            details={"field": "range"},
        )
    first, dots, second = _ends(text or f"{main}...HEAD")
    name = text or f"HEAD since {(main or '').removeprefix('refs/').removeprefix('remotes/').removeprefix('heads/')}"
    old, new = _commit(git, first), _commit(git, second)
    return Span(name=name, old=old, new=new) if dots == ".." else _parted(git, name, old, new)


def _ends(text: str) -> tuple[str, str, str]:
    dots = "..." if "..." in text else ".." if ".." in text else ""
    first, _, second = text.partition(dots) if dots else (text, "", "")
    return first or "HEAD", dots, second or "HEAD"


def _parted(git: Git, name: str, first: str, second: str) -> Span:
    old = common_ancestor(git, first, second)
    if old is None and is_shallow(git):
        raise _cut_off(f"This clone is shallow: the commit where `{name}` branched off is missing.")
    if old is None:
        raise InputError(
            f"The two ends of `{name}` have no common history.",
            hint="Use two dots to compare them directly.",
            details={"field": "diff"},
        )
    return Span(name=name, old=old, new=second)


def _main(git: Git, branch: str | None, tip: str) -> str | None:
    """Where the branch that work is merged into stands, by the names it usually has; for that branch, its own tip."""
    for name in ("origin/HEAD", *_MAIN, "origin/main", "origin/master"):
        found = resolve_commit(git, name)
        if found:
            return tip if name == branch else found
    return None


def _commit(git: Git, name: str) -> str:
    found = resolve_commit(git, name)
    if found is None and is_shallow(git):
        raise _cut_off(f"This clone is shallow: `{name[:80]}` is not in it.")
    if found is None:
        if git.head() is None:
            raise GitRequired("This repository has no commits yet.", hint="Commit first.", details={"field": "diff"})
        raise InputError(
            f"`{name[:80]}` is not a commit of this repository.",
            hint="Give a branch, a tag or a commit, or a range such as main...HEAD.",
            details={"field": "diff"},
        )
    return found


def _cut_off(message: str) -> GitRequired:
    return GitRequired(message, hint="Fetch the rest: git fetch --unshallow, or fetch-depth: 0 in a workflow.")


def _working(git: Git) -> list[str]:
    """What is not committed of the user's files; the memory's own are not governed by it."""
    staged = changes_staged(git) if git.head() else []
    tree = read_working_tree(git.root, git)
    return without_own(sorted({path for change in staged for path in (change.old, change.new)} | tree.dirty()))
