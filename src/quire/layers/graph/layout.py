"""The names of the files and folders of `.memory/`."""

from __future__ import annotations

from quire.files.write_access import LOCAL, LOCK, RECOVERY

FOLDER = ".memory"
CONFIG = "config.json"
NODES = "memory"
RELATIONS = "relations"
SCHEMA = "schema"
EVENTS = "events.jsonl"
SYNC_STATE = "sync-state.json"
INDEX = "index"
BACKUP = ".backup"
NO_DESCRIPTION = "has no description yet"
"""What the node of a new project says until somebody describes it."""
OTHERS = ("facts.jsonl", "rejected", "integrations")
"""What else lies in the folder: the facts, what was rejected, what was written into files of clients."""
GENERATED = (INDEX, LOCAL, RECOVERY, BACKUP, LOCK)
