"""List the files and folders that a verdict depends on: unchanged stamps mean an unchanged verdict."""

from __future__ import annotations

import os
from collections.abc import Iterable

from quire.anchors.commit_tree import may_be_a_path
from quire.anchors.path_match import static_prefix
from quire.anchors.resolve_anchor import split_symbol
from quire.anchors.working_tree import WorkingTree
from quire.files.git import Git
from quire.model.records import Record

_MOST = 4_000


def verdict_paths(tree: WorkingTree, git: Git, record: Record, file: str) -> list[str] | None:
    """The paths whose stamps decide whether this record's verdict still holds; None where they are too many.

    `file` holds the record: without seals, the commit that wrote it counts.
    """
    if tree.missing or tree.modules or tree.links:
        return None
    watched: set[str] = set() if record.seen else {file}
    for anchor in filter(may_be_a_path, record.anchors):
        named = split_symbol(tree, anchor)
        plain = named[0] if named else anchor.rstrip("/")
        watched.add(plain)
        if not tree.has(plain):
            watched |= _listing(tree, anchor)
    # Committing or staging something does not change a content, but what is said of its cause, and what is listed.
    folder = git.folder()
    watched |= {os.path.join(folder, name) for name in ("HEAD", "index", "logs/HEAD", "info/exclude")}
    return sorted(watched) if len(watched) <= _MOST else None


def _listing(tree: WorkingTree, anchor: str) -> set[str]:
    """The matched files, all folders that another could appear in, and the rules of what is ignored there."""
    files = {tree.paths[place] for place in tree.files.at(anchor)}
    top = static_prefix(anchor)
    if top not in tree.listed:
        tree.listed[top] = list(_folders_below(tree, top))
    folders = {top, *tree.listed[top]}
    while top:
        top = os.path.dirname(top)
        folders.add(top)
    return files | folders | {os.path.join(folder, ".gitignore") for folder in folders}


def _folders_below(tree: WorkingTree, top: str) -> Iterable[str]:
    """Every folder below one; of those that are ignored as a whole only the outermost."""
    ignored = tree.ignored_folders
    for folder, names, _ in os.walk(os.path.join(tree.root, top)):
        shown = [os.path.relpath(os.path.join(folder, name), tree.root) for name in names]
        yield from shown
        names[:] = [name for name, path in zip(names, shown, strict=True) if path not in ignored and name != ".git"]
