"""The names of the files and folders of `.memory/`."""

from __future__ import annotations

from quire.files import layout

FOLDER = layout.MEMORY
CONFIG = layout.CONFIG
NODES = "memory"
RELATIONS = "relations"
SCHEMA = "schema"
EVENTS = "events.jsonl"
EVENT_FRAGMENTS = "events.d"
"""Events of saves on other branches than the default one, a file for each save."""
SYNC_STATE = "sync-state.json"
INDEX = layout.INDEX
BACKUP = layout.BACKUP
NO_DESCRIPTION = "has no description yet"
"""What the node of a new project says until someone describes it."""
OTHERS = ("rejected", "integrations")
"""What else lies in the folder and is no layer's: what was rejected, what was written into files of clients."""
GENERATED = (INDEX, layout.LOCAL, layout.RECOVERY, BACKUP, layout.LOCK)


def body_of(path: str) -> str:
    """The file of a node's text, by the file of its fields."""
    return path.removesuffix(".json") + ".md"


def sidecar_of(path: str) -> str:
    """The file of a node's fields, by either of its two files."""
    return path.removesuffix(".md") + ".json" if path.endswith(".md") else path
