"""Show how anchored code changed since the last review, and what a commit did to a record.

Made here from git's blobs and the files themselves, so that no filter, text conversion or driver of a repository runs.
Nothing is read but what the record's own anchors cover, as git lists it, and the record's own files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

import msgspec

from quire.anchors.commit_tree import FileTree, read_commit_tree
from quire.anchors.path_match import covers
from quire.anchors.resolve_anchor import split_symbol
from quire.anchors.symbols import symbol_text
from quire.anchors.verify import short
from quire.anchors.working_tree import WorkingTree, read_working_tree
from quire.files.git import Git
from quire.files.git_history import GitFileChange, changes_between, changes_in, commits_between, full_commit, read_blobs
from quire.files.paths import read_inside
from quire.layers.table import layer_named
from quire.model.errors import GitRequired, InputError, NotFound
from quire.model.records import Record
from quire.model.text import cut, one_line
from quire.upkeep.views.text_diff import DiffFile, TextDiff, compare

_FILES = 10
_FILE_BYTES = 2_000_000
_BYTES = 40_000_000
_HELD_BYTES = 64 * 1024 * 1024
_COMMITS = 100
_NAMES = 64
_HEX = frozenset("0123456789abcdefABCDEF")


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an anchor that is not what it was."""

    path: str
    old_path: str
    """Empty where it is new."""
    old_id: str
    is_here: bool
    """Whether the file is there, and the anchors of the record cover it: only then it is read."""


# -- an anchor --------------------------------------------------------------------------------


def anchor_diff(root: str, git: Git, record: Record, anchor: str, since: str) -> TextDiff:
    """What changed in the files of one anchor from a commit to the working tree."""
    if anchor not in record.anchors:
        known = ", ".join(record.anchors[:5]) or "none"
        raise InputError(
            f"`{cut(one_line(anchor), 120)}` is not an anchor of `{record.ref}`.",
            hint=f"Its anchors: {known}.",
            details={"field": "anchor", "allowed": list(record.anchors)},
        )
    name = one_line(anchor)
    if not git.available:
        return TextDiff(title=f"{name}: there is no git here to tell what changed")
    try:
        commit = full_commit(git, since) if since else None
        if commit is None:
            said = (
                f"the commit {short(one_line(since))} is not in this clone"
                if since
                else "it has no record of the last confirmation"
            )
            return TextDiff(title=f"{name}: {said}")
        return _anchor_diff(root, git, record, anchor, commit)
    except GitRequired as error:
        return TextDiff(title=f"{name}: {error.message}")


def _anchor_diff(root: str, git: Git, record: Record, anchor: str, commit: str) -> TextDiff:
    now = read_working_tree(root, git, (anchor,))
    if now.missing:
        return TextDiff(title=f"{one_line(anchor)}: {now.missing}")
    then = read_commit_tree(git, commit, (anchor,))
    named = split_symbol(now, anchor)
    name = named[1] if named else ""
    changes = _changes(root, git, record, _contents(then, anchor), _contents(now, anchor), commit)
    shown = changes[:_FILES]
    blobs = read_blobs(git, (change.old_id for change in shown), each=_FILE_BYTES, together=_BYTES)
    return TextDiff(
        title=_title(git, now, one_line(anchor), commit, changes),
        files=tuple(_file(root, git, now, change, blobs, name) for change in shown),
        cut=len(changes) > _FILES,
    )


def _contents(tree: FileTree, anchor: str) -> dict[str, str | None]:
    """The files that an anchor leads to, each with the id of what it holds; None where that cannot be known."""
    named = split_symbol(tree, anchor)
    path = named[0] if named else anchor.rstrip("/")
    if named or tree.has(path):
        return {path: _content(tree, path)} if tree.has(path) else {}
    return {name: _content(tree, name) for name in (tree.paths[place] for place in tree.files.at(anchor))}


def _content(tree: FileTree, path: str) -> str | None:
    if isinstance(tree, WorkingTree) and path in tree.modules:
        return tree.staged.get(path)  # of a submodule, the commit that is checked in
    return tree.content(path)


def _changes(
    root: str,
    git: Git,
    record: Record,
    then: Mapping[str, str | None],
    now: Mapping[str, str | None],
    commit: str,
) -> list[_Change]:
    differing = sorted(path for path in {*then, *now} if path not in then or path not in now or then[path] != now[path])
    routes = _routes(git, commit, {path: then[path] for path in differing if path not in now}, now)
    elsewhere = [path for path in routes.values() if path not in now and _covered(record, path)]
    others = read_working_tree(root, git, elsewhere) if elsewhere else None
    found = []
    for path in differing:
        if path not in then and path in routes.values():
            continue  # told with the file that it was
        new = routes.get(path, path)
        is_here = new in now or (others is not None and new in elsewhere and others.has(new))
        old_path = path if path in then else ""
        found.append(_Change(path=new, old_path=old_path, old_id=then.get(path) or "", is_here=is_here))
    return found


