"""One node in full, with the relations that touch it; or what was meant, or what became of it."""

from __future__ import annotations

import msgspec

from quire.layers.graph.store import GraphStore, StoredNode, StoredRelation
from quire.model.errors import NotFound
from quire.model.verdicts import Verdict


class Inspected(msgspec.Struct, kw_only=True):
    """A node, what it relates to, and what relates to it."""

    node: StoredNode
    outgoing: list[StoredRelation]
    incoming: list[StoredRelation]
    verdict: Verdict | None = None
    """Whether it is still true of the code; None where nobody looked."""


def inspect_node(store: GraphStore, node_id: str) -> Inspected:
    stored = store.find_node(node_id) or found_elsewhere(store, node_id)
    if stored is None:
        from quire.layers.graph.suggest_ids import hint_for, similar_ids

        raise NotFound(
            f"`{node_id}` is not in the memory.",
            hint=hint_for(store, node_id),
            details={"id": node_id, "similar": similar_ids(store, node_id)},
        )
    touching = sorted(store.relations_touching(node_id), key=lambda item: item.relation.id)
    return Inspected(
        node=stored,
        outgoing=[item for item in touching if item.relation.source == node_id],
        incoming=[item for item in touching if item.relation.source != node_id],
    )


def found_elsewhere(store: GraphStore, node_id: str) -> StoredNode | None:
    """A node whose file does not have the name its id asks for."""
    stored = (store.read_node(path) for path in store.node_paths())
    return next((found for found in stored if isinstance(found, StoredNode) and found.node.id == node_id), None)
