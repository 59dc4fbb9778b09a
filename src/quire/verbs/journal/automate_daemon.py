"""`memory journal automate daemon`: the process that `memory journal automate start` starts."""

from __future__ import annotations

from quire.files.paths import storage_failed
from quire.files.programs import own_command
from quire.layers.journal.daemon_loop import Bounds, DaemonLoop
from quire.project import Project
from quire.verbs.journal.journal_state import journal_is_there
from quire.verbs.verb import Arguments, Lines, Result, Verb


def daemon(project: Project, given: Arguments) -> Result:
    """Internal: be the process that `start` starts."""
    journal_is_there(project)
    cycle = own_command("journal", "automate", "run-once", "--background")
    try:
        DaemonLoop(project.root, project.world, cycle, Bounds()).run()
    except OSError as error:
        raise storage_failed(error, "keep the journal", project.root) from error
    return Result()


def lines(done: Result) -> Lines:
    yield from ()


VERB = Verb(
    takes=Arguments,
    run=daemon,
    lines=lines,
    writes=True,
    hidden=True,
    examples="Started by `memory journal automate start`, not by you.\n",
)
