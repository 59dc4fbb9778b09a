"""Import new sessions of each source as events, and remember how far each was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec.structs import replace

from quire.files.branches import writes_fragments
from quire.files.digests import sha256
from quire.files.local_files import read_object
from quire.files.transaction import FileUpdate
from quire.layers.journal.documents import value_of
from quire.layers.journal.layout import ALL_FOLDERS, FOLDER, LOCAL, LOCAL_PROVIDER, SYNCED
from quire.layers.journal.numbered_ids import allocate_ids
from quire.layers.journal.sources import SourceRegistry, with_source
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.types import JournalEvent, SessionSource, Signals
from quire.model.errors import Cancelled, InputError, QuireError, StorageFailed
from quire.project import Project
from quire.verbs.journal.journal_state import (
    ask_model,
    change_journal,
    journal_time,
    prepare_journal,
    provider_name,
    read_journal,
    sift_rejected_events,
    source_place,
)
from quire.verbs.journal.model_requests import session_request
from quire.verbs.journal.session_notes import known_hashes, note_sessions, session_imports, session_notes
from quire.verbs.journal.source_registry import agree_source, no_such_source, source_is_agreed
from quire.verbs.plain import plain, short_lists
from quire.verbs.verb import Result

if TYPE_CHECKING:
    from quire.capture.session_events import Normalise, SessionOutcome
    from quire.capture.transcripts.types import SessionFile, Turn

_BATCH = 500
_BATCH_SECONDS = 5.0
"""Of a sync that is killed, at most so much is read again."""
_FAILURES = 50
_LISTED = 20

Progress = Callable[[str, int, int, int], None]
"""Called with a source, how many of its sessions were looked at, of how many, and how many were imported."""


class SyncedSource(msgspec.Struct, kw_only=True):
    """What came of one source."""

    id: str
    type: str
    imported: int = 0
    skipped: int = 0
    failed: int = 0
    waiting: int = 0
    """Sessions that someone is still at; they are imported once they rest."""
    elsewhere: int = 0
    """Where nothing was found: how many sessions there are that ran in other folders."""
    failures: list[dict[str, str]] = []
    events: list[str] = []
    decisions: int = 0
    gotchas: int = 0
    next_steps: int = 0
    """How many of each the imported sessions hold."""
    warnings: list[str] = []
    error: str | None = None
    """Why the source as a whole could not be read."""
    is_unknown: bool = False
    """Nobody on this machine has agreed to read it: it came with the repository."""


class ImportedSessions(Result, kw_only=True):
    """What came of each source, and of all together."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("provider", "by_agent")

    sources: list[SyncedSource] = []
    imported: int = 0
    skipped: int = 0
    failed: int = 0
    dry_run: bool = False
    cost_usd: float = 0.0
    provider: str = ""
    by_agent: bool = False

    def is_incomplete(self) -> bool:
        return bool(self.failed)

    def tool_fields(self) -> dict[str, Any]:
        sources = [short_lists(msgspec.to_builtins(source), _LISTED) for source in self.sources]
        return {**plain(self), "sources": sources}


def import_sessions(
    project: Project,
    name: str | None = None,
    *,
    provider: str | None = None,
    dry_run: bool = False,
    settled_seconds: float = 0.0,
    ended: str = "",
    progress: Progress | None = None,
) -> ImportedSessions:
    """Import what is new in a source, or in all. What fails is reported, and keeps nobody from the rest.

    But where the system refuses to open a file with which nothing is wrong, that is an error.

    Sessions that changed within the last `settled_seconds` are left for later, but for the one in the file `ended`.
    """
    journal = read_journal(project)
    sources = journal.registry.sources
    if not sources:
        raise InputError("There are no sources.", hint="`memory journal add claude-local ~/.claude` registers one.")
    if name:
        sources = [source for source in sources if source.id == name]
        if not sources:
            raise no_such_source(name, journal)
        if not dry_run:
            agree_source(project, name)
    asked = provider_name(provider)
    done = ImportedSessions(dry_run=dry_run, provider=provider or "")
    normalise = None if asked == LOCAL_PROVIDER else _normaliser(project, asked, done)
    for source in sources:
        found = _sync_source(project, source, dry_run, settled_seconds, normalise, progress, ended)
        done.sources.append(found)
        done.imported += found.imported
        done.skipped += found.skipped
        done.failed += found.failed
    ledger = session_imports(project)
    done.warnings += [ledger.problem] if ledger.problem else []
    if not dry_run:
        prepare_journal(project)
    return done


