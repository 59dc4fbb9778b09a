"""Lock the graph for writing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from quire.files import write_access as folder_access
from quire.files.world import World
from quire.layers.graph.layout import BACKUP, FOLDER
from quire.layers.graph.store import GraphStore


def write_access(store: GraphStore, world: World, operation: str) -> AbstractContextManager[None]:
    """Hold the graph's lock."""
    return folder_access.write_access(store.root, FOLDER, world, operation, written=(BACKUP,))
