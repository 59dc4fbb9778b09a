"""`memory inbox collect`: read the sessions that ended."""

from __future__ import annotations

from typing import Annotated

from quire.files.daemons import go_quiet
from quire.model.text import counted
from quire.project import Project
from quire.verbs.agents.session_end import Collected, collect_sessions
from quire.verbs.verb import Arguments, Lines, Option, Verb


class Collect(Arguments, frozen=True, kw_only=True):
    in_background: Annotated[
        bool, Option(help="Print nothing, stop if another process collects, and skip sessions that may still run.")
    ] = False


def collect(project: Project, given: Collect) -> Collected:
    """Read the sessions that ended: write their episodes and fill the inbox.

    Hooks run this in the background when a session ends or the next one starts. It also imports design documents that
    changed.
    """
    if given.in_background:
        go_quiet()
    return collect_sessions(project, running=not given.in_background)


def lines(done: Collected) -> Lines:
    if not done.sessions and not done.failed:
        yield "No sessions to read."
    else:
        written = f", {counted(done.episodes, 'episode')}" if done.episodes else ""
        yield f"Read {counted(done.sessions, 'session')}: {counted(done.proposed, 'new proposal')}{written}."
    if done.ingested:
        yield f"Design documents: {counted(done.ingested, 'fact')}."
    for one in done.failed:
        yield f"  {one.session}: {one.reason}"


VERB = Verb(
    takes=Collect,
    run=collect,
    lines=lines,
    writes=True,
    examples="Example:\n  memory inbox collect\n",
)
