"""The journal as a whole: how it stands, one round of upkeep, what the next session has to know.

The three results have one form, which clients of other programs know, too: a status, a summary, what to do next,
details, warnings, errors.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.journal.layout import ALL, BACKUP, DAEMON, DAEMON_LOCK, FOLDER, LATEST_RUN, LOCAL, PROJECTIONS
from quire.model.errors import NotInitialized, QuireError
from quire.model.text import one_line
from quire.surfaces.mcp.journal_shown import (
    TOP,
    automation_text,
    automation_warnings,
    backlog_of,
    daemon_text,
    messages,
    retention_text,
)
from quire.surfaces.mcp.tool import Call, Given
from quire.verbs.journal.shown import short
from quire.verbs.journal.status import JournalOverview, JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, JournalValidated, journal_validate
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project

_ACTIONS = 4
_LISTED = 100
_HEALTH = {"healthy": "healthy", "attention": "sound, and something waits to be done", "unhealthy": "damaged"}
_DAMAGED_WIRING = (
    "What agents are told of the journal was changed: `memory journal integrate --status` says where, and "
    "`memory journal integrate --repair` writes it anew."
)
_NOT_WATCHED = {f"{FOLDER}/{name}" for name in (LOCAL, BACKUP, "recovery", ".lock", DAEMON, DAEMON_LOCK)}
"""What belongs to this machine or to a process, and is nobody's memory."""


