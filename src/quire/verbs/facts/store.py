"""`memory facts store`, the tool `memory_store`: store a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from quire.model.records import Problem, Record
from quire.model.text import cut
from quire.verbs.facts.fact_file import change_facts, fact_view, known_facts, short_token
from quire.verbs.facts.fact_lines import recalled
from quire.verbs.facts.options import (
    FROM_TOOL,
    SECTION_SCHEMA,
    STRING,
    Content,
    DryRun,
    Mind,
    SectionName,
    Session,
    Source,
    Tags,
)
from quire.verbs.facts.results import FactView, SimilarFact
from quire.verbs.graph.similar_records import alike_problem, similar_problems
from quire.verbs.reviewed import note_reviewed
from quire.verbs.verb import Arguments, Lines, Option, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.store_fact import FactOutcome
    from quire.layers.facts.types import Fact
    from quire.project import Project
    from quire.retrieval.similar_records import Alike


class Store(Arguments, frozen=True, kw_only=True):
    section: Annotated[SectionName, Word()]
    content: Annotated[Content, Word(required=False, stdin="the fact")]
    tags: Annotated[Tags, Option(name="--tag", metavar="TAG", help="A tag. Can be repeated.")] = []
    source: Source = "manual"
    confidence: Annotated[
        float, Meta(ge=0, le=1), Option(metavar="NUMBER", help="Above 0, at most 1; 1 by default.")
    ] = 1.0
    session: Session = None
    mind: Mind = None
    dry_run: Annotated[DryRun, Option(help="Show what would change, write nothing.", tool=False)] = False


class Stored(Result, kw_only=True):
    action: str
    """`stored`, `reinforced`, `tagged`, `unchanged`"""
    dry_run: bool = False
    fact: FactView
    similar: list[SimilarFact] = []
    equal_archived: list[FactView] = []


def store(project: Project, given: Store) -> Stored:
    """Store one fact in one of the seven sections.

    Sections: Architecture, Decisions, Constraints, Known Issues, Patterns & Conventions, Specs, Recent Work. Storing
    the same text again confirms the fact; a warning names a fact that says nearly the same or the opposite. With `-`
    the content is read from standard input.
    """
    from quire.layers.facts.drafts import section_named
    from quire.layers.facts.store_fact import FactInput, store_fact

    section = section_named(given.section)
    told = FactInput(
        id=short_token(project),
        section=section,
        content=given.content,
        tags=tuple(given.tags),
        source=given.source,
        confidence=given.confidence,
        session=given.session,
        mind=given.mind,
    )
    done = change_facts(
        project,
        "store a fact",
        lambda draft, index: stored_fact(project, index, store_fact(draft, told), section),
        dry_run=given.dry_run,
    )
    done.dry_run = given.dry_run
    if project.by_person and not given.dry_run:
        note_reviewed(project, [done.fact.ref])
    return done


def stored_fact(project: Project, index: Index, told: FactOutcome, section: str) -> Stored:
    """What came of a fact that was told, with warnings about others that say nearly the same."""
    now = project.world.now()
    fact = told.fact
    alike = _alike(index, fact) if told.action == "stored" else []
    warnings = list(told.warnings)
    if fact.section != section:
        warnings.append(
            Problem(
                code="FactElsewhere",
                severity="warning",
                message=f"It is already in {fact.section} and stays there.",
                hint=f"To move it, `memory facts supersede {fact.id} … --section` with other words.",
            )
        )
    warnings += map(alike_problem, alike)
    if told.action == "stored" and not alike:
        warnings += similar_problems(index, _record(index, fact))
    for other in told.equal:
        reason = f" ({cut(other.reason, 80)})" if other.reason else ""
        warnings.append(
            Problem(
                code="FactEqualsArchived",
                severity="warning",
                message=f"The same text was archived before: {other.id} is {other.status}{reason}.",
                hint="If that reason still applies, archive the new fact, too.",
            )
        )
    return Stored(
        action=told.action,
        fact=fact_view(project, fact, now),
        similar=[_similar(item) for item in alike],
        equal_archived=[fact_view(project, other, now) for other in told.equal],
        warnings=warnings,
    )


def _record(index: Index, fact: Fact) -> Record:
    from quire.layers.facts.records import FactWithTwins, fact_record

    return fact_record(FactWithTwins(fact), known_facts(index).overview.mind)


def _alike(index: Index, fact: Fact) -> list[Alike]:
    from quire.retrieval.similar_records import alike_to

    return alike_to(index, _record(index, fact))


def _similar(found: Alike) -> SimilarFact:
    older = found.older
    name = older.ref.removeprefix("fact:")
    return SimilarFact(
        ref=older.ref, id=name, share=found.share, section=older.section, content=older.text, opposite=found.is_opposite
    )


def lines(stored: Stored) -> Lines:
    fact = stored.fact
    said = {
        "stored": f"Stored in {fact.section}: ",
        "reinforced": f"Confirmed (stored {fact.reinforcements} times now): ",
        "tagged": "Already known; tags added: ",
        "unchanged": "Already known, nothing changed: ",
    }
    lead = f"{'Would be: ' if stored.dry_run else ''}{said[stored.action]}"
    yield recalled(fact, fact.content, lead, is_news=stored.action != "stored")
    yield f"  {fact.ref}"


VERB = Verb(
    takes=Store,
    run=store,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts store Architecture "Webhook retries run in the worker, never in the request."
  memory facts store "Known Issues" "PDF export hangs on fonts without a cmap." --tag pdf
""",
    tool=Tool(
        title="Store a fact",
        says="Store one lasting fact in one or two sentences. Leave out secrets and what the code says. For "
        "decisions use save_memory.",
        # Every session pays for this one: what the verb says itself of a value that does not fit is left out here.
        schema={
            "project_root": STRING,
            "mind": STRING,
            "section": SECTION_SCHEMA,
            "content": STRING,
            "tags": {"type": "array", "items": STRING},
            "confidence": {"type": "number"},
        },
        given=FROM_TOOL,
    ),
)
