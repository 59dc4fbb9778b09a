"""`memory journal automate start`, `stop`, `status`, `run-once`, `ensure-running`"""

from __future__ import annotations

import os
import sys
from typing import Any

from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.journal_shown import tell
from quire.surfaces.cli.output import answer, say, warn

_EXAMPLES = """Examples:
  memory journal automate run-once                    one cycle now: sync, recall, retention
  memory journal automate run-once --quiet            the same from a hook or from cron
  memory journal automate start                       a cycle every 15 minutes, until tomorrow
  memory journal automate status
"""

_PAYLOAD_SECONDS = 0.2
_PAYLOAD_BYTES = 64 * 1024


def run(session: Session) -> None:
    """Keep the journal without being asked: sync, recall and retention, once or every so many minutes.

    Nothing has to run for that: run-once does everything in one call, and is safe to call from a hook, from cron, or
    twice at once. `config.json` says what is done and how often. Without a verb, shows how it stands.
    """
    status(session)


# -- one cycle ------------------------------------------------------------------------------------


def run_once(session: Session, quiet: bool, background: bool) -> int:
    """Run one cycle: import what is new, recall it, archive what has aged.

    Where nothing is new, nothing is written. Sessions that changed in the last ten minutes are left for the next run,
    but for the one whose hook started this run: its payload on standard input says which has ended. Of two runs at
    once, one does nothing. A run that failed ends with 1; a failed step keeps no other from its work.
    """
    from quire.verbs.agents.session_end import journal_run_once

    project = session.project()
    cycle = journal_run_once(project, background=background, ended="" if background else _ended_session())
    failed = bool(cycle.run.get("errors")) if background else cycle.status == "failed"
    if background and failed:
        sys.stderr.write("; ".join(cycle.run["errors"]) + "\n")
    elif session.as_json:
        from quire.fields.journal import journal_run_once_fields

        answer(project, journal_run_once_fields(cycle))
    elif not quiet and not background:
        _say_cycle(session, cycle)
    return 1 if failed else 0


def _ended_session() -> str:
    """The file of the session that has ended, where a hook of its client says so on standard input; else nothing."""
    data = _payload()
    if not data.strip():
        return ""
    from quire.clients.hooks.read_event import read_event

    try:
        event = read_event("claude", "", data)
    except ValueError:
        return ""
    return event.transcript if event.event in ("turn-end", "session-end") else ""


def _payload() -> bytes:
    """What a hook wrote; nothing where nobody did: from cron or a script, standard input may stay open for ever."""
    import select

    stdin = sys.stdin
    if stdin is None or stdin.closed or stdin.isatty():
        return b""
    data = b""
    try:
        while len(data) < _PAYLOAD_BYTES and select.select([stdin], [], [], _PAYLOAD_SECONDS)[0]:
            more = os.read(stdin.fileno(), _PAYLOAD_BYTES)
            data += more
            if not more:
                break
    except (OSError, ValueError):  # it is no file, and cannot be waited for
        return stdin.buffer.read(_PAYLOAD_BYTES)
    return data


def _waiting(number: int) -> str:
    said = "session was changed" if number == 1 else "sessions were changed"
    return f"{number} {said} in the last ten minutes: the next run imports what rests by then,"


def _say_cycle(session: Session, cycle: Any) -> None:
    if cycle.busy:
        say("Another run is under way; nothing was done.")
        return
    found, recall, prune = cycle.run, cycle.run["recall"], cycle.run["prune"]
    say(f"Automation run status: {cycle.status}")
    say(f"- provider: {found['provider']}")
    say(f"- sync attempted: {_yes(found['importSync']['attempted'])}")
    for item in found["importSync"]["results"]:
        counts = f"imported={item['importedCount']} skipped={item['skippedCount']} failed={item['failedCount']}"
        waiting = item.get("waitingCount", 0)
        say(f"  - {item['sourceId']}: {counts}" + (f" waiting={waiting}" if waiting else ""))
        if waiting:
            tell(session, f"    {_waiting(waiting)} `memory journal sync {item['sourceId']}` imports now.")
    say(f"- recall attempted: {_yes(recall['attempted'])}")
    say(f"- recall applied: {_yes(recall['applied'])}")
    say(f"- raw events: {recall['rawEventCount']}")
    say(f"- grouped items: {recall['groupedItemCount']}")
    _say_prune(prune, "- archiveBatchPath", "- pruneSkippedReason")
    if recall["noopReason"]:
        say(f"- noopReason: {recall['noopReason']}")
    for name in ("warnings", "errors"):
        if found[name]:
            say(f"- {name}: {' | '.join(found[name])}")


