"""`memory facts recall`, the tool `memory_recall`: find facts by words and by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from quire.layers.facts.layout import ACTIVE
from quire.model.records import Record
from quire.model.times import time_text
from quire.verbs.ask.answers import Question
from quire.verbs.facts.fact_file import ask_facts, facts_ready, limit_within, nothing_stored, scope_of
from quire.verbs.facts.fact_lines import fact_lines
from quire.verbs.facts.faded import faded_facts
from quire.verbs.facts.options import STRING, Many, Mind, OneSection
from quire.verbs.facts.results import ConnectionView, FactView
from quire.verbs.facts.search import RECALL, RECALL_MOST, fact_filter, fact_hit, need_question, search_facts
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.index.search import Filter
    from quire.project import Project


class Recall(Arguments, frozen=True, kw_only=True):
    query: Annotated[Question, Word()]
    k: Annotated[Many | None, Option(metavar="NUMBER", help="The most results to show; 10 by default, at most 50.")] = (
        None
    )
    section: OneSection = None
    mind: Mind = None
    faded: Annotated[bool, Option(help="Include facts that were not confirmed for a long time.", tool=False)] = False
    strict: Annotated[bool, Option(help="Only clear answers, no possible ones.")] = False


class FactsRecalled(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("query",)
    query: str
    results: list[FactView]
    connected: list[ConnectionView] = []
    weak: bool = False
    """Nothing clearly answers; what came nearest is given all the same."""
    faded: int = 0
    """Matches that are left out because they have faded."""
    reason: str = ""
    """Why there is nothing: `nothing stored`, `nothing matched`; or `all faded`, and then that is what is given."""
    other_minds: dict[str, int] = {}
    """Facts of other minds, which were not searched."""


def recall(project: Project, given: Recall) -> FactsRecalled:
    """Find facts by words and by meaning, ranked by relevance times confidence.

    Clear answers come first, then at most three possible ones, marked as such. Facts fade unless they are confirmed.
    Faded facts are left out and counted, unless nothing else matches. Finding a fact stops its fading but does not
    confirm it.
    """
    done = find_facts(project, given)
    done.warnings += faded_facts(project) if done.faded else []
    return done


def find_facts(project: Project, given: Recall, *, note: bool = True) -> FactsRecalled:
    """What recall finds; with `note`, that it was read is noted on this machine."""
    from quire.layers.facts.drafts import section_named
    from quire.retrieval.current_records import FADED

    sections = (section_named(given.section),) if given.section is not None else ()
    most = limit_within(given.k, "k", RECALL, RECALL_MOST)
    need_question(given.query)
    facts_ready(project)
    scope = scope_of(project, given.mind)
    allowed = fact_filter(sections=sections, statuses=(ACTIVE,), scope=scope)
    found = search_facts(project, given.query, most, allowed, everything=given.faded, strict=given.strict)
    results = [fact_hit(project, hit) for hit in found.hits]
    done = FactsRecalled(
        query=given.query,
        results=results,
        connected=[_link(link.sentence, link.record) for link in (*found.connected, *found.open_questions)],
        weak=found.weak,
        faded=found.faded,
        reason="all faded" if any(hit.faded for hit in found.hits) else "",
    )
    if not results:
        ask_facts(project, lambda index: _say_why(index, done, allowed, given.mind))
    elif note and not done.weak:
        # A look at what has faded does not bring it back.
        _note_reading(project, [view.id for view in results if view.confidence >= FADED])
    return done


def _say_why(index: Index, done: FactsRecalled, allowed: Filter, mind: str | None) -> None:
    """Nothing is there, or nothing fits: two different things to do."""
    stored = sum(
        number
        for (kind, _, status), number in index.section_counts("facts", allowed.scope).items()
        if kind == "fact" and status == ACTIVE
    )
    done.reason = "nothing matched" if stored else "nothing stored"
    done.nothing = "No fact matches." if stored else nothing_stored(index, mind)
    done.other_minds = {
        name or "default": count for name, count in index.scopes("facts").items() if name != allowed.scope
    }


def _note_reading(project: Project, ids: Sequence[str]) -> None:
    from quire.layers.facts.access import note_access

    if project.read_only:
        return
    note_access(project.root, list(ids), time_text(project.world.now()), project.world.token())


def _link(sentence: str, record: Record) -> ConnectionView:
    source, relation, target = sentence.split(" ", 2)
    return ConnectionView(record.ref, source, relation, target, record.title)


def lines(found: FactsRecalled) -> Lines:
    if found.reason == "all faded":
        yield "The best match has faded: it was not confirmed for a long time."
    elif found.weak:
        yield "Nothing clearly answers this. Possible:"
    yield from fact_lines(found.results, numbered=True)
    for link in found.connected:
        yield Recalled(text=f"   {link.source} {link.relation} {link.target} — {link.title}", origin="facts")
    if not found.results:
        yield found.nothing
        if found.other_minds:
            minds = ", ".join(f"{name} ({count})" for name, count in found.other_minds.items())
            yield Recalled(text=f"Other minds hold facts: {minds}. Name one with --mind.", origin="facts")
    if found.reason == "all faded":
        yield "Storing one again confirms it; `memory facts archive --faded` archives all of them."
    elif found.faded:
        yield f"Left out because faded: {found.faded}. --faded shows them; storing one again confirms it."


VERB = Verb(
    takes=Recall,
    run=recall,
    lines=lines,
    examples="""Examples:
  memory facts recall "how are retries scheduled?"
  memory facts recall "fonts" --section "Known Issues" --k 5
""",
    tool=Tool(
        title="Recall facts",
        says="Facts learned about this project, best first: limits, traps, conventions. Use it for one concrete "
        "point. For decisions and their code use query_memory.",
        # Every session pays for this one: what the verb says itself of a value that does not fit is left out here.
        schema={"project_root": STRING, "mind": STRING, "section": STRING},
        gives={"results": "array"},
    ),
)
