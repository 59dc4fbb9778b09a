"""`memory facts connect`, the tool `memory_connect`: connect two things by a directed edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import RELATIONS
from quire.model.vocabulary import LAYER_NAMES
from quire.verbs.facts.fact_file import change_facts, short_token
from quire.verbs.facts.options import DryRun, Reason, Ref, Session
from quire.verbs.facts.results import ConnectionView
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

Relation = Annotated[
    str,
    Meta(min_length=1, max_length=60, description="depends_on, contradicts, enables, replaces or motivated_by"),
]


class Connect(Arguments, frozen=True, kw_only=True):
    source: Annotated[Ref, Word()]
    target: Annotated[Ref, Word()]
    relation: Annotated[Relation, Word()]
    description: Annotated[Reason, Option(metavar="TEXT", help="What the connection means.")] = ""
    session: Session = None
    dry_run: DryRun = False


class Connected(Result, kw_only=True):
    action: str
    dry_run: bool = False
    edge: ConnectionView


def connect(project: Project, given: Connect) -> Connected:
    """Connect two records: SOURCE depends_on TARGET, and so on.

    Relations: depends_on, contradicts, enables, replaces, motivated_by; others are kept with a warning. SOURCE and
    TARGET are ids of facts, or refs of other records, such as feature.retry-queue.
    """
    from quire.layers.facts.connect import connect as connect_facts

    name = f"e-{short_token(project)}"
    target, relation = given.target, given.relation
    if _is_relation(target) and not _is_relation(relation):
        target, relation = relation, target  # said as a sentence

    def plan(draft: FactsDraft, _index: Index) -> Connected:
        done = connect_facts(
            draft, name, given.source, target, relation, description=given.description, session=given.session
        )
        edge = done.edge
        view = ConnectionView(edge.ref, edge.source, edge.predicate, edge.target)
        return Connected(action=done.action, dry_run=given.dry_run, edge=view, warnings=done.warnings)

    return change_facts(project, "connect facts", plan, dry_run=given.dry_run, layers=LAYER_NAMES)


def _is_relation(text: str) -> bool:
    return text.strip().lower().replace("-", "_").replace(" ", "_") in RELATIONS


def lines(done: Connected) -> Lines:
    said = {"connected": "Connected", "reinforced": "Confirmed", "unchanged": "Known already"}[done.action]
    edge = done.edge
    lead = f"{'Would be: ' if done.dry_run else ''}{said}: "
    yield Recalled(text=f"{edge.source} {edge.relation} {edge.target}", ref=edge.ref, lead=lead)
    yield Recalled(text=f"  {edge.ref}", ref=edge.ref)


VERB = Verb(
    takes=Connect,
    run=connect,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts connect 57afd07611e9 267c091a6041 depends_on
  memory facts connect 57afd07611e9 feature.retry-queue motivated_by --description "why it is durable"
""",
    tool=Tool(
        title="Connect two things",
        says="Connect a fact to another fact or to any ref (feature.x): source relation target. Recall then shows "
        "both. To replace a fact use memory_supersede.",
        gives={"action": "string", "edge": "object"},
    ),
)