def _sync_source(
    project: Project,
    source: SessionSource,
    dry_run: bool,
    settled_seconds: float,
    normalise: Normalise | None,
    progress: Progress | None,
    ended: str,
) -> SyncedSource:
    from quire.capture.session_events import count_elsewhere, look_through
    from quire.capture.transcripts.places import shown_text
    from quire.capture.transcripts.types import KnownPlaces
    from quire.files.paths import is_passing

    found = SyncedSource(id=source.id, type=source.type)
    if not source_is_agreed(project, source):
        found.is_unknown = True
        return found
    waiting: list[SessionOutcome] = []
    known = known_hashes(project, source.id)
    now = began = project.world.now()
    number = total = 0

    def count(sessions: int) -> None:
        nonlocal total
        total = sessions

    try:
        for look in look_through(
            source.id,
            source.type,
            source_place(project, source) or source.path,
            root=project.root,
            home=project.world.home,
            now=now,
            noted=session_notes(project, source.id),
            hashes=known,
            settled_before=now.timestamp() - settled_seconds if settled_seconds else 0.0,
            ended=ended,
            all_folders=source.extra.get(ALL_FOLDERS) is True,
            normalise=normalise,
            counted=count,
        ):
            number += 1
            _count(found, look)
            if look.noted is not None:
                waiting.append(look)
            if progress is not None:
                progress(source.id, number, total, found.imported + sum(1 for item in waiting if item.event))
            if len(waiting) >= _BATCH or (project.world.now() - began).total_seconds() > _BATCH_SECONDS:
                batch, waiting = waiting, []
                _take_in(project, source, found, batch, known, dry_run)
                began = project.world.now()
        if not number and source.extra.get(ALL_FOLDERS) is not True:
            found.elsewhere = count_elsewhere(source.type, source_place(project, source) or source.path)
    except Cancelled:
        raise
    except QuireError as error:
        if is_passing(error):
            raise StorageFailed(
                shown_text(error.message, KnownPlaces(project.root, project.world.home)),
                hint=error.hint,
                details={"errno": error.details["errno"]},
            ) from error
        # What is reported goes into a file that others read: nobody's home folder is named in it.
        found.error = shown_text(error.message, KnownPlaces(project.root, project.world.home))
        found.failed += 1
        found.failures.append({"sourceRef": source.path, "message": found.error})
    _take_in(project, source, found, waiting, known, dry_run, is_last=True)
    return found


def _count(found: SyncedSource, look: SessionOutcome) -> None:
    if look.failure:
        found.failed += 1
        if len(found.failures) < _FAILURES:
            found.failures.append({"sourceRef": look.source_ref, "message": look.failure})
    elif look.waits:
        found.waiting += 1
    elif look.event is None:
        found.skipped += 1
    if look.warning and len(found.warnings) < _FAILURES:
        found.warnings.append(f"{look.source_ref}: {look.warning}")


