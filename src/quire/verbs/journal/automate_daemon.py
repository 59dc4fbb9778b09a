"""`memory journal automate daemon`: the process that `memory journal automate start` starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.verbs.journal.journal_state import journal_is_there
from quire.verbs.verb import Arguments, Line, Result, Verb

if TYPE_CHECKING:
    from quire.project import Project


def daemon(project: Project, given: Arguments) -> Result:
    """Internal: be the process that `start` starts."""
    from quire.files.paths import storage_failed
    from quire.files.programs import own_command
    from quire.layers.journal.daemon_loop import Bounds, DaemonLoop

    journal_is_there(project)
    cycle = own_command("journal", "automate", "run-once", "--background")
    try:
        DaemonLoop(project.root, project.world, cycle, Bounds()).run()
    except OSError as error:
        raise storage_failed(error, "keep the journal", project.root) from error
    return Result()


def lines(done: Result) -> Iterator[Line]:
    yield from ()


VERB = Verb(
    takes=Arguments,
    run=daemon,
    lines=lines,
    writes=True,
    hidden=True,
    examples="Started by `memory journal automate start`, not by you.\n",
)
