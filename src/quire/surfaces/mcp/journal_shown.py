"""How the tools of the journal show its parts: in fields that clients of other programs know, and not without bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.journal.layout import ALL
from quire.model.text import cut, one_line

if TYPE_CHECKING:
    from quire.layers.journal.evidence_groups import GroupedEvidence
    from quire.layers.journal.store import Journal
    from quire.project import Project

TOP = 3
_TOLD = 5
_TEXT = 400
_GROUPS = 10
_SIGNALS = 5
_IDS = 20
_CALLS = {
    "recall": "Call journal_recall.",
    "sync --all": "Call journal_sync.",
    "automate run-once": "Call memory_maintain.",
}
"""The tools that do what the journal suggests."""


def short(text: str) -> str:
    return cut(one_line(text), _TEXT)


# -- state ------------------------------------------------------------------------------------


def status_fields(found: Any, evidence: GroupedEvidence, *, compared: bool) -> dict[str, Any]:
    """The journal at a glance; `compared` also says how it differs from the checkpoint it was compared with."""
    return {
        "state": {
            "schemaVersion": found.schema_version,
            "bundleHash": found.bundle_hash,
            "latestCheckpointId": found.latest_checkpoint_id,
        },
        "history": {"totalEvents": found.events, **backlog_fields(found.unrecalled)},
        "sources": [
            {
                "id": source.id,
                "status": source.last_sync_status,
                "lastSyncedAt": source.last_synced_at,
                "lastImportedCount": source.last_imported_count,
                "lastSyncError": source.last_sync_error,
            }
            for source in found.sources
        ],
        "checkpoint": _drift(found) if compared and found.drift else None,
        "unrecalledSummary": _evidence(evidence),
        "retention": retention_fields(found.retention),
        "suggestedNextAction": next_action(found),
    }


def _drift(found: Any) -> dict[str, Any]:
    told = {name: value for name, value in found.drift.items() if name != "id"}
    diffs = [{"path": item.path, "diff": item.diff} for item in found.file_diffs]
    return {"checkpointId": found.drift["id"], **told, "fileDiffs": diffs}


def _evidence(evidence: GroupedEvidence) -> dict[str, Any]:
    """The latest groups, and of each what it says first: all of them could be a book."""
    groups = []
    for group in evidence.groups[:_GROUPS]:
        told = msgspec.to_builtins(group)
        told["eventIds"] = told["eventIds"][:_IDS]
        told["representativeSummary"] = short(group.representative_summary)
        told["signals"] = {name: [short(text) for text in texts[:_SIGNALS]] for name, texts in told["signals"].items()}
        groups.append(told)
    fields = {
        "rawEventCount": evidence.raw_event_count,
        "groupedItemCount": evidence.grouped_item_count,
        "groups": groups,
    }
    left = len(evidence.groups) - _GROUPS
    return {**fields, "moreGroups": left} if left > 0 else fields


def backlog_of(project: Project) -> tuple[Journal, GroupedEvidence]:
    """The journal, and its events that no recall has looked at, in groups."""
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import group_events
    from quire.layers.journal.store import open_journal

    journal = open_journal(project.root)
    return journal, group_events(unrecalled(journal.history.events, journal.state.maintenance, ALL))


def next_action(found: Any) -> str:
    """What the journal suggests, and the tool or the command that does it: in words of ours alone.

    A checkpoint calls itself what it likes, so it is not named: this text stands outside of the marks.
    """
    if found.next_command == "update":
        return "The memory differs from the checkpoint: look at it, or run `memory journal update`."
    return f"{found.next_action} {_CALLS.get(found.next_command, '')}".rstrip()


def backlog_fields(left: dict[str, int]) -> dict[str, int]:
    return {f"unrecalled{scope.capitalize()}": count for scope, count in left.items()}


def retention_fields(found: Any) -> dict[str, Any]:
    return {
        "enabled": found.enabled,
        "pruneCandidateEventCount": found.candidate_events,
        "pruneCandidateCheckpointCount": found.candidate_checkpoints,
        "archiveBatchCount": found.archive_batches,
        "oldestArchiveCreatedAt": found.oldest_archive,
    }


def finding_fields(finding: dict[str, Any]) -> dict[str, Any]:
    told = {name: finding[name] for name in ("path", "line", "hint") if finding.get(name)}
    return {"status": finding["level"], "code": finding["code"], "message": short(finding["message"]), **told}


def validation_fields(checked: Any) -> dict[str, Any]:
    bad = [item for level in ("fail", "warn") for item in checked.findings if item["level"] == level]
    return {
        "failCount": checked.failed,
        "warnCount": checked.warned,
        "topFindings": [finding_fields(item) for item in bad[:TOP]],
    }


def messages(findings: Iterable[dict[str, Any]], level: str) -> list[str]:
    every = [f"{item['code']}: {short(item['message'])}" for item in findings if item["level"] == level]
    left = len(every) - _TOLD
    return [*every[:_TOLD], f"And {left:,} more."] if left > 0 else every


def daemon_text(running: bool) -> str:
    return "A process keeps the journal." if running else "No process keeps the journal, and none has to."


def automation_text(automation: Any) -> str:
    last = automation.last_run
    ran = f"The last cycle ended at {short(last['finishedAt'])}: {last['status']}." if last else "No cycle has run yet."
    return f"{daemon_text(automation.running)} {ran}"


def automation_warnings(automation: Any) -> list[str]:
    """A process that was never asked for is no fault; one that went away by itself is, and so is a failed cycle."""
    found = [problem.message for problem in automation.warnings]
    if automation.stale_pid is not None:
        found.append(f"Process {automation.stale_pid}, which kept the journal, does not run any more.")
    if automation.last_run and automation.last_run["status"] == "failed":
        found.append("The last cycle failed.")
    return found


def retention_text(found: Any) -> str:
    if not found.enabled:
        return "Retention is switched off."
    aged = found.candidate_events + found.candidate_checkpoints + found.expired_batches
    return f"Old enough for the archive, or expired in it: {aged:,}." if aged else "Nothing is to be archived."
