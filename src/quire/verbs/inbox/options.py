"""Options that several verbs of the inbox share."""

from __future__ import annotations

from typing import Annotated

from quire.inbox.proposals import BY
from quire.model.errors import UsageError
from quire.verbs.verb import Arguments, Option, Word

Ids = Annotated[list[str], Word(required=False)]
By = Annotated[
    str | None,
    Option(name="--from", metavar="WHO", choices=BY, help="Only what was said by the user, by the agent, in a file."),
]
Origin = Annotated[str | None, Option(metavar="TEXT", help="Only from here: a part of the origin, as it is listed.")]


class ChosenProposals(Arguments, frozen=True, kw_only=True):
    """Which proposals are meant: those of these ids, or all that wait, by whom and from where."""

    ids: Ids = []
    everything: Annotated[bool, Option(name="--all", help="All that wait; --from and --origin choose among them.")] = (
        False
    )
    by: By = None
    origin: Origin = None


def refuse_unclear(given: ChosenProposals) -> None:
    """Raise UsageError unless either ids or --all say which proposals are meant."""
    if given.everything and given.ids:
        raise UsageError("Give ids or --all, not both.")
    if not given.everything and (given.by or given.origin):
        raise UsageError("--from and --origin choose among all that wait.", hint="Add --all.")
    if not given.everything and not given.ids:
        raise UsageError("No proposal is named.", hint="Give ids, as `memory inbox` lists them, or --all.")
