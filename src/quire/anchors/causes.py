"""What made an anchor's content differ: which files, in which commit, or not committed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from quire.anchors.match import covers
from quire.anchors.past import Past
from quire.anchors.symbols import LIMIT, Unparsed, find_symbol, read_symbols
from quire.anchors.tree import Tree
from quire.anchors.working import WorkingTree
from quire.model import ABSENT, GitRequired

_COMMITS = 24

__all__ = ["Cause", "cause_in_files", "cause_in_symbol"]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Files that differ from what was seen, those of them not committed, the newest commit that changed the others."""

    files: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    commit: str = ""


def cause_in_files(
    tree: WorkingTree,
    past: Past,
    anchor: str,
    files: Sequence[int],
    since: str | None,
    notes: Mapping[str, str],
) -> Cause:
    """Compare with the commit of the last look, and with what was seen then and not committed."""
    after = dict(tree.contents(files)) or {anchor.rstrip("/"): tree.content(anchor.rstrip("/"))}
    before = _held(past, anchor, since)
    if before is None:
        dirty = tuple(sorted(path for path in after if tree.is_dirty(path)))
        return Cause(files=dirty, dirty=dirty)
    for path, content in notes.items():
        if covers(anchor, path) or path in before or path in after:
            before[path] = None if content.startswith(ABSENT) else content
    # A submodule is compared by its commit: what lies in it has a history of its own.
    after.update({path: tree.staged[path] for path in tree.modules if path in after})
    unread = {path for path, content in after.items() if content is None}
    changed = sorted(path for path in (before.keys() | after.keys()) - unread if before.get(path) != after.get(path))
    head = _held(past, anchor, past.head) or {}
    dirty = tuple(path for path in changed if head.get(path) != after.get(path))
    committed = [path for path in changed if path not in dirty or before.get(path) != head.get(path)]
    commit = past.newest(committed, since) or "" if committed else ""
    return Cause(files=tuple(changed), dirty=dirty, commit=commit)


def _held(past: Past, anchor: str, commit: str | None) -> dict[str, str | None] | None:
    tree = past.tree(commit, (anchor,)) if commit else None
    return dict(tree.contents(tree.files.at(anchor))) if tree else None


def cause_in_symbol(tree: WorkingTree, past: Past, file: str, name: str, since: str | None, digest: str) -> Cause:
    """The newest commit in which this definition became another one; of a file's commits most do not touch it."""
    head = past.tree(past.head, (file,)) if past.head else None
    committed = _digest(head, file, name) if head else None
    now = _digest(tree, file, name)
    dirty = (file,) if committed != now else ()
    if dirty and committed == digest:
        return Cause(files=(file,), dirty=dirty)
    if since is None:
        return Cause(files=(file,), dirty=dirty)
    current = committed
    commits = past.commits_of(file, since, _COMMITS)
    for commit in commits:
        before = past.tree(f"{commit}^", (file,))
        earlier = _digest(before, file, name) if before else None
        if earlier != current:
            return Cause(files=(file,), dirty=dirty, commit=commit)
        current = earlier
    return Cause(files=(file,), dirty=dirty, commit=commits[0] if commits else "")


def _digest(tree: Tree, file: str, name: str) -> str | None:
    try:
        symbols = read_symbols(file, tree.read(file, LIMIT + 1)) if tree.has(file) else []
    except (OSError, GitRequired):
        return None
    symbol = None if isinstance(symbols, Unparsed) else find_symbol(symbols, name)
    return symbol.digest if symbol else None
