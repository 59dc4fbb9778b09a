"""`memory journal restore`: restore a checkpoint, a batch of the archive, or a damaged state."""

from __future__ import annotations

import contextlib
from typing import Annotated, ClassVar

import msgspec

from quire.files.digests import sha256
from quire.files.transaction import FileUpdate
from quire.layers.journal.archive import find_batches, plan_return, sweep_batches
from quire.layers.journal.bundle_diff import diff_bundles, diff_text, diff_value
from quire.layers.journal.canonical import content_hash, file_bytes
from quire.layers.journal.documents import new_state, value_of
from quire.layers.journal.layout import BATCH_PREFIX, FOLDER, SECTION_KEYS, STATE
from quire.layers.journal.state_changes import local_provider, write_bundle
from quire.layers.journal.store import (
    Journal,
    Writing,
    checkpoint_ids,
    commit,
    held_file,
    load_checkpoint,
    load_config,
    load_history,
    load_sources,
    open_journal,
)
from quire.layers.journal.types import Cursor, Cursors, Maintenance
from quire.model.errors import Conflict, InvalidStore, NotFound, NotInitialized
from quire.model.records import Problem
from quire.model.text import counted
from quire.model.times import stamp
from quire.project import Project
from quire.verbs.journal.checkpoints import journal_checkpoint
from quire.verbs.journal.journal_lines import FileChange, file_diff_lines, listed, planned_lines, told
from quire.verbs.journal.journal_state import (
    change_journal,
    journal_locked,
    journal_time,
    plan_journal,
    prepare_journal,
    read_journal,
    sift_rejected,
    sift_rejected_diff,
    sift_rejected_events,
    write_due_pages,
)
from quire.verbs.journal.options import DryRun, ShowDiff, Yes
from quire.verbs.verb import Arguments, Lines, Result, Verb, Word


class JournalRestore(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Word()]
    yes: Yes = False
    dry_run: DryRun = False
    show_diff: ShowDiff = False


