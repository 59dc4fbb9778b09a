"""One record of any layer by its ref, however the ref was copied from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.layers.profile.layout import CATEGORIES
from quire.model.errors import NotFound
from quire.model.ids import slug_of
from quire.model.vocabulary import JOURNAL_KINDS, KINDS
from quire.project import Project
from quire.verbs.facts.inspect import connections, inspect_fact
from quire.verbs.journal.inspect import journal_inspect
from quire.verbs.profile.connections import links_of

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.verbs.facts.inspect import FactInspected
    from quire.verbs.facts.results import ConnectionView
    from quire.verbs.journal.inspect import InspectedJournal
    from quire.verbs.profile.connections import EntryConnections

_PROFILE_WORDS = tuple(name for name in CATEGORIES if name not in KINDS)


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, in the shape of its layer, and what is connected to it."""

    layer: str
    found: Inspected | FactInspected | EntryConnections | InspectedJournal
    connections: list[ConnectionView] = []


def full_ref(text: str) -> str:
    """The whole ref: lists of facts print bare ids, lists of entries `category.key`."""
    ref = text.strip()
    if not any(mark in ref for mark in ".:"):
        return f"fact:{ref}"
    return f"profile:{ref}" if ref.partition(".")[0] in _PROFILE_WORDS else ref


def inspect_any(project: Project, ref: str) -> Looked:
    """One record in full, whichever layer holds it; a slug alone is enough where only one node has it."""
    word, ref = ref.strip(), full_ref(ref)
    prefix = ref.partition(":")[0]
    if prefix in ("fact", "episode"):
        try:
            fact = inspect_fact(project, ref)
        except NotFound as error:
            if ref != f"fact:{word}":
                raise
            return inspect_any(project, _node_meant(project, word, error))
        return Looked(layer="facts", found=fact, connections=fact.connections)
    if prefix == "profile":
        from quire.layers.profile.rules import allowed_name

        entry = links_of(project, *allowed_name(ref, "ref"))
        return Looked(layer="profile", found=entry, connections=connections(project, entry.entry.ref))
    if prefix in JOURNAL_KINDS:
        page = journal_inspect(project, ref)
        return Looked(layer="journal", found=page, connections=page.connections)
    node = inspect_node(project, ref)
    return Looked(layer="graph", found=node, connections=connections(project, node.node.node.id))


def inspect_node(project: Project, ref: str) -> Inspected:
    """One node in full."""
    from quire.layers.graph import inspect as graph
    from quire.layers.graph.source import node_record
    from quire.upkeep.verdicts import Verdicts

    project.ready()
    found = graph.inspect_node(project.graph, project.graph_id(ref))
    record = node_record(found.node)
    found.verdict = Verdicts(project.root, project.git)([record])[record.ref]
    return found


def _node_meant(project: Project, word: str, error: NotFound) -> str:
    """The one node with this slug; else the error says which nodes are near."""
    from quire.layers.graph.inspect import similar_ids

    near = similar_ids(project.graph, word)
    same = [node_id for node_id in near if slug_of(node_id) == word]
    if len(same) == 1:
        return same[0]
    if near:
        error.hint = f"Did you mean {' or '.join(same or near)}?"
        error.details["similar"] = same or near
    raise error


def product_map_page(project: Project) -> str:
    """The product in a page: features by stage, what was decided, what is open."""
    project.ready()
    return project.product_map()
