"""How far the sessions of a source were read: the note on this machine, and the hashes that events keep."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files.digests import sha256
from quire.files.local_files import ASIDE, LocalFile, read_object
from quire.files.transaction import FileUpdate
from quire.layers.journal.layout import FILE_BYTES, FOLDER, IMPORTS, LOCAL
from quire.layers.journal.store import load_history
from quire.layers.journal.types import JournalEvent
from quire.project import Project

if TYPE_CHECKING:
    from quire.capture.session_events import SessionNote, SessionOutcome


def session_imports(project: Project) -> LocalFile:
    return read_object(project.root, FOLDER, IMPORTS, FILE_BYTES)


def session_notes(project: Project, source: str) -> dict[str, SessionNote]:
    from quire.capture.session_events import SessionNote

    held = session_imports(project).fields.get("sources")
    entries = held.get(source) if isinstance(held, dict) else None
    found = {}
    for name, value in (entries if isinstance(entries, dict) else {}).items():
        try:
            found[name] = msgspec.convert(value, SessionNote)
        except msgspec.ValidationError:
            continue
    return found


def note_sessions(project: Project, source: str, looked: Iterable[SessionOutcome]) -> list[FileUpdate]:
    """The note of how far these were read, beside what it held; the caller holds the lock."""
    new = {look.external_id: msgspec.to_builtins(look.noted) for look in looked if look.noted is not None}
    ledger = session_imports(project)
    if not new or ledger.is_newer or (ledger.problem is not None and ledger.data is None):
        return []  # without a note, the hashes of the events say how far a session was read
    held = ledger.fields.get("sources")
    sources: dict[str, Any] = dict(held) if isinstance(held, dict) else {}
    before = sources.get(source)
    entries = {**before, **new} if isinstance(before, dict) else new
    if entries == before:
        return []
    sources[source] = entries
    data = msgspec.json.encode({**ledger.fields, "version": 1, "sources": sources}) + b"\n"
    planned = None if ledger.data is None else sha256(ledger.data)
    changes = [FileUpdate(path=f"{LOCAL}/{IMPORTS}", data=data, planned=planned)]
    aside = f"{LOCAL}/{IMPORTS}{ASIDE}"
    if ledger.problem is not None and not os.path.lexists(os.path.join(project.root, FOLDER, aside)):
        changes.append(FileUpdate(path=aside, data=ledger.data, planned=None))
    return changes


def known_hashes(project: Project, source: str, events: Iterable[JournalEvent] | None = None) -> dict[str, set[str]]:
    """The hashes of the events of a source, archived ones included, by their sessions."""
    from quire.layers.journal.archive import archived_events, expired_items

    found: dict[str, set[str]] = {}
    for gone in expired_items(project.root):
        if gone.source_id == source:
            found.setdefault(gone.external_item_id, set()).add(gone.content_hash)
    active = load_history(project.root).events if events is None else events
    for event in (*active, *archived_events(project.root)):
        if event.source_id == source and event.external_item_id:
            found.setdefault(event.external_item_id, set()).add(event.content_hash)
    return found


def noted_stamps(project: Project, source: str) -> dict[str, Any]:
    """As the sync noted them; read here without what a sync needs to read sessions, which costs more than this."""
    held = session_imports(project).fields.get("sources")
    entries = held.get(source) if isinstance(held, dict) else None
    pairs = entries.items() if isinstance(entries, dict) else ()
    known = known_hashes(project, source)
    return {
        name: noted.get("stamp")
        for name, noted in pairs
        if isinstance(noted, dict)
        and (
            not noted.get("hash")
            or noted["hash"] in known.get(name, ())
            or noted["hash"] in known.get(name.partition("@")[0], ())
        )
    }
