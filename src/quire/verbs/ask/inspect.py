"""`memory inspect`, the tool `inspect_memory`: show one record in full, by any form of its ref."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from quire.layers.profile.layout import CATEGORIES
from quire.model.errors import NotFound
from quire.model.refs import LAYERS_BY_PREFIX
from quire.model.vocabulary import JOURNAL_KINDS, KINDS
from quire.verbs.ask.inspected_record import WholeRecords, inspect_record, record_lines
from quire.verbs.ask.product_map import product_map
from quire.verbs.facts.options import Ref
from quire.verbs.verb import Arguments, Lines, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.project import Project
    from quire.verbs.facts.inspect import FactInspected
    from quire.verbs.facts.results import ConnectionView
    from quire.verbs.profile.connections import EntryConnections

_PROFILE_WORDS = tuple(name for name in CATEGORIES if name not in KINDS)


class Inspect(Arguments, frozen=True, kw_only=True):
    id: Annotated[Ref, Meta(description="a ref, such as decision.x or fact:…"), Word(name="ref")]


class Looked(Result, kw_only=True):
    """What was found, in the shape of its layer, and what is connected to it."""

    layer: str
    found: Inspected | FactInspected | EntryConnections | WholeRecords
    connections: list[ConnectionView] = []

    def fields(self) -> dict[str, Any]:
        from quire.verbs.ask.inspected_node import node_fields
        from quire.verbs.facts.inspect import FactInspected, fact_fields
        from quire.verbs.plain import plain
        from quire.verbs.profile.connections import EntryConnections

        found = self.found
        if isinstance(found, WholeRecords):
            return {"items": plain(found.items), "connections": plain(found.connections)}
        if isinstance(found, FactInspected):
            return fact_fields(found)
        connections = plain(self.connections)
        if isinstance(found, EntryConnections):
            links = plain(found)
            return {"object": links.pop("entry"), "links": links, "connections": connections}
        return {**node_fields(found), "connections": connections}


def inspect(project: Project, given: Inspect) -> Looked:
    """Show one record in full, with everything connected to it.

    REF is kind.slug, such as feature.retry-queue, or the slug alone; fact:ID, or the id of a fact alone;
    profile:category.key; episode:ID; or, for the journal, bundle:SECTION, event:ID, checkpoint:ID.
    """
    from quire.layers.graph.inspect import node_meant
    from quire.verbs.facts.inspect import connections, inspect_fact

    word, ref = given.id.strip(), full_ref(given.id)
    if not word:
        raise NotFound("No record is named.", hint="`memory list` lists all records.")
    prefix = ref.partition(":")[0]
    if prefix in ("fact", "episode"):
        try:
            fact = inspect_fact(project, ref)
        except NotFound:
            if ref != f"fact:{word}":
                raise
            return inspect(project, Inspect(id=node_meant(project.graph, word)))
        return Looked(layer="facts", found=fact, connections=fact.connections)
    if prefix == "profile":
        from quire.layers.profile.rules import allowed_name
        from quire.verbs.profile.connections import entry_connections
        from quire.verbs.profile.options import EntryName

        category, key = allowed_name(ref, "ref")
        entry = entry_connections(project, EntryName(category=category, key=key))
        return Looked(layer="profile", found=entry, connections=connections(project, entry.entry.ref))
    if prefix in JOURNAL_KINDS:
        from quire.verbs.journal.inspect import journal_inspect

        page = journal_inspect(project, ref)
        return Looked(layer="journal", found=page, connections=page.connections)
    if prefix in LAYERS_BY_PREFIX:
        return Looked(layer=LAYERS_BY_PREFIX[prefix], found=inspect_record(project, ref))
    from quire.verbs.ask.inspected_node import inspect_node

    node = inspect_node(project, ref)
    return Looked(layer="graph", found=node, connections=connections(project, node.node.node.id))


def full_ref(text: str) -> str:
    """The whole ref: lists of facts print bare ids, lists of entries `category.key`."""
    ref = text.strip()
    if not any(mark in ref for mark in ".:"):
        return f"fact:{ref}"
    return f"profile:{ref}" if ref.partition(".")[0] in _PROFILE_WORDS else ref


def lines(looked: Looked) -> Lines:
    from quire.verbs.ask.inspected_node import whole_node
    from quire.verbs.facts.inspect import FactInspected, whole_fact
    from quire.verbs.profile.connections import EntryConnections

    found = looked.found
    if isinstance(found, WholeRecords):
        yield from record_lines(found, looked.layer)
    elif isinstance(found, FactInspected):
        yield whole_fact(found)
    elif isinstance(found, EntryConnections):
        yield from _entry_lines(found)
    else:
        yield whole_node(found)
    if looked.connections:
        yield ""
        yield "Connections:"
    for edge in looked.connections:
        title = f" — {edge.title}" if edge.title else ""
        yield Recalled(text=f"  {edge.source} {edge.relation} {edge.target}{title}", origin="facts")
        if edge.description:
            yield Recalled(text=f"    {edge.description}", origin="facts")


def _entry_lines(found: EntryConnections) -> Lines:
    from quire.verbs.profile.results import link_lines, whole_entry

    yield whole_entry(found.entry, links=False)
    if found.outgoing or found.incoming:
        yield ""
        yield "Links:"
    yield from link_lines(found.outgoing, found.incoming)


def product_map_page(project: Project) -> str:
    """The product in a page: features by stage, what was decided, what is open."""
    project.ready()
    return product_map(project)


VERB = Verb(
    takes=Inspect,
    run=inspect,
    lines=lines,
    examples="""Examples:
  memory inspect feature.retry-queue
  memory inspect decision.retries-run-in-worker --json
  memory inspect fact:57afd07611e9
  memory inspect profile:user.timezone
  memory inspect bundle:gotchas
""",
    tool=Tool(
        title="Look at one record",
        says="One record in full by its ref, with relations, evidence and verdict. Use it for refs from an answer. "
        "To search use query_memory.",
    ),
)
