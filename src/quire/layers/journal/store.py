"""Read the journal's files into one value; change them all or nothing under its lock.

A change is planned against what was just read and names it, so it can never undo what someone else wrote. The pages
and the entry block are not part of the transaction, since they lie elsewhere and can be made again: the transaction
leaves a note that they are due, and whoever comes next writes them where its author could not.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quire.files.branches import checkout_at, writes_fragments
from quire.files.digests import sha256
from quire.files.durable_write import ensure_folder
from quire.files.fragments import fragments_of, new_fragment
from quire.files.local_files import ensure_local, read_object
from quire.files.paths import PASSING, inside, names_in, read_inside, storage_failed
from quire.files.transaction import Append, FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.files.write_access import write_access
from quire.layers.fragment_records import BranchChange, fragment_with, held_changes, removals
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.documents import damaged, parse_document, read_checkpoint, read_state, value_of
from quire.layers.journal.events import EventLine, History, appended_bytes, history_bytes, read_history
from quire.layers.journal.layout import (
    CHECKPOINT_PREFIX,
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    EVENTS_BYTES,
    FILE_BYTES,
    FOLDER,
    LOCAL,
    LOG,
    PAGES_DUE,
    SOURCE_LOG,
    SOURCES,
    STATE,
    SYNCED,
    WRITTEN,
)
from quire.layers.journal.numbered_ids import ordinal_of
from quire.layers.journal.settings import JournalSettings, read_config
from quire.layers.journal.sources import SourceRegistry, parted, read_sources, registry_value, with_added, with_synced
from quire.layers.journal.types import Checkpoint, JournalEvent, State
from quire.model.contested import IN_CONFLICT
from quire.model.errors import Conflict, InvalidStore, NotFound, NotInitialized, QuireError

_SETTLE_SECONDS = 2.0


class Journal(Struct, frozen=True, kw_only=True):
    """Everything that a change may have to know, as it was read."""

    root: str
    state: State
    history: History
    registry: SourceRegistry
    config: JournalSettings
    checkpoints: tuple[str, ...]
    """Ids by their number."""
    state_digest: str | None = None
    sources_digest: str | None = None
    events_size: int = 0
    archived: tuple[str, ...] = ()
    """Ids of events and checkpoints that are in the archive: out of the way, and not free either."""

    @property
    def latest_checkpoint(self) -> str | None:
        return self.checkpoints[-1] if self.checkpoints else None


class Writing(Struct, frozen=True, kw_only=True):
    """What is to be written; what is None or empty stays as it is."""

    state: State | None = None
    events: Sequence[JournalEvent] = ()
    """Added to the end of the history."""
    history: Sequence[EventLine | JournalEvent] | None = None
    """The history as a whole, in the place of the one there is."""
    checkpoint: Checkpoint | None = None
    registry: SourceRegistry | None = None
    changes: Sequence[FileUpdate] = ()
    """Other files, below the journal's folder."""
    pages: bool = False
    """Whether the pages and the entry block are to be written anew."""
    entry: bool = False
    """Whether a person agreed that the block goes into a file that has none."""


@contextlib.contextmanager
def journal_access(
    root: str, world: World, operation: str, seconds: float | None = None, *, fold: bool = True
) -> Iterator[None]:
    """The right to write. What a dead writer left is complete by then, and what branches wrote is in its place."""
    with write_access(root, FOLDER, world, operation, seconds=seconds, written=WRITTEN):
        apart = fold and (fragments_of(root, LOG) or fragments_of(root, SOURCE_LOG))
        if apart and not writes_fragments(checkout_at(root, world)):
            from quire.layers.journal.fold import fold_history

            fold_history(root, world)
        yield


# -- reading --------------------------------------------------------------------------------------


def held_file(root: str, name: str, limit: int = FILE_BYTES) -> bytes | None:
    """A file of the journal; None where there is none. InvalidStore where it cannot be read."""
    try:
        return read_inside(root, f"{FOLDER}/{name}", limit)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in PASSING:
            raise storage_failed(error, f"read `{FOLDER}/{name}`", root) from error
        raise damaged(f"{FOLDER}/{name}", f"it cannot be read: {(error.strerror or str(error)).lower()}") from error


def held_log(root: str) -> bytes | None:
    """The history with its fragments behind it; None where there is neither."""
    data = held_file(root, EVENTS, EVENTS_BYTES)
    fragments = [held_file(root, path.removeprefix(f"{FOLDER}/"), EVENTS_BYTES) for path in fragments_of(root, LOG)]
    parts = [part if part.endswith(b"\n") else part + b"\n" for part in fragments if part]
    if not parts:
        return data
    open_end = b"\n" if data and not data.endswith(b"\n") else b""
    return b"".join([data or b"", open_end, *parts])


def events_in_fragments(root: str) -> int:
    """How many events stand in fragments. The state counts those of the history, which other programs see alone."""
    held = [held_file(root, path.removeprefix(f"{FOLDER}/"), EVENTS_BYTES) for path in fragments_of(root, LOG)]
    return sum(len(read_history(data).events) for data in held if data)


