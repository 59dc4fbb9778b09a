"""Run the automation: a cycle every few minutes, a heartbeat in between, a clean end.

Each cycle is a process of its own, so whatever a cycle needs is given back after it, and a cycle that dies or hangs
takes nobody along. This one holds the lock, waits, and looks whether it should still be there: it ends by itself when
it was asked to stop, after a day, when the journal has gone, when another has taken its place, or when nothing but
failures came of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

import msgspec

from quire.files import daemons
from quire.files.world import World
from quire.layers.journal import daemon
from quire.layers.journal.daemon_owner import hold_lock
from quire.layers.journal.layout import FOLDER, PROCESS_START, STATE
from quire.layers.journal.settings import read_config
from quire.layers.journal.store import load_config
from quire.layers.journal.types import Daemon
from quire.model.errors import Conflict, QuireError
from quire.model.times import time_text

_QUICKEST_SECONDS = 1.0
NEXT = "nextRunAt"
LAST = "endsAt"


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How long, in seconds, and how often in a row."""

    life: float = 24 * 3600.0
    beat: float = 45.0
    cycle: float = 3600.0
    failures: int = 20


class DaemonLoop:
    """The loop of that process."""

    def __init__(self, root: str, world: World, cycle: Sequence[str], bounds: Bounds) -> None:
        self._root = root
        self._world = world
        self._cycle = cycle
        self._bounds = bounds
        self._started_at = self._time()
        self._mark = daemons.process_mark(world.pid, world.env)
        self._config = read_config()
        self._failures = 0
        self._due = self._end = monotonic()

    def run(self) -> str:
        """Keep the journal until there is a reason to end, and say which. Conflict where another keeps it."""
        daemon.ensure_automation(self._root)
        with daemons.Life() as life:
            lock = hold_lock(self._root, self._world)
            if lock is None:
                raise Conflict(
                    "Another process maintains this journal.", hint="`memory journal automate status` shows it."
                )
            try:
                lock.say(daemon.lock_bytes(self._world.pid, self._started_at))
                self._end = monotonic() + self._bounds.life
                self._read_config()
                self._beat()
                daemons.go_quiet()
                self._log(f"started, process {self._world.pid}")
                reason = self._keep(life, lock)
                self._log(f"ended: {reason}")
            finally:
                self._leave(lock)
        return reason

    def _keep(self, life: daemons.Life, lock: daemons.Hold) -> str:
        while True:
            reason = self._reason_to_end(life, lock)
            if reason:
                return reason
            if monotonic() >= self._due:
                self._read_config()
                self._run_cycle(life, lock)
                self._due = monotonic() + self._interval
            else:
                self._beat()
                life.wait(min(self._pause, self._due - monotonic()))

    def _run_cycle(self, life: daemons.Life, lock: daemons.Hold) -> None:
        self._beat()
        try:
            child = daemons.Child(self._cycle, cwd=self._root, env=self._world.env)
        except OSError as error:
            self._failures += 1
            self._log(f"a cycle could not be started: {error.strerror or error}")
            return
        until = monotonic() + self._bounds.cycle
        beat_at = monotonic() + self._pause
        while not child.wait(0.25):
            if monotonic() > until:
                self._log(f"a cycle was ended after {self._bounds.cycle:.0f} s")
                break
            if life.is_over:
                break
            if monotonic() > beat_at:
                if self._reason_to_end(life, lock):
                    break
                self._beat()
                beat_at = monotonic() + self._pause
        child.end()
        if child.code:
            self._failures += 1
            self._log(f"a cycle ended with {child.code}: {child.last_line or 'no output'}")
        else:
            self._failures = 0

    def _reason_to_end(self, life: daemons.Life, lock: daemons.Hold) -> str:
        if life.is_over:
            return "it was asked to stop"
        if not os.path.lexists(os.path.join(self._root, FOLDER, STATE)):
            return "the journal was removed"
        if not lock.is_ours():
            return "its lock was removed"
        named = daemon.read_keeper(self._root)
        if named is not None and named.pid != self._world.pid:
            return f"process {named.pid} has taken its place"
        if self._failures >= self._bounds.failures:
            return f"{self._failures} cycles in a row failed"
        return "its time is up" if monotonic() >= self._end else ""

    def _leave(self, lock: daemons.Hold) -> None:
        """Nothing is left that says we are there; what another has put in its place stays."""
        named = daemon.read_keeper(self._root)
        if lock.is_ours() and (named is None or named.pid == self._world.pid):
            daemon.remove_keeper(self._root)
        lock.release()

    # -- what it says of itself -----------------------------------------------------------------

    @property
    def _interval(self) -> float:
        return max(_QUICKEST_SECONDS, float(self._config.interval_minutes) * 60.0)

    @property
    def _pause(self) -> float:
        """Between two signs of life."""
        return min(self._bounds.beat, max(self._interval / 2, _QUICKEST_SECONDS / 2))

    def _read_config(self) -> None:
        """What holds from now on; settings that cannot be read are for the cycle to tell of."""
        with contextlib.suppress(QuireError, OSError):
            self._config = load_config(self._root)

    def _beat(self) -> None:
        """A sign of life. That it cannot be written is no reason to die; that others wonder, is."""
        now = self._world.now()
        due = timedelta(seconds=max(0.0, self._due - monotonic()))
        left = timedelta(seconds=max(0.0, self._end - monotonic()))
        said = Daemon(
            pid=self._world.pid,
            started_at=self._started_at,
            last_heartbeat_at=time_text(now),
            interval_minutes=self._config.interval_minutes,
            provider=self._config.provider,
            extra={
                PROCESS_START: self._mark,
                NEXT: time_text(now + due),
                LAST: time_text(now + left),
            },
        )
        try:
            daemon.write_keeper(self._root, said, self._world.token())
        except (QuireError, OSError) as error:
            self._log(f"no sign of life could be written: {error}")

    def _log(self, text: str) -> None:
        daemon.log_line(self._root, self._time(), text)

    def _time(self) -> str:
        return time_text(self._world.now())
