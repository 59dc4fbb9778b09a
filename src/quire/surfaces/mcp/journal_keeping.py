"""The tools that change the journal, and those about the process that may keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from quire.layers.journal.layout import FOLDER
from quire.model.errors import Cancelled, InputError
from quire.surfaces.mcp.tool import Call, Given
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project

_STEP = 10
"""Of many sessions, every so many are told."""


class JournalRecallArguments(Arguments, frozen=True, kw_only=True):
    source: (
        Annotated[
            Literal["all", "local", "imports"],
            msgspec.Meta(description="events of sessions (imports), of commands (local)"),
        ]
        | None
    ) = None
    section: (
        Literal["all", "project", "project-map", "current-focus", "gotchas", "next-steps", "validation-commands"] | None
    ) = None
    dry_run: bool = False


class JournalSyncArguments(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="one source; otherwise all")] | None = (
        None
    )
    dry_run: bool = False


def journal_recall(project: Project, given: JournalRecallArguments, call: Call) -> Given:
    from quire.fields.journal import journal_recall_fields
    from quire.verbs.journal.recall import journal_recall as journal_recall_of

    call.wanted()
    done = journal_recall_of(project, source=given.source, section=given.section, diffs=False, dry_run=given.dry_run)
    fields = journal_recall_fields(done)
    left_out = ("expects", "memory", "baseline")
    told = {name: value for name, value in fields.items() if name not in left_out}
    told["planned"] = [item["path"] for item in fields["planned"]]
    return Given(fields={**told, "dry_run": given.dry_run}, warnings=done.warnings)


def journal_sync(project: Project, given: JournalSyncArguments, call: Call) -> Given:
    from quire.fields.journal import journal_sync_fields
    from quire.surfaces.mcp.graph_tools import short_lists
    from quire.verbs.journal.session_import import journal_sync as journal_sync_of

    if given.name and not given.dry_run:
        _refuse_unknown(project, given.name)
    call.wanted()
    try:
        done = journal_sync_of(
            project, given.name, everything=given.name is None, dry_run=given.dry_run, progress=_Counter(call)
        )
    except _Withdrawn:
        call.wanted()
        raise
    fields = journal_sync_fields(done)
    fields["sources"] = [short_lists(source) for source in fields["sources"]]
    return Given(fields=fields, warnings=done.warnings, failed=bool(done.failed))


class _Withdrawn(Exception):
    """The client wants no more of it. No error of the journal's: that would be noted as a failure of the source."""


class _Known(Exception):
    """The source is read, so somebody has agreed to that."""


def _refuse_unknown(project: Project, name: str) -> None:
    """Whoever names a source agrees to have it read; of one that came with the repository, only a person can."""
    from quire.verbs.journal.session_import import journal_sync as journal_sync_of

    def seen(*_: object) -> None:
        raise _Known

    try:
        tried = journal_sync_of(project, name, dry_run=True, progress=seen)
    except _Known:
        return
    if any(source.is_unknown for source in tried.sources):
        raise InputError(
            f"The source `{name}` came with the repository, and nobody on this machine has agreed to have it read.",
            hint=f"Ask the user to look at its path in `{FOLDER}/sources.json`; `memory journal sync {name}` agrees.",
            details={"field": "name"},
        )


class _Counter:
    """Counts the sessions that were looked at, over all sources: the number only grows."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._source = ""
        self._before = self._looked = 0

    def __call__(self, source: str, looked: int, total: int, imported: int) -> None:
        try:
            self._call.wanted()
        except Cancelled:
            raise _Withdrawn from None
        if source != self._source:
            self._source, self._before = source, self._before + self._looked
        self._looked = looked
        if looked < _STEP or looked % _STEP == 0 or looked == total:
            done, of = self._before + looked, self._before + max(looked, total)
            self._call.progress(done, of, f"{source}: {imported} imported")


# -- automation -------------------------------------------------------------------------------


def automation_status(project: Project, given: Arguments, call: Call) -> Given:
    from quire.verbs.journal.automation import journal_automation

    found = journal_automation(project)
    daemon = {
        "pid": found.pid,
        "startedAt": found.started_at,
        "lastHeartbeatAt": found.last_heartbeat_at,
        "intervalMinutes": found.interval_minutes,
        "provider": found.provider,
        "nextRunAt": found.next_run_at,
        "endsAt": found.ends_at,
    }
    fields: dict[str, Any] = {
        "running": found.running,
        "daemon": daemon if found.running else None,
        "latestRun": found.last_run,
    }
    if found.stale_pid is not None:
        fields["stalePid"] = found.stale_pid
    return Given(fields=fields, warnings=found.warnings)


def automation_ensure_running(project: Project, given: Arguments, call: Call) -> Given:
    from quire.files.programs import own_command
    from quire.verbs.journal.automation import journal_ensure_running

    call.wanted()
    done = journal_ensure_running(project, own_command("journal", "automate", "daemon"))
    said = "was started" if done.started else "runs already"
    return Given(
        fields={"started": done.started, "pid": done.pid},
        text=f"The process that keeps the journal {said} (pid {done.pid}).",
    )


def automation_run_once(project: Project, given: Arguments, call: Call) -> Given:
    from quire.verbs.agents.session_end import journal_run_once

    call.wanted()
    cycle = journal_run_once(project)
    text = "Another run is under way; nothing was done." if cycle.busy else None
    fields = {**cycle.run, "status": cycle.status, "busy": cycle.busy}
    return Given(fields=fields, text=text, failed=cycle.status == "failed")
