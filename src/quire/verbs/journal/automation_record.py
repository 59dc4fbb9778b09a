"""What one cycle of the automation did, and the note of it."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from quire.files import daemons
from quire.layers.journal import daemon
from quire.layers.journal.layout import FOLDER, LOCAL
from quire.layers.journal.numbered_ids import moment_of
from quire.layers.journal.types import Failure, ImportSync, PruneResult, RecallResult, Run, SyncResult
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import cut
from quire.project import Project
from quire.verbs.journal.journal_state import journal_time, prepare_journal
from quire.verbs.journal.session_import import SyncedSource

_DAY_SECONDS = 86_400.0
_SAID, _SAID_CHARS = 20, 500


class Stopped(Exception):
    """The process was asked to end; what was done so far stands."""


class CycleSteps(msgspec.Struct, kw_only=True):
    """What has been done so far."""

    started_at: str
    provider: str = "auto"
    synced: list[SyncedSource] | None = None
    recall: dict[str, Any] = {}
    prune: dict[str, Any] = {}
    errors: list[str] = []
    warnings: list[str] = []
    life: daemons.Life | None = None

    def go_on(self, *_: object) -> None:
        if self.life is not None and self.life.is_over:
            raise Stopped

    def warn(self, problems: list[Problem]) -> None:
        self.warnings += [
            f"{problem.path}: {problem.message}" if problem.path else problem.message for problem in problems
        ]


def noted_run(project: Project, done: CycleSteps) -> Run:
    """The run, noted for others where it has something to tell, and in one line for this machine."""
    run = Run(
        started_at=done.started_at,
        finished_at=journal_time(project),
        status=_status(done),
        provider=done.provider,
        import_sync=_import_sync(done.synced),
        recall=RecallResult(**done.recall),
        prune=PruneResult(**done.prune),
        errors=_shown(done.errors),
        warnings=_shown(done.warnings),
    )
    if not os.path.isdir(os.path.join(project.root, FOLDER, LOCAL)):
        return run  # the project went away meanwhile, and is not brought back for a note
    try:
        if _tells_something(project, run, daemon.latest_run(project.root)):
            daemon.write_run(project.root, run, project.world.token())
            prepare_journal(project)
        daemon.add_run(project.root, daemon.note_of(run), project.world.token())
    except (QuireError, OSError) as error:
        said = error.message if isinstance(error, QuireError) else str(error)
        run = msgspec.structs.replace(run, warnings=(*run.warnings, f"The run could not be noted: {said}"))
    return run


def _tells_something(project: Project, run: Run, before: Run | None) -> bool:
    prune = run.prune
    archived = (prune.archived_event_count, prune.archived_checkpoint_count, prune.expired_archive_batch_count)
    if run.recall.attempted or any(archived) or any(one.imported_count for one in run.import_sync.results):
        return True
    then = moment_of(before.finished_at) if before is not None else None
    if before is None or then is None:
        return True
    said = (run.status, run.provider, run.errors, run.warnings, prune.skipped_reason)
    same = said == (before.status, before.provider, before.errors, before.warnings, before.prune.skipped_reason)
    return not same or abs((project.world.now() - then).total_seconds()) > _DAY_SECONDS


def _status(done: CycleSteps) -> str:
    """In one word. A source that could be read in part is no failure of the run: its failures stand beside it."""
    synced = done.synced or []
    if done.errors:
        return "failed"
    if done.recall:
        return "recalled" if done.recall["applied"] else "recalled_noop"
    if any(found.imported for found in synced):
        return "imported"
    failed = any(found.failed for found in synced)
    return "failed" if failed and not any(found.skipped or found.waiting for found in synced) else "idle"


def _import_sync(synced: list[SyncedSource] | None) -> ImportSync:
    return ImportSync(
        attempted=synced is not None,
        results=tuple(
            SyncResult(
                source_id=found.id,
                imported_count=found.imported,
                skipped_count=found.skipped,
                failed_count=found.failed,
                extra={"waitingCount": found.waiting} if found.waiting else {},
                failures=tuple(
                    Failure(source_ref=item["sourceRef"], message=item["message"]) for item in found.failures
                ),
            )
            for found in synced or []
        ),
    )


def _shown(texts: list[str]) -> tuple[str, ...]:
    """Not without bound: a damaged history may have a thing to say about each of its lines."""
    found = [cut(text.strip(), _SAID_CHARS) for text in dict.fromkeys(texts) if text.strip()]
    left = len(found) - _SAID
    return (*found[:_SAID], f"And {left:,} more.") if left > 0 else tuple(found)
