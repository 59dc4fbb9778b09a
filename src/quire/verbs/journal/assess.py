"""The tool `memory_assess`: report the state of the journal, and what to do next."""

from __future__ import annotations

from quire.layers.journal.layout import ALL
from quire.layers.journal.store import checkpoint_ids
from quire.model.errors import NotInitialized, QuireError
from quire.project import Project
from quire.verbs.journal.automate_status import AutomationState, automate_status
from quire.verbs.journal.integrate import JournalIntegration, journal_integration
from quire.verbs.journal.journal_lines import short
from quire.verbs.journal.status import JournalOverview, JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, JournalValidated, journal_validate
from quire.verbs.journal.workflow import GIVES, Workflow, workflow_lines
from quire.verbs.verb import Arguments, Tool, Verb

_TOP = 3
_TOLD = 5
_HEALTH = {"healthy": "healthy", "attention": "sound, with work pending", "unhealthy": "damaged"}
_DAMAGED_WIRING = (
    "The journal's instructions for agents were changed: `memory journal integrate --status` shows "
    "where, `memory journal integrate --repair` restores them."
)


def assess(project: Project, given: Arguments) -> Workflow:
    """Assess the journal: faults, pending sessions, automation, clients."""
    try:
        found = journal_status(project, JournalStatus())
    except NotInitialized as error:
        return _not_there(project, error)
    except QuireError as error:
        return _not_read(project, error)
    checked = journal_validate(project, JournalValidate())
    automation = automate_status(project, given)
    integration = journal_integration(project)
    last = automation.last_run or {}
    left = found.unrecalled[ALL]
    waiting = f"Not merged yet: {left:,}."
    errors = _messages(checked, "fail")
    alerts = [*_messages(checked, "warn"), *([waiting] if left else []), *automation.faults()]
    alerts += [short(f"{part.name}: {part.note}") for part in integration.damaged]
    health = "unhealthy" if errors else "attention" if alerts else "healthy"
    return Workflow(
        summary=f"The journal is {_HEALTH[health]}. {waiting} {automation.sentence()}",
        action=_advice(found, checked, automation, integration),
        details={
            "memoryHealth": health,
            "backlog": found.backlog_fields(),
            "automation": {
                "running": automation.running,
                "lastRunStatus": last.get("status"),
                "lastRunFinishedAt": last.get("finishedAt"),
            },
            "integration": integration.health,
            "validate": _validation(checked),
            "retention": found.retention.tool_fields(),
        },
        alerts=alerts,
        errors=errors,
    )


def _advice(
    found: JournalOverview, checked: JournalValidated, automation: AutomationState, integration: JournalIntegration
) -> str:
    """What to do first: faults, a process that is gone, clients whose wiring was damaged, what waits, warnings."""
    if checked.failed:
        return "Call memory_validate: it lists every fault. `memory journal validate --repair` repairs what it can."
    if automation.stale_pid is not None:
        return "The background process of the journal has ended: call automation_ensure_running or memory_maintain."
    if integration.damaged:
        return _DAMAGED_WIRING
    if found.next_command or not checked.warned:
        return found.tool_action()
    hints = (finding["hint"] or "" for finding in checked.of_level("warn"))
    return next((hint for hint in hints if "`" in hint), "Call memory_validate: it explains the warnings.")


def _not_there(project: Project, error: NotInitialized) -> Workflow:
    """No journal; where one was, and its state is gone, that is a fault."""
    lost = bool(checkpoint_ids(project.root))
    return Workflow(
        summary=error.message,
        action=error.hint or "",
        details={"memoryHealth": "unhealthy" if lost else "attention"},
        alerts=[] if lost else [error.message],
        errors=[error.message] if lost else [],
    )


def _not_read(project: Project, error: QuireError) -> Workflow:
    """A journal that cannot be opened: what is wrong with it is the result, not a failure of the call."""
    checked = journal_validate(project, JournalValidate())
    return Workflow(
        summary=f"The journal cannot be read: {short(error.message)}",
        action=error.hint or "Call memory_validate.",
        details={"memoryHealth": "unhealthy", "validate": _validation(checked)},
        alerts=_messages(checked, "warn"),
        errors=_messages(checked, "fail") or [short(error.message)],
    )


def _validation(checked: JournalValidated) -> dict[str, object]:
    return {"failCount": checked.failed, "warnCount": checked.warned, "topFindings": checked.fault_fields(_TOP)}


def _messages(checked: JournalValidated, level: str) -> list[str]:
    every = [f"{finding['code']}: {short(finding['message'])}" for finding in checked.of_level(level)]
    left = len(every) - _TOLD
    return [*every[:_TOLD], f"And {left:,} more."] if left > 0 else every


VERB = Verb(
    run=assess,
    lines=workflow_lines,
    tool=Tool(
        title="State of the journal",
        says="State of the journal of past sessions: faults, sessions not merged yet, automation, and what to do "
        "next. Use it once when a session starts. For what was learned use memory_compact_handoff.",
        gives=GIVES,
    ),
)