def _say_prune(prune: dict[str, Any], path: str, skipped: str) -> None:
    say(f"- prune attempted: {_yes(prune['attempted'])}")
    say(f"- archived events: {prune['archivedEventCount']}")
    say(f"- archived checkpoints: {prune['archivedCheckpointCount']}")
    say(f"- expired archive batches: {prune['expiredArchiveBatchCount']}")
    if prune["archiveBatchPath"]:
        say(f"{path}: {prune['archiveBatchPath']}")
    if prune["skippedReason"]:
        say(f"{skipped}: {prune['skippedReason']}")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


# -- the process ----------------------------------------------------------------------------------


def _command(verb: str, *options: str) -> list[str]:
    from quire.files.programs import own_command

    return own_command("journal", "automate", verb, *options)


def start(session: Session) -> None:
    """Start a process that runs a cycle every so many minutes, as `automation.intervalMinutes` says.

    It ends by itself after a day, when the journal goes away, and after 20 failed cycles in a row. There is one for
    each project; a second one is refused.
    """
    from quire.verbs.journal.automation import journal_start

    project = session.project()
    done = journal_start(project, _command("daemon"))
    if session.as_json:
        from quire.fields.journal import journal_start_fields

        answer(project, journal_start_fields(done))
        return
    say(f"Automation daemon started (pid={done.pid}).")


def ensure_running(session: Session, quiet: bool) -> int:
    """Start the process unless it runs. With --quiet, a failure is only a warning: made for hooks."""
    from quire.verbs.journal.automation import journal_ensure_running

    try:
        project = session.project()
        done = journal_ensure_running(project, _command("daemon"))
    except QuireError as error:
        if not quiet:
            raise
        problem = Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)
        if session.as_json:
            from quire.fields.journal import journal_start_fields

            answer(None, journal_start_fields(None), [problem])
        else:
            warn([problem])
        return 0
    if session.as_json:
        from quire.fields.journal import journal_start_fields

        answer(project, journal_start_fields(done))
    elif not quiet:
        say(f"Automation daemon {'started' if done.started else 'already running'} (pid={done.pid}).")
    return 0


def stop(session: Session) -> None:
    """End the process. What it is writing is finished first; no other process is ever touched."""
    from quire.verbs.journal.automation import journal_stop

    project = session.project()
    done = journal_stop(project)
    if session.as_json:
        from quire.fields.journal import journal_stop_fields

        answer(project, journal_stop_fields(done))
    elif done.stopped:
        say(f"Automation daemon stopped (pid={done.pid}{', it had to be killed' if done.killed else ''}).")
    elif done.pid is not None:
        say(f"Automation daemon is not running; what process {done.pid} had left was removed.")
    else:
        say("Automation daemon is not running.")


def daemon(session: Session) -> None:
    """Internal: be the process that `start` starts."""
    from quire.verbs.journal.automation import journal_keep

    journal_keep(session.project(), _command("run-once", "--background"))


# -- how it stands --------------------------------------------------------------------------------


