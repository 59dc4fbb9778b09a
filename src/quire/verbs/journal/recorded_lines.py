"""What `agent-memory` prints, as it has from the beginning; `memory journal` says it in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quire.verbs.journal.journal_lines import (
    SourceState,
    cycle_text,
    file_diff_lines,
    for_people,
    listed,
    planned_lines,
    told,
)
from quire.verbs.journal.recall_lines import done_lines
from quire.verbs.verb import Aside, Lines, Recalled

if TYPE_CHECKING:
    from quire.verbs.journal.automate_run_once import Cycle
    from quire.verbs.journal.automate_status import AutomationState
    from quire.verbs.journal.recall import JournalRecalled
    from quire.verbs.journal.status import JournalOverview

_ITEMS = (
    ("changedSections", "changed sections"),
    ("addedGotchas", "added gotchas"),
    ("removedGotchas", "removed gotchas"),
    ("addedNextSteps", "added next steps"),
    ("removedNextSteps", "removed next steps"),
    ("mergedGotchas", "merged gotchas"),
    ("mergedNextSteps", "merged next steps"),
)
_ONLY_IF_ANY = (("changedGotchas", "changed gotchas"), ("changedNextSteps", "changed next steps"))


def source_state_text(source: SourceState) -> str:
    """How the last sync of a source went."""
    at = source.last_synced_at or "never"
    said = f"status={source.last_sync_status} lastSyncedAt={at} imported={source.last_imported_count:g}"
    return f"{said}\n  {source.last_sync_error}" if source.last_sync_error else said


def difference_lines(value: dict[str, Any], *, capital: bool = True) -> Iterator[Recalled]:
    """What changed between two states of the memory, item by item."""
    items = [(label, listed(value.get(key) or ())) for key, label in _ITEMS]
    items += [(label, listed(value[key])) for key, label in _ONLY_IF_ANY if value.get(key)]
    for label, names in items:
        yield told(f"- {label[0].upper() + label[1:] if capital else label}: {names}")


def _prune_lines(prune: dict[str, Any], path: str, skipped: str) -> Lines:
    """What retention did in a cycle."""
    yield told(f"- prune attempted: {as_word(prune['attempted'])}")
    yield told(f"- archived events: {prune['archivedEventCount']}")
    yield told(f"- archived checkpoints: {prune['archivedCheckpointCount']}")
    yield told(f"- expired archive batches: {prune['expiredArchiveBatchCount']}")
    if prune["archiveBatchPath"]:
        yield told(f"{path}: {prune['archiveBatchPath']}")
    if prune["skippedReason"]:
        yield told(f"{skipped}: {prune['skippedReason']}")


def as_word(value: bool) -> str:
    return "yes" if value else "no"


def status_lines(found: JournalOverview) -> Lines:
    for text in _state_lines(found):
        yield told(text)
    yield from _drift_lines(found.drift)
    if found.shows_diff:
        yield from file_diff_lines(found.file_diffs, heading="File Diffs:")
    for text in _upkeep_lines(found):
        yield told(text)
    yield ""
    yield "Suggested Next Action:"
    yield told(found.next_action) if found.next_command == "update" else found.next_action
    if found.next_command:
        yield f"`memory journal {found.next_command}`"


def _state_lines(found: JournalOverview) -> Iterator[str]:
    yield "State:"
    yield f"- schemaVersion: {found.schema_version}"
    yield f"- bundleHash: {found.bundle_hash}"
    yield f"- generatedAt: {found.generated_at} ({found.provider})"
    yield f"- latestCheckpointId: {found.latest_checkpoint_id or 'none'} (of {found.checkpoints})"
    yield from ("", "History:")
    yield f"- total events: {found.events}"
    for scope, count in found.unrecalled.items():
        yield f"- unrecalled {scope}: {count}"
    yield from ("", "Unrecalled Summary:")
    yield from found.backlog or ["- none"]
    yield from ("", "Sources:")
    for source in found.sources:
        yield f"- {source.id}: {source_state_text(source)}"
    if not found.sources:
        yield "- none"
    yield from ("", "Checkpoint Drift:")


def _drift_lines(drift: dict[str, Any] | None) -> Lines:
    if drift is None:
        yield told("- there is no checkpoint to compare with")
        return
    yield told(f"- checkpoint: {drift['id']}")
    if "error" in drift:
        yield told(f"- {drift['error']}")
    else:
        yield from difference_lines(drift, capital=False)


def _upkeep_lines(found: JournalOverview) -> Iterator[str]:
    retention = found.retention
    yield from ("", "Retention:")
    yield f"- enabled: {'yes' if retention.enabled else 'no'}"
    yield f"- prune candidate events: {retention.candidate_events}"
    yield f"- prune candidate checkpoints: {retention.candidate_checkpoints}"
    yield f"- archive batches: {retention.archive_batches}"
    yield f"- expired batches: {retention.expired_batches}"
    yield f"- oldest archive createdAt: {retention.oldest_archive or 'none'}"
    if found.automation:
        yield from ("", "Automation:")
        shown = [f"{name}={found.automation[name]}" for name in ("status", "finishedAt") if found.automation.get(name)]
        yield f"- last run: {found.automation.get('error') or ' '.join(shown) or 'noted'}"


def run_lines(done: Cycle) -> Lines:
    if done.background and done.is_incomplete():
        yield Aside(text="; ".join(done.run["errors"]))
    if done.quiet or done.background:
        return
    if done.busy:
        yield "Another run is in progress; nothing was done."
        return
    run, recall = done.run, done.run["recall"]
    yield told(f"Automation run status: {done.status}")
    yield told(f"- provider: {run['provider']}")
    yield told(f"- sync attempted: {as_word(run['importSync']['attempted'])}")
    for item in run["importSync"]["results"]:
        yield from _imported_lines(item)
    yield told(f"- recall attempted: {as_word(recall['attempted'])}")
    yield told(f"- recall applied: {as_word(recall['applied'])}")
    yield told(f"- raw events: {recall['rawEventCount']}")
    yield told(f"- grouped items: {recall['groupedItemCount']}")
    yield from _prune_lines(run["prune"], "- archiveBatchPath", "- pruneSkippedReason")
    if recall["noopReason"]:
        yield told(f"- noopReason: {recall['noopReason']}")
    for name in ("warnings", "errors"):
        if run[name]:
            yield told(f"- {name}: {' | '.join(run[name])}")


def _imported_lines(item: dict[str, Any]) -> Lines:
    counts = f"imported={item['importedCount']} skipped={item['skippedCount']} failed={item['failedCount']}"
    waiting = item.get("waitingCount", 0)
    yield told(f"  - {item['sourceId']}: {counts}" + (f" waiting={waiting}" if waiting else ""))
    if waiting:
        said = "session changed" if waiting == 1 else "sessions changed"
        yield (
            f"    {waiting} {said} in the last ten minutes and may still run; the next run imports them, "
            f"`memory journal sync {item['sourceId']}` imports now."
        )


def automation_lines(found: AutomationState) -> Lines:
    yield f"Automation daemon: {'running' if found.running else 'stopped'}"
    if found.running:
        yield from _process_lines(found)
    elif found.stale_pid is not None:
        yield f"- stale: process {found.stale_pid} no longer runs"
    yield from _last_lines(found.last_run)
    if found.runs:
        yield "Last runs:"
    for note in found.runs:
        yield told(f"- {note['finishedAt']} {cycle_text(note)}")
    if found.last_log:
        yield told(f"Log: {found.last_log}")


def _process_lines(found: AutomationState) -> Lines:
    where = " (another program's)" if found.other_program else " (in a container or elsewhere)" * found.elsewhere
    yield told(f"- pid: {found.pid}{where}")
    if found.started_at is None:
        return
    age = f" ({found.heartbeat_age_seconds:.0f} s ago)" if found.heartbeat_age_seconds is not None else ""
    yield told(f"- startedAt: {found.started_at}")
    yield told(f"- lastHeartbeatAt: {found.last_heartbeat_at}{age}")
    yield told(f"- intervalMinutes: {found.interval_minutes:g}")
    yield told(f"- provider: {found.provider}")
    if found.next_run_at:
        yield told(f"- next run: {found.next_run_at}")
    if found.ends_at:
        yield told(f"- ends at: {found.ends_at}")


def _last_lines(last: dict[str, Any] | None) -> Lines:
    if last is None:
        yield told("- last run: none")
        return
    yield told(f"- last run status: {last['status']}")
    yield told(f"- last run finishedAt: {last['finishedAt']}")
    yield told(f"- sync attempted: {as_word(last['importSync']['attempted'])}")
    yield told(f"- recall attempted: {as_word(last['recall']['attempted'])}")
    yield told(f"- recall applied: {as_word(last['recall']['applied'])}")
    yield told(f"- recall grouped items: {last['recall']['groupedItemCount']}")
    yield from _prune_lines(last["prune"], "- archive batch", "- prune skippedReason")
    for name in ("warnings", "errors"):
        if last[name]:
            yield told(f"- last {name}: {' | '.join(last[name])}")


def recalled_lines(done: JournalRecalled) -> Lines:
    yield from scope_lines(done)
    yield from plan_lines(done)
    yield from done_lines(done)


def scope_lines(done: JournalRecalled) -> Lines:
    """What was looked at, line by line."""
    yield told(f"Recall source scope: {done.source}")
    yield told(f"Recall section: {done.section}")
    yield told(f"Recall policy: {done.policy}")
    yield told(f"Unrecalled events considered: {done.raw_event_count}")
    if done.backlog:
        yield told("")
        yield told("Unrecalled History Summary:")
        for line in done.backlog:
            yield told(line)
    yield told("")


def plan_lines(done: JournalRecalled) -> Lines:
    """What changes, or would."""
    if done.planned:
        yield from planned_lines(done.planned)
        yield told("")
    if done.noop_reason is not None:
        return
    yield told("Memory Summary:")
    yield from difference_lines(done.diff)
    for key, label in (("currentFocusChanged", "Current focus changed"), ("validationChanged", "Validation changed")):
        yield told(f"- {label}: {'yes' if done.diff.get(key) else 'no'}")
    yield told(f"- Protected sections: {listed(done.protected)}")
    for key, label in (("gotchas", "Gotchas"), ("nextSteps", "Next steps")):
        if key in done.memory:
            yield told(f"- {label}: {done.memory[key]['before']} -> {done.memory[key]['after']}")
    if done.baseline is not None:
        yield told("")
        yield told("Checkpoint Summary:")
        yield told(f"- Baseline: {done.baseline['id']}")
        if "error" in done.baseline:
            yield told(f"- {done.baseline['error']}")
        else:
            yield from difference_lines(done.baseline)
    if any(item.diff for item in done.planned):
        yield from file_diff_lines(done.planned)
    else:
        yield for_people("")
        yield for_people("--show-diff shows the files line by line.")
    yield ""
