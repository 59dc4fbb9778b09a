"""Move old events and checkpoints to the archive, remove expired batches, restore a batch.

Each is one transaction: what is archived is in one place or in the other, whenever the process dies.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quire.files import disk
from quire.files.json_files import json_value, lines
from quire.files.paths import is_text, names_in
from quire.files.transaction import FileUpdate, update_of
from quire.layers.journal.canonical import file_bytes, line_bytes
from quire.layers.journal.documents import parse_document, read_manifest, value_of
from quire.layers.journal.events import EventLine, history_bytes, read_history
from quire.layers.journal.layout import (
    ARCHIVE,
    BATCH_CHECKPOINTS,
    BATCH_EVENTS,
    BATCH_MANIFEST,
    BATCH_PREFIX,
    CHECKPOINT_PREFIX,
    EVENTS_BYTES,
    EXPIRED,
    FOLDER,
    batch_name,
)
from quire.layers.journal.numbered_ids import moment_of, ordinal_of
from quire.layers.journal.settings import JournalSettings
from quire.layers.journal.state_changes import counted_maintenance
from quire.layers.journal.store import (
    Journal,
    Writing,
    checkpoint_ids,
    checkpoint_path,
    free_place,
    held_file,
    load_checkpoint,
)
from quire.layers.journal.types import ArchiveManifest, Checkpoint, Count, JournalEvent, Maintenance
from quire.model.errors import Conflict, InvalidStore, NotFound, UnsupportedVersion
from quire.model.records import Problem
from quire.model.times import time_text


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


class Batch(Struct, frozen=True, kw_only=True):
    """One batch of the archive; without a manifest where that cannot be read."""

    name: str
    manifest: ArchiveManifest | None = None
    fault: str = ""

    @property
    def path(self) -> str:
        return f"{ARCHIVE}/{self.name}"


class Candidates(Struct, frozen=True):
    """What retention would archive now, and what it would let go."""

    events: list[JournalEvent]
    checkpoints: list[Checkpoint]
    expired: list[Batch]
    problems: list[Problem]

    @property
    def is_empty(self) -> bool:
        return not (self.events or self.checkpoints or self.expired)


class Pruning(Struct, frozen=True, kw_only=True):
    """A planned round of retention."""

    writing: Writing
    events: int = 0
    checkpoints: int = 0
    expired: tuple[str, ...] = ()
    batch: str | None = None
    """Where it goes, below the project."""


def find_batches(root: str) -> list[Batch]:
    """The batches there are, oldest first."""
    names = names_in(os.path.join(root, FOLDER, ARCHIVE))
    return [_batch(root, name) for name in filter(is_text, names) if name.startswith(BATCH_PREFIX)]


def _batch(root: str, name: str) -> Batch:
    where = f"{FOLDER}/{ARCHIVE}/{name}/{BATCH_MANIFEST}"
    try:
        data = held_file(root, f"{ARCHIVE}/{name}/{BATCH_MANIFEST}")
        if data is None:
            return Batch(name=name, fault=f"`{where}` is missing.")
        return Batch(name=name, manifest=read_manifest(parse_document(data, where), where))
    except (InvalidStore, UnsupportedVersion) as error:
        return Batch(name=name, fault=error.message)


def find_candidates(journal: Journal, now: datetime) -> Candidates:
    maintenance, config = journal.state.maintenance, journal.config
    problems: list[Problem] = []
    if not config.is_retaining:
        return Candidates([], [], [], problems)
    known = []
    # Those that are kept in any case are not even read; the latest always is.
    for name in journal.checkpoints[
        : max(0, len(journal.checkpoints) - int(min(max(1, config.keep_recent), len(journal.checkpoints))))
    ]:
        try:
            known.append(load_checkpoint(journal.root, name))
        except (InvalidStore, NotFound, UnsupportedVersion) as error:
            problems.append(Problem(code=error.code, severity="warning", message=error.message))
    aged = aged_checkpoints(known, maintenance, replace(config, keep_recent=0), now)
    batches = find_batches(journal.root)
    expired = [batch for batch in batches if batch.manifest and is_expired(batch.manifest, config, now)]
    problems += [
        Problem(code="JournalBatchUnreadable", severity="warning", path=f"{FOLDER}/{batch.path}", message=batch.fault)
        for batch in batches
        if batch.fault
    ]
    return Candidates(aged_events(journal.history.events, maintenance, config, now), aged, expired, problems)


def plan_pruning(journal: Journal, candidates: Candidates, now: datetime) -> Pruning:
    """Archive what has aged, and remove batches that expired."""
    at = time_text(now)
    changes = [change for batch in candidates.expired for change in _removal(journal.root, batch.path)]
    changes += _expiring(journal.root, candidates.expired)
    events, checkpoints = candidates.events, candidates.checkpoints
    if not events and not checkpoints:
        return Pruning(writing=Writing(changes=changes), expired=tuple(batch.name for batch in candidates.expired))
    # Two rounds may fall into one millisecond; the second never writes over the first.
    folder = free_place(journal.root, f"{ARCHIVE}/{batch_name(at)}")
    going = {event.id for event in events}
    gone: list[EventLine] = []
    kept: list[EventLine] = []
    for line in journal.history.lines:
        (gone if line.event is not None and line.event.id in going else kept).append(line)
    manifest = value_of(new_manifest(events, checkpoints, journal.config, at))
    changes += [
        FileUpdate(path=f"{folder}/{BATCH_EVENTS}", data=history_bytes(gone), planned=None),
        FileUpdate(path=f"{folder}/{BATCH_MANIFEST}", data=file_bytes(manifest), planned=None),
    ]
    for checkpoint in checkpoints:
        data = held_file(journal.root, checkpoint_path(checkpoint.id)) or b""
        place = f"{folder}/{BATCH_CHECKPOINTS}/{checkpoint.id}.json"
        changes += [
            FileUpdate(path=place, data=data, planned=None),
            update_of(checkpoint_path(checkpoint.id), data, None),
        ]
    maintenance = replace(counted_maintenance(journal), history_event_count=sum(1 for line in kept if line.event))
    return Pruning(
        writing=Writing(
            state=replace(journal.state, maintenance=maintenance),
            history=kept if gone else None,
            changes=changes,
        ),
        events=len(gone),
        checkpoints=len(checkpoints),
        expired=tuple(batch.name for batch in candidates.expired),
        batch=f"{FOLDER}/{folder}",
    )


def plan_return(journal: Journal, name: str) -> tuple[Writing, int, int]:
    """A batch brought back into the active history; how many events and checkpoints that are."""
    batch = next((batch for batch in find_batches(journal.root) if batch.name == name), None)
    if batch is None:
        raise NotFound(
            f"There is no batch `{name[:80]}` in the archive.", hint="`memory journal log --archived` tells."
        )
    back = read_history(held_file(journal.root, f"{batch.path}/{BATCH_EVENTS}", EVENTS_BYTES) or b"")
    here = {line.raw for line in journal.history.lines}
    merged = [*journal.history.lines, *(line for line in back.lines if line.raw not in here)]
    # Lines that are no events stay behind the event they followed.
    ordered = sorted(_placed(merged), key=lambda item: item[0])
    changes = []
    number = 0
    for checkpoint in checkpoint_ids(journal.root, f"{batch.path}/{BATCH_CHECKPOINTS}"):
        data = held_file(journal.root, f"{batch.path}/{BATCH_CHECKPOINTS}/{checkpoint}.json") or b""
        there = held_file(journal.root, checkpoint_path(checkpoint))
        if there is None:
            changes.append(FileUpdate(path=checkpoint_path(checkpoint), data=data, planned=None))
            number += 1
        elif there != data:
            raise Conflict(
                f"Another checkpoint has the id `{checkpoint}` now.",
                hint=f"Look at `{FOLDER}/{batch.path}` by hand.",
            )
    changes += _removal(journal.root, batch.path)
    history = [line for _, line in ordered]
    maintenance = replace(
        counted_maintenance(journal), history_event_count=sum(1 for line in history if line.event is not None)
    )
    writing = Writing(state=replace(journal.state, maintenance=maintenance), history=history, changes=changes)
    return writing, len(merged) - len(journal.history.lines), number


def _placed(placed: Sequence[EventLine]) -> Iterator[tuple[int, EventLine]]:
    place = 0
    for line in placed:
        place = ordinal_of(line.event.id) if line.event is not None else place
        yield place, line


def archived_events(root: str) -> list[JournalEvent]:
    """The events of all batches that can be read. One that is refused for a passing reason is an error."""
    found: list[JournalEvent] = []
    for batch in find_batches(root):
        with contextlib.suppress(InvalidStore):
            found += read_history(held_file(root, f"{batch.path}/{BATCH_EVENTS}", EVENTS_BYTES) or b"").events
    return found


class ExpiredItem(Struct, frozen=True, rename="camel"):
    """A session that was imported, and whose event has expired."""

    source_id: str
    external_item_id: str
    content_hash: str


def expired_items(root: str) -> list[ExpiredItem]:
    """What must not be imported again; lines that cannot be read do not count."""
    with contextlib.suppress(InvalidStore):
        found = (json_value(line, ExpiredItem) for _, line in lines(held_file(root, EXPIRED, EVENTS_BYTES) or b""))
        return [item for item in found if item is not None]
    return []


def _expiring(root: str, batches: Sequence[Batch]) -> list[FileUpdate]:
    """The note of what goes with these batches, beside what was noted before."""
    before = held_file(root, EXPIRED, EVENTS_BYTES)
    known = set(expired_items(root))
    going = {}
    for batch in batches:
        with contextlib.suppress(InvalidStore):
            for event in read_history(held_file(root, f"{batch.path}/{BATCH_EVENTS}", EVENTS_BYTES) or b"").events:
                if event.external_item_id:
                    item = ExpiredItem(event.source_id, event.external_item_id, event.content_hash)
                    going[item] = line_bytes(msgspec.to_builtins(item)) + b"\n"
    added = b"".join(line for item, line in going.items() if item not in known)
    if not added:
        return []
    old = before or b""
    data = old + (b"\n" if old and not old.endswith(b"\n") else b"") + added
    return [update_of(EXPIRED, before, data)]


def sweep_batches(root: str) -> None:
    """Folders of batches that hold nothing any more."""
    for batch in find_batches(root):
        top = os.path.join(root, FOLDER, ARCHIVE, batch.name)
        for folder in (os.path.join(top, BATCH_CHECKPOINTS), top):
            with contextlib.suppress(OSError):
                if not os.listdir(folder):
                    disk.remove_folder(folder)


def _removal(root: str, path: str) -> list[FileUpdate]:
    """Every file of a batch goes. What is not a regular file there is nobody's, and keeps its folder."""
    found = []
    for folder, folders, names in os.walk(os.path.join(root, FOLDER, path)):
        folders.sort()
        for name in sorted(names):
            relative = os.path.relpath(os.path.join(folder, name), os.path.join(root, FOLDER))
            with contextlib.suppress(InvalidStore):
                data = held_file(root, relative, EVENTS_BYTES)
                if data is not None:
                    found.append(update_of(relative, data, None))
    return found
