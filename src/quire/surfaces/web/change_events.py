"""Send open pages an event when something changed on disk; check nothing while no page listens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic

import msgspec

from quire.files.digests import hex_digest
from quire.model.errors import QuireError
from quire.surfaces.web.page_calls import PageCalls

_PAUSE_SECONDS = 1.0
_SHARE = 15
"""A look is followed by a pause so many times as long: a large memory is looked at less often."""
_SILENT_SECONDS = 20.0
_LISTENERS_MOST = 64


class ChangeEvents:
    """One check at a time for each project, shared by every page that listens."""

    def __init__(self, page_calls: PageCalls) -> None:
        self._calls = page_calls
        self._listeners: dict[str, set[asyncio.Queue[str]]] = {}
        self._watchers: dict[str, asyncio.Task[None]] = {}

    @property
    def is_full(self) -> bool:
        return sum(map(len, self._listeners.values())) >= _LISTENERS_MOST

    async def listen(self, project: str) -> AsyncIterator[bytes]:
        """Events of a stream, until whoever listens goes away. None where the last places went at this moment."""
        if self.is_full:
            return
        queue: asyncio.Queue[str] = asyncio.Queue(8)
        self._listeners.setdefault(project, set()).add(queue)
        try:
            yield b": quire\n\n"
            version = await self._version(project)
            # What is reported first is what later looks are compared with: no change falls in between.
            if project not in self._watchers:
                self._watchers[project] = asyncio.ensure_future(self._watch(project, version))
            yield _event(project, version)
            while True:
                try:
                    yield _event(project, await asyncio.wait_for(queue.get(), _SILENT_SECONDS))
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._listeners[project].discard(queue)
            if not self._listeners[project]:
                del self._listeners[project]
                watcher = self._watchers.pop(project, None)
                if watcher is not None:
                    watcher.cancel()

    async def _version(self, project: str, *, at_once: bool = False) -> str:
        try:
            page_calls = self._calls
            if not project:
                # The list of projects: which there are, and which of them can be opened.
                return await page_calls.work(lambda: hex_digest(repr(page_calls.projects()))[:16])
            return await page_calls.work(lambda: page_calls.version(project, at_once=at_once))
        except (QuireError, OSError):
            return "gone"

    async def _watch(self, project: str, known: str) -> None:
        pause = _PAUSE_SECONDS
        while True:
            await asyncio.sleep(pause)
            begun = monotonic()
            # Whatever goes wrong in a look, the next one may go well: whoever listens is not left alone.
            with contextlib.suppress(Exception):
                now = await self._version(project, at_once=True)
                if now != known:
                    known = now
                    self.tell(project, now)
            pause = max(_PAUSE_SECONDS, (monotonic() - begun) * _SHARE)

    async def tell_now(self, project: str) -> None:
        """Something was done here, and looked at since: everybody who listens hears of it without waiting."""
        self.tell(project, await self._version(project))

    def tell(self, project: str, version: str) -> None:
        """Something changed: say so to everybody who listens."""
        for queue in self._listeners.get(project, ()):
            while queue.full():
                queue.get_nowait()  # only how it is now matters
            queue.put_nowait(version)


def _event(project: str, version: str) -> bytes:
    return b"data: " + msgspec.json.encode({"project": project, "version": version}) + b"\n\n"
