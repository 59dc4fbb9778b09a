"""Tell which process runs the automation: ours, which holds the kernel lock, or the original program's."""

from __future__ import annotations

import contextlib
from time import monotonic

import msgspec

from quire.files import daemons
from quire.files.world import World
from quire.layers.journal import daemon
from quire.layers.journal.layout import FOLDER, PROCESS_START
from quire.layers.journal.types import Daemon, DaemonLock
from quire.model.errors import Conflict

PAUSE_SECONDS = 0.02
_DAEMON_WORDS = ("automate", "__daemon")
"""With which the original program starts its own."""


class DaemonOwner(msgspec.Struct, frozen=True, kw_only=True):
    """The process that keeps the journal."""

    pid: int
    kernel: bool
    """Whether it holds the kernel's lock, as ours do."""
    is_here: bool = True
    """Whether the process of this number is really it. One in a container has another number outside."""
    said: Daemon | None = None
    """What it says of itself."""


def find_owner(root: str, world: World) -> DaemonOwner | None:
    """The process that keeps the journal, if one does: the kernel's lock says so. A number in a file proves nothing."""
    said = daemon.read_keeper(root)
    lock = lock_holder(root, world)
    if lock is None:
        for named in (daemon.read_lock(root), said):
            if named is not None and is_another_programs(named.pid, world):
                is_its = said is not None and said.pid == named.pid
                return DaemonOwner(pid=int(named.pid), kernel=False, said=said if is_its else None)
        return None
    if said is not None and said.pid != lock.pid:
        said = None
    return DaemonOwner(pid=int(lock.pid), kernel=True, is_here=_is_here(world, lock, said), said=said)


def is_another_programs(pid: object, world: World) -> bool:
    """Whether a process that holds no lock of the kernel keeps the journal all the same: the original program's does.

    What nobody can tell counts as one, where a process of that number runs.
    """
    if not daemons.is_process_id(pid) or pid == world.pid:
        return False
    number = int(str(pid))
    if not daemons.process_mark(number, world.env):
        return False
    words = daemons.command_line(number, world.env)
    return words is None or all(word in words for word in _DAEMON_WORDS)


def _is_here(world: World, lock: DaemonLock, said: Daemon | None) -> bool:
    if not daemons.is_process_id(lock.pid):
        return False
    mark = said.extra.get(PROCESS_START) if said is not None else None
    if mark:
        return daemons.process_mark(int(lock.pid), world.env) == str(mark)
    return "automate" in (daemons.command_line(int(lock.pid), world.env) or ())


def lock_holder(root: str, world: World) -> DaemonLock | None:
    """What the holder of the kernel's lock says of itself; None where nobody holds it."""
    until = monotonic() + 1.0
    while True:
        data = daemons.holder_of(daemon.lock_path(root))
        if data is None:
            return None
        found = daemon.parsed_lock(data)
        if found is not None:
            return found
        if monotonic() > until:  # it has just been taken: who took it says so at once
            raise Conflict(
                "The lock of this journal's automation is held by an unknown process.",
                hint=f"`lsof {FOLDER}/automation/daemon.lock` may show it.",
            )
        world.sleep(PAUSE_SECONDS)


def hold_lock(root: str, world: World) -> daemons.Hold | None:
    """The lock of the process that keeps the journal; None where another has it, be it of another program."""

    def is_respected(data: bytes) -> bool:
        found = daemon.parsed_lock(data)
        return found is not None and is_another_programs(found.pid, world)

    return daemons.hold(daemon.lock_path(root), is_respected, world.sleep)


def stale_pid(root: str) -> int | None:
    """The process that left its files, though it does not keep the journal any more."""
    named = daemon.read_lock(root) or daemon.read_keeper(root)
    return int(named.pid) if named is not None else None


def clear_stale(root: str, world: World) -> None:
    """Remove what a process that no longer runs has left; only while nobody holds the lock."""
    if not daemon.has_files(root):
        return
    with contextlib.suppress(OSError):
        lock = hold_lock(root, world)
        if lock is not None:
            try:
                daemon.remove_keeper(root)
            finally:
                lock.release()
