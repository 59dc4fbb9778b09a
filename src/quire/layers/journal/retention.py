"""Choose what is old enough to leave the active history. The caller archives it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from quire.layers.journal.layout import CHECKPOINT_PREFIX
from quire.layers.journal.numbered_ids import moment_of, ordinal_of
from quire.layers.journal.settings import JournalSettings
from quire.layers.journal.types import ArchiveManifest, Checkpoint, Count, JournalEvent, Maintenance


def aged_events(
    events: Iterable[JournalEvent], maintenance: Maintenance, config: JournalSettings, now: datetime
) -> list[JournalEvent]:
    """Events that were recalled and are old enough; one whose time is not known never is."""
    recalled = ordinal_of(maintenance.last_recalled_event_id)
    if not config.is_retaining or not recalled:
        return []
    return [
        event
        for event in events
        if 0 < ordinal_of(event.id) <= recalled and _is_older(event.created_at, config.history_days, now)
    ]


def aged_checkpoints(
    checkpoints: Iterable[Checkpoint], maintenance: Maintenance, config: JournalSettings, now: datetime
) -> list[Checkpoint]:
    """Checkpoints that are old enough, neither the latest nor one of the last that are kept in any case."""
    if not config.is_retaining:
        return []
    ordered = sorted(checkpoints, key=lambda one: ordinal_of(one.id, CHECKPOINT_PREFIX))
    kept = int(min(len(ordered), config.keep_recent))
    return [
        one
        for one in ordered[: len(ordered) - kept]
        if one.id != maintenance.latest_checkpoint_id and _is_older(one.created_at, config.checkpoint_days, now)
    ]


def is_expired(manifest: ArchiveManifest, config: JournalSettings, now: datetime) -> bool:
    return _is_older(manifest.created_at, config.archive_days, now)


def new_manifest(
    events: Iterable[JournalEvent], checkpoints: Iterable[Checkpoint], config: JournalSettings, now: str
) -> ArchiveManifest:
    return ArchiveManifest(
        created_at=now,
        archived_event_ids=tuple(event.id for event in events),
        archived_checkpoint_ids=tuple(checkpoint.id for checkpoint in checkpoints),
        history_max_age_days=config.history_days,
        checkpoint_max_age_days=config.checkpoint_days,
        keep_recent=config.keep_recent,
        expire_after_days=config.archive_days,
    )


def _is_older(created_at: str, days: Count, now: datetime) -> bool:
    moment = moment_of(created_at)
    try:
        return moment is not None and moment <= now - timedelta(days=days)
    except OverflowError:
        return False
