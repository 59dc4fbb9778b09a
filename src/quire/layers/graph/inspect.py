"""Look up one node with its relations; suggest similar ids for a wrong one."""

from __future__ import annotations

import msgspec

from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode, StoredRelation
from quire.model.change_explained import ChangeExplained
from quire.model.errors import NotFound
from quire.model.ids import kind_of, slug_of
from quire.model.text import cut
from quire.model.verdicts import Verdict


class Inspected(msgspec.Struct, kw_only=True):
    """A node, what it relates to, and what relates to it."""

    node: StoredNode
    outgoing: list[StoredRelation]
    incoming: list[StoredRelation]
    verdict: Verdict | None = None
    """Whether it is up to date; None where nobody looked."""
    changes: list[ChangeExplained] = []
    """What changed in its code, where it is out of date."""


def inspect_node(store: GraphStore, node_id: str) -> Inspected:
    stored = store.find_node(node_id) or found_elsewhere(store, node_id)
    if stored is None:
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


def node_meant(store: GraphStore, slug: str) -> str:
    """The id of the one node with this slug; else the error says which nodes are near."""
    near = similar_ids(store, slug)
    same = [node_id for node_id in near if slug_of(node_id) == slug]
    if len(same) == 1:
        return same[0]
    raise NotFound(
        f"There is no record `{cut(slug, 60)}`." if not same else f"`{cut(slug, 60)}` is the name of several records.",
        hint=f"Did you mean {' or '.join(same or near)}?"
        if near
        else "`memory list` shows what is recorded, `memory query` searches it.",
        details={"id": cut(slug, 200), **({"similar": same or near} if near else {})},
    )


def found_elsewhere(store: GraphStore, node_id: str) -> StoredNode | None:
    """A node whose file does not have the name its id asks for."""
    stored = (store.read_node(path) for path in store.node_paths())
    return next((found for found in stored if isinstance(found, StoredNode) and found.node.id == node_id), None)


def hint_for(store: GraphStore, node_id: str) -> str:
    """What to tell someone who names a node that is not there: what became of it, or what was meant."""
    gone = store.deletion_of(node_id)
    if gone is not None:
        return f"It was deleted on {gone.timestamp[:10]}: {gone.reason or 'no reason given'}."
    similar = similar_ids(store, node_id)
    return f"Did you mean {' or '.join(similar)}?" if similar else "`memory list` lists all records."


def similar_ids(store: GraphStore, node_id: str) -> list[str]:
    """Ids that a mistyped one may have meant, by the names of the files."""
    from difflib import get_close_matches  # costs a cold command; needed only after a mistyped id

    slugs = {path: path.rpartition("/")[2].removesuffix(".json").rpartition(".")[2] for path in store.node_paths()}
    wanted = slug_of(node_id) or node_id
    close = get_close_matches(wanted, set(slugs.values()), n=3, cutoff=0.6)
    read = [store.read_node(path) for path, slug in slugs.items() if slug in close]
    found = [stored.node.id for stored in read if isinstance(stored, StoredNode)]
    return sorted(found, key=lambda other: (slug_of(other) != wanted, kind_of(other) != kind_of(node_id), other))[:3]
