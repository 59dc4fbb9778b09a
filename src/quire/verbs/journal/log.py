"""`memory journal log`: list checkpoints or events, the newest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from quire.layers.journal.archive import find_batches
from quire.layers.journal.bundle_diff import diff_bundles
from quire.layers.journal.events import History
from quire.layers.journal.layout import BATCH_CHECKPOINTS, BATCH_EVENTS, CHECKPOINTS, SECTION_KEYS
from quire.layers.journal.store import Journal, checkpoint_ids, load_checkpoint, load_history
from quire.layers.journal.types import Checkpoint
from quire.model.errors import QuireError, UsageError
from quire.model.records import Problem
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.journal.journal_lines import listed, told
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.journal.options import Archived
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb

_SUMMARY_CHARS = 200
_LIMIT = 20


class JournalLog(Arguments, frozen=True, kw_only=True):
    events: Annotated[bool, Option(help="Show sessions and runs instead of earlier states.")] = False
    archived: Archived = False
    source: Annotated[str | None, Option(metavar="ID", help="Only sessions of this source.")] = None
    limit: Annotated[int, Option(metavar="N", help=f"The most to show; {_LIMIT} by default, 0 for everything.")] = (
        _LIMIT
    )


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint, or an event."""

    ref: str
    id: str
    kind: str
    created_at: str
    summary: str
    source: str = ""
    event_id: str | None = None
    bundle_hash: str = ""
    changed_sections: list[str] = []
    archived: bool = False
    batch: str | None = None
    is_latest: bool = False


class JournalHistory(Result, kw_only=True):
    results: list[HistoryEntry]
    total: int


def journal_log(project: Project, given: JournalLog) -> JournalHistory:
    """List earlier states (checkpoints), or sessions and runs, newest first.

    `memory journal diff` compares two states, `memory journal restore` restores one.
    """
    if given.limit < 0:
        raise UsageError("--limit takes a number from 0 on; 0 lists everything.")
    journal = read_journal(project)
    problems: list[Problem] = []
    if given.events or given.source is not None:
        found = list(_events(project, journal, given.archived))
        problems += journal.history.problems[:20]
    else:
        found = list(_checkpoints(project, journal, given.archived, problems))
    if given.source is not None:
        found = [entry for entry in found if entry.source == given.source]
    return JournalHistory(results=found[: given.limit or None], total=len(found), warnings=problems)


def _events(project: Project, journal: Journal, archived: bool) -> Iterator[HistoryEntry]:
    parts: list[tuple[str | None, History]] = [(None, journal.history)]
    if archived:
        parts += [
            (batch.name, load_history(project.root, f"{batch.path}/{BATCH_EVENTS}"))
            for batch in reversed(find_batches(project.root))
        ]
    for batch_name, history in parts:
        for event in reversed(history.events):
            yield HistoryEntry(
                ref=f"event:{event.id}",
                id=event.id,
                kind=event.kind,
                created_at=event.created_at,
                summary=event.summary,
                source=event.source_id,
                archived=batch_name is not None,
                batch=batch_name,
            )


def _checkpoints(project: Project, journal: Journal, archived: bool, problems: list[Problem]) -> Iterator[HistoryEntry]:
    places: list[tuple[str, str | None]] = [(CHECKPOINTS, None)]
    if archived:
        places += [(f"{batch.path}/{BATCH_CHECKPOINTS}", batch.name) for batch in reversed(find_batches(project.root))]
    held: list[tuple[Checkpoint, str | None]] = []
    for folder, batch_name in places:
        for name in reversed(checkpoint_ids(project.root, folder)):
            try:
                held.append((load_checkpoint(project.root, name, folder), batch_name))
            except QuireError as error:
                problems.append(Problem(code=error.code, severity="warning", message=error.message))
    latest = journal.state.maintenance.latest_checkpoint_id
    for number, (checkpoint, batch_name) in enumerate(held):
        older = held[number + 1][0].bundle if number + 1 < len(held) else {}
        changed = diff_bundles(older, checkpoint.bundle).changed_sections if older else SECTION_KEYS
        yield HistoryEntry(
            ref=f"checkpoint:{checkpoint.id}",
            id=checkpoint.id,
            kind="checkpoint",
            created_at=checkpoint.created_at,
            summary=checkpoint.summary,
            event_id=checkpoint.event_id,
            bundle_hash=checkpoint.bundle_hash,
            changed_sections=list(changed),
            archived=batch_name is not None,
            batch=batch_name,
            is_latest=checkpoint.id == latest,
        )


def lines(found: JournalHistory) -> Lines:
    for entry in found.results:
        notes = ["latest"] if entry.is_latest else []
        notes += [note for note in (entry.batch if entry.archived else "", entry.source) if note]
        lead = " ".join([entry.id, entry.created_at, *(f"[{note}]" for note in notes)])
        yield told(f"{lead} {cut(one_line(entry.summary), _SUMMARY_CHARS)}")
        if entry.changed_sections:
            yield told(f"  changed: {listed(entry.changed_sections)}")
    if not found.results:
        yield "Nothing to list."
    elif found.total > len(found.results):
        yield f"Shown: {len(found.results)} of {found.total:,}; --limit shows more."


VERB = Verb(
    takes=JournalLog,
    run=journal_log,
    lines=lines,
    examples="""Examples:
  memory journal log
  memory journal log --events --archived --limit 0
  memory journal log --source codex
""",
)
