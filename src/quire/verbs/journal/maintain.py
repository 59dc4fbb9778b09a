"""The tool `memory_maintain`: run one round of maintenance of the journal."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from quire.layers.journal.layout import BACKUP, DAEMON, DAEMON_LOCK, FOLDER, LATEST_RUN, LOCAL, PROJECTIONS
from quire.layers.journal.pages import planned_pages
from quire.layers.journal.store import open_journal
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.agents.session_end import journal_run_once
from quire.verbs.journal.automate_run_once import Cycle
from quire.verbs.journal.automate_status import automate_status, daemon_text
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.workflow import GIVES, Workflow, workflow_lines
from quire.verbs.verb import Arguments, Tool, Verb

_LISTED = 100
_NOT_WATCHED = {f"{FOLDER}/{name}" for name in (LOCAL, BACKUP, "recovery", ".lock", DAEMON, DAEMON_LOCK)}
"""What belongs to this machine or to a process, and is nobody's memory."""


def maintain(project: Project, given: Arguments) -> Workflow:
    """Run one cycle here, and say which files changed. No process is started: that is for the user to ask for."""
    tell = project.progress or (lambda *_: None)
    running = automate_status(project, given).running
    before = dict(_stamps(project.root))
    tell(1, 3, "The journal was checked; a cycle runs.")
    cycle = journal_run_once(project)
    tell(2, 3, f"The cycle has ended: {cycle.status}.")
    after = dict(_stamps(project.root))
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    tell(3, 3, "The files were compared with those before.")
    failed = cycle.status == "failed"
    busy = ["Another run is under way; nothing was done here."] * cycle.busy
    return Workflow(
        summary=" ".join([*(busy or [_run_text(cycle.run)]), daemon_text(running)]),
        action=_action(project, cycle),
        details={
            "daemon": {"wasRunning": running, "startedNow": False},
            **_run_fields(cycle),
            "changedFiles": changed[:_LISTED],
            **({"moreChangedFiles": len(changed) - _LISTED} if len(changed) > _LISTED else {}),
            "latestRunPath": f"{FOLDER}/{LATEST_RUN}",
        },
        alerts=[*busy, *cycle.run.get("warnings", [])],
        errors=cycle.run.get("errors") or ["Nothing could be imported."] * failed,
        failed=failed,
    )


def _action(project: Project, cycle: Cycle) -> str:
    if cycle.status == "failed":
        return "Call memory_validate: it shows what is wrong with the journal."
    if cycle.busy:
        return "Call automation_status later to see how the other run went."
    return journal_status(project, JournalStatus()).tool_action()


def _run_fields(cycle: Cycle) -> dict[str, Any]:
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
        said.append(f"Merged: {recall['rawEventCount']}.")
    elif not failed:
        said.append("The memory needed no change.")
    return " ".join([*said, f"Archived: {archived}."] if archived else said)


def _stamps(root: str) -> Iterator[tuple[str, str]]:
    """The files of the journal, with a stamp that every writing of a file changes."""
    from quire.files.freshness import stamp_of

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
    with contextlib.suppress(QuireError, OSError):
        yield from (page.path for page in planned_pages(root, open_journal(root).state))


VERB = Verb(
    run=maintain,
    lines=workflow_lines,
    writes=True,
    tool=Tool(
        title="Maintain the journal",
        says="One round of maintenance: import new sessions, merge them, archive old ones; lists changed files. "
        "Use it when memory_assess reports pending work, or at the end of a task. Starts no background process.",
        gives=GIVES,
        destructive=True,
    ),
)
