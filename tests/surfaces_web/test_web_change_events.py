"""Who listens is told of changes; one look for all of them, and none while nobody listens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from quire.model.errors import NotFound
from quire.surfaces.web import change_events as module
from quire.surfaces.web.change_events import ChangeEvents


class CountingDesk:
    """Calls of a page that count how often somebody looks, and say what they were told to say."""

    def __init__(self) -> None:
        self.looks = 0
        self.state = "one"
        self.is_gone = False

    def version(self, _name: str, *, at_once: bool = False) -> str:
        self.looks += 1
        if self.is_gone:
            raise NotFound("gone", hint="")
        return self.state

    async def work(self, job: Any) -> Any:
        await asyncio.sleep(0)
        return job()

    async def look(self, name: str) -> str:
        return await self.work(lambda: self.version(name, at_once=True))


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.005)
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.2)


async def heard(stream: AsyncIterator[bytes]) -> str:
    """The next state that is told."""
    async with asyncio.timeout(10):
        async for part in stream:
            if part.startswith(b"data: "):
                assert part.endswith(b"\n\n")
                return str(json.loads(part[6:])["version"])
    raise AssertionError("the stream ended")


def test_nobody_looks_while_nobody_listens() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        await asyncio.sleep(0.05)
        assert page_calls.looks == 0
        stream = events.listen("p")
        assert await heard(stream) == "one"
        while page_calls.looks < 3:
            await asyncio.sleep(0.005)
        await stream.aclose()
        await asyncio.sleep(0.02)
        looks = page_calls.looks
        await asyncio.sleep(0.1)
        assert page_calls.looks == looks
        assert not events.is_full

    asyncio.run(story())


def test_a_change_is_told_to_everybody_once() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        streams = [events.listen("p") for _ in range(3)]
        assert [await heard(stream) for stream in streams] == ["one"] * 3
        page_calls.state = "two"
        assert [await heard(stream) for stream in streams] == ["two"] * 3
        page_calls.state = "three"
        assert [await heard(stream) for stream in streams] == ["three"] * 3
        for stream in streams:
            await stream.aclose()

    asyncio.run(story())


def test_one_look_for_all() -> None:
    async def story(listeners: int) -> float:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        streams = [events.listen("p") for _ in range(listeners)]
        for stream in streams:
            await heard(stream)
        first = page_calls.looks
        await asyncio.sleep(0.2)
        for stream in streams:
            await stream.aclose()
        return float(page_calls.looks - first)

    assert asyncio.run(story(20)) <= 41, "at most one in each pause, however many listen"


def test_what_happens_between_the_first_word_and_the_watch_is_not_missed() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        stream = events.listen("p")
        assert await anext(stream) == b": quire\n\n"
        assert await heard(stream) == "one"
        page_calls.state = "two"
        assert await heard(stream) == "two"
        await stream.aclose()

    asyncio.run(story())


def test_a_project_that_goes_and_comes_back() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        stream = ChangeEvents(page_calls).listen("p")
        assert await heard(stream) == "one"
        page_calls.is_gone = True
        assert await heard(stream) == "gone"
        page_calls.is_gone = False
        assert await heard(stream) == "one"
        await stream.aclose()

    asyncio.run(story())


def test_who_is_slow_hears_how_it_is_now() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        stream = events.listen("p")
        await heard(stream)
        for number in range(50):
            events.tell("p", f"state {number}")
        told = [await heard(stream) for _ in range(8)]
        assert told[-1] == "state 49"
        await stream.aclose()

    asyncio.run(story())


def test_silence_is_broken_now_and_then() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        stream = ChangeEvents(page_calls).listen("p")
        await heard(stream)
        async with asyncio.timeout(10):
            assert await anext(stream) == b": still here\n\n"
        await stream.aclose()

    asyncio.run(story())


def test_projects_are_told_apart() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        one, other = events.listen("p"), events.listen("q")
        assert [await heard(one), await heard(other)] == ["one", "one"]
        events.tell("p", "only p")
        assert await heard(one) == "only p"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await heard(other)
        await one.aclose()

    asyncio.run(story())


def test_there_is_an_end_to_listeners() -> None:
    async def story() -> None:
        page_calls: Any = CountingDesk()
        events = ChangeEvents(page_calls)
        streams = [events.listen("p") for _ in range(64)]
        for stream in streams:
            assert not events.is_full
            await heard(stream)
        assert events.is_full
        await streams.pop().aclose()
        assert not events.is_full
        for stream in streams:
            await stream.aclose()

    asyncio.run(story())
