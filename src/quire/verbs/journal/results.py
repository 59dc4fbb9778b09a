"""What the operations on the journal give back: plain values that every surface prints in its own way."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.records import Problem


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is written, or would be."""

    kind: str
    """CREATE, OVERWRITE, or PATCH where only a part of it is ours."""
    path: str
    note: str
    diff: str | None = None
    """Line by line, where it was asked for and something differs."""


class Refreshed(msgspec.Struct, kw_only=True):
    """What `init` and `update` did, or would do."""

    command: str
    applied: bool = False
    changed: bool = True
    """False where the memory already says all that."""
    project: str
    root: str
    signals: list[str]
    """Names of the files by which the project was recognised."""
    package_manager: str | None = None
    workspace_manager: str | None = None
    provider: str
    planned: list[FileChange] = []
    changed_sections: list[str] = []
    summary: str = ""
    """What changed, in one line."""
    validations: list[dict[str, Any]] = []
    pages_anew: bool = False
    """Whether pages were written for a memory that stays as it is."""
    checkpoint: str | None = None
    event: str | None = None
    backup: str | None = None
    """Where the earlier journal is kept, from the project's root."""
    cost_usd: float = 0.0
    warnings: list[Problem] = []


class Recalled(msgspec.Struct, kw_only=True):
    """What a recall did, or would do."""

    source: str
    section: str
    policy: str
    protected: list[str] = []
    provider: str
    raw_event_count: int = 0
    grouped_item_count: int = 0
    backlog: list[str] = []
    """The grouped evidence in a few lines."""
    applied: bool = False
    noop_reason: str | None = None
    """Why there is nothing to do; None where there is something."""
    pages_anew: bool = False
    """Whether pages were written for a memory that stays as it is."""
    changed_sections: list[str] = []
    diff: dict[str, Any] = {}
    summary: str = ""
    planned: list[FileChange] = []
    memory: dict[str, Any] = {}
    """What the memory holds before and after, in numbers."""
    baseline: dict[str, Any] | None = None
    """How the result differs from a checkpoint."""
    checkpoint: str | None = None
    event: str | None = None
    expects: str = ""
    """What the plan was made from; an application of it is refused where that changed."""
    cost_usd: float = 0.0
    warnings: list[Problem] = []


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


class RestoredState(msgspec.Struct, kw_only=True):
    """A checkpoint, or a batch of the archive, brought back."""

    restored: str
    applied: bool = False
    changed: bool = True
    saved_as: str | None = None
    """The checkpoint that keeps what held before, where none had it yet."""
    checkpoint: str | None = None
    event: str | None = None
    changed_sections: list[str] = []
    summary: str = ""
    planned: list[FileChange] = []
    events_returned: int = 0
    checkpoints_returned: int = 0
    kept_aside: str | None = None
    """Where a damaged state is kept."""
    warnings: list[Problem] = []
