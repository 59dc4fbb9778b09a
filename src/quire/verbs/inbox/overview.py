"""`memory inbox`: list pending proposals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from quire.model.text import counted
from quire.verbs.inbox.inbox_file import chosen_from
from quire.verbs.inbox.options import By, Origin
from quire.verbs.inbox.results import proposal_fields, proposal_lines
from quire.verbs.verb import Arguments, Line, Option, Result, Verb

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.project import Project

_PENDING = "pending"


class ShowInbox(Arguments, frozen=True, kw_only=True):
    status: Annotated[
        str,
        Option(
            metavar="STATUS",
            choices=(_PENDING, "accepted", "rejected", "all"),
            show_default=True,
            help="pending (by default), accepted, rejected or all.",
        ),
    ] = _PENDING
    by: By = None
    origin: Origin = None


class InboxShown(Result, kw_only=True):
    """The inbox as it is shown."""

    status: str
    """Which of the proposals were asked for."""
    proposals: list[Proposal]
    counts: dict[str, int]
    """How many there are of each status."""
    unread: int
    """How many sessions hooks have told of that nobody has looked through for proposals."""

    def fields(self) -> dict[str, Any]:
        results = [proposal_fields(item) for item in self.proposals]
        return {"results": results, "counts": self.counts, "unread_sessions": self.unread}


def inbox(project: Project, given: ShowInbox) -> InboxShown:
    """Show what sessions and imports propose; accept, edit or reject it.

    What is found in sessions and in files of other programs waits here, with its evidence, and is told to no agent
    before somebody accepts it. What is rejected is refused from then on, whoever writes it, until it is lifted.
    """
    from quire.clients.spool import waiting_sessions
    from quire.inbox.store import read_inbox

    project.ready()
    found = read_inbox(project.root)
    counts: dict[str, int] = {}
    for item in found.proposals:
        counts[item.status] = counts.get(item.status, 0) + 1
    return InboxShown(
        status=given.status,
        proposals=chosen_from(found, given.by, given.origin, given.status),
        counts=counts,
        unread=len(waiting_sessions(project.root)) if given.status == _PENDING else 0,
        warnings=list(found.problems),
    )


def lines(found: InboxShown) -> Iterator[Line]:
    for item in found.proposals:
        yield from proposal_lines(item)
    if not found.proposals:
        yield "No pending proposals." if found.status == _PENDING else "There is none."
    elif found.status == _PENDING:
        yield f"{counted(len(found.proposals), 'proposal')}. memory inbox accept|edit|reject ID"
    if found.unread:
        yield f"Not read yet: {counted(found.unread, 'session')}. `memory inbox collect` reads what has ended."


VERB = Verb(
    takes=ShowInbox,
    run=inbox,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory inbox
  memory inbox accept in-3f2a91c04d
  memory inbox accept --all --from user
  memory inbox reject in-77b0 --reason "we never used Redis"
  memory inbox lift in-77b0
""",
)
