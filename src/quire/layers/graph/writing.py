"""The right to write to a graph."""

from __future__ import annotations

from contextlib import AbstractContextManager

from quire.files import write_access as folder_access
from quire.files.world import World
from quire.files.write_access import recover_folder
from quire.layers.graph.layout import BACKUP, FOLDER
from quire.layers.graph.store import GraphStore


def write_access(store: GraphStore, world: World, operation: str) -> AbstractContextManager[None]:
    """Hold the graph's lock."""
    return folder_access.write_access(store.root, FOLDER, world, operation, written=(BACKUP,))


def settle(store: GraphStore, world: World) -> None:
    """Before a read: complete what a dead writer left."""
    recover_folder(store.root, FOLDER, world, written=(BACKUP,))
