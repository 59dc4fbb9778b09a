"""`memory inbox reject`: reject proposals, or a text that nobody proposed."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from quire.files.write_access import write_access
from quire.guard.admission import admit
from quire.inbox.layout import FOLDER
from quire.inbox.proposals import TEXT_CHARS, Proposal
from quire.inbox.rejections import Rejection, write_rejection
from quire.model.errors import UsageError
from quire.model.times import timestamp
from quire.project import Project
from quire.verbs.facts.notes import settling_lock
from quire.verbs.inbox.inbox_file import named_proposals, settled_as, write_settled
from quire.verbs.inbox.options import ChosenProposals, refuse_unclear
from quire.verbs.inbox.results import Settled, settled_lines
from quire.verbs.verb import Option, Verb


class Reject(ChosenProposals, frozen=True, kw_only=True):
    reason: Annotated[str, Option(metavar="TEXT", help="The reason; shown when the text is written again.")] = ""
    value: Annotated[str | None, Option(metavar="TEXT", help="Reject this text without a proposal.")] = None


def reject(project: Project, given: Reject) -> Settled:
    """Reject proposals, or a text that was not proposed yet.

    The rejected text is kept in .memory/rejected/, which belongs in git. Every save, store and import refuses it until
    `memory inbox lift`. Existing records that say it are not changed; `memory check` lists them.
    """
    if given.value is None:
        refuse_unclear(given)
    elif given.ids or given.everything or given.source is not None:
        raise UsageError("Give ids, --all, --source or --value, not several of them.")
    reason = admit(given.reason, "reason", most=500)[0] if given.reason else ""
    if given.value is not None:
        project.ready()
        value, _ = admit(given.value, "value", most=TEXT_CHARS)
        now = timestamp(project.world.now())
        said = Rejection(value=value, reason=reason, rejected_at=now, origin="user")
        return _reject(project, Settled(rejections=[said]), [], reason)
    named_proposals(project, given)
    with settling_lock(project, "reject proposals"):
        return _reject(project, Settled(), named_proposals(project, given), reason)


def _reject(project: Project, done: Settled, chosen: list[Proposal], reason: str) -> Settled:
    now = timestamp(project.world.now())
    for item in chosen:
        done.rejections.append(
            Rejection(value=item.text, kind=item.kind, reason=reason, rejected_at=now, origin=item.origin)
        )
        done.done.append(settled_as(project, item, "rejected", reason=reason))
    with write_access(project.root, FOLDER, project.world, "reject"):
        for rejection in done.rejections:
            done.files.append(write_rejection(project.root, rejection, project.world.token()))
    return write_settled(project, done)


VERB = Verb(
    takes=Reject,
    run=reject,
    lines=partial(settled_lines, verb="Rejected"),
    writes=True,
    examples="""Examples:
  memory inbox reject in-77b0 --reason "not decided"
  memory inbox reject --value "We use Redis."
""",
)
