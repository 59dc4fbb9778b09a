"""`memory journal automate stop`: stop the background process."""

from __future__ import annotations

from quire.layers.journal.daemon_process import stop_daemon
from quire.project import Project
from quire.verbs.journal.journal_state import journal_is_there
from quire.verbs.verb import Arguments, Lines, Result, Verb


class DaemonStopped(Result, kw_only=True):
    pid: int | None
    stopped: bool
    killed: bool = False


def stop(project: Project, given: Arguments) -> DaemonStopped:
    """End the process. What it is writing is finished first; no other process is ever touched."""
    journal_is_there(project)
    done = stop_daemon(project.root, project.world)
    return DaemonStopped(pid=done.pid, stopped=done.stopped, killed=done.killed)


def lines(done: DaemonStopped) -> Lines:
    if done.stopped:
        yield f"Automation daemon stopped (pid={done.pid}{', it had to be killed' if done.killed else ''})."
    elif done.pid is not None:
        yield f"Automation daemon is not running; what process {done.pid} had left was removed."
    else:
        yield "Automation daemon is not running."


VERB = Verb(takes=Arguments, run=stop, lines=lines, writes=True, examples="Example:\n  memory journal automate stop\n")
