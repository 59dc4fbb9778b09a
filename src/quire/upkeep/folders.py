"""Which folder of the project each layer keeps its files in."""

from __future__ import annotations

from quire.layers.graph.layout import FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER

_FOLDERS = {"graph": FOLDER, "facts": FOLDER, "profile": PROFILE_FOLDER, "journal": JOURNAL_FOLDER}


def path_from_root(layer: str, path: str) -> str:
    """A layer's file as seen from the project's root."""
    return f"{_FOLDERS[layer]}/{path}"
