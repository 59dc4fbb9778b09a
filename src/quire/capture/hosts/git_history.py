"""Find the history of the project itself; `capture/history/` reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from quire.capture.hosts.types import HISTORY, HostSource
from quire.files.git import Git

SHOWN = "git history"


def find_git(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:  # noqa: ARG001
    """The repository, where git can be asked and a commit was made."""
    git = Git(root, env)
    if not git.available or "/" in git.head_from_files():
        return []
    return [HostSource(kind=HISTORY, path=os.path.join(root, ".git"), shown=SHOWN, scope="project", size=0)]
