"""Options that several verbs of the inbox share."""

from __future__ import annotations

from typing import Annotated

from quire.inbox.proposals import BY
from quire.model.errors import UsageError
from quire.verbs.verb import Arguments, Option, Word

Ids = Annotated[list[str], Word(required=False)]
By = Annotated[
    str | None,
    Option(name="--from", metavar="WHO", choices=BY, help="Only proposals from the user, the agent, or a file."),
]
Origin = Annotated[str | None, Option(metavar="TEXT", help="Only proposals whose origin contains this text.")]
Source = Annotated[
    str | None,
    Option(metavar="NAME", help="Only proposals from this source, as listed: git, session, docs/adr/ …"),
]
Kind = Annotated[str | None, Option(metavar="KIND", help="Only proposals of this kind: decision, gotcha, fact …")]


class Sieve(Arguments, frozen=True, kw_only=True):
    """What chooses among proposals."""

    source: Source = None
    kind: Kind = None
    by: By = None
    origin: Origin = None


class ChosenProposals(Sieve, frozen=True, kw_only=True):
    """Which proposals are meant: those of these ids, or all that are pending, by whom and from where."""

    ids: Ids = []
    everything: Annotated[
        bool, Option(name="--all", help="All pending proposals; the other options narrow them down.")
    ] = False


def refuse_unclear(given: ChosenProposals) -> None:
    """Raise UsageError unless ids, or --all or --source, say which proposals are meant."""
    several = given.everything or given.source is not None
    if several and given.ids:
        raise UsageError("Give ids, or --all or --source, not both.")
    if not several and (given.by or given.origin or given.kind):
        raise UsageError("--from, --origin and --kind choose among all that are pending.", hint="Add --all.")
    if not several and not given.ids:
        raise UsageError("No proposal is named.", hint="Give ids, as `memory inbox` lists them, or --all, or --source.")
