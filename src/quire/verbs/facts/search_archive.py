"""`memory facts search-archive`, the tool `memory_search_archive`: find archived facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from quire.layers.facts.layout import ARCHIVED, DORMANT, SUPERSEDED
from quire.verbs.ask.answers import Question
from quire.verbs.facts.fact_file import ask_facts, facts_ready, limit_within, scope_of
from quire.verbs.facts.fact_lines import fact_lines
from quire.verbs.facts.options import Many, Mind
from quire.verbs.facts.recall import FactsRecalled
from quire.verbs.facts.search import (
    RECALL,
    RECALL_MOST,
    fact_filter,
    fact_hit,
    need_question,
    replacements,
    search_facts,
)
from quire.verbs.verb import Arguments, Lines, Option, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.project import Project
    from quire.retrieval.answer import Hit

_AWAY = (ARCHIVED, SUPERSEDED, DORMANT)


class SearchArchive(Arguments, frozen=True, kw_only=True):
    query: Annotated[Question, Word()]
    k: Annotated[Many | None, Option(metavar="NUMBER", help="The most results to show; 10 by default.")] = None
    mind: Mind = None


def search_archive(project: Project, given: SearchArchive) -> FactsRecalled:
    """Find facts that were archived or superseded. `memory facts restore` restores one."""
    most = limit_within(given.k, "k", RECALL, RECALL_MOST)
    need_question(given.query)
    facts_ready(project)
    allowed = fact_filter(statuses=_AWAY, scope=scope_of(project, given.mind))
    found = search_facts(project, given.query, most, allowed, everything=True)
    replaced = ask_facts(
        project, lambda index: {hit.record.ref: replacements(project, index, hit.record) for hit in found.hits}
    )
    results = [fact_hit(project, hit) for hit in sorted(found.hits, key=_by_relevance)]
    for view in results:
        view.replaced_by = replaced[view.ref]
        view.score = view.scores["fused"]
    return FactsRecalled(query=given.query, results=results, weak=found.weak)


def _by_relevance(hit: Hit) -> tuple[float, str]:
    return -hit.parts.get("relevance", hit.score), hit.record.ref


def lines(found: FactsRecalled) -> Lines:
    yield from fact_lines(found.results, numbered=True)
    if not found.results:
        yield "No archived fact matches."


VERB = Verb(
    takes=SearchArchive,
    run=search_archive,
    lines=lines,
    examples='Example:\n  memory facts search-archive "retry queue"\n',
    tool=Tool(
        title="Search the archive",
        says="Archived and superseded facts, with when, why and what replaced them. Searching restores nothing. Use "
        "it for how things used to be. For current facts use memory_recall.",
        gives={"results": "array"},
    ),
)
