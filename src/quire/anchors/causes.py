"""What made an anchor's content differ: which files, in which commit, or not committed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from quire.anchors.match import covers
from quire.anchors.past import Past
from quire.anchors.symbols import LIMIT, Symbols, Unparsed, find_symbol, read_symbols
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
    if since is None:
        dirty = tuple(path for path in (tree.paths[place] for place in files) if tree.is_dirty(path))
        return Cause(files=dirty, dirty=dirty)
    committed = past.contents_then(since)
    candidates = past.covered(since, anchor) | _dirty(tree, past, anchor, files)
    candidates |= {path for path in notes if covers(anchor, path)}
    changed, dirty_files, commits = [], [], []
    for path in sorted(candidates):
        after = tree.staged.get(path) if path in tree.modules else tree.content(path)
        if after is None and tree.has(path):
            continue  # it is there and cannot be read: nothing is known of it
        head = past.head_content(tree, path)
        note = notes.get(path)
        before = (None if note.startswith(ABSENT) else note) if note else committed.get(path, head)
        if before == after:
            continue
        changed.append(path)
        if head != after:
            dirty_files.append(path)
        if head != before:
            commits.append(path)
    commit = past.newest(commits, since) or "" if commits else ""
    return Cause(files=tuple(changed), dirty=tuple(dirty_files), commit=commit)


def _dirty(tree: WorkingTree, past: Past, anchor: str, files: Sequence[int]) -> set[str]:
    """Files that are not as the last commit has them."""
    found = {path for path in (tree.paths[place] for place in files) if tree.is_dirty(path)}
    found |= {path for path in tree.gone if covers(anchor, path)}
    return found | {path for path in past.staged_paths() if covers(anchor, path)}


def cause_in_symbol(tree: WorkingTree, past: Past, file: str, name: str, since: str | None, digest: str) -> Cause:
    """The newest commit in which this definition became another one; of a file's commits most do not touch it."""
    dirty: tuple[str, ...] = ()
    committed = now = _digest(tree, file, name)
    if tree.content(file) != past.head_content(tree, file):
        head = past.tree(past.head, (file,)) if past.head else None
        committed = _digest(head, file, name) if head else None
        dirty = (file,) if committed != now else ()
    if since is None or (dirty and committed == digest):
        return Cause(files=(file,), dirty=dirty)
    commits = past.commits_of(file, since, _COMMITS)
    if len(commits) > 1:
        current = committed
        for commit in commits:
            before = past.tree(f"{commit}^", (file,))
            earlier = _digest(before, file, name) if before else None
            if earlier != current:
                return Cause(files=(file,), dirty=dirty, commit=commit)
    return Cause(files=(file,), dirty=dirty, commit=commits[0] if commits else "")


def _digest(tree: Tree, file: str, name: str) -> str | None:
    try:
        symbols = read_symbols(file, tree.read(file, LIMIT + 1)) if tree.has(file) else Symbols()
    except (OSError, GitRequired):
        return None
    symbol = None if isinstance(symbols, Unparsed) else find_symbol(symbols, name)
    return symbol.digest if symbol else None
