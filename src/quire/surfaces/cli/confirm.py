"""`memory confirm`"""

from __future__ import annotations

from quire.model.vocabulary import ACTORS, Actor
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

_EXAMPLES = """Examples:
  memory confirm feature.retry-queue
  memory confirm decision.one-queue gotcha.late-acks --reason "read queue.ts after the rewrite"
"""


def run(session: Session, refs: tuple[str, ...], reason: str | None, dry_run: bool, actor: Actor) -> None:
    """Say that nodes are still true of the code as it is now.

    Look first: this is what makes a node fresh again after its code changed. What the anchors hold now, committed or
    not, is what the node is measured against from here on. To change what a node says, save it instead.
    """
    from quire.verbs.graph.changes import confirm

    project = session.project()
    saved, before = confirm(project, list(refs), reason=reason, actor=actor, dry_run=dry_run)
    if session.as_json:
        from quire.fields.graph import confirmed_fields

        answer(project, confirmed_fields(saved, before), saved.warnings)
        return
    for ref in saved.memory_confirmed:
        was = before[ref]
        note = f" (was {was.verdict}{f': {was.because}' if was.because else ''})"
        say(f"{'Would confirm' if dry_run else 'Confirmed'}: {ref}{note}")
    for ref in saved.unchanged:
        say(f"Unchanged: {ref}")
    warn(saved.warnings)


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="refs", many=True),),
    options=(
        Option(name="--reason", into="reason", metavar="TEXT", help="What you looked at, for the log."),
        Option(name="--dry-run", into="dry_run", help="Check everything, write nothing."),
        Option(name="--actor", into="actor", metavar="WHO", choices=ACTORS, default="agent", help="Who says so."),
    ),
)
