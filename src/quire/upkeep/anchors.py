"""Which anchors still lead to code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from quire.files import Git
from quire.model import GitRequired

_GLOB = re.compile(r"[*?\[\]{}()!+@|]")

__all__ = ["closeness", "dead_anchors"]


def dead_anchors(root: str, git: Git, anchors: Iterable[str]) -> set[str]:
    """The anchors that match no file. A pattern that cannot be checked (no git) is not called dead."""
    missing = {anchor for anchor in set(anchors) if not _exists(root, anchor)}
    patterns = {anchor for anchor in missing if _GLOB.search(anchor)}
    if not patterns:
        return missing
    try:
        files = git.files()
    except GitRequired:
        return missing - patterns
    return (missing - patterns) | {anchor for anchor in patterns if not _matches_any(anchor, files)}


def closeness(anchor: str, path: str) -> float:
    """How closely an anchor ties its node to a file: 1 for the file itself, less for wider folders, 0 for none."""
    plain = anchor.rstrip("/").rpartition("#")[0] or anchor.rstrip("/")
    depth = path.rstrip("/").count("/") + 1
    if path.rstrip("/") == plain or plain.startswith(f"{path.rstrip('/')}/"):
        return 1.0
    if path.startswith(f"{plain}/"):
        return 0.5 + 0.4 * (plain.count("/") + 1) / depth
    return 0.5 if _GLOB.search(anchor) and _matches_any(anchor, [path]) else 0.0


def _exists(root: str, anchor: str) -> bool:
    path = anchor.rstrip("/")
    if os.path.lexists(os.path.join(root, path)):
        return True
    # `path#Symbol` names a part of a file; the file itself is what can be missing.
    file, mark, _ = path.rpartition("#")
    return bool(mark) and os.path.lexists(os.path.join(root, file))


def _matches_any(anchor: str, files: list[str]) -> bool:
    from wcmatch import glob

    pattern = anchor.rstrip("/")
    flags = glob.GLOBSTAR | glob.BRACE | glob.EXTGLOB | glob.DOTGLOB | glob.NEGATE | glob.NEGATEALL
    return bool(glob.globfilter(files, [pattern, f"{pattern}/**"] if pattern[0] != "!" else pattern, flags=flags))
