"""Rebuild the index and count what it holds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quire.index.catalog import Progress
from quire.index.open_index import rebuild_index
from quire.layers.table import path_from_root
from quire.model.sources import IndexSource


class Rebuilt(msgspec.Struct, kw_only=True):
    """What the new index holds, and the files that it could not read."""

    records: int
    edges: int
    vectors: dict[str, int]
    """How many passages have a vector in which space."""
    unreadable: list[str]
    objects_indexed: int
    """Nodes of the graph alone."""
    relations_indexed: int
    """Relations of the graph alone."""
    events_indexed: int
    """Lines of the event log that can be read; the index needs none of them."""


def rebuild_memory(
    folder: str,
    sources: Sequence[IndexSource],
    progress: Progress | None = None,
    *,
    semantic: str | None = None,
    taught: Progress | None = None,
    events: int = 0,
) -> Rebuilt:
    """Build the index in a folder anew."""
    index = rebuild_index(folder, sources, progress, semantic=semantic, taught=taught)
    try:
        return Rebuilt(
            records=sum(sum(index.counts(source.layer).values()) for source in sources),
            edges=sum(index.edge_count(source.layer) for source in sources),
            vectors=index.spaces(),
            objects_indexed=sum(index.counts("graph").values()),
            relations_indexed=index.edge_count("graph"),
            events_indexed=events,
            unreadable=list(dict.fromkeys(path_from_root(layer, path) for layer, path, _, _ in index.problems())),
        )
    finally:
        index.close()