class JournalRestored(Result, kw_only=True):
    """A checkpoint, or a batch of the archive, brought back."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("shows_diff",)
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
    shows_diff: bool = False


def journal_restore(project: Project, given: JournalRestore) -> JournalRestored:
    """Restore an earlier state of the journal, or a batch of the archive.

    NAME is a state (chk-000002; `memory journal log` lists them) or a batch (prune-…). The current state is kept as
    one, too, so you can undo a restore with another one. A damaged or missing state is created again.
    """
    result = _restored(project, given)
    result.shows_diff = given.show_diff
    return result


def _restored(project: Project, given: JournalRestore) -> JournalRestored:
    name, diffs = given.name, given.show_diff
    project.recover()
    if name.startswith(BATCH_PREFIX):
        return _return_batch(project, name, dry_run=given.dry_run)
    try:
        journal = read_journal(project)
    except (InvalidStore, NotInitialized):
        if not checkpoint_ids(project.root) and not find_batches(project.root):
            raise
        return _rebuild_state(project, name, dry_run=given.dry_run)
    if given.dry_run:
        return _restoring(project, journal, name, diffs)[0]
    journal_checkpoint(project, name)  # before anything is written: it may not be there
    with journal_locked(project, "restore"):
        fresh = open_journal(project.root)
        saved = _unsaved(project, fresh)
        if saved is not None:
            commit(fresh, saved, project.world)
            fresh = open_journal(project.root)
        result, writing = _restoring(project, fresh, name, diffs)
        result.saved_as = saved.checkpoint.id if saved and saved.checkpoint else None
        if writing is not None:
            commit(fresh, writing, project.world)
            result.applied = True
        result.warnings += write_due_pages(project)
    prepare_journal(project)
    return result


def _unsaved(project: Project, journal: Journal) -> Writing | None:
    """A checkpoint of the memory as it is, where the latest one holds something else."""
    latest = journal.latest_checkpoint
    try:
        held = load_checkpoint(project.root, latest).bundle_hash if latest else None
    except (InvalidStore, NotFound):
        held = None
    if held == content_hash(journal.state.bundle):
        return None
    writing = write_bundle(
        journal,
        journal.state.bundle,
        command="update",
        now=journal_time(project),
        summary="what held before a restore",
    )
    # The checkpoint keeps what held, whatever it said; the event would say it anew.
    return msgspec.structs.replace(writing, events=sift_rejected_events(project, list(writing.events))[0])


def _restoring(project: Project, journal: Journal, name: str, diffs: bool) -> tuple[JournalRestored, Writing | None]:
    checkpoint = journal_checkpoint(project, name)
    result = JournalRestored(restored=name)
    bundle = sift_rejected(project, checkpoint.bundle, result.warnings)
    diff = sift_rejected_diff(project, diff_bundles(journal.state.bundle, bundle))
    said = diff_text(diff_value(diff))
    result.changed_sections, result.summary = list(diff.changed_sections), said
    if diff.is_empty:
        result.changed = False
        return result, None
    writing = write_bundle(
        journal,
        bundle,
        command="restore",
        now=journal_time(project),
        summary=f"restored {name}: {said}",
    )
    if writing.state is not None and writing.checkpoint is not None:
        result.planned = plan_journal(project, writing.state, diffs=diffs)
        result.checkpoint, result.event = writing.checkpoint.id, writing.events[0].id
    return result, writing


def _return_batch(project: Project, name: str, *, dry_run: bool) -> JournalRestored:
    def plan(journal: Journal) -> tuple[JournalRestored, Writing | None]:
        writing, events, checkpoints = plan_return(journal, name)
        result = JournalRestored(
            restored=name, applied=not dry_run, events_returned=events, checkpoints_returned=checkpoints
        )
        return result, None if dry_run else writing

    if dry_run:
        return plan(read_journal(project))[0]
    result = change_journal(project, "restore", plan)
    sweep_batches(project.root)
    return result


def _rebuild_state(project: Project, name: str, *, dry_run: bool) -> JournalRestored:
    """A state made from a checkpoint, where there is none that can be used. The damaged one is kept."""
    result = JournalRestored(restored=name, changed_sections=list(SECTION_KEYS), summary=f"state made from {name}")
    journal_checkpoint(project, name)
    if dry_run:
        return result
    with journal_locked(project, "restore"):
        with contextlib.suppress(InvalidStore, NotInitialized):
            open_journal(project.root)
            raise Conflict(
                "Another process repaired the state in the meantime.",
                hint="Nothing was written. Run the command again.",
            )
        journal = _from_checkpoint(project, name, result.warnings)
        data = held_file(project.root, STATE)
        changes = []
        if data is not None:
            aside = f"local/state-{stamp(project.world.now())}-{project.world.token()[:8]}.damaged"
            changes.append(FileUpdate(path=aside, data=data, planned=None))
            result.kept_aside = f"{FOLDER}/{aside}"
        planned = None if data is None else sha256(data)
        changes.append(FileUpdate(path=STATE, data=file_bytes(value_of(journal.state)), planned=planned))
        commit(journal, Writing(changes=changes, pages=True), project.world)
        result.applied = True
        result.warnings += write_due_pages(project)
    return result


def _from_checkpoint(project: Project, name: str, warnings: list[Problem]) -> Journal:
    """The journal as it is, with the state that a checkpoint and the history together tell."""
    checkpoint = journal_checkpoint(project, name)
    history, (registry, _) = load_history(project.root), load_sources(project.root)
    cursor = Cursor(last_recalled_at=checkpoint.created_at, last_recalled_event_id=checkpoint.event_id)
    cursor = cursor if checkpoint.event_id else Cursor()
    names = checkpoint_ids(project.root)
    state = new_state(
        sift_rejected(project, checkpoint.bundle, warnings),
        provider=local_provider(),
        generated_at=journal_time(project),
        maintenance=Maintenance(
            last_recalled_at=cursor.last_recalled_at,
            last_recalled_event_id=cursor.last_recalled_event_id,
            latest_checkpoint_id=names[-1] if names else None,
            history_event_count=len(history.events),
            import_source_count=len(registry.entries),
            recall_cursors=Cursors(all=cursor),
        ),
    )
    return Journal(
        root=project.root,
        state=state,
        history=history,
        registry=registry,
        config=load_config(project.root),
        checkpoints=tuple(names),
    )


def lines(done: JournalRestored) -> Lines:
    if done.changed:
        yield from plan_lines(done)
        yield ""
    yield from done_lines(done)


def plan_lines(done: JournalRestored) -> Lines:
    """What changes, or would."""
    if done.changed_sections:
        yield told(f"Changed sections: {listed(done.changed_sections)}")
    if done.summary:
        yield told(f"Summary: {done.summary}")
    if done.events_returned or done.checkpoints_returned:
        events, checkpoints = counted(done.events_returned, "event"), counted(done.checkpoints_returned, "checkpoint")
        yield f"Returned from the archive: {events}, {checkpoints}"
    if done.planned:
        yield ""
        yield from planned_lines(done.planned)
    if done.shows_diff:
        yield from file_diff_lines(done.planned)


def done_lines(done: JournalRestored) -> Lines:
    """What came of it."""
    if not done.changed:
        yield told(f"The memory already is that of {done.restored}; nothing was written.")
    elif not done.applied:
        yield "Dry run: nothing was written."
    else:
        event = f": checkpoint {done.checkpoint}, event {done.event}." if done.event else "."
        yield told(f"Restored {done.restored}{event}")
    if done.saved_as:
        yield f"To undo: `memory journal restore {done.saved_as}`."
    if done.kept_aside:
        yield f"The damaged state is kept in {done.kept_aside}"


VERB = Verb(
    takes=JournalRestore,
    run=journal_restore,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory journal restore chk-000002 --dry-run --show-diff
  memory journal restore chk-000002
""",
)
