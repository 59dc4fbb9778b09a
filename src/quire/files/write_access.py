"""Lock a folder for writing; an earlier writer's interrupted transaction is completed first.

And the other side of it: who reads many files sees them as they were at one moment. Nobody is kept waiting for that at
first. A writer makes its lock in the folder and takes it away, so the folder's own time says whether one was there.
Only a reader that was overtaken again and again takes the lock itself, and writers wait for it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

from quire.files.durable_write import ensure_folder
from quire.files.file_lock import PAUSE_SECONDS, Holder, held
from quire.files.layout import LOCK, RECOVERY
from quire.files.paths import inside, storage_failed
from quire.files.transaction import finish_interrupted, is_interrupted
from quire.files.world import World
from quire.model.errors import LockBusy, OutsideProject, StorageFailed
from quire.model.times import timestamp

_SETTLE_SECONDS = 2.0
_STILL_PAUSE = 0.005
_LOOKS, _PAUSE_SECONDS = 3, 0.02
_TICK_NS = 10_000_000
"""File systems distinguish times that are a few milliseconds apart; what may have changed within one is not trusted."""
_held: ContextVar[frozenset[str]] = ContextVar("held", default=frozenset())
"""The locks that whoever asks holds already."""
Result = TypeVar("Result")


class LockedFolder(NamedTuple):
    """A folder of ours, and the name of its lock."""

    root: str
    folder: str
    lock: str = LOCK

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.folder)


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
    pause: float = PAUSE_SECONDS,
) -> Iterator[None]:
    """Hold the lock of `root`/`folder`. Whatever the disk refuses inside becomes an error a person can read.

    `written` names what else in the folder may be written to, and so may not be a link. A lock with a name of its own
    is one that other programs take, too: its file stays, and nothing is ever appended in the folder. Who holds the lock
    already goes on with it.
    """
    path = os.path.join(root, folder)
    if os.path.join(path, lock) in _held.get():
        yield
        return
    if os.path.islink(path):
        raise OutsideProject(
            f"`{path}` is a symbolic link; Quire does not write through links.",
            hint="Replace the link with a real folder.",
        )
    for name in (RECOVERY, *written):
        inside(path, name)
    holder = Holder(pid=world.pid, operation=operation, created_at=timestamp(world.now()))
    wait = world.lock_seconds if seconds is None else seconds
    try:
        ensure_folder(path)
        with held(os.path.join(path, lock), holder, wait, world.sleep, keep=lock != LOCK, pause=pause):
            recovery = os.path.join(path, RECOVERY)
            if is_interrupted(recovery):
                finish_interrupted(path, recovery, logs=lock == LOCK)
            before = _held.set(_held.get() | {os.path.join(path, lock)})
            try:
                yield
            finally:
                _held.reset(before)
    except OSError as error:
        raise storage_failed(error, operation, root) from error


def recover_folder(root: str, folder: str, world: World, written: Sequence[str] = (), lock: str = LOCK) -> None:
    """Before a read: complete what a dead writer left. A living one, or a read-only disk, is left alone."""
    if is_interrupted(os.path.join(root, folder, RECOVERY)):
        with (
            contextlib.suppress(LockBusy, StorageFailed, OutsideProject),
            write_access(root, folder, world, "recover", seconds=_SETTLE_SECONDS, written=written, lock=lock),
        ):
            pass


def in_one_state(read: Callable[[], Result], world: World, places: Sequence[LockedFolder]) -> Result:
    """Call `read` until no writer of ours changed these folders meanwhile; return its result.

    A writer that does not end is waited for as long as another writer would wait; then what is there is read.
    """
    places = [place for place in places if os.path.isdir(place.path) and not os.path.islink(place.path)]
    for _ in range(_LOOKS):
        before = [_moment(place) for place in places]
        if None not in before:
            found = read()
            if before == [_moment(place) for place in places]:
                return found
        world.sleep(_PAUSE_SECONDS)
    with standing_still(world, places, world.lock_seconds):
        return read()


@contextlib.contextmanager
def standing_still(world: World, places: Sequence[LockedFolder], seconds: float = _SETTLE_SECONDS) -> Iterator[None]:
    """Writers wait meanwhile, as far as that can be had: not on a read-only disk, nor from one that does not stop."""
    with contextlib.ExitStack() as stack:
        for root, folder, lock in places:
            with contextlib.suppress(LockBusy, StorageFailed, OutsideProject):
                # A writer that saves in a row is between two saves for a moment only.
                access = write_access(root, folder, world, "read", seconds=seconds, lock=lock, pause=_STILL_PAUSE)
                stack.enter_context(access)
        yield


def _moment(place: LockedFolder) -> tuple[int, int] | None:
    """The same as before if nobody wrote in between; None while someone does, or a moment ago did."""
    path = place.path
    recovery, lock = os.path.join(path, RECOVERY), os.path.join(path, place.lock)
    try:
        found = tuple(os.stat(name).st_mtime_ns if os.path.isdir(name) else 0 for name in (path, recovery))
        is_locked = lock not in _held.get() and os.path.lexists(lock) and os.stat(lock).st_size > 0
    except OSError:
        return None
    if is_locked or is_interrupted(recovery) or 0 <= time.time_ns() - max(found) < _TICK_NS:
        return None
    return found[0], found[1]
