"""`memory profile connections`, the tool `connections`: list what an entry is linked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quire.layers.profile.layout import FILE
from quire.verbs.profile.document import ask_profile
from quire.verbs.profile.entries import entry_readings, entry_view, need_entry
from quire.verbs.profile.options import EntryName
from quire.verbs.profile.results import EntryLink, EntryView, link_lines, recalled
from quire.verbs.verb import Lines, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class EntryConnections(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("entry",)
    LISTED_FOR_TOOLS: ClassVar[int] = 100

    entry: EntryView
    outgoing: list[EntryLink]
    incoming: list[EntryLink]


def entry_connections(project: Project, given: EntryName) -> EntryConnections:
    """Show what a record is linked to, and what is linked to it."""
    from quire.layers.profile.records import entry_of

    category, key = given.entry("connections user timezone")

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


def lines(found: EntryConnections) -> Lines:
    yield recalled(found.entry, f"{found.entry.ref}: {found.entry.title}")
    yield from link_lines(found.outgoing, found.incoming)
    if not found.outgoing and not found.incoming:
        yield "  It is not linked to anything."


VERB = Verb(
    takes=EntryName,
    run=entry_connections,
    lines=lines,
    examples="Example:\n  memory profile connections learnings flaky_ci\n",
    tool=Tool(
        title="Links of a record",
        says="Profile: what a record links to, and what links to it. For other layers use inspect_memory.",
        needs=("key",),
        gives={"outgoing": "array", "incoming": "array"},
    ),
)
