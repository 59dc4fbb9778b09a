"""Result types that several verbs of the journal share."""

from __future__ import annotations

import msgspec


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is written, or would be."""

    kind: str
    """CREATE, OVERWRITE, or PATCH where only a part of it is ours."""
    path: str
    note: str
    diff: str | None = None
    """Line by line, where it was asked for and something differs."""


class SourceState(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    type: str
    path: str
    last_synced_at: str | None
    last_sync_status: str
    last_sync_error: str | None
    last_imported_count: float
    exists: bool
    """Whether there is something at its path on this machine."""
    all_folders: bool = False
    """Whether sessions that ran in other folders count, too."""
