"""`memory inbox collect`: read the sessions that ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from quire.model.text import counted
from quire.verbs.agents.session_end import Collected, collect_sessions
from quire.verbs.verb import Arguments, Line, Option, Verb

if TYPE_CHECKING:
    from quire.project import Project


class Collect(Arguments, frozen=True, kw_only=True):
    in_background: Annotated[
        bool, Option(help="Say nothing, give way to others, and leave out sessions that may be going on.")
    ] = False


def collect(project: Project, given: Collect) -> Collected:
    """Work through the sessions that ended since the last time: write their episodes, and fill the inbox.

    Hooks note which sessions ended, and have this done in the background when one ends or the next one starts. Design
    documents that changed are taken in, too. This does it now.
    """
    if given.in_background:
        from quire.files.daemons import go_quiet

        go_quiet()
    return collect_sessions(project, running=not given.in_background)


def lines(done: Collected) -> Iterator[Line]:
    if not done.sessions and not done.failed:
        yield "No session waits."
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
    examples="""Example:
  memory inbox collect
""",
)
