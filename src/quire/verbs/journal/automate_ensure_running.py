"""`memory journal automate ensure-running`, the tool `automation_ensure_running`: start the process unless it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quire.files.programs import own_command
from quire.model.errors import QuireError
from quire.model.records import as_warning
from quire.project import Project
from quire.verbs.journal.journal_state import journal_is_there, prepare_journal
from quire.verbs.journal.options import Quiet
from quire.verbs.verb import Arguments, Lines, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.layers.journal.daemon_process import StartedDaemon


class EnsureRunning(Arguments, frozen=True, kw_only=True):
    quiet: Quiet = False


class DaemonRunning(Result, kw_only=True):
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("quiet",)
    pid: int | None = None
    started: bool = False
    quiet: bool = False

    def about(self, project: Project | None) -> Project | None:
        return project if self.pid is not None else None


def started_daemon(project: Project) -> StartedDaemon:
    """The process that keeps the journal; it is started unless it runs."""
    from quire.layers.journal.daemon_process import start_daemon

    journal_is_there(project)
    done = start_daemon(project.root, project.world, own_command("journal", "automate", "daemon"))
    if done.started:
        prepare_journal(project)
    return done


def ensure_running(project: Project, given: EnsureRunning) -> DaemonRunning:
    """Start the process unless it runs. With --quiet, a failure is only a warning: made for hooks."""
    try:
        done = started_daemon(project)
    except QuireError as error:
        if not given.quiet:
            raise
        return DaemonRunning(quiet=True, warnings=[as_warning(error)])
    return DaemonRunning(pid=done.pid, started=done.started, quiet=given.quiet)


def lines(done: DaemonRunning) -> Lines:
    if not done.quiet:
        yield f"Automation daemon {'started' if done.started else 'already running'} (pid={done.pid})."


VERB = Verb(
    takes=EnsureRunning,
    run=ensure_running,
    lines=lines,
    writes=True,
    examples="Example:\n  memory journal automate ensure-running --quiet\n",
    tool=Tool(
        title="Start the automation",
        says="Start the background process that imports and recalls every few minutes and ends after a day, unless "
        "it runs already. Only if the user asked for it; otherwise use memory_maintain.",
        gives={"started": "boolean", "pid": "integer"},
    ),
)
