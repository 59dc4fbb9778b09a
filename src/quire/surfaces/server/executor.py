"""Run a server's work on threads: reads in parallel, writes to one project in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from quire.model.decoder_lock import make_decoding_thread_safe
from quire.model.errors import LockBusy

Result = TypeVar("Result")

READERS = 4
"""Questions are mostly work for one processor; a few at a time keep every core and no more busy."""
_WRITE_LANES = 4
PENDING_MOST = 4096


class Executor:
    """The threads of one server; they are started when they are first needed."""

    def __init__(self) -> None:
        make_decoding_thread_safe()
        self._lanes: dict[int, ThreadPoolExecutor] = {}
        self._idle = threading.Condition()
        self._pending = 0
        self._writing = 0
        self._closing = threading.Event()

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def submit(self, job: Callable[[], Result], *, writes_to: str | None = None) -> Future[Result]:
        """Run a job, and say to which project it writes; raises `LockBusy` where too many wait already."""
        lane = 0 if writes_to is None else 1 + hash(writes_to) % _WRITE_LANES
        with self._idle:
            if self._pending >= PENDING_MOST:
                raise LockBusy("Too many calls are waiting.", hint="Wait for some answers, then ask again.")
            self._pending += 1
            pool = self._lanes.get(lane)
            if pool is None:
                pool = self._lanes[lane] = ThreadPoolExecutor(READERS if lane == 0 else 1)
        future = pool.submit(job) if lane == 0 else pool.submit(self._write, job)
        future.add_done_callback(self._done)
        return future

    def _write(self, job: Callable[[], Result]) -> Result:
        with self._idle:
            self._writing += 1
        try:
            return job()
        finally:
            with self._idle:
                self._writing -= 1
                self._idle.notify_all()

    def _done(self, _: Future[Any]) -> None:
        with self._idle:
            self._pending -= 1

    def finish_writes(self, seconds: float) -> None:
        """The server ends: wait so long for what is being written. Whoever waits for a lock asks `is_closing`."""
        self._closing.set()
        with self._idle:
            self._idle.wait_for(lambda: self._writing == 0, seconds)

    def close(self) -> None:
        """Begin nothing more, and complete what is being written."""
        for lane, pool in sorted(self._lanes.items()):
            pool.shutdown(wait=lane != 0, cancel_futures=True)