class Workflow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How it went in one word (ok, warn, fail), in a sentence, and in full."""

    summary: str
    suggested_next_action: str
    """Always our own words: it stands outside of the marks."""
    details: dict[str, Any]
    warnings: list[str] = []
    errors: list[str] = []

    @property
    def status(self) -> str:
        return "fail" if self.errors else "warn" if self.warnings else "ok"


def _given(found: Workflow, call: Call, *, failed: bool = False) -> Given:
    from quire.guard.hostile_text import make_safe
    from quire.surfaces.mcp.answers import fenced_items

    fields: dict[str, Any] = {"status": found.status, **msgspec.to_builtins(found)}
    rest = {name: value for name, value in fields.items() if name not in ("status", "suggestedNextAction")}
    lines = [f"Status: {found.status}", f"Suggested next action: {make_safe(one_line(found.suggested_next_action))}"]
    text = "\n".join([*lines, call.fence.notice(), fenced_items([rest], call.fence)])
    return Given(fields=fields, text=text, failed=failed)


# -- how it stands ----------------------------------------------------------------------------


def memory_assess(project: Project, given: Arguments, call: Call) -> Given:
    from quire.verbs.journal.automate_status import automate_status
    from quire.verbs.journal.integrate import journal_integration

    try:
        found = journal_status(project, JournalStatus())
    except NotInitialized as error:
        return _given(_not_there(project, error), call)
    except QuireError as error:
        return _given(_not_read(project, error), call)
    call.wanted()
    checked = journal_validate(project, JournalValidate())
    automation = automate_status(project, Arguments())
    integration = journal_integration(project)
    last = automation.last_run or {}
    left = found.unrecalled
    errors = messages(checked.findings, "fail")
    warnings = messages(checked.findings, "warn")
    warnings += [_waiting(left[ALL])] if left[ALL] else []
    warnings += automation_warnings(automation)
    warnings += [short(f"{part.name}: {part.note}") for part in integration.damaged]
    health = "unhealthy" if errors else "attention" if warnings else "healthy"
    work = Workflow(
        summary=f"The journal is {_HEALTH[health]}. {_waiting(left[ALL])} {automation_text(automation)}",
        suggested_next_action=_advice(found, checked, automation, integration),
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
        warnings=warnings,
        errors=errors,
    )
    return _given(work, call)


def _advice(found: JournalOverview, checked: JournalValidated, automation: Any, integration: Any) -> str:
    """What to do first: faults, a process that is gone, clients whose wiring was damaged, what waits, warnings."""
    if checked.failed:
        return "Call memory_validate: it lists every fault. `memory journal validate --mend` sets right what it can."
    if automation.stale_pid is not None:
        return "The process that kept the journal has ended: call automation_ensure_running, or memory_maintain."
    if integration.damaged:
        return _DAMAGED_WIRING
    if found.next_command or not checked.warned:
        return found.tool_action()
    hints = (item["hint"] or "" for item in checked.findings if item["level"] == "warn")
    return next((hint for hint in hints if "`" in hint), "Call memory_validate: it says what the warnings are about.")


def _validation(checked: JournalValidated) -> dict[str, Any]:
    return {"failCount": checked.failed, "warnCount": checked.warned, "topFindings": checked.fault_fields(TOP)}


def _waiting(count: int) -> str:
    return f"Events that wait to be recalled: {count:,}."


def _not_there(project: Project, error: NotInitialized) -> Workflow:
    """No journal; where one was, and its state is gone, that is a fault."""
    from quire.layers.journal.store import checkpoint_ids

    lost = bool(checkpoint_ids(project.root))
    return Workflow(
        summary=error.message,
        suggested_next_action=error.hint or "",
        details={"memoryHealth": "unhealthy" if lost else "attention"},
        warnings=[] if lost else [error.message],
        errors=[error.message] if lost else [],
    )


def _not_read(project: Project, error: QuireError) -> Workflow:
    """A journal that cannot be opened: what is wrong with it is the result, not a failure of the call."""
    checked = journal_validate(project, JournalValidate())
    return Workflow(
        summary=f"The journal cannot be read: {short(error.message)}",
        suggested_next_action=error.hint or "Call memory_validate.",
        details={"memoryHealth": "unhealthy", "validate": _validation(checked)},
        warnings=messages(checked.findings, "warn"),
        errors=messages(checked.findings, "fail") or [short(error.message)],
    )


# -- one round of upkeep ----------------------------------------------------------------------


def memory_maintain(project: Project, given: Arguments, call: Call) -> Given:
    """One cycle, here. No process is started: that is for the user to ask for."""
    from quire.verbs.agents.session_end import journal_run_once
    from quire.verbs.journal.automate_status import automate_status

    automation = automate_status(project, Arguments())
    before = dict(_seen(project))
    call.wanted()
    call.progress(1, 3, "The journal was looked at; a cycle runs.")
    cycle = journal_run_once(project)
    call.progress(2, 3, f"The cycle has ended: {cycle.status}.")
    after = dict(_seen(project))
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    call.progress(3, 3, "The files were compared with those before.")
    failed = cycle.status == "failed"
    busy = ["Another run is under way; nothing was done here."] * cycle.busy
    if failed:
        action = "Call memory_validate: it says what is wrong with the journal."
    elif cycle.busy:
        action = "Call automation_status later: it says how the other run went."
    else:
        action = journal_status(project, JournalStatus()).tool_action()
    work = Workflow(
        summary=" ".join([*(busy or [_run_text(cycle.run)]), daemon_text(automation.running)]),
        suggested_next_action=action,
        details={
            "daemon": {"wasRunning": automation.running, "startedNow": False},
            **_run_fields(cycle),
            "changedFiles": changed[:_LISTED],
            **({"moreChangedFiles": len(changed) - _LISTED} if len(changed) > _LISTED else {}),
            "latestRunPath": f"{FOLDER}/{LATEST_RUN}",
        },
        warnings=[*busy, *cycle.run.get("warnings", [])],
        errors=cycle.run.get("errors") or ["Nothing could be imported."] * failed,
    )
    return _given(work, call, failed=failed)


def _run_fields(cycle: Any) -> dict[str, Any]:
    """The cycle in short; one that was left to another run has no record."""
    sync, recall = cycle.run.get("importSync", {}), cycle.run.get("recall", {})
    run = {
        "status": cycle.status,
        "importAttempted": sync.get("attempted", False),
        "recallAttempted": recall.get("attempted", False),
        "recallApplied": recall.get("applied", False),
        "groupedItemCount": recall.get("groupedItemCount", 0),
    }
    return {"run": run, "prune": cycle.run.get("prune")}


def _run_text(run: dict[str, Any]) -> str:
    recall, prune, failed = run["recall"], run["prune"], run["status"] == "failed"
    imported = sum(item["importedCount"] for item in run["importSync"]["results"])
    archived = prune["archivedEventCount"] + prune["archivedCheckpointCount"]
    said = ["The cycle failed."] if failed else []
    said += [f"Sessions imported: {imported}."] if run["importSync"]["attempted"] else []
    if recall["applied"]:
        said.append(f"Events recalled: {recall['rawEventCount']}.")
    elif not failed:
        said.append("The memory did not have to be changed.")
    return " ".join([*said, f"Events and checkpoints archived: {archived}."] if archived else said)


def _seen(project: Project) -> Iterator[tuple[str, str]]:
    """The files of the journal, with a stamp that every writing of a file changes."""
    from quire.files.freshness import stamp_of

    root = project.root
    for name in {*_journal_files(root), *_page_files(root), ".gitignore"}:
        with contextlib.suppress(OSError):
            yield name, stamp_of(os.stat(os.path.join(root, name)))


def _journal_files(root: str) -> Iterator[str]:
    for top in (FOLDER, PROJECTIONS):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            place = os.path.relpath(folder, root).replace(os.sep, "/")
            folders[:] = [name for name in folders if f"{place}/{name}" not in _NOT_WATCHED]
            yield from (f"{place}/{name}" for name in files if f"{place}/{name}" not in _NOT_WATCHED)


def _page_files(root: str) -> Iterator[str]:
    """The pages, and the file with the entry block, wherever that is."""
    from quire.layers.journal.pages import planned_pages
    from quire.layers.journal.store import open_journal

    with contextlib.suppress(QuireError, OSError):
        yield from (page.path for page in planned_pages(root, open_journal(root).state))


# -- what the next session has to know --------------------------------------------------------


def memory_compact_handoff(project: Project, given: Arguments, call: Call) -> Given:
    from quire.layers.journal.bundles import known, objects_at, shown
    from quire.verbs.journal.automate_status import automate_status

    found = journal_status(project, JournalStatus())
    automation = automate_status(project, Arguments())
    checked = journal_validate(project, JournalValidate())
    journal, evidence = backlog_of(project)
    bundle = journal.state.bundle
    steps = objects_at(bundle, "nextSteps")[:TOP]
    focus = short(shown(bundle, "currentFocus", "summary"))
    groups = evidence.grouped_item_count
    waiting = f"Groups of events that wait to be recalled: {groups:,}." if groups else ""
    action = found.tool_action()
    starts = [short(known(step, "start") or shown(step, "title")) for step in steps]
    first = [action] if found.next_command else []
    work = Workflow(
        summary=" ".join(text for text in (focus, waiting, automation_text(automation)) if text),
        suggested_next_action=action,
        details={
            "currentFocusSummary": focus,
            "topGotchas": [_pair(item, "cause", "correctPath") for item in objects_at(bundle, "gotchas")[:TOP]],
            "topNextSteps": [_pair(item, "start", "why") for item in steps],
            "unrecalledGroupedCount": groups,
            "automationSummary": automation_text(automation),
            "retentionSummary": retention_text(found.retention),
            "recommendedResumeActions": [*first, *(text for text in starts if text)][:_ACTIONS],
        },
        warnings=[*([waiting] if waiting else []), *_faults_text(checked), *automation_warnings(automation)],
    )
    return _given(work, call)


def _pair(item: dict[str, Any], *names: str) -> str:
    """`title: the first of these that says something`."""
    from quire.layers.journal.bundles import known, shown

    said = next((text for name in names if (text := known(item, name).strip())), "")
    title = shown(item, "title")
    return short(f"{title}: {said}" if said else title)


def _faults_text(checked: Any) -> list[str]:
    return [f"Faults in the journal's files: {checked.failed:,}. memory_validate lists them."] if checked.failed else []
