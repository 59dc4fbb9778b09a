"""Find a project's root: the top of the git working tree, or the folder that holds a memory."""

from __future__ import annotations

import os

from quire.model.errors import InputError
from quire.model.text import spelled


def find_root(start: str, *markers: str) -> str:
    """The project's root as seen from `start`.

    The top of the enclosing working tree (also of a linked worktree or a submodule); outside git the
    nearest folder upwards that holds one of the markers; failing that, `start` itself.
    """
    start = os.path.realpath(start)
    if not os.path.isdir(start):
        shown = spelled(start)
        raise InputError(f"`{shown}` is not a folder.", hint="Name an existing folder.", details={"path": shown})
    nearest: str | None = None
    folder = start
    while True:
        if is_repository_top(folder):
            return _nameable(folder)
        if nearest is None and any(os.path.isfile(os.path.join(folder, *marker.split("/"))) for marker in markers):
            nearest = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return _nameable(nearest or start)
        folder = parent


def _nameable(root: str) -> str:
    """The root, unless its path has bytes that neither JSON nor the index can spell."""
    try:
        root.encode("utf-8")
    except UnicodeEncodeError:
        shown = spelled(root)
        raise InputError(
            f"The path of `{shown}` is not UTF-8 text.",
            hint="Rename the folder, or work in a clone elsewhere.",
            details={"path": shown},
        ) from None
    return root


def is_repository_top(folder: str) -> bool:
    """Whether `.git` here is a repository or points to one."""
    entry = os.path.join(folder, ".git")
    if os.path.isdir(entry):
        return os.path.exists(os.path.join(entry, "HEAD"))
    return os.path.isfile(entry)
