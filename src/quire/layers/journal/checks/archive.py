"""Check the archive: each batch against its manifest and against the active history."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from quire.layers.journal.archive import Batch, find_batches, is_expired
from quire.layers.journal.checks.findings import listing, passed, warned
from quire.layers.journal.events import read_history
from quire.layers.journal.layout import ARCHIVE, BATCH_CHECKPOINTS, BATCH_EVENTS, EVENTS_BYTES, FOLDER
from quire.layers.journal.settings import JournalSettings
from quire.layers.journal.store import checkpoint_ids, held_file
from quire.model.errors import QuireError
from quire.model.records import Problem


class Archived(Struct, frozen=True, kw_only=True):
    """A batch and the ids it holds; None where what should hold them cannot be read."""

    batch: Batch
    events: frozenset[str] | None = None
    events_fault: str = ""
    unread_lines: int = 0
    checkpoints: frozenset[str] | None = None

    @property
    def claimed(self) -> frozenset[str]:
        """The events that its manifest lists."""
        manifest = self.batch.manifest
        return frozenset(manifest.archived_event_ids) if manifest else frozenset()


def read_archive(root: str) -> list[Archived]:
    """All batches. Only ids are kept of what is in them."""
    return [_archived(root, batch) for batch in find_batches(root)]


def _archived(root: str, batch: Batch) -> Archived:
    folder = f"{batch.path}/{BATCH_CHECKPOINTS}"
    path = os.path.join(root, FOLDER, folder)
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    held = Archived(batch=batch, checkpoints=frozenset(checkpoint_ids(root, folder)) if is_folder else None)
    where = f"{FOLDER}/{batch.path}/{BATCH_EVENTS}"
    try:
        data = held_file(root, f"{batch.path}/{BATCH_EVENTS}", EVENTS_BYTES)
    except QuireError as error:
        return replace(held, events_fault=error.message)
    if data is None:
        return replace(held, events_fault=f"`{where}` is missing.")
    history = read_history(data, where)
    return replace(held, events=frozenset(history.ids()), unread_lines=len(history.aside))


def archived_ids(archive: list[Archived]) -> set[str]:
    """Every event that is in the archive, or is said to be."""
    return {name for held in archive for name in (held.events or frozenset()) | held.claimed}


def check_archive(
    root: str, archive: list[Archived], config: JournalSettings, active: frozenset[str], now: datetime
) -> list[Problem]:
    """`active` are the ids of the events that are not archived."""
    where = f"{FOLDER}/{ARCHIVE}"
    path = os.path.join(root, where)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path)):
        said = f"`{where}` is not a folder: nothing can be archived."
        return [warned("archive:read", said, where, "Move it away.")]
    try:
        if os.path.lexists(path):
            os.listdir(path)
    except OSError as error:
        return [warned("archive:read", f"`{where}` cannot be read: {error.strerror}.", where)]
    return [finding for held in archive for finding in _batch_findings(held, config, active, now)]


def _batch_findings(
    held: Archived, config: JournalSettings, active: frozenset[str], now: datetime
) -> Iterator[Problem]:
    batch, name = held.batch, held.batch.name
    where = f"{FOLDER}/{batch.path}"
    if batch.manifest is None:
        hint = "Its expiry is unknown: check it, then remove or restore it by hand."
        yield warned(f"archive:manifest:{name}", batch.fault, where, hint)
    else:
        yield passed(f"archive:manifest:{name}", f"The manifest of the batch `{name}` can be read.", where)
    if held.events is None:
        yield warned(f"archive:events:{name}", held.events_fault, where)
    elif held.unread_lines:
        said = f"{held.unread_lines:,} lines of its events cannot be read; they are kept."
        yield warned(f"archive:events:{name}", said, where)
    if held.checkpoints is None:
        said = f"`{where}/{BATCH_CHECKPOINTS}` is missing."
        # Git keeps no empty folders.
        if batch.manifest is None or batch.manifest.archived_checkpoint_ids:
            yield warned(f"archive:checkpoints:{name}", said, where)
    yield from _contents(held, where)
    doubled = sorted(active & (held.claimed if held.events is None else held.events))
    if doubled:
        said = f"The batch `{name}` holds events that are in the active history too: {listing(doubled)}."
        hint = "A write was interrupted, or the batch was merged back. Both copies are kept."
        yield warned(f"archive:doubled:{name}", said, where, hint)
    if config.is_retaining and batch.manifest is not None and is_expired(batch.manifest, config, now):
        said = f"The batch `{name}` is older than the settings keep it."
        yield warned(f"archive:expiry:{name}", said, where, "The next retention run removes it.")


def _contents(held: Archived, where: str) -> Iterator[Problem]:
    """What the manifest lists and the batch does not hold."""
    manifest, code = held.batch.manifest, f"archive:contents:{held.batch.name}"
    if manifest is None:
        return
    if held.events is not None and (missing := sorted(held.claimed - held.events)):
        yield warned(code, f"The manifest lists events that the batch does not hold: {listing(missing)}.", where)
    if held.checkpoints is not None:
        missing = sorted(set(manifest.archived_checkpoint_ids) - held.checkpoints)
        if missing:
            said = f"The manifest lists checkpoints that the batch does not hold: {listing(missing)}."
            yield warned(code, said, where)
