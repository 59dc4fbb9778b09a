"""`memory journal automate`, `… automate status`, the tool `automation_status`: report the background process."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.layers.journal.documents import value_of
from quire.layers.journal.numbered_ids import moment_of
from quire.layers.journal.types import Daemon
from quire.model.records import Problem
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.journal.journal_lines import archived_text, cycle_text, told
from quire.verbs.journal.journal_state import journal_is_there
from quire.verbs.journal.recorded_lines import automation_lines
from quire.verbs.verb import Arguments, Lines, Result, Tool, Verb

_SHOWN_RUNS = 5
_SILENT_SECONDS = 180.0


class AutomationState(Result, kw_only=True):
    """Whether a process keeps the journal, and how its cycles went."""

    running: bool
    pid: int | None = None
    started_at: str | None = None
    last_heartbeat_at: str | None = None
    heartbeat_age_seconds: float | None = None
    interval_minutes: float | None = None
    provider: str | None = None
    next_run_at: str | None = None
    ends_at: str | None = None
    other_program: bool = False
    """Another program's process keeps it."""
    elsewhere: bool = False
    """It runs in a container, or on another machine: its number means nothing here."""
    stale_pid: int | None = None
    """A process that no longer runs, but left its files."""
    last_run: dict[str, Any] | None = None
    runs: list[dict[str, Any]] = []
    """The last ones, newest first."""
    last_log: str | None = None

    def tool_fields(self) -> dict[str, Any]:
        daemon = {
            "pid": self.pid,
            "startedAt": self.started_at,
            "lastHeartbeatAt": self.last_heartbeat_at,
            "intervalMinutes": self.interval_minutes,
            "provider": self.provider,
            "nextRunAt": self.next_run_at,
            "endsAt": self.ends_at,
        }
        stale = {} if self.stale_pid is None else {"stalePid": self.stale_pid}
        return {
            "running": self.running,
            "daemon": daemon if self.running else None,
            "latestRun": self.last_run,
            **stale,
        }

    def sentence(self) -> str:
        """Whether it runs, and how the last cycle ended."""
        last = self.last_run
        if last is None:
            return f"{daemon_text(self.running)} No cycle has run yet."
        ended = cut(one_line(last["finishedAt"]), 400)
        return f"{daemon_text(self.running)} The last cycle ended at {ended}: {last['status']}."

    def faults(self) -> list[str]:
        """A process that was never asked for is no fault; one that went away by itself is, and so is a failed cycle."""
        found = [problem.message for problem in self.warnings]
        if self.stale_pid is not None:
            found.append(f"The background process {self.stale_pid} no longer runs.")
        if self.last_run and self.last_run["status"] == "failed":
            found.append("The last cycle failed.")
        return found


def daemon_text(running: bool) -> str:
    return (
        "A background process maintains the journal." if running else "No background process runs, and none is needed."
    )


def automate_status(project: Project, given: Arguments) -> AutomationState:
    """Show whether the process runs, when it runs a cycle next, and how the last cycles went."""
    from quire.layers.journal import daemon
    from quire.layers.journal.daemon_owner import find_owner, stale_pid

    journal_is_there(project)
    found = find_owner(project.root, project.world)
    last = daemon.latest_run(project.root)
    logged = daemon.last_logged(project.root)
    state = AutomationState(
        running=found is not None,
        pid=found.pid if found is not None else None,
        other_program=found is not None and not found.kernel,
        elsewhere=found is not None and not found.is_here,
        stale_pid=stale_pid(project.root) if found is None else None,
        last_run=value_of(last) if last is not None else None,
        runs=[msgspec.to_builtins(note) for note in reversed(daemon.read_runs(project.root)[-_SHOWN_RUNS:])],
        last_log=logged[-1] if logged else None,
    )
    if found is not None and found.said is not None:
        _describe(project, state, found.said)
    return state


def _describe(project: Project, state: AutomationState, said: Daemon) -> None:
    """Add what the process says of itself."""
    from quire.layers.journal.daemon_loop import LAST, NEXT

    state.started_at = said.started_at
    state.last_heartbeat_at = said.last_heartbeat_at
    state.interval_minutes = float(said.interval_minutes)
    state.provider = said.provider
    state.next_run_at = _text(said.extra.get(NEXT))
    state.ends_at = _text(said.extra.get(LAST))
    then = moment_of(said.last_heartbeat_at)
    if then is None:
        return
    state.heartbeat_age_seconds = max(0.0, (project.world.now() - then).total_seconds())
    if state.heartbeat_age_seconds > _SILENT_SECONDS:
        state.warnings.append(
            Problem(
                code="JournalKeeperSilent",
                severity="warning",
                message=f"Process {state.pid} has not responded for {state.heartbeat_age_seconds:.0f} s.",
                hint="`memory journal automate stop` and `start` replace it.",
            )
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def lines(found: AutomationState) -> Lines:
    yield daemon_text(found.running)
    if found.running:
        where = ", of another program" if found.other_program else ", in a container or elsewhere" * found.elsewhere
        every = f", every {found.interval_minutes:g} minutes" if found.interval_minutes else ""
        then = f"; the next cycle is at {found.next_run_at}" if found.next_run_at else ""
        yield told(f"Process {found.pid}{where}{every}{then}.")
    elif found.stale_pid is not None:
        yield f"Process {found.stale_pid} no longer runs."
    yield from _last_lines(found.last_run)
    if found.runs:
        yield "Last runs:"
    for note in found.runs:
        yield told(f"- {note['finishedAt']} {cycle_text(note)}")
    if found.last_log:
        yield told(f"Log: {found.last_log}")


def _last_lines(last: dict[str, Any] | None) -> Lines:
    if last is None:
        yield told("No cycle has run yet.")
        return
    yield told(f"The last cycle ended at {last['finishedAt']}: {last['status']}.")
    if said := archived_text(last["prune"]):
        yield told(said)
    for text in (*last["warnings"], *last["errors"]):
        yield told(f"- {text}")


def automate(project: Project, given: Arguments) -> AutomationState:
    """Maintain the journal automatically: sync, recall and retention, once or every few minutes.

    No background process is needed: run-once does everything in one call, and is safe to call from a hook, from cron,
    or twice at once. `config.json` says what to do and how often. Without a verb, shows the status.
    """
    return automate_status(project, given)


GROUP = Verb(
    run=automate,
    lines=lines,
    recorded_lines=automation_lines,
    alone=True,
    examples="""Examples:
  memory journal automate run-once                    one cycle now: sync, recall, retention
  memory journal automate run-once --quiet            the same from a hook or from cron
  memory journal automate start                       a cycle every 15 minutes, until tomorrow
  memory journal automate status
""",
)

VERB = Verb(
    run=automate_status,
    lines=lines,
    recorded_lines=automation_lines,
    examples="Example:\n  memory journal automate status --json\n",
    tool=Tool(
        title="Automation",
        says="Whether a background process maintains the journal, and how the last cycle went. For the journal's "
        "contents use memory_status.",
        gives={"running": "boolean"},
    ),
)
