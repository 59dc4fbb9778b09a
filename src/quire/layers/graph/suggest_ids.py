"""What somebody meant who names a node that is not there."""

from __future__ import annotations

from difflib import get_close_matches

from quire.layers.graph.store import GraphStore, StoredNode
from quire.model.ids import kind_of, slug_of


def hint_for(store: GraphStore, node_id: str) -> str:
    """What to tell somebody who names a node that is not there: what became of it, or what was meant."""
    gone = store.deletion_of(node_id)
    if gone is not None:
        return f"It was deleted on {gone.timestamp[:10]}: {gone.reason or 'no reason given'}."
    similar = similar_ids(store, node_id)
    return f"Did you mean {' or '.join(similar)}?" if similar else "`memory status` lists what there is."


def similar_ids(store: GraphStore, node_id: str) -> list[str]:
    """Ids that a mistyped one may have meant, by the names of the files."""
    slugs = {path: path.rpartition("/")[2].removesuffix(".json").rpartition(".")[2] for path in store.node_paths()}
    wanted = slug_of(node_id) or node_id
    close = get_close_matches(wanted, set(slugs.values()), n=3, cutoff=0.6)
    read = [store.read_node(path) for path, slug in slugs.items() if slug in close]
    found = [stored.node.id for stored in read if isinstance(stored, StoredNode)]
    return sorted(found, key=lambda other: (slug_of(other) != wanted, kind_of(other) != kind_of(node_id), other))[:3]