def status(session: Session) -> None:
    """Show whether the process runs, when it runs a cycle next, and how the last cycles went."""
    from quire.verbs.journal.automation import journal_automation

    project = session.project()
    found = journal_automation(project)
    if session.as_json:
        from quire.fields.journal import journal_automation_fields

        answer(project, journal_automation_fields(found), found.warnings)
        return
    say(f"Automation daemon: {'running' if found.running else 'stopped'}")
    if found.running:
        _say_process(found)
    elif found.stale_pid is not None:
        say(f"- stale: process {found.stale_pid} does not run any more")
    _say_last(found.last_run)
    if found.runs:
        say("Last runs:")
    for note in found.runs:
        say(f"- {note['finishedAt']} {_told(note)}")
    if found.last_log:
        say(f"Log: {found.last_log}")
    warn(found.warnings)


def _say_process(found: Any) -> None:
    where = " (another program's)" if found.other_program else " (in a container or elsewhere)" * found.elsewhere
    say(f"- pid: {found.pid}{where}")
    if found.started_at is None:
        return
    age = f" ({found.heartbeat_age_seconds:.0f} s ago)" if found.heartbeat_age_seconds is not None else ""
    say(f"- startedAt: {found.started_at}")
    say(f"- lastHeartbeatAt: {found.last_heartbeat_at}{age}")
    say(f"- intervalMinutes: {found.interval_minutes:g}")
    say(f"- provider: {found.provider}")
    if found.next_run_at:
        say(f"- next run: {found.next_run_at}")
    if found.ends_at:
        say(f"- ends at: {found.ends_at}")


def _say_last(last: dict[str, Any] | None) -> None:
    if last is None:
        say("- last run: none")
        return
    say(f"- last run status: {last['status']}")
    say(f"- last run finishedAt: {last['finishedAt']}")
    say(f"- sync attempted: {_yes(last['importSync']['attempted'])}")
    say(f"- recall attempted: {_yes(last['recall']['attempted'])}")
    say(f"- recall applied: {_yes(last['recall']['applied'])}")
    say(f"- recall grouped items: {last['recall']['groupedItemCount']}")
    _say_prune(last["prune"], "- archive batch", "- prune skippedReason")
    for name in ("warnings", "errors"):
        if last[name]:
            say(f"- last {name}: {' | '.join(last[name])}")


_TOLD = (
    ("imported", "session imported", "sessions imported"),
    ("recalledEvents", "event recalled", "events recalled"),
    ("archivedEvents", "event archived", "events archived"),
    ("archivedCheckpoints", "checkpoint archived", "checkpoints archived"),
    ("expiredBatches", "batch expired", "batches expired"),
    ("failedSessions", "session failed", "sessions failed"),
    ("warnings", "warning", "warnings"),
)


def _told(note: dict[str, Any]) -> str:
    """`recalled: 2 sessions imported, 3 events recalled`."""
    parts = [counted(note[name], one, many) for name, one, many in _TOLD if note.get(name)]
    parts += note.get("errors", [])
    if note.get("times", 1) > 1:
        parts.append(f"{note['times']} times since {note['startedAt']}")
    return f"{note['status']}{': ' if parts else ''}{', '.join(parts)}"


_QUIET = Option(name="--quiet", into="quiet", short="-q", help="Print nothing.")

AUTOMATE = Command(
    run=run,
    examples=_EXAMPLES,
    subcommands={
        "start": Command(run=start, examples="Example:\n  memory journal automate start\n"),
        "stop": Command(run=stop, examples="Example:\n  memory journal automate stop\n"),
        "status": Command(run=status, examples="Example:\n  memory journal automate status --json\n"),
        "run-once": Command(
            run=run_once,
            examples="Examples:\n  memory journal automate run-once\n  memory journal automate run-once --quiet\n",
            options=(
                _QUIET,
                Option(
                    name="--background",
                    into="background",
                    help="As the process runs it: quiet, and with an end after the current write.",
                ),
            ),
        ),
        "ensure-running": Command(
            run=ensure_running,
            examples="Example:\n  memory journal automate ensure-running --quiet\n",
            options=(_QUIET,),
        ),
        "daemon": Command(
            run=daemon, hidden=True, examples="Started by `memory journal automate start`, not by you.\n"
        ),
    },
    alone=True,
)
