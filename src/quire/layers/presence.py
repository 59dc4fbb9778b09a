"""Tell with a few file lookups whether a folder has a memory; most have none."""

from __future__ import annotations

import os

from quire.files.discovery import find_root
from quire.layers.graph.layout import CONFIG, FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import STATE as JOURNAL_STATE
from quire.layers.profile.layout import FILE as PROFILE_FILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER

MARKERS = (f"{FOLDER}/{CONFIG}", f"{PROFILE_FOLDER}/{PROFILE_FILE}", f"{JOURNAL_FOLDER}/{JOURNAL_STATE}")
"""What says that there is a memory: of the graph and the facts, of people, of sessions."""


def has_memory(root: str) -> bool:
    """Whether any layer of a memory is in this folder."""
    return any(os.path.isfile(os.path.join(root, *marker.split("/"))) for marker in MARKERS)


def memory_root(start: str) -> str | None:
    """The project that holds a folder, if it has a memory."""
    root = find_root(start, *MARKERS)
    return root if has_memory(root) else None