def open_journal(root: str) -> Journal:
    """The whole journal. NotInitialized where there is none, InvalidStore where a file cannot be used."""
    data = held_file(root, STATE)
    if data is None:
        raise NotInitialized(
            f"There is no journal here: `{FOLDER}/{STATE}` is missing.",
            hint="`memory journal init` creates one."
            if not checkpoint_ids(root)
            else "Its checkpoints still exist: `memory journal restore` restores the state from one of them.",
        )
    try:
        state = read_state(parse_document(data, f"{FOLDER}/{STATE}"))
    except InvalidStore as error:
        if checkpoint_ids(root) and error.hint != IN_CONFLICT:
            error.hint = (
                f"{error.hint} `memory journal restore` creates one from a checkpoint and keeps the damaged one."
            )
        raise
    events = held_file(root, EVENTS, EVENTS_BYTES) or b""
    registry, digest = load_sources(root)
    return Journal(
        root=root,
        state=state,
        history=read_history(held_log(root) or b""),
        registry=registry,
        config=load_config(root),
        checkpoints=tuple(checkpoint_ids(root)),
        state_digest=sha256(data),
        sources_digest=digest,
        events_size=len(events),
        archived=tuple(archived_names(root)),
    )


def archived_names(root: str) -> Iterator[str]:
    """The ids that the manifests of the archive list."""
    from quire.layers.journal.archive import find_batches

    for batch in find_batches(root):
        if batch.manifest is not None:
            yield from (*batch.manifest.archived_event_ids, *batch.manifest.archived_checkpoint_ids)


def load_history(root: str, name: str = EVENTS) -> History:
    data = held_log(root) if name == EVENTS else held_file(root, name, EVENTS_BYTES)
    return read_history(data or b"", f"{FOLDER}/{name}")


def stored_sources(root: str) -> tuple[SourceRegistry, str | None]:
    """The registry as its file has it, and the digest of that."""
    data = held_file(root, SOURCES)
    if data is None:
        return SourceRegistry(), None
    return read_sources(parse_document(data, f"{FOLDER}/{SOURCES}")), sha256(data)


def added_sources(root: str) -> dict[str, tuple[list[BranchChange], int]]:
    """What branches did to the registry, by fragment."""
    return held_changes(root, SOURCE_LOG, FILE_BYTES) if fragments_of(root, SOURCE_LOG) else {}


def load_sources(root: str) -> tuple[SourceRegistry, str | None]:
    """The registry with what branches added, and the digest of its file."""
    registry, digest = stored_sources(root)
    registry = with_added(registry, [change for held, _ in added_sources(root).values() for change in held])
    if os.path.lexists(os.path.join(root, FOLDER, LOCAL, SYNCED)):
        registry = with_synced(registry, read_object(root, FOLDER, SYNCED).fields)
    return registry, digest


def load_config(root: str) -> JournalSettings:
    data = held_file(root, CONFIG)
    return read_config(None if data is None else parse_document(data, f"{FOLDER}/{CONFIG}"))


def checkpoint_path(name: str) -> str:
    return f"{CHECKPOINTS}/{name}.json"


def checkpoint_ids(root: str, folder: str = CHECKPOINTS) -> list[str]:
    """The checkpoints there are, by their number; a name that is no checkpoint's is nobody's."""
    names = names_in(os.path.join(root, FOLDER, *folder.split("/")))
    found = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return sorted(
        (name for name in found if ordinal_of(name, CHECKPOINT_PREFIX)),
        key=lambda name: (ordinal_of(name, CHECKPOINT_PREFIX), name),
    )


def free_place(root: str, wanted: str) -> str:
    """A path below the journal that nothing has: the wanted one, or it with a number."""
    number, free = 1, wanted
    while os.path.lexists(os.path.join(root, FOLDER, free)):
        number += 1
        free = f"{wanted}-{number}"
    return free


def load_checkpoint(root: str, name: str, folder: str = CHECKPOINTS) -> Checkpoint:
    path = f"{folder}/{name}.json"
    data = held_file(root, path) if ordinal_of(name, CHECKPOINT_PREFIX) else None
    if data is None:
        raise NotFound(
            f"There is no checkpoint `{name[:80]}`.",
            hint="`memory journal log` lists them.",
            details={"id": f"checkpoint:{name[:80]}"},
        )
    return read_checkpoint(parse_document(data, f"{FOLDER}/{path}"), f"{FOLDER}/{path}")


# -- writing --------------------------------------------------------------------------------------