def _take_in(
    project: Project,
    source: SessionSource,
    found: SyncedSource,
    looked: list[SessionOutcome],
    known: dict[str, set[str]],
    dry_run: bool,
    *,
    is_last: bool = False,
) -> None:
    """Add the events that nobody added meanwhile; note how far the sessions were read; all in one transaction.

    `known` are the hashes that the sessions had when they were looked at. One that has others by now was read by
    someone else, and is left to the next sync.
    """
    from quire.layers.journal.state_changes import counted_maintenance, taken_ids

    if dry_run:
        events = [look.event for look in looked if look.event]
        found.imported += len(events)
        _count_signals(found, events)
        return
    if not looked and not is_last:
        return

    added: list[JournalEvent] = []

    def plan(journal: Journal) -> tuple[list[str], Writing | None]:
        nonlocal added
        now = known_hashes(project, source.id, journal.history.events)
        ours = [look for look in looked if now.get(look.external_id) == known.get(look.external_id)]
        fresh, rejected = sift_rejected_events(project, [look.event for look in ours if look.event is not None])
        if rejected:
            found.warnings.append(f"Left out because rejected: {rejected:,}.")
        names = allocate_ids(taken_ids(journal), len(fresh))
        events: list[JournalEvent] = [replace(event, id=name) for event, name in zip(fresh, names, strict=True)]
        added = events
        imported = found.imported + len(events)
        registry = _registered(project, journal, source, found, imported) if is_last else None
        maintenance = counted_maintenance(journal, len(events))
        changes = note_sessions(project, source.id, ours)
        if registry is not None and writes_fragments(project):
            changes.append(_synced_here(project, registry, source.id))
            registry = None
        if not events and registry is None and not changes:
            return [], None
        state = replace(journal.state, maintenance=maintenance)
        return names, Writing(
            state=state if state != journal.state else None, events=events, registry=registry, changes=changes
        )

    names = change_journal(project, "sync", plan)
    found.events += names
    found.imported += len(names)
    _count_signals(found, added)
    found.skipped += sum(1 for look in looked if look.event) - len(names)


def _count_signals(found: SyncedSource, events: Iterable[JournalEvent]) -> None:
    for event in events:
        found.decisions += len(event.signals.decisions)
        found.gotchas += len(event.signals.gotchas)
        found.next_steps += len(event.signals.next_step_hints)


def _registered(
    project: Project, journal: Journal, source: SessionSource, found: SyncedSource, imported: int
) -> SourceRegistry | None:
    """The registry with how it went, in the fresh entry of this source; None where the source was removed."""
    fresh = journal.registry.find(source.id)
    if fresh is None:
        return None
    status = "failed" if found.failed else "passed"
    error = found.failures[0]["message"] if found.failures else None
    same = (fresh.last_sync_status, fresh.last_sync_error) == (status, error)
    if same and not imported and fresh.last_synced_at is not None and not fresh.last_imported_count:
        # Nothing to tell: a sync that finds nothing leaves the file, and git, alone.
        return None
    now = journal_time(project)
    return with_source(
        journal.registry,
        replace(
            fresh,
            updated_at=now,
            last_synced_at=now,
            last_sync_status=status,
            last_sync_error=error,
            last_imported_count=imported,
        ),
    )


def _synced_here(project: Project, registry: SourceRegistry, name: str) -> FileUpdate:
    """The note of this sync for this machine alone."""
    held, source = read_object(project.root, FOLDER, SYNCED), registry.find(name)
    value = value_of(source) if source is not None else {}
    noted = {key: value[key] for key in value if key.startswith("last") or key == "updatedAt"}
    data = msgspec.json.encode({**held.fields, "version": 1, name: noted}) + b"\n"
    planned = None if held.data is None else sha256(held.data)
    return FileUpdate(path=f"{LOCAL}/{SYNCED}", data=data, planned=planned)


def _normaliser(project: Project, provider: str, done: ImportedSessions) -> Normalise:
    """Asks a model about each session; where it fails, the rules' own signals stand."""
    from quire.capture.signals.extraction import SessionSignals

    def normalise(session: SessionFile, turns: Iterable[Turn], local: SessionSignals) -> SessionSignals:
        answer = ask_model(project, session_request(session, turns, local), provider)
        done.cost_usd += answer.cost_usd
        value = answer.value
        return SessionSignals(summary=value["summary"], signals=msgspec.convert(value["signals"], Signals))

    return normalise
