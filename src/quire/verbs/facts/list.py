"""`memory facts list`, the tool `memory_query`: list all active facts, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from quire.layers.facts.drafts import section_named
from quire.layers.facts.layout import ACTIVE, SECTIONS
from quire.model.errors import InputError
from quire.model.text import counted
from quire.verbs.facts.fact_file import (
    ask_facts,
    known_facts,
    limit_within,
    nothing_stored,
    record_view,
    scope_in,
    unread_lines,
)
from quire.verbs.facts.fact_lines import fact_lines
from quire.verbs.facts.options import SECTION_SCHEMA, Mind, OneSection
from quire.verbs.facts.results import FactView
from quire.verbs.facts.search import fact_filter
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_PAGE, _PAGE_MOST = 200, 2_000
_TOOL_PAGE_MOST = 500


class ListFacts(Arguments, frozen=True, kw_only=True):
    section: OneSection = None
    offset: Annotated[
        int,
        Meta(ge=0, le=10_000_000),
        Option(metavar="NUMBER", help="How many to skip.", show_default=True),
    ] = 0
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=_TOOL_PAGE_MOST)] | None,
        Option(metavar="NUMBER", help="The most results to show; 200 by default."),
    ] = None
    mind: Mind = None


class FactPage(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("offset", "mind")
    results: list[FactView]
    total: int
    offset: int
    sections: dict[str, int]
    more: int = 0
    """How many there are after this page."""
    next_offset: int | UnsetType = UNSET
    unread: int = 0
    """Lines of the file that could not be read."""
    mind: str = ""


def list_facts(project: Project, given: ListFacts) -> FactPage:
    """Show all active facts, section by section, a page at a time. For a question, use recall."""
    from quire.layers.facts.originals import not_imported

    sections = (section_named(given.section),) if given.section is not None else ()
    most = limit_within(given.limit, "limit", _PAGE, _PAGE_MOST)
    if given.offset < 0:
        raise InputError("The offset is negative.", hint="Leave it out.", details={"field": "offset"})

    def work(index: Index) -> FactPage:
        scope = scope_in(index, given.mind)
        allowed = fact_filter(statuses=(ACTIVE,), sections=sections, scope=scope)
        now = project.world.now()
        counts = {
            name: number
            for (kind, name, status), number in index.section_counts("facts", scope).items()
            if kind == "fact" and status == ACTIVE and (not sections or name in sections)
        }
        found = [record_view(project, record, now) for record in index.page(allowed, SECTIONS, given.offset, most)]
        total = sum(counts.values())
        more = total - given.offset - len(found)
        return FactPage(
            nothing=f"No active facts in {given.section}." if given.section else nothing_stored(index, given.mind),
            results=found,
            total=total,
            offset=given.offset,
            sections={name: counts[name] for name in (*SECTIONS, *sorted(counts)) if name in counts},
            more=max(0, more),
            next_offset=given.offset + len(found) if more > 0 else UNSET,
            mind=given.mind or known_facts(index).overview.mind,
            unread=unread_lines(index),
            warnings=[] if total else not_imported(project.root),
        )

    return ask_facts(project, work)


def lines(page: FactPage) -> Lines:
    if not page.total:
        yield page.nothing
        return
    if not page.results:
        yield f"There are no more than {counted(page.total, 'fact')}."
    shown = None
    for view in page.results:
        if view.section != shown:
            shown = view.section
            yield Recalled(text=f"{shown} ({page.sections[shown]})", origin="facts")
        yield from fact_lines([view])
    if page.more:
        yield f"{page.more} more: --offset {page.offset + len(page.results)}"


VERB = Verb(
    takes=ListFacts,
    run=list_facts,
    lines=lines,
    examples="Examples:\n  memory facts list\n  memory facts list --section Decisions --limit 20\n",
    tool=Tool(
        title="List all facts",
        says="All active facts by section, a page at a time. Expensive: prefer memory_recall. Use it only to review "
        "all facts.",
        schema={"section": SECTION_SCHEMA},
        gives={"results": "array", "total": "integer"},
    ),
)
