"""`memory facts supersede`, the tool `memory_supersede`: replace a fact by a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from quire.layers.facts.drafts import FactsDraft, find_fact
from quire.layers.facts.store_fact import FactInput, supersede_fact
from quire.model.errors import UsageError
from quire.verbs.facts.fact_file import change_facts, fact_view, short_token
from quire.verbs.facts.fact_lines import recalled
from quire.verbs.facts.options import (
    FROM_TOOL,
    SECTION_SCHEMA,
    Content,
    DryRun,
    Reason,
    Ref,
    SectionName,
    Session,
    Source,
)
from quire.verbs.facts.results import FactView
from quire.verbs.reviewed import note_reviewed
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class Supersede(Arguments, frozen=True, kw_only=True):
    fact_id: Annotated[Ref, Word(name="fact")]
    content: Annotated[Content, Word(required=False, stdin="the fact", unless="by")] = ""
    by: Annotated[Ref | None, Option(metavar="FACT", help="A stored fact that replaces it.", tool=False)] = None
    section: Annotated[
        SectionName | None, Option(metavar="NAME", help="The section of the new fact; by default the old one's.")
    ] = None
    reason: Annotated[Reason | None, Option(metavar="TEXT", help="Why the old fact is no longer true.")] = None
    source: Source = "manual"
    session: Session = None
    dry_run: DryRun = False


class Superseded(Result, kw_only=True):
    dry_run: bool = False
    old: FactView
    new: FactView
    equal_archived: list[FactView] = []


def supersede(project: Project, given: Supersede) -> Superseded:
    """Replace a fact with a new one, in one step.

    The old fact stays in the archive; connections and pins move to the new one. FACT is an id or the beginning of one.
    --by names a stored fact as the replacement.
    """
    if given.by is not None and given.content:
        raise UsageError("Give either a text or --by.", hint="--by names an existing fact.")
    name = short_token(project)

    def plan(draft: FactsDraft, _index: Index) -> Superseded:
        text = given.content if given.by is None else find_fact(draft, given.by, "by").fact.content
        told = FactInput(
            id=name,
            content=text,
            section=given.section,
            reason=given.reason,
            source=given.source,
            session=given.session,
        )
        old, new = supersede_fact(draft, given.fact_id, told)
        now = project.world.now()
        return Superseded(
            dry_run=given.dry_run,
            old=fact_view(project, old, now, replaced_by=(new.fact.id,)),
            new=fact_view(project, new.fact, now),
            equal_archived=[fact_view(project, other, now) for other in new.equal],
            warnings=new.warnings,
        )

    done = change_facts(project, "supersede a fact", plan, dry_run=given.dry_run)
    if project.by_person and not given.dry_run:
        note_reviewed(project, [done.new.ref])
    return done


def lines(done: Superseded) -> Lines:
    lead = "Would supersede" if done.dry_run else "Superseded"
    yield Recalled(text=f"{lead} {done.old.id} → {done.new.id} in {done.new.section}:")
    yield recalled(done.old, done.old.content, lead="  was: ")
    yield recalled(done.new, done.new.content, lead="  now: ")


VERB = Verb(
    takes=Supersede,
    run=supersede,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts supersede 57afd07611e9 "The retry queue lives in Postgres." --reason "moved in 2.0"
  memory facts supersede 57afd07611e9 --by 267c091a6041
""",
    tool=Tool(
        title="Replace a fact",
        says="Replace a fact with what is true now, in one step; connections and pins move to the new fact, and the "
        "old one stays in the archive. Use it instead of storing the opposite. For a fact without a replacement use "
        "memory_archive.",
        needs=("content",),
        schema={"section": SECTION_SCHEMA},
        gives={"old": "object", "new": "object"},
        given=FROM_TOOL,
        destructive=True,
    ),
)
