"""Locks of this machine, in the `local/` of a layer's folder: one process at a time does a thing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from quire.files.file_lock import Holder, held
from quire.files.local_files import ensure_local, place_of
from quire.files.paths import inside
from quire.files.world import World
from quire.model.errors import LockBusy
from quire.model.times import timestamp


@contextlib.contextmanager
def local_lock(
    root: str, folder: str, name: str, operation: str, world: World, seconds: float, *, keep: bool = True
) -> Iterator[None]:
    """Hold this lock; LockBusy where another process still has it after so many seconds."""
    ensure_local(root, folder, world.token())
    path = inside(root, place_of(folder, name))
    holder = Holder(pid=world.pid, operation=operation, created_at=timestamp(world.now()))
    with held(path, holder, seconds, world.sleep, keep=keep):
        yield


@contextlib.contextmanager
def alone(root: str, folder: str, name: str, operation: str, world: World) -> Iterator[bool]:
    """Whether no other process is at it, and none will begin meanwhile; nobody waits for the other."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(local_lock(root, folder, name, operation, world, 0.0))
        except LockBusy:
            yield False
            return
        yield True
