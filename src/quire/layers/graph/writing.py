"""The right to write to a graph: its lock, and an earlier writer's unfinished work completed first."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from quire.files import Holder, World, ensure_folder, finish_interrupted, held, is_interrupted, storage_failed
from quire.layers.graph.layout import BACKUP, LOCK, RECOVERY
from quire.layers.graph.store import GraphStore
from quire.model import LockBusy, OutsideProject, StorageFailed, timestamp

_SETTLE_SECONDS = 2.0

__all__ = ["settle", "write_access"]


@contextlib.contextmanager
def write_access(store: GraphStore, world: World, operation: str, seconds: float | None = None) -> Iterator[None]:
    """Hold the graph's lock. Whatever the disk refuses inside becomes an error a person can read."""
    if os.path.islink(store.folder):
        raise OutsideProject(
            f"`{store.folder}` is a symbolic link; nothing is written through it.",
            hint="Replace the link by a real folder.",
        )
    for name in (RECOVERY, BACKUP):
        store.path(name)  # refused where it is a link: these, too, are written to
    holder = Holder(pid=world.pid, operation=operation, created_at=timestamp(world.now()))
    wait = world.lock_seconds if seconds is None else seconds
    try:
        ensure_folder(store.folder)
        with held(os.path.join(store.folder, LOCK), holder, wait, world.sleep):
            recovery = os.path.join(store.folder, RECOVERY)
            if is_interrupted(recovery):
                finish_interrupted(store.folder, recovery)
            yield
    except OSError as error:
        raise storage_failed(error, operation, store.root) from error


def settle(store: GraphStore, world: World) -> None:
    """Before a read: complete what a dead writer left. A living one, or a read-only disk, is left alone."""
    if is_interrupted(os.path.join(store.folder, RECOVERY)):
        with (
            contextlib.suppress(LockBusy, StorageFailed, OutsideProject),
            write_access(store, world, "recover", _SETTLE_SECONDS),
        ):
            pass
