"""The names of the files and folders of `.memory/`."""

from __future__ import annotations

FOLDER = ".memory"
CONFIG = "config.json"
NODES = "memory"
RELATIONS = "relations"
SCHEMA = "schema"
EVENTS = "events.jsonl"
SYNC_STATE = "sync-state.json"
INDEX = "index"
RECOVERY = "recovery"
BACKUP = ".backup"
LOCK = ".lock"
GENERATED = (INDEX, RECOVERY, BACKUP, LOCK)

__all__ = [
    "BACKUP",
    "CONFIG",
    "EVENTS",
    "FOLDER",
    "GENERATED",
    "INDEX",
    "LOCK",
    "NODES",
    "RECOVERY",
    "RELATIONS",
    "SCHEMA",
    "SYNC_STATE",
]
