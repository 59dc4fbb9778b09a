"""`memory confirm`, the tool `confirm_memory`: nodes are still true, after a look at the code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from quire.model.vocabulary import Actor
from quire.project import Project
from quire.verbs.graph.options import FROM_TOOL, Who
from quire.verbs.graph.save import save_nodes, saved_fields
from quire.verbs.plain import verdict_fields
from quire.verbs.verb import Arguments, Line, Option, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.layers.graph.save import Saved
    from quire.model.verdicts import Verdict

Ref = Annotated[str, Meta(min_length=1, max_length=512)]


class Confirm(Arguments, frozen=True, kw_only=True):
    ids: Annotated[list[Ref], Meta(min_length=1, max_length=200), Word(name="refs")]
    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=2000, description="what you looked at")] | None,
        Option(metavar="TEXT", help="What you looked at, for the log."),
    ] = None
    dry_run: Annotated[bool, Option(help="Check everything, write nothing.")] = False
    actor: Who = "agent"


class Confirmed(Result, kw_only=True):
    saved: Saved
    before: dict[str, Verdict]
    """The verdict that each node had."""

    def fields(self) -> dict[str, Any]:
        before = {ref: verdict_fields(verdict) for ref, verdict in self.before.items()}
        return {**saved_fields(self.saved), "before": before}


def confirm(project: Project, given: Confirm) -> Confirmed:
    """Say that nodes are still true of the code as it is now.

    Look first: this is what makes a node fresh again after its code changed. What the anchors hold now, committed or
    not, is what the node is measured against from here on. To change what a node says, save it instead.
    """
    return confirm_nodes(project, given.ids, reason=given.reason, actor=given.actor, dry_run=given.dry_run)


def confirm_nodes(
    project: Project,
    refs: Sequence[str],
    *,
    reason: str | None = None,
    actor: Actor = "agent",
    dry_run: bool = False,
) -> Confirmed:
    """Seal these nodes against the code as it is now."""
    project.ready()
    from quire.layers.graph.source import node_record
    from quire.upkeep.verdicts import Verdicts

    ids = [project.graph_id(ref) for ref in dict.fromkeys(refs)]
    # An unknown one is for the save to say, together with everything else that is wrong.
    nodes = [node for ref in ids if (node := project.graph.find_node(ref))]
    before = Verdicts(project.root, project.git)(list(map(node_record, nodes)))
    noted = {"reason": reason} if reason and reason.strip() else {}
    intent = {"task": "confirm after a look", "confirm": [{"id": ref, **noted} for ref in ids]}
    saved = save_nodes(project, intent, actor=actor, dry_run=dry_run)
    return Confirmed(saved=saved, before=before, warnings=saved.warnings)


def lines(done: Confirmed) -> Iterator[Line]:
    for ref in done.saved.memory_confirmed:
        was = done.before[ref]
        note = f" (was {was.verdict}{f': {was.because}' if was.because else ''})"
        yield f"{'Would confirm' if done.saved.dry_run else 'Confirmed'}: {ref}{note}"
    for ref in done.saved.unchanged:
        yield f"Unchanged: {ref}"


VERB = Verb(
    takes=Confirm,
    run=confirm,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory confirm feature.retry-queue
  memory confirm decision.one-queue gotcha.late-acks --reason "read queue.ts after the rewrite"
""",
    tool=Tool(
        name="confirm_memory",
        title="Confirm records",
        says="Say that records still hold although their code changed. Use it only after you looked at the code; "
        "otherwise correct them with save_memory.",
        needs=("reason",),
        given=FROM_TOOL,
    ),
)
