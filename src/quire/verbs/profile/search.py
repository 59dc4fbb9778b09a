"""`memory profile search`, the tool `search`: find entries that bear on a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from quire.layers.profile.access import Readings
from quire.layers.profile.layout import ACTIVE
from quire.layers.profile.records import entry_of
from quire.layers.profile.rules import allowed_category, allowed_status
from quire.model import limits
from quire.model.errors import InputError
from quire.verbs.ask.answers import answer_from
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import entry_readings, entry_view, note_entries_read, profile_warnings
from quire.verbs.profile.options import Category
from quire.verbs.profile.results import EntryView, entry_lines, fitting, stored_fields
from quire.verbs.verb import Arguments, Lines, Option, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.index.search import Filter
    from quire.project import Project
    from quire.retrieval.answer import Hit

_RESULTS = 10


class SearchEntries(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=4000), Word()]
    category: Annotated[Category | None, Option(metavar="NAME", help="Only this category.")] = None
    tags: Annotated[
        list[str], Option(name="--tag", metavar="TAG", help="Only with this tag, or all of several.", tool=False)
    ] = []
    status: Annotated[
        str | None,
        Option(
            metavar="STATUS",
            help="Records with this status instead of active: archived, superseded or any.",
            tool=False,
        ),
    ] = None
    limit: Annotated[int | None, Option(metavar="N", help="The most results to show; 10 by default.", tool=False)] = (
        None
    )
    strict: Annotated[
        bool,
        Meta(description="clear answers only"),
        Option(help="Only clear answers, no possible ones."),
    ] = False


class EntriesFound(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("query",)

    query: str
    results: list[EntryView]
    beyond: int = 0
    """Matches after the last that is shown."""
    weak: bool = False
    """Nothing clearly answers; what came nearest is given all the same."""
    total: int = 0
    """Entries that were searched."""

    def tool_fields(self) -> dict[str, Any]:
        rows = [
            {
                **stored_fields(view),
                "category": view.category,
                "key": view.key,
                "score": view.score,
                "tier": view.tier,
                "why": view.why,
                **({"reviewed": False} if view.reviewed is False else {}),
            }
            for view in fitting(self.results)
        ]
        beyond = self.beyond + len(self.results) - len(rows)
        return {"results": rows, "beyond": beyond, "weak": self.weak, "total": self.total}


def search_entries(project: Project, given: SearchEntries, *, note: bool = True) -> EntriesFound:
    """Find records by words and by meaning, the best first. This counts as reading them.

    Clear answers come first, then at most three possible ones, marked as such.
    """
    from quire.retrieval.query import Ask

    allowed = _allowed(given)
    most = limits.within(_RESULTS if given.limit is None else given.limit, "limit", 1, limits.RESULTS_MOST)
    asked = Ask(
        question=given.query[: limits.QUESTION_CHARS],
        budget=limits.BUDGET_MOST,
        limit=most,
        allowed=allowed,
        everything=given.status is not None,
        literal=True,
        strict=given.strict,
        rendered=False,
    )

    def work(index: Index) -> EntriesFound:
        overview = usable_documents(index)
        found = answer_from(project, index, asked)
        if note and not found.weak:
            note_entries_read(project, overview, [hit.record.ref.partition(":")[2] for hit in found.hits])
        readings = entry_readings(project)
        return EntriesFound(
            query=given.query,
            results=[_view(hit, readings) for hit in found.hits],
            beyond=found.beyond,
            weak=found.weak,
            total=len(index.page(allowed)) if given.tags else _searched(index, allowed),
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def _allowed(given: SearchEntries) -> Filter:
    """What may answer: active entries, unless another status is named."""
    from quire.index.search import Filter

    if not given.query.strip():
        raise InputError(
            "`query` is empty.",
            hint="Say what you are looking for; `memory profile index` shows everything.",
            details={"field": "query"},
        )
    if given.category is not None:
        allowed_category(given.category)
    if given.status is not None:
        allowed_status(given.status, "any")
    return Filter(
        layers=("profile",),
        sections=(given.category,) if given.category else (),
        tags=tuple(tag.casefold() for tag in given.tags),
        statuses=(ACTIVE,) if given.status is None else () if given.status == "any" else (given.status,),
    )


def _view(hit: Hit, readings: Readings) -> EntryView:
    parts = hit.parts
    scores = {
        "words": parts.get("evidence", 0.0),
        "meaning": parts.get("nearness", 0.0),
        "relevance": parts.get("relevance", 1.0),
        "weight": parts.get("weight", 1.0),
    }
    fields = {
        "score": round(hit.score, 4),
        "tier": hit.tier,
        "why": hit.why,
        "scores": scores,
        "verdict": hit.verdict,
        "reviewed": hit.reviewed,
    }
    return entry_view(entry_of(hit.record), readings, **fields)


def _searched(index: Index, allowed: Filter) -> int:
    """How many entries could have answered."""
    return sum(
        number
        for (_, category, status), number in index.section_counts("profile").items()
        if (not allowed.sections or category in allowed.sections)
        and (not allowed.statuses or status in allowed.statuses)
    )


def lines(found: EntriesFound) -> Lines:
    if found.weak:
        yield "Nothing clearly answers this. Possible:"
    yield from entry_lines(found.results, found=True)
    if not found.results:
        yield "No record matches."
    if found.beyond:
        yield f"More match: {found.beyond}; --limit shows them."


VERB = Verb(
    takes=SearchEntries,
    run=search_entries,
    lines=lines,
    examples="""Examples:
  memory profile search "how do we manage dependencies?"
  memory profile search hooks --category learnings --tag gotcha
""",
    tool=Tool(
        title="Search the profile",
        says="Profile: records relevant to a question, by words and meaning, best first. Use it for who the user is, "
        "habits, preferred tools, lessons. For the product and its code use query_memory.",
        gives={"results": "array"},
    ),
)
