"""Stored types of the journal in our spelling; `extra` holds unknown keys.
know, which are written back where they stood. What a stored value must be like is said by its type, or beside it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from quire.layers.journal.layout import (
    GENERATOR_VERSION,
    PREFERENCES,
    PROVIDERS,
    RUN_STATUSES,
    SCHEMA_VERSION,
    SYNC_STATUSES,
)
from quire.layers.journal.shapes import BUNDLE
from quire.layers.journal.value_shapes import Equal, OneOf

Fields = dict[str, Any]
Bundle = dict[str, Any]
"""The memory itself, as it is stored: its sections are rewritten as a whole and keep keys we do not know."""
Count = int | float


class _Stored(Struct, frozen=True, kw_only=True, rename="camel"):
    extra: Fields = {}


class Provider(_Stored, frozen=True, kw_only=True):
    """Who wrote the bundle."""

    name: Annotated[str, OneOf(PROVIDERS)]
    binary: str
    model: str | None = None
    session_id: str | None = None


class Cursor(_Stored, frozen=True, kw_only=True):
    """How far the history has been recalled."""

    last_recalled_at: str | None = None
    last_recalled_event_id: str | None = None


class Cursors(_Stored, frozen=True, kw_only=True):
    """One cursor for each scope of a recall."""

    all: Cursor = Cursor()
    local: Cursor = Cursor()
    imports: Cursor = Cursor()


class Maintenance(_Stored, frozen=True, kw_only=True):
    """What the memory knows of its own upkeep; the first two repeat the cursor `all`."""

    last_recalled_at: str | None = None
    last_recalled_event_id: str | None = None
    latest_checkpoint_id: str | None = None
    history_event_count: Count = 0
    import_source_count: Count = 0
    recall_cursors: Cursors = Cursors()


class State(_Stored, frozen=True, kw_only=True):
    """`state.json`: the memory that holds."""

    schema_version: Annotated[int, Equal(SCHEMA_VERSION)] = SCHEMA_VERSION
    generator_version: str = GENERATOR_VERSION
    provider: Provider
    generated_at: str
    bundle_hash: str
    bundle: Annotated[Bundle, BUNDLE]
    maintenance: Maintenance = Maintenance()


class Signals(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an event leaves behind that lasts."""

    decisions: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    next_step_hints: tuple[str, ...] = ()
    key_paths: tuple[str, ...] = ()
    validation_observations: tuple[str, ...] = ()


class JournalEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of the history. The keys are written in this order."""

    id: str
    kind: str
    source_id: str
    external_item_id: str | None
    created_at: str
    content_hash: str
    summary: str
    signals: Signals
    source_ref: str


class Checkpoint(_Stored, frozen=True, kw_only=True):
    """The bundle as it was after a write that counted."""

    id: str
    created_at: str
    event_id: str | None
    bundle_hash: str
    bundle: Bundle
    summary: str


class SessionSource(_Stored, frozen=True, kw_only=True):
    """Where sessions are imported from, and how that went last time."""

    id: str
    type: str
    path: str
    created_at: str
    updated_at: str
    last_synced_at: str | None = None
    last_sync_status: Annotated[str, OneOf(SYNC_STATUSES)] = "never"
    last_sync_error: str | None = None
    last_imported_count: Count = 0


class ArchiveManifest(_Stored, frozen=True, kw_only=True):
    """What an archive batch holds, and the settings it was made under."""

    created_at: str
    archived_event_ids: tuple[str, ...]
    archived_checkpoint_ids: tuple[str, ...]
    history_max_age_days: Count
    checkpoint_max_age_days: Count
    keep_recent: Count
    expire_after_days: Count


class Daemon(_Stored, frozen=True, kw_only=True):
    """The process that keeps the memory, as it described itself."""

    pid: Count
    started_at: str
    last_heartbeat_at: str
    interval_minutes: Count
    provider: Annotated[str, OneOf(PREFERENCES)]


class DaemonLock(_Stored, frozen=True, kw_only=True):
    pid: Count
    created_at: str


class Failure(_Stored, frozen=True, kw_only=True):
    source_ref: str
    message: str


class SyncResult(_Stored, frozen=True, kw_only=True):
    source_id: str
    imported_count: Count = 0
    skipped_count: Count = 0
    failed_count: Count = 0
    failures: tuple[Failure, ...] = ()


class ImportSync(_Stored, frozen=True, kw_only=True):
    attempted: bool = False
    results: tuple[SyncResult, ...] = ()


class RecallResult(_Stored, frozen=True, kw_only=True):
    attempted: bool = False
    applied: bool = False
    raw_event_count: Count = 0
    grouped_item_count: Count = 0
    noop_reason: str | None = None


class PruneResult(_Stored, frozen=True, kw_only=True):
    attempted: bool = False
    archived_event_count: Count = 0
    archived_checkpoint_count: Count = 0
    expired_archive_batch_count: Count = 0
    archive_batch_path: str | None = None
    skipped_reason: str | None = None


class Run(_Stored, frozen=True, kw_only=True):
    """How the last cycle of the automation went."""

    started_at: str
    finished_at: str
    status: Annotated[str, OneOf(RUN_STATUSES)]
    provider: Annotated[str, OneOf(PREFERENCES)]
    import_sync: ImportSync = ImportSync()
    recall: RecallResult = RecallResult()
    prune: PruneResult = PruneResult()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
