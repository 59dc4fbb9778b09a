"""Which anchors still lead to code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from quire.files import Git
from quire.model import GitRequired

_GLOB = re.compile(r"[*?\[\]{}()!+@|]")

__all__ = ["covers", "dead_anchors"]


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


def covers(anchor: str, path: str) -> bool:
    """Whether an anchor ties its node to this file."""
    plain = anchor.rstrip("/").rpartition("#")[0] or anchor.rstrip("/")
    if path == plain or path.startswith(f"{plain}/") or plain.startswith(f"{path.rstrip('/')}/"):
        return True
    return bool(_GLOB.search(anchor)) and _matches_any(anchor, [path])


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
