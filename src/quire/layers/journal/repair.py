"""Plan repairs of the journal that lose nothing, as one transaction.

Only what follows from the rest is set right: counts, hashes, names, the order of the ids, marks that a merge left. What
only a person can know is left as it is, and told. A log that is written anew is kept as it was, below `local/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from quire.files.digests import sha256
from quire.files.transaction import FileUpdate
from quire.layers.journal.archive import archived_events, find_batches
from quire.layers.journal.bundles import shown
from quire.layers.journal.canonical import content_hash
from quire.layers.journal.checks.archive import archived_ids, read_archive
from quire.layers.journal.checks.checkpoints import latest_of, look_at_checkpoints
from quire.layers.journal.checks.findings import PASSED, RESTORES, listing
from quire.layers.journal.checks.history import CONFLICT, accepted_count
from quire.layers.journal.checks.order import disordered, repeated, set_in_order
from quire.layers.journal.checks.pages import PAGES_CODES, check_pages
from quire.layers.journal.checks.sources import accepted_sources
from quire.layers.journal.cursors import cursors_before
from quire.layers.journal.documents import new_checkpoint, parse_document, read_state
from quire.layers.journal.events import EventLine, History, read_history
from quire.layers.journal.layout import (
    BATCH_CHECKPOINTS,
    CHECKPOINT_PREFIX,
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    FOLDER,
    LOCAL,
    SOURCES,
    STATE,
    default_config,
)
from quire.layers.journal.numbered_ids import next_checkpoint_id, ordinal_of
from quire.layers.journal.pages import planned_pages
from quire.layers.journal.settings import config_bytes, read_config
from quire.layers.journal.sources import SourceRegistry
from quire.layers.journal.state_changes import taken_ids
from quire.layers.journal.store import (
    Journal,
    Writing,
    are_pages_due,
    checkpoint_ids,
    events_in_fragments,
    free_place,
    held_file,
    held_log,
    load_config,
    load_sources,
)
from quire.layers.journal.types import Checkpoint, State
from quire.model.errors import QuireError
from quire.model.times import stamp, time_text

_RESTORE = "It is not repaired here: `memory journal restore` restores the state from a checkpoint."

_HALVES = ("JsonInvalid", "NotUtf8")
Read = TypeVar("Read")


class JournalRepair(Struct, frozen=True, kw_only=True):
    """What is to be written, and the journal that it was planned against; `commit` takes both."""

    journal: Journal | None = None
    """None where there is no state to begin with."""
    writing: Writing = Writing()
    said: list[str] = []
    """What is set right, a sentence each; nothing is written where there is none."""
    left: list[str] = []
    """What has to be repaired by hand."""


class _Found(Struct, kw_only=True):
    """The journal as far as it can be read, and what has been decided so far."""

    journal: Journal
    log: bytes | None
    has_registry: bool
    doubled: int = 0
    """The lowest number that more than one event has; 0 where there is none."""
    said: list[str] = []
    left: list[str] = []
    changes: list[FileUpdate] = []


def plan_journal_repair(journal: Journal | str, now: datetime) -> JournalRepair:
    """What to write so that the journal, or the one of this project, is sound again.

    It is read anew either way: more patiently than `open_journal` does, since settings or sources that cannot be used
    are no reason to leave the rest as it is. The caller holds the lock.
    """
    found = _find(journal if isinstance(journal, str) else journal.root)
    if isinstance(found, str):
        return JournalRepair(left=[found])
    history = _repaired_history(found, now)
    state, checkpoint = _repaired_state(found, history or found.journal.history, now)
    registry = _missing_documents(found)
    pages = _are_pages_wanted(found, state)
    writing = Writing(
        state=None if state == found.journal.state else state,
        history=None if history is None else history.lines,
        checkpoint=checkpoint,
        registry=registry,
        changes=tuple(found.changes),
        pages=pages,
        entry=pages,
    )
    return JournalRepair(journal=found.journal, writing=writing, said=found.said, left=found.left)


# -- reading --------------------------------------------------------------------------------------


def _find(root: str) -> _Found | str:
    try:
        data = held_file(root, STATE)
        if data is None:
            return f"`{FOLDER}/{STATE}` is missing. {_RESTORE}"
        state = read_state(parse_document(data, f"{FOLDER}/{STATE}"))
    except QuireError as error:
        return f"{error.message} {_RESTORE}"
    left: list[str] = []
    log = _read(held_log, root, left)
    if log is None and not left:
        left.append(f"`{FOLDER}/{EVENTS}` is missing. {RESTORES}")
    config = _read(load_config, root, left) or read_config()
    sources = _read(load_sources, root, left)
    registry, digest = sources or (SourceRegistry(), None)
    has_registry = sources is not None and (digest is not None or not state.maintenance.import_source_count)
    journal = Journal(
        root=root,
        state=state,
        history=read_history(log or b""),
        registry=registry,
        config=config,
        checkpoints=tuple(checkpoint_ids(root)),
        state_digest=sha256(data),
        sources_digest=digest,
        events_size=len(log or b""),
    )
    return _Found(journal=journal, log=log, has_registry=has_registry, left=left)


def _read(read: Callable[[str], Read], root: str, left: list[str]) -> Read | None:
    """What can be read; what cannot is left to a person."""
    try:
        return read(root)
    except QuireError as error:
        left.append(error.message)
    return None


# -- the log --------------------------------------------------------------------------------------


def _repaired_history(found: _Found, now: datetime) -> History | None:
    """The log without marks, halves and copies, each event with an id of its own, in order; None where it is so.

    A last line without an end may still be written by someone; it is left to the next event.
    """
    history = found.journal.history
    last = history.lines[-1] if history.is_torn else None
    halves = [line for line in history.lines if _is_half(line) and line is not last]
    damaged = [
        f"{line.number:,}" for line in history.aside if not _is_mark(line) and not (_is_half(line) and line is not last)
    ]
    if damaged:
        found.left.append(f"Lines of `{FOLDER}/{EVENTS}` that cannot be read, and are kept: {listing(damaged)}.")
    marks = sum(1 for line in history.lines if _is_mark(line))
    foreign = _foreign(found)
    doubled = [*repeated(history.events), *(event.id for event in history.events if ordinal_of(event.id) in foreign)]
    found.doubled = min((number for name in doubled if (number := ordinal_of(name))), default=0)
    is_rising = not doubled and disordered(history.events) is None
    if found.log is None or (not marks and not halves and is_rising):
        return None
    # Whoever writes the log anew ends its last line, and then nobody completes it any more.
    halves += [last] if last is not None else []
    kept = [line for line in history.lines if not _is_mark(line) and not _is_half(line) and line is not last]
    if halves:
        numbers = listing(f"{line.number:,}" for line in halves)
        found.said.append(f"Lines that are not JSON, such as an incomplete one, are removed from the log: {numbers}.")
    if marks:
        found.said.append(f"{marks:,} merge conflict marks are removed from the log.")
    lines = kept if is_rising else _risen(found, kept, foreign)
    if lines == list(history.lines):
        return None
    place = free_place(found.journal.root, f"{LOCAL}/events-{stamp(now)}.jsonl.before")
    found.changes.append(FileUpdate(path=place, data=found.log, planned=None))
    found.said.append(f"The earlier log is kept as `{FOLDER}/{place}`.")
    return History(tuple(lines))


def _is_mark(line: EventLine) -> bool:
    return line.problem is not None and line.problem.code == CONFLICT


def _is_half(line: EventLine) -> bool:
    return line.problem is not None and line.problem.code in _HALVES


def _foreign(found: _Found) -> set[int]:
    """The numbers of archived events that are no copies of those with the same number here."""
    here = {(event.id, event.content_hash) for event in found.journal.history.events}
    return {
        ordinal_of(event.id)
        for event in archived_events(found.journal.root)
        if (event.id, event.content_hash) not in here
    } - {0}


def _risen(found: _Found, kept: list[EventLine], foreign: set[int]) -> list[EventLine]:
    taken = [*taken_ids(found.journal), *archived_ids(read_archive(found.journal.root))]
    order = set_in_order(kept, taken, foreign)
    if order is None:
        found.left.append("Events have the same id, and no numbers are left: change the ids by hand.")
        found.doubled = 0
        return kept
    if order.copies:
        found.said.append(f"{order.copies:,} duplicate lines are removed from the log.")
    if order.names:
        number = len(order.names)
        found.said.append(f"{number:,} events with a duplicate or invalid id are now {listing(order.names)}.")
    if order.is_moved:
        found.said.append("The events are sorted by id.")
    return order.lines


# -- the state ------------------------------------------------------------------------------------


def _repaired_state(found: _Found, history: History, now: datetime) -> tuple[State, Checkpoint | None]:
    state = found.journal.state
    digest = content_hash(state.bundle)
    if digest != state.bundle_hash:
        state = replace(state, bundle_hash=digest)
        found.said.append("The hash of the state is recomputed.")
    maintenance = state.maintenance
    apart = events_in_fragments(found.journal.root)
    if found.log is not None and not accepted_count(history, maintenance.history_event_count, apart):
        number = len(history.events)
        found.said.append(f"The state counted {maintenance.history_event_count:,} events; there are {number:,}.")
        maintenance = replace(maintenance, history_event_count=number)
    registry = found.journal.registry
    if found.has_registry and not accepted_sources(registry, maintenance.import_source_count, found.journal.root):
        number = len(registry.entries)
        found.said.append(f"The state counted {maintenance.import_source_count:,} sources; there are {number:,}.")
        maintenance = replace(maintenance, import_source_count=number)
    if found.doubled:
        counted, maintenance = maintenance, cursors_before(maintenance, history.events, found.doubled)
        if maintenance != counted:
            found.said.append("The next recall looks again at what was written since then.")
    state = replace(state, maintenance=maintenance)
    looked = look_at_checkpoints(found.journal.root)
    unsound = [one.id for one in looked if one.fault]
    if unsound:
        found.left.append(f"Checkpoints that are not sound, and are kept: {listing(unsound)}. {RESTORES}")
    latest = latest_of(state, looked)
    checkpoint = _first_checkpoint(found, state, now) if latest is None else None
    named = checkpoint.id if checkpoint is not None else latest
    if named is None or named == maintenance.latest_checkpoint_id:
        return state, checkpoint
    found.said.append(f"The state named the checkpoint `{maintenance.latest_checkpoint_id}`; it is `{named}`.")
    return replace(state, maintenance=replace(maintenance, latest_checkpoint_id=named)), checkpoint


def _first_checkpoint(found: _Found, state: State, now: datetime) -> Checkpoint | None:
    """Where none can be read: one of the state as it is, so that there is one to go back to."""
    root = found.journal.root
    path = os.path.join(root, FOLDER, *CHECKPOINTS.split("/"))
    for place in (os.path.dirname(path), path):
        if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
            found.left.append(
                f"`{os.path.relpath(place, root)}` is not a folder, so that no checkpoint can be written."
            )
            return None
    name = next_checkpoint_id(_taken_checkpoints(found.journal))
    if not ordinal_of(name, CHECKPOINT_PREFIX):
        return None
    found.said.append(f"No checkpoint can be read: `{name}` is made of the state.")
    return new_checkpoint(
        state.bundle,
        checkpoint_id=name,
        created_at=time_text(now),
        event_id=None,
        summary=shown(state.bundle, "currentFocus", "summary"),
    )


def _taken_checkpoints(journal: Journal) -> Iterable[str | None]:
    yield from journal.checkpoints
    yield journal.state.maintenance.latest_checkpoint_id
    for batch in find_batches(journal.root):
        yield from checkpoint_ids(journal.root, f"{batch.path}/{BATCH_CHECKPOINTS}")
        yield from batch.manifest.archived_checkpoint_ids if batch.manifest else ()


# -- the rest -------------------------------------------------------------------------------------


def _missing_documents(found: _Found) -> SourceRegistry | None:
    """Settings and sources that are missing and say nothing: the files that say so."""
    journal = found.journal
    folder = os.path.join(journal.root, FOLDER)
    if not os.path.lexists(os.path.join(folder, CONFIG)):
        found.said.append(f"`{FOLDER}/{CONFIG}` was missing; it holds the defaults, which were in force.")
        found.changes.append(FileUpdate(path=CONFIG, data=config_bytes(default_config()), planned=None))
    if os.path.lexists(os.path.join(folder, SOURCES)):
        return None
    if not found.has_registry:
        found.left.append(f"`{FOLDER}/{SOURCES}` is missing, and the state knows of sources. {RESTORES}")
        return None
    found.said.append(f"`{FOLDER}/{SOURCES}` was missing; it holds no sources, and the state knew of none.")
    return SourceRegistry()


def _are_pages_wanted(found: _Found, state: State) -> bool:
    root = found.journal.root
    if are_pages_due(root):
        return False
    try:
        planned_pages(root, state)
    except (QuireError, OSError, ValueError) as error:
        found.left.append(f"The pages cannot be written: {error}")
        return False
    if all(one.severity == PASSED or not one.code.startswith(PAGES_CODES) for one in check_pages(root, state)):
        return False
    found.said.append("The pages and the entry block are rewritten.")
    return True
