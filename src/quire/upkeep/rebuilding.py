"""The index made from nothing, and what it then holds."""

from __future__ import annotations

import os

import msgspec

from quire.index import Progress, rebuild_index
from quire.layers.graph import GraphSource, GraphStore
from quire.layers.graph.layout import FOLDER, INDEX

__all__ = ["Rebuilt", "rebuild_memory"]


class Rebuilt(msgspec.Struct, kw_only=True):
    """What the new index holds, and the files that it could not read."""

    records: int
    edges: int
    vectors: dict[str, int]
    """How many passages have a vector in which space."""
    unreadable: list[str]


def rebuild_memory(
    store: GraphStore,
    source: GraphSource,
    progress: Progress | None = None,
    *,
    semantic: str | None = None,
    taught: Progress | None = None,
) -> Rebuilt:
    folder = os.path.join(store.folder, INDEX)
    index = rebuild_index(folder, [source], progress, semantic=semantic, taught=taught)
    try:
        return Rebuilt(
            records=sum(index.counts("graph").values()),
            edges=index.edge_count("graph"),
            vectors=index.spaces(),
            unreadable=[f"{FOLDER}/{path}" for _, path, _, _ in index.problems()],
        )
    finally:
        index.close()
