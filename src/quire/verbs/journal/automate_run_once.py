"""`memory journal automate run-once`, the tool `automation_run_once`: one cycle of sync, recall and retention."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from quire.model.text import counted
from quire.project import Project
from quire.verbs.journal.journal_lines import archived_text, told
from quire.verbs.journal.options import Quiet
from quire.verbs.journal.recorded_lines import run_lines
from quire.verbs.journal.session_import import SyncedSource
from quire.verbs.journal.sync import imported_text
from quire.verbs.verb import Arguments, Aside, Input, Lines, Option, Result, Tool, Verb


class RunOnce(Arguments, frozen=True, kw_only=True):
    quiet: Quiet = False
    background: Annotated[
        bool, Option(help="As the process runs it: quiet, and with an end after the current write.", tool=False)
    ] = False
    payload: Annotated[bytes, Input(what="the hook's payload", wait_seconds=0.2, most=64 * 1024)] = b""


class Cycle(Result, kw_only=True):
    """One run of the automation, in the form of `latest-run.json`."""

    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("quiet", "background")

    status: str
    run: dict[str, Any]
    busy: bool = False
    """Another run is in progress; nothing was done."""
    quiet: bool = False
    background: bool = False

    def is_incomplete(self) -> bool:
        return bool(self.run.get("errors")) if self.background else self.status == "failed"

    def tool_fields(self) -> dict[str, Any]:
        return {**self.run, "status": self.status, "busy": self.busy}


def run_once(project: Project, given: RunOnce) -> Cycle:
    """Run one cycle: import what is new, recall it, archive old events.

    Where nothing is new, nothing is written. Sessions that changed in the last ten minutes are left for the next run,
    but for the one whose hook started this run: its payload on standard input says which has ended. Of two runs at
    once, one does nothing. A run that failed ends with 1; a failed step keeps no other from its work.
    """
    from quire.verbs.agents.session_end import journal_run_once

    ended = "" if given.background else _ended_session(given.payload)
    cycle = journal_run_once(project, background=given.background, ended=ended)
    cycle.quiet, cycle.background = given.quiet, given.background
    return cycle


def _ended_session(payload: bytes) -> str:
    """The file of the session that has ended, where the payload of a hook says so; else nothing."""
    if not payload.strip():
        return ""
    from quire.clients.hooks.read_event import read_event

    try:
        event = read_event("claude", "", payload)
    except ValueError:
        return ""
    return event.transcript if event.event in ("turn-end", "session-end") else ""


def lines(done: Cycle) -> Lines:
    if done.background and done.is_incomplete():
        yield Aside(text="; ".join(done.run["errors"]))
    if done.quiet or done.background:
        return
    if done.busy:
        yield "Another run is in progress; nothing was done."
        return
    for item in done.run["importSync"]["results"]:
        yield told(_imported_text(item))
    yield told(_merged_text(done.run["recall"]))
    for text in (archived_text(done.run["prune"]), *done.run["warnings"], *done.run["errors"]):
        if text:
            yield told(text)


def _imported_text(item: dict[str, Any]) -> str:
    counts = {name: item.get(f"{name}Count", 0) for name in ("imported", "skipped", "failed", "waiting")}
    said = imported_text(SyncedSource(id=item["sourceId"], type="", **counts))
    now = f" `memory journal sync {item['sourceId']}` imports what is still running."
    return said + (now if counts["waiting"] else "")


def _merged_text(recall: dict[str, Any]) -> str:
    if recall["applied"]:
        return f"Merged {counted(recall['rawEventCount'], 'session or run', 'sessions and runs')} into the memory."
    return f"Nothing to merge. {recall['noopReason'] or ''}".rstrip()


VERB = Verb(
    takes=RunOnce,
    run=run_once,
    lines=lines,
    recorded_lines=run_lines,
    writes=True,
    examples="Examples:\n  memory journal automate run-once\n  memory journal automate run-once --quiet\n",
    tool=Tool(
        title="Run one cycle",
        says="Run one cycle of the automation now and return its record. memory_maintain does the same and reports "
        "more.",
        gives={"status": "string", "busy": "boolean"},
        destructive=True,
    ),
)
