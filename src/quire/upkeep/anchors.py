"""Find anchors that match no file, quickly, for the map and for checks."""

from __future__ import annotations

import os
from collections.abc import Iterable

from quire.anchors.commit_tree import without_own
from quire.anchors.path_match import Files, is_glob
from quire.files.git import Git
from quire.model.errors import GitRequired


def dead_anchors(root: str, git: Git, anchors: Iterable[str]) -> set[str]:
    """The anchors that match no file. A pattern that cannot be checked (no git) is not called dead."""
    missing = {anchor for anchor in set(anchors) if not _exists(root, anchor)}
    patterns = {anchor for anchor in missing if is_glob(anchor)}
    if not patterns:
        return missing
    try:
        files = Files(without_own(git.files()))
    except GitRequired:
        return missing - patterns
    return (missing - patterns) | {anchor for anchor in patterns if not files.at(anchor)}


def _exists(root: str, anchor: str) -> bool:
    path = anchor.rstrip("/")
    if os.path.lexists(os.path.join(root, path)):
        return True
    # `path#Symbol` names a part of a file; the file itself is what can be missing.
    file, mark, _ = path.rpartition("#")
    return bool(mark) and os.path.lexists(os.path.join(root, file))