def _routes(git: Git, commit: str, gone: Mapping[str, str | None], now: Mapping[str, str | None]) -> dict[str, str]:
    """Where files went that are gone: by the same content, or as git follows them."""
    if not gone:
        return {}
    by_content = {content: path for path, content in now.items() if content}
    routes = {path: by_content[content] for path, content in gone.items() if content in by_content}
    for change in changes_between(git, commit):
        if change.how == "R" and change.old in gone:
            routes.setdefault(change.old, change.new)
    return routes


def _covered(record: Record, path: str) -> bool:
    return any(covers(anchor, path) or anchor.rpartition("#")[0] == path for anchor in record.anchors)


def _file(root: str, git: Git, tree: WorkingTree, change: _Change, blobs: Mapping[str, bytes], name: str) -> DiffFile:
    """One file; where the anchor names a symbol, its definition alone."""
    old_path = change.old_path if change.old_path != change.path else ""
    before = blobs.get(change.old_id)
    if change.path in tree.modules:
        return DiffFile(path=change.path, old_path=old_path, binary=True)
    if not change.is_here and old_path:
        return DiffFile(path=change.path, old_path=old_path, cut=True)  # it went where no anchor of the record leads
    if change.old_id and before is None:
        return DiffFile(path=change.path, old_path=old_path, cut=True)
    after = None
    if change.is_here:
        if tree.content(change.path) is None:
            return DiffFile(path=change.path, old_path=old_path, cut=True)  # a filter of the repository stores it
        try:
            after = _working(root, git, tree, change.path)
        except (OSError, GitRequired):
            return DiffFile(path=change.path, old_path=old_path, cut=True)
    if name and before is not None and after is not None:
        old, new = symbol_text(change.old_path, before, name), symbol_text(change.path, after, name)
        if old is not None and new is not None:
            return compare(change.path, old[1], new[1], old_path, (old[0], new[0]))
    return compare(change.path, before, after, old_path)


def _working(root: str, git: Git, tree: WorkingTree, path: str) -> bytes:
    """A file as it lies there. A link is its own text: what it leads to is not read."""
    if path in tree.hidden:
        return read_blobs(git, [tree.staged[path]], each=_FILE_BYTES, together=_BYTES)[tree.staged[path]]
    full = os.path.join(root, path)
    if stat.S_ISLNK(os.lstat(full).st_mode):
        return os.fsencode(os.readlink(full))
    return read_inside(root, path, _FILE_BYTES)


def _title(git: Git, tree: WorkingTree, name: str, commit: str, changes: list[_Change]) -> str:
    if not changes:
        return f"{name}: nothing changed since {short(commit)}"
    paths = list(dict.fromkeys(path for change in changes for path in (change.path, change.old_path) if path))
    number = len(commits_between(git, commit, limit=_COMMITS, paths=paths[:_NAMES]))
    said = [f"{number}{'+' if number == _COMMITS else ''} commit{'' if number == 1 else 's'}"] if number else []
    if not number or any(tree.is_dirty(path) for path in paths):
        said.append("not committed")
    return f"{name} since {short(commit)} ({', '.join(said)})"


# -- a commit ---------------------------------------------------------------------------------


def commit_diff(git: Git, record: Record, commit: str) -> TextDiff:
    """What one commit changed in the files that hold a record; of a file with many, in the record's own part."""
    if not 6 <= len(commit) <= 64 or not _HEX.issuperset(commit):
        raise InputError(
            f"`{cut(one_line(commit), 80)}` is not a commit id.",
            hint="Name a commit by its id: at least six hexadecimal digits.",
            details={"field": "commit"},
        )
    holding = layer_named(record.layer).holding(record)
    found = changes_in(git, commit, holding.paths or (_NOWHERE,))
    if found is None:
        raise NotFound(
            f"There is no commit `{commit}` in this clone.",
            hint="The history of the record lists the commits that changed it.",
            details={"field": "commit", "id": commit},
        )
    ids = [name for change in found.changes for name in (change.old_id, change.new_id)]
    blobs = read_blobs(git, ids, each=_HELD_BYTES, together=2 * _HELD_BYTES)
    files = []
    # Of a merge, what it changed in what the first parent has.
    firsts: dict[str, GitFileChange] = {}
    for change in found.changes:
        firsts.setdefault(change.new, change)
    for change in firsts.values() if holding.paths else ():
        before, after = (
            holding.part(blobs[name]) if name in blobs else None for name in (change.old_id, change.new_id)
        )
        if before != after:
            files.append(compare(change.new, before, after))
        elif any(name.strip("0") and name not in blobs for name in (change.old_id, change.new_id)):
            files.append(DiffFile(path=change.new, cut=True))
    title = one_line(f"{found.commit.short} {found.commit.subject}")
    return TextDiff(title=title if files else f"{title}: nothing of `{record.ref}`", files=tuple(files))


_NOWHERE = ".memory/memory"
"""A record that no file of the repository holds is asked about like any other."""
