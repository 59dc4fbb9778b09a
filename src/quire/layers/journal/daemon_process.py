"""Start and stop the automation's process; the caller gives the command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from time import monotonic

import msgspec

from quire.files import daemons
from quire.files.local_files import ensure_local
from quire.files.paths import storage_failed
from quire.files.world import World
from quire.layers.journal import daemon
from quire.layers.journal.daemon_owner import (
    PAUSE_SECONDS,
    DaemonOwner,
    clear_stale,
    find_owner,
    lock_holder,
    stale_pid,
)
from quire.layers.journal.layout import FOLDER, LOCAL
from quire.layers.journal.store import load_config
from quire.model.errors import Conflict, QuireError

_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
_KILL_SECONDS = 5.0


class StartedDaemon(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    started: bool = True
    """False where it ran already."""


class StoppedDaemon(msgspec.Struct, frozen=True, kw_only=True):
    pid: int | None
    stopped: bool
    """False where none ran; then `pid` is the one that had left its files behind, if any."""
    killed: bool = False


def start_daemon(root: str, world: World, command: Sequence[str], *, seconds: float = _START_SECONDS) -> StartedDaemon:
    """Start the process, unless one runs, and wait for its first sign of life."""
    found = find_owner(root, world)
    if found is not None:
        return StartedDaemon(pid=found.pid, started=False)
    load_config(root)  # one that cannot be read is reported now, and not in a log
    try:
        daemon.ensure_automation(root)
        ensure_local(root, FOLDER, world.token())
        child = daemons.Child(command, cwd=root, env=world.env)
    except OSError as error:
        raise storage_failed(error, "start the automation", root) from error
    return _awaited(root, world, child, seconds)


def _awaited(root: str, world: World, child: daemons.Child, seconds: float) -> StartedDaemon:
    """Wait until it gives a sign of life. What gives none in time is ended, so that nothing runs unseen."""
    until = monotonic() + seconds
    while monotonic() < until:
        found = find_owner(root, world)
        if found is not None and found.pid == child.pid and found.said is not None:
            child.let_go()
            return StartedDaemon(pid=child.pid)
        if child.code is not None:
            said = child.last_line
            child.end()
            if found is not None and found.pid != child.pid:
                return StartedDaemon(pid=found.pid, started=False)  # someone else was faster
            raise _not_started(root, f"it ended with {child.code}", said)
        world.sleep(PAUSE_SECONDS)
    said = child.last_line
    child.end(1.0)
    clear_stale(root, world)
    raise _not_started(root, f"it did not respond within {seconds:.0f} s, and was stopped", said)


def _not_started(root: str, how: str, said: str) -> QuireError:
    logged = daemon.last_logged(root)
    why = said.removeprefix("error: ") or (logged[-1] if logged else "")
    return QuireError(
        f"The automation could not be started: {how}." + (f" It said: {why}" if why else ""),
        hint=f"`{FOLDER}/{LOCAL}/{daemon.LOG}` may say more. `memory journal automate run-once` needs no process.",
    )


def stop_daemon(root: str, world: World) -> StoppedDaemon:
    """End the process that keeps the journal. No other process is ever sent a signal."""
    found = find_owner(root, world)
    if found is None:
        stale = stale_pid(root)
        clear_stale(root, world)
        return StoppedDaemon(pid=stale, stopped=False)
    if not found.kernel:
        raise Conflict(
            f"Process {found.pid}, which maintains this journal, was started by another program.",
            hint=f"Stop it with that program, or with `kill {found.pid}`.",
            details={"pid": found.pid},
        )
    if not found.is_here:
        raise Conflict(
            f"Process {found.pid} here is not the one that maintains this journal.",
            hint="That one may run in a container, or on another machine that shares the disk: stop it there.",
            details={"pid": found.pid},
        )
    killed = not _ended(root, world, found, signal.SIGTERM, _STOP_SECONDS)
    if killed and not _ended(root, world, found, signal.SIGKILL, _KILL_SECONDS):
        raise Conflict(
            f"Process {found.pid} does not stop.",
            hint="It may wait for a disk that does not answer. Try again later.",
            details={"pid": found.pid},
        )
    clear_stale(root, world)
    return StoppedDaemon(pid=found.pid, stopped=True, killed=killed)


def _ended(root: str, world: World, found: DaemonOwner, number: int, seconds: float) -> bool:
    """Whether it is gone within so many seconds of a signal."""
    is_still = _still_owns(root, world, found.pid)
    try:
        daemons.send_signal(found.pid, number, is_still)
    except PermissionError:
        raise Conflict(
            f"Process {found.pid}, which maintains this journal, belongs to another user.",
            hint="Only that user can stop it.",
            details={"pid": found.pid},
        ) from None
    until = monotonic() + seconds
    while is_still():
        if monotonic() >= until:
            return False
        world.sleep(PAUSE_SECONDS)
    return True


def _still_owns(root: str, world: World, pid: int) -> Callable[[], bool]:
    def is_still() -> bool:
        lock = lock_holder(root, world)
        return lock is not None and lock.pid == pid

    return is_still
