"""The right to write to a folder of ours: its lock, and an earlier writer's unfinished work completed first."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

from quire.files.durable import ensure_folder
from quire.files.lock import Holder, held
from quire.files.paths import inside, storage_failed
from quire.files.transaction import finish_interrupted, is_interrupted
from quire.files.world import World
from quire.model import LockBusy, OutsideProject, StorageFailed, timestamp

LOCK = ".lock"
RECOVERY = "recovery"
"""Where transactions are staged, and what they had to set aside is kept."""
LOCAL = "local"
"""What belongs to this machine and this user alone: pins, times of reading, notes, checkpoints. Git ignores it."""
_SETTLE_SECONDS = 2.0

__all__ = ["LOCAL", "LOCK", "RECOVERY", "settle_folder", "write_access"]


@contextlib.contextmanager
def write_access(
    root: str,
    folder: str,
    world: World,
    operation: str,
    *,
    seconds: float | None = None,
    written: Sequence[str] = (),
    lock: str = LOCK,
) -> Iterator[None]:
    """Hold the lock of `root`/`folder`. Whatever the disk refuses inside becomes an error a person can read.

    `written` names what else in the folder may be written to, and so may not be a link. A lock with a name of its own
    is one that other programs take, too: its file stays, and nothing is ever appended in the folder.
    """
    path = os.path.join(root, folder)
    if os.path.islink(path):
        raise OutsideProject(
            f"`{path}` is a symbolic link; nothing is written through it.",
            hint="Replace the link by a real folder.",
        )
    for name in (RECOVERY, *written):
        inside(path, name)
    holder = Holder(pid=world.pid, operation=operation, created_at=timestamp(world.now()))
    wait = world.lock_seconds if seconds is None else seconds
    try:
        ensure_folder(path)
        with held(os.path.join(path, lock), holder, wait, world.sleep, keep=lock != LOCK):
            recovery = os.path.join(path, RECOVERY)
            if is_interrupted(recovery):
                finish_interrupted(path, recovery, logs=lock == LOCK)
            yield
    except OSError as error:
        raise storage_failed(error, operation, root) from error


def settle_folder(root: str, folder: str, world: World, written: Sequence[str] = (), lock: str = LOCK) -> None:
    """Before a read: complete what a dead writer left. A living one, or a read-only disk, is left alone."""
    if is_interrupted(os.path.join(root, folder, RECOVERY)):
        with (
            contextlib.suppress(LockBusy, StorageFailed, OutsideProject),
            write_access(root, folder, world, "recover", seconds=_SETTLE_SECONDS, written=written, lock=lock),
        ):
            pass
