"""`memory journal automate start`: start the background process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.errors import Conflict
from quire.verbs.journal.automate_ensure_running import DaemonRunning, lines, started_daemon
from quire.verbs.verb import Arguments, Verb

if TYPE_CHECKING:
    from quire.project import Project


def start(project: Project, given: Arguments) -> DaemonRunning:
    """Start a process that runs a cycle every so many minutes, as `automation.intervalMinutes` says.

    It ends by itself after a day, when the journal goes away, and after 20 failed cycles in a row. There is one for
    each project; a second one is refused.
    """
    done = started_daemon(project)
    if not done.started:
        raise Conflict(
            f"The automation of this journal is running already (pid={done.pid}).",
            hint="`memory journal automate status` shows it, `memory journal automate stop` ends it.",
            details={"pid": done.pid},
        )
    return DaemonRunning(pid=done.pid, started=True)


VERB = Verb(
    takes=Arguments, run=start, lines=lines, writes=True, examples="Example:\n  memory journal automate start\n"
)
