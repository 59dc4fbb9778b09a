"""Run one cycle of the automation: sync, recall, retention, and a record of the run.

Only one cycle runs at a time, and the kernel knows which: one that was killed keeps nobody waiting, and the next goes
on where it stopped. A step that fails keeps no other from being taken. Where there is nothing to do, nothing that is
shared is written, no index is opened and no program is started.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from quire.files import daemons
from quire.files.local_lock import alone
from quire.files.paths import storage_failed
from quire.layers.journal import daemon
from quire.layers.journal.documents import value_of
from quire.layers.journal.layout import ALL, ALL_FOLDERS, FOLDER, LOCAL_PROVIDER
from quire.layers.journal.store import Journal, Writing
from quire.layers.journal.types import SessionSource
from quire.model.errors import Conflict, QuireError
from quire.model.text import cut
from quire.project import Project
from quire.verbs.journal.automate_run_once import Cycle
from quire.verbs.journal.automation_record import CycleSteps, Stopped, noted_run
from quire.verbs.journal.journal_state import (
    change_journal,
    journal_is_there,
    journal_locked,
    journal_time,
    provider_name,
    read_journal,
    source_place,
)
from quire.verbs.journal.recall import JournalRecall, JournalRecalled, journal_recall
from quire.verbs.journal.session_import import SyncedSource, import_sessions
from quire.verbs.journal.session_notes import noted_stamps
from quire.verbs.journal.source_registry import source_is_agreed

if TYPE_CHECKING:
    from quire.layers.journal.archive import Pruning

Given = TypeVar("Given")
SETTLED_SECONDS = 600.0
"""A session that changed within this time is still being worked in."""
_GRACE_SECONDS = 3.0
_SAID = 20
_NOT_RETAINING = "Retention is switched off."
_NOTHING_AGED = "Nothing is old enough to be archived, and no batch has expired."


class RestedSessions(msgspec.Struct, frozen=True):
    """Which sessions are over: those that rested for so long, and the one of which its hook says so."""

    seconds: float
    ended: str = ""

    def waits(self, changed: str, rests_since: float) -> bool:
        return bool(self.seconds) and changed.isdigit() and int(changed) / 1e9 > rests_since


def run_cycle(
    project: Project, *, settled_seconds: float = SETTLED_SECONDS, background: bool = False, ended: str = ""
) -> Cycle:
    """Import what is new, recall it, archive old events. Another run that is under way is left to it.

    Sessions that changed within the last `settled_seconds` are left for the next run, but for that in the file
    `ended`, which is over. In the background a signal that asks to end is answered after the current write.
    """
    journal_is_there(project)
    try:
        with alone(project.root, FOLDER, daemon.RUN_LOCK, "automation", project.world) as is_alone:
            if not is_alone:
                return Cycle(status="idle", run={}, busy=True)
            return _cycle(project, RestedSessions(seconds=settled_seconds, ended=ended), background)
    except OSError as error:
        raise storage_failed(error, "run the automation", project.root) from error


def _cycle(project: Project, settled: RestedSessions, background: bool) -> Cycle:
    done = CycleSteps(started_at=journal_time(project))
    if background:
        _take_steps_in_background(project, done, settled)
    else:
        _take_steps(project, done, settled)
    run = noted_run(project, done)
    return Cycle(status=run.status, run=value_of(run))


def _take_steps_in_background(project: Project, done: CycleSteps, settled: RestedSessions) -> None:
    try:
        with daemons.Life(_GRACE_SECONDS) as done.life:
            _take_steps(project, done, settled)
    except Stopped:
        done.warnings.append("It was stopped before it was done; the next run continues.")
    except daemons.StopRequested:
        done.errors.append("It was stopped in the middle of a step; the next run continues.")


def _take_steps(project: Project, done: CycleSteps, settled: RestedSessions) -> None:
    journal = _tried_step(done, partial(read_journal, project))
    if journal is None:
        return
    done.provider = journal.config.provider
    done.warn(journal.history.problems[:_SAID])
    done.warnings += [f"{FOLDER}/sources.json: {' '.join(entry.faults)}" for entry in journal.registry.unread]
    latest = journal.state.maintenance.latest_checkpoint_id
    if latest is not None and latest not in journal.checkpoints:
        done.warnings.append(f"The checkpoint `{cut(latest, 80)}`, which the state names as the latest, is missing.")
    done.go_on()
    if journal.config.syncs_before_recall and journal.registry.sources:
        done.synced = []
        for source in journal.registry.sources:
            _tried_step(done, partial(_sync_one, project, done, source, settled))
        if any(found.imported for found in done.synced):
            journal = _tried_step(done, partial(read_journal, project)) or journal
    done.go_on()
    if journal.config.auto_recall:
        _tried_step(done, partial(_recall_all, project, done, journal))
        if done.recall:
            journal = _tried_step(done, partial(read_journal, project)) or journal
    done.go_on()
    _tried_step(done, partial(_retain_journal, project, done, journal))


def _tried_step(done: CycleSteps, step: Callable[[], Given]) -> Given | None:
    """What a step gives; None where it failed. A fault of ours in one step is reported like any other failure."""
    try:
        return step()
    except QuireError as error:
        done.errors.append(error.message)
    except Stopped:
        raise
    except Exception as error:
        done.errors.append(f"{type(error).__name__}: {error}")
    return None


# -- sync -------------------------------------------------------------------------------


def _sync_one(project: Project, done: CycleSteps, source: SessionSource, settled: RestedSessions) -> None:
    """A model is never asked here: that would be a call for every session."""
    assert done.synced is not None
    done.go_on()
    if not source_is_agreed(project, source):
        done.synced.append(SyncedSource(id=source.id, type=source.type, is_unknown=True))
        done.warnings.append(f"{source.id}: not read, because it was not added on this machine.")
        return
    quiet = _quiet_source(project, source, settled)
    if quiet is not None:
        done.synced.append(quiet)
        return
    found = import_sessions(
        project,
        source.id,
        provider=LOCAL_PROVIDER,
        settled_seconds=settled.seconds,
        ended=settled.ended,
        progress=done.go_on,
    )
    done.synced += found.sources
    done.warn(found.warnings)
    for item in found.sources:
        if item.error:
            done.warnings.append(f"{item.id}: {item.error}")
        elif item.failed:
            done.warnings.append(f"{item.id}: {item.failed:,} of its sessions could not be imported.")


def _quiet_source(project: Project, source: SessionSource, settled: RestedSessions) -> SyncedSource | None:
    """What a sync would say of a source in which nothing is new; None where it has to look closer.

    Only the sessions' stamps are compared with those that were noted of this history.
    """
    from quire.capture.transcripts.discovery import discover

    if source.last_sync_status != "passed":
        return None
    quiet = SyncedSource(id=source.id, type=source.type)
    stamps = noted_stamps(project, source.id)
    rests_since = project.world.now().timestamp() - settled.seconds
    with contextlib.suppress(QuireError, OSError):
        root = "" if source.extra.get(ALL_FOLDERS) is True else project.root
        found = discover(
            source.type, source_place(project, source) or source.path, root=root, known=set(stamps.items())
        )
        for session in found:
            changed = session.stamp.partition(".")[0]
            if stamps.get(session.external_id) == session.stamp:
                quiet.skipped += 1
            elif settled.waits(changed, rests_since) and not session.is_at(settled.ended):
                quiet.waiting += 1
            else:
                return None
        return None if found.skipped else quiet
    return None


# -- recall -----------------------------------------------------------------------------


def _recall_all(project: Project, done: CycleSteps, journal: Journal) -> None:
    """Everything that no recall has looked at, as far as the policy of the settings allows."""
    from quire.capture.providers.failures import ProviderFailed
    from quire.layers.journal.cursors import recall_scope, unrecalled

    config = journal.config
    scope = recall_scope(msgspec.structs.replace(config, default_source=ALL, default_section=ALL))
    if not unrecalled(journal.history.events, journal.state.maintenance, scope.source):
        return
    source: Any = scope.source  # a policy may have narrowed it

    def recall(name: str) -> JournalRecalled:
        given = JournalRecall(source=source, section="all", policy=config.policy, show_diff=False, provider=name)
        return journal_recall(project, given)

    name = provider_name(None, config.provider)
    try:
        found = recall(name)
    except (ProviderFailed, Conflict) as error:
        if name == LOCAL_PROVIDER:
            raise
        # Nobody is there to ask again: where a model fails or may not be paid, the recall is made without one.
        done.warnings.append(f"{error.message} The recall was made without a model.")
        found = recall(LOCAL_PROVIDER)
    done.warn(found.warnings)
    done.recall = {
        "attempted": True,
        "applied": found.applied,
        "raw_event_count": found.raw_event_count,
        "grouped_item_count": found.grouped_item_count,
        "noop_reason": found.noop_reason,
    }


# -- retention --------------------------------------------------------------------------


def _retain_journal(project: Project, done: CycleSteps, journal: Journal) -> None:
    from quire.layers.journal.archive import find_candidates, plan_pruning, sweep_batches

    if not journal.config.is_retaining:
        done.prune = {"attempted": False, "skipped_reason": _NOT_RETAINING}
        return
    now = project.world.now()
    candidates = find_candidates(journal, now)
    done.warn(candidates.problems)
    pruned: Pruning | None = None
    if not candidates.is_empty:

        def plan(fresh: Journal) -> tuple[Pruning | None, Writing | None]:
            found = find_candidates(fresh, now)
            if found.is_empty:
                return None, None
            planned = plan_pruning(fresh, found, now)
            return planned, planned.writing

        pruned = change_journal(project, "archive old events", plan)
    if pruned is not None or candidates.problems:
        with journal_locked(project, "archive old events"):
            sweep_batches(project.root)
    done.prune = {
        "attempted": True,
        "archived_event_count": pruned.events if pruned else 0,
        "archived_checkpoint_count": pruned.checkpoints if pruned else 0,
        "expired_archive_batch_count": len(pruned.expired) if pruned else 0,
        "archive_batch_path": pruned.batch if pruned else None,
        "skipped_reason": None if pruned else _NOTHING_AGED,
    }
