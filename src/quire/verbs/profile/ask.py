"""What the profile can be asked: entries by name, by question, by their links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.layers.profile.layout import ACTIVE, FILE
from quire.model import limits
from quire.model.errors import InputError, NotFound
from quire.model.records import Record
from quire.model.text import cut
from quire.project import Project
from quire.verbs.ask.answers import answer_from
from quire.verbs.profile.document import (
    ask_profile,
    entry_readings,
    entry_records,
    entry_view,
    note_entries_read,
    profile_warnings,
    usable_documents,
)
from quire.verbs.profile.results import EntryConnections, EntryLink, EntryView, FoundEntries, RecalledEntries

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.index.search import Filter
    from quire.layers.profile.access import Readings
    from quire.retrieval.answer import Hit

_RESULTS = 10


# -- one by one -------------------------------------------------------------------------


def profile_recall(
    project: Project, category: str, key: str | None = None, *, everything: bool = False, note: bool = True
) -> RecalledEntries:
    """One entry, or those of a category that are active, in the order of the document."""
    from quire.layers.profile.records import entry_of
    from quire.layers.profile.rules import allowed_category

    def work(index: Index) -> RecalledEntries:
        overview = usable_documents(index)
        if key is not None:
            found, away = [need_entry(project, index, category, key)], 0
        else:
            every = entry_records(project, index, sections=(category,))
            if not every:
                allowed_category(category)
            found = [record for record in every if everything or record.status == ACTIVE]
            away = len(every) - len(found)
        names = [record.ref.partition(":")[2] for record in found]
        if note:
            note_entries_read(project, overview, names)
        readings = entry_readings(project)
        return RecalledEntries(
            category=category,
            results=[entry_view(entry_of(record), readings) for record in found],
            put_away=away,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def need_entry(project: Project, index: Index, category: str, key: str) -> Record:
    from quire.layers.profile.rules import allowed_category

    found = index.find(f"profile:{category}.{key}")
    if found is not None and found.layer == "profile":
        return found
    if not entry_records(project, index, sections=(category,)):
        allowed_category(category)
    raise NotFound(
        f"There is no entry `{cut(f'{category}.{key}', 120)}`.",
        hint="`memory profile index` shows what there is.",
        details={"id": f"profile:{category}.{key}"},
    )


def profile_inspect(project: Project, ref: str) -> EntryConnections:
    """One entry in full, with everything that is connected to it. Looking does not count as reading."""
    from quire.layers.profile.rules import allowed_name

    return profile_connections(project, *allowed_name(ref, "ref"))


def profile_connections(project: Project, category: str, key: str) -> EntryConnections:
    """The links of an entry and those that lead to it."""
    from quire.layers.profile.records import entry_of

    def work(index: Index) -> EntryConnections:
        entry = entry_of(need_entry(project, index, category, key))
        outgoing: list[EntryLink] = []
        incoming: list[EntryLink] = []
        for edge in index.edges_of(entry.ref):
            if edge.path != FILE:
                continue  # what facts say of it
            other = index.find(edge.target if edge.source == entry.ref else edge.source)
            link = EntryLink(
                source=edge.source.removeprefix("profile:"),
                target=edge.target.removeprefix("profile:"),
                relation=edge.predicate,
                entry_summary=entry_of(other).value if other else "",
                status=other.status if other else "",
            )
            (outgoing if edge.source == entry.ref else incoming).append(link)
        places = {f"{link.target} {link.relation}": place for place, link in enumerate(entry.links)}
        outgoing.sort(key=lambda link: places.get(f"{link.target} {link.relation}", len(places)))
        return EntryConnections(entry=entry_view(entry, entry_readings(project)), outgoing=outgoing, incoming=incoming)

    return ask_profile(project, work)


# -- by question ------------------------------------------------------------------------


def profile_search(
    project: Project,
    query: str,
    *,
    category: str | None = None,
    tags: Sequence[str] = (),
    status: str | None = None,
    limit: int | None = None,
    strict: bool = False,
    note: bool = True,
) -> FoundEntries:
    """The entries that bear on a question, the best first: active ones, unless another status is named."""
    from quire.index.search import Filter
    from quire.layers.profile.rules import allowed_category, allowed_status
    from quire.retrieval.query import Ask

    if not query.strip():
        raise InputError(
            "`query` is empty.",
            hint="Say what you are looking for; `memory profile index` shows everything.",
            details={"field": "query"},
        )
    if category is not None:
        allowed_category(category)
    if status is not None:
        allowed_status(status, "any")
    statuses = (ACTIVE,) if status is None else () if status == "any" else (status,)
    allowed = Filter(
        layers=("profile",),
        sections=(category,) if category else (),
        tags=tuple(tag.casefold() for tag in tags),
        statuses=statuses,
    )
    most = limits.within(_RESULTS if limit is None else limit, "limit", 1, limits.RESULTS_MOST)
    asked = Ask(
        question=query[: limits.QUESTION_CHARS],
        budget=limits.BUDGET_MOST,
        limit=most,
        allowed=allowed,
        everything=status is not None,
        literal=True,
        strict=strict,
        rendered=False,
    )

    def work(index: Index) -> FoundEntries:
        overview = usable_documents(index)
        found = answer_from(project, index, asked)
        if note and not found.weak:
            note_entries_read(project, overview, [hit.record.ref.partition(":")[2] for hit in found.hits])
        readings = entry_readings(project)
        return FoundEntries(
            query=query,
            results=[_entry_hit(hit, readings) for hit in found.hits],
            beyond=found.beyond,
            weak=found.weak,
            total=len(index.page(allowed)) if tags else _searched(index, allowed),
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def _entry_hit(hit: Hit, readings: Readings) -> EntryView:
    from quire.layers.profile.records import entry_of

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
