"""`memory journal automate start`, `stop` and `daemon`: start, stop and be the background process."""

from __future__ import annotations

from quire.files.paths import storage_failed
from quire.files.programs import own_command
from quire.layers.journal.daemon_loop import Bounds, DaemonLoop
from quire.layers.journal.daemon_process import stop_daemon
from quire.model.errors import Conflict
from quire.project import Project
from quire.verbs.journal.automate_ensure_running import DaemonRunning, started_daemon
from quire.verbs.journal.automate_ensure_running import lines as started_lines
from quire.verbs.journal.journal_state import journal_is_there
from quire.verbs.verb import Arguments, Lines, Result, Verb


class DaemonStopped(Result, kw_only=True):
    pid: int | None
    stopped: bool
    killed: bool = False


def stop(project: Project, given: Arguments) -> DaemonStopped:
    """Stop the process. What it is writing is finished first; no other process is ever touched."""
    journal_is_there(project)
    done = stop_daemon(project.root, project.world)
    return DaemonStopped(pid=done.pid, stopped=done.stopped, killed=done.killed)


def lines(done: DaemonStopped) -> Lines:
    if done.stopped:
        yield f"Automation daemon stopped (pid={done.pid}{', it had to be killed' if done.killed else ''})."
    elif done.pid is not None:
        yield f"Automation daemon is not running; the files of process {done.pid} were removed."
    else:
        yield "Automation daemon is not running."


VERB = Verb(run=stop, lines=lines, writes=True, examples="Example:\n  memory journal automate stop\n")


def start(project: Project, given: Arguments) -> DaemonRunning:
    """Start a process that runs a cycle every few minutes, as `automation.intervalMinutes` says.

    It ends by itself after a day, when the journal goes away, and after 20 failed cycles in a row. There is one for
    each project; a second one is refused.
    """
    done = started_daemon(project)
    if not done.started:
        raise Conflict(
            f"The automation of this journal is already running (pid={done.pid}).",
            hint="See `memory journal automate status`; stop it with `memory journal automate stop`.",
            details={"pid": done.pid},
        )
    return DaemonRunning(pid=done.pid, started=True)


START = Verb(
    takes=Arguments, run=start, lines=started_lines, writes=True, examples="Example:\n  memory journal automate start\n"
)


def daemon(project: Project, given: Arguments) -> Result:
    """Internal: be the process that `start` starts."""
    journal_is_there(project)
    cycle = own_command("journal", "automate", "run-once", "--background")
    try:
        DaemonLoop(project.root, project.world, cycle, Bounds()).run()
    except OSError as error:
        raise storage_failed(error, "keep the journal", project.root) from error
    return Result()


def no_lines(done: Result) -> Lines:
    yield from ()


DAEMON = Verb(
    run=daemon,
    lines=no_lines,
    writes=True,
    hidden=True,
    examples="Started by `memory journal automate start`, not by you.\n",
)