def commit(journal: Journal, writing: Writing, world: World) -> None:
    """Write all of it or nothing. The caller holds the lock, and read the journal while holding it."""
    root = journal.root
    apart = writes_fragments(checkout_at(root, world))
    if apart:
        writing = _written_apart(journal, writing, world)
    changes, appends = planned_changes(journal, writing, new_fragment(EVENTS, world) if apart else EVENTS)
    if changes or appends:
        ensure_local(root, FOLDER, world.token())
        folder = os.path.join(root, FOLDER)
        if appends:
            ensure_folder(os.path.dirname(inside(folder, EVENTS)))
        apply_changes(folder, changes, appends, world.token(), whole=True)


def _written_apart(journal: Journal, writing: Writing, world: World) -> Writing:
    """The same with sources that a branch adds in a fragment, without what fragments hold in the state's counts, and
    without a state that says nothing new."""
    root, state = journal.root, writing.state
    held, digest = stored_sources(root)
    count = len(held.entries)
    if writing.registry is not None:
        earlier = [change for changes, _ in added_sources(root).values() for change in changes]
        value, changes = parted(held, earlier, journal.registry, writing.registry)
        updates = fragment_with(SOURCE_LOG, changes, world)
        count = len(value)
        if value != registry_value(held):
            updates.append(_document(SOURCES, value, digest))
        writing = msgspec.structs.replace(writing, registry=None, changes=[*writing.changes, *updates])
    if state is not None:
        events = len(journal.history.events) - events_in_fragments(root)
        maintenance = msgspec.structs.replace(state.maintenance, history_event_count=events, import_source_count=count)
        state = msgspec.structs.replace(state, maintenance=maintenance)
        writing = msgspec.structs.replace(writing, state=None if state == journal.state else state)
    return writing


def planned_changes(journal: Journal, writing: Writing, log: str = EVENTS) -> tuple[list[FileUpdate], list[Append]]:
    """What a writing comes to: the files below the journal's folder, and what is added to its log.

    `log` is the history, or a fragment of it that does not exist yet.
    """
    root, changes, appends = journal.root, list(writing.changes), list[Append]()
    if writing.state is not None:
        changes.append(_document(STATE, value_of(writing.state), journal.state_digest))
    if writing.checkpoint is not None:
        changes.append(_document(checkpoint_path(writing.checkpoint.id), value_of(writing.checkpoint), None))
    if writing.registry is not None:
        changes.append(_document(SOURCES, registry_value(writing.registry), journal.sources_digest))
        changes += folded_sources(root)
    if writing.history is not None:
        before = held_file(root, EVENTS, EVENTS_BYTES)
        if read_history(held_log(root) or b"").lines != journal.history.lines:
            # A program without our lock added to it: that must not be lost.
            raise Conflict("The history was changed by another program.", hint="Run the command again.")
        changes.append(update_of(EVENTS, before, history_bytes(writing.history)))
        changes += removed_fragments(root)
    elif writing.events and log != EVENTS:
        changes.append(FileUpdate(path=log, data=history_bytes(writing.events), planned=None))
    elif writing.events:
        added = appended_bytes(journal.history, writing.events)
        # A line that was left open is closed by whoever appends.
        appends.append(Append(path=EVENTS, data=added.lstrip(b"\n"), size=journal.events_size))
    if writing.pages:
        changes.append(_pages_due(root, journal.state, writing.entry))
    return changes, appends


def removed_fragments(root: str) -> list[FileUpdate]:
    """The removal of all fragments, whose events stand elsewhere then."""
    return removals(root, fragments_of(root, LOG), EVENTS_BYTES)


def folded_sources(root: str) -> list[FileUpdate]:
    """The removal of the fragments of the registry that can be read, once it holds what they say."""
    paths = [path for path, (_, unread) in added_sources(root).items() if not unread]
    return removals(root, paths, FILE_BYTES)


def _document(path: str, value: Any, planned: str | None) -> FileUpdate:
    return FileUpdate(path=path, data=file_bytes(value), planned=planned)


def _pages_due(root: str, state: State, entry: bool) -> FileUpdate:
    from quire.layers.journal.bundles import entry_file

    place = f"{LOCAL}/{PAGES_DUE}"
    before = held_file(root, place)
    held = read_object(root, FOLDER, PAGES_DUE).fields
    earlier = held.get("formerly")
    names = [*(earlier if isinstance(earlier, list) else ()), entry_file(state.bundle)]
    note = {
        "version": 1,
        "formerly": list(dict.fromkeys(name for name in names if isinstance(name, str))),
        "entry": entry or held.get("entry") is True,
    }
    return update_of(place, before, msgspec.json.encode(note) + b"\n")


def are_pages_due(root: str) -> bool:
    return os.path.lexists(os.path.join(root, FOLDER, LOCAL, PAGES_DUE))


def recover_due_pages(root: str, world: World) -> None:
    """Before a read: write what a dead writer left due. A living one, or a read-only disk, is left alone."""
    # Loaded here: most of the time nothing is due, and all that makes pages is not needed.
    from quire.layers.journal.pages import write_due_pages

    with (
        contextlib.suppress(QuireError, ValueError),
        journal_access(root, world, "write the pages", _SETTLE_SECONDS),
    ):
        write_due_pages(root, world)
