"""`memory inbox`: list pending proposals."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct

from quire.inbox.proposals import Proposal
from quire.model.text import counted
from quire.verbs.inbox.inbox_file import chosen_from
from quire.verbs.inbox.options import Sieve
from quire.verbs.inbox.results import proposal_fields, proposal_lines
from quire.verbs.verb import Lines, Option, Result, Verb

if TYPE_CHECKING:
    from quire.project import Project

_PENDING = "pending"


class ShowInbox(Sieve, frozen=True, kw_only=True):
    status: Annotated[
        str,
        Option(
            metavar="STATUS",
            choices=(_PENDING, "accepted", "rejected", "all"),
            show_default=True,
            help="What to show.",
        ),
    ] = _PENDING


class ProposalGroup(Struct, frozen=True, kw_only=True):
    """What is pending of one source and kind."""

    source: str
    kind: str
    items: list[Proposal]

    @property
    def heading(self) -> str:
        return f"{self.source}: {counted(len(self.items), self.kind)}"


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
        groups = [
            {"source": group.source, "kind": group.kind, "count": len(group.items)} for group in grouped(self.proposals)
        ]
        return {"results": results, "groups": groups, "counts": self.counts, "unread_sessions": self.unread}


def inbox(project: Project, given: ShowInbox) -> InboxShown:
    """Show what sessions and imports propose, by source; accept, edit or reject it.

    Proposals come from sessions, the git history and files of other programs, each with its evidence. Hooks send a
    proposal to no agent before a person accepts it. A rejected text is refused from then on, until you lift the
    rejection. On a terminal one key accepts, opens or skips each group of one source and kind.
    """
    from quire.clients.spool import waiting_sessions
    from quire.inbox.store import read_inbox

    project.ready()
    found = read_inbox(project.root)
    return InboxShown(
        status=given.status,
        proposals=chosen_from(found, given, given.status),
        counts=dict(Counter(item.status for item in found.proposals)),
        unread=len(waiting_sessions(project.root)) if given.status == _PENDING else 0,
        warnings=list(found.problems),
    )


def grouped(proposals: Iterable[Proposal]) -> list[ProposalGroup]:
    """The proposals by source and kind, the sources and kinds as they come first."""
    sources: dict[str, dict[str, list[Proposal]]] = {}
    for item in proposals:
        sources.setdefault(item.source, {}).setdefault(item.kind, []).append(item)
    return [
        ProposalGroup(source=source, kind=kind, items=items)
        for source, kinds in sources.items()
        for kind, items in kinds.items()
    ]


def lines(found: InboxShown) -> Lines:
    groups = grouped(found.proposals)
    for group in groups:
        if len(groups) > 1:
            yield group.heading
            yield ""
        for item in group.items:
            yield from proposal_lines(item)
    if not found.proposals:
        yield "No pending proposals." if found.status == _PENDING else "There is none."
    elif found.status == _PENDING:
        yield f"{counted(len(found.proposals), 'proposal')}. memory inbox accept|edit|reject ID"
        if len(groups) > 1:
            source, kind = shlex.quote(groups[0].source), shlex.quote(groups[0].kind)
            yield f"All of one group: memory inbox accept --source {source} --kind {kind}"
    if found.unread:
        yield f"Sessions not read yet: {counted(found.unread, 'session')}. `memory inbox collect` reads what has ended."


VERB = Verb(
    takes=ShowInbox,
    run=inbox,
    lines=lines,
    alone=True,
    examples="""Examples:
  memory inbox
  memory inbox accept in-3f2a91c04d
  memory inbox accept --source git
  memory inbox reject in-77b0 --reason "we never used Redis"
  memory inbox lift in-77b0
""",
)
