"""How the tools of the journal show its parts: in fields that clients of other programs know, and not without bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quire.layers.journal.layout import ALL
from quire.verbs.journal.shown import short

if TYPE_CHECKING:
    from quire.layers.journal.evidence_groups import GroupedEvidence
    from quire.layers.journal.store import Journal
    from quire.project import Project

TOP = 3
_TOLD = 5


def backlog_of(project: Project) -> tuple[Journal, GroupedEvidence]:
    """The journal, and its events that no recall has looked at, in groups."""
    from quire.layers.journal.cursors import unrecalled
    from quire.layers.journal.evidence_groups import group_events
    from quire.layers.journal.store import open_journal

    journal = open_journal(project.root)
    return journal, group_events(unrecalled(journal.history.events, journal.state.maintenance, ALL))


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
