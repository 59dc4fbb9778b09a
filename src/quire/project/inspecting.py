"""One record of any layer by its ref, however the ref was copied from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.layers.profile.layout import CATEGORIES
from quire.model.errors import NotFound
from quire.model.ids import slug_of
from quire.model.words import JOURNAL_KINDS, KINDS
from quire.project.fact_overview import FactOverview
from quire.project.journal_asking import JournalAsking
from quire.project.profile_asking import ProfileAsking

if TYPE_CHECKING:
    from quire.layers.graph.inspect import Inspected
    from quire.project.fact_overview import FactInspected
    from quire.project.fact_results import ConnectionView
    from quire.project.journal_results import InspectedJournal
    from quire.project.profile_results import EntryConnections

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


class Inspecting(FactOverview, ProfileAsking, JournalAsking):
    """Looking at one record."""

    def inspect_any(self, ref: str) -> Looked:
        """One record in full, whichever layer holds it; a slug alone is enough where only one node has it."""
        word, ref = ref.strip(), full_ref(ref)
        prefix = ref.partition(":")[0]
        if prefix in ("fact", "episode"):
            try:
                fact = self.inspect_fact(ref)
            except NotFound as error:
                if ref != f"fact:{word}":
                    raise
                return self.inspect_any(self._node_meant(word, error))
            return Looked(layer="facts", found=fact, connections=fact.connections)
        if prefix == "profile":
            entry = self.profile_inspect(ref)
            return Looked(layer="profile", found=entry, connections=self.connections(entry.entry.ref))
        if prefix in JOURNAL_KINDS:
            page = self.journal_inspect(ref)
            return Looked(layer="journal", found=page, connections=page.connections)
        node = self.inspect(ref)
        return Looked(layer="graph", found=node, connections=self.connections(node.node.node.id))

    def _node_meant(self, word: str, error: NotFound) -> str:
        """The one node with this slug; else the error says which nodes are near."""
        from quire.layers.graph.suggest_ids import similar_ids

        near = similar_ids(self.graph, word)
        same = [node_id for node_id in near if slug_of(node_id) == word]
        if len(same) == 1:
            return same[0]
        if near:
            error.hint = f"Did you mean {' or '.join(same or near)}?"
            error.details["similar"] = same or near
        raise error

    def map(self) -> str:
        """The product in a page: features by stage, what was decided, what is open."""
        self._ready()
        return self._map()
