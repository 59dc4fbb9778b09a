"""Many at once: everybody gets his own answer, nobody is held up, and nothing is left over afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import resource
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from web_serving import PageDoor, Reply, check_sealed, harbor, opened, saved_nodes

from installed import Memory

CROWD = 1_000
STREAMS = 64


@pytest.fixture(scope="module", autouse=True)
def _room() -> Iterator[None]:
    """So many connections need as many descriptors on this side as well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4_096 if hard == resource.RLIM_INFINITY else min(hard, 4_096)
    if wanted < 2_000:
        pytest.skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as place:
        memory = harbor(Path(place))
        saved_nodes(memory)
        memory.save(*({"kind": "gotcha", "title": f"Trap number {number}", "body": "x"} for number in range(50)))
        yield memory


@pytest.fixture(scope="module")
def door(memory: Memory) -> Iterator[PageDoor]:
    """As a user starts it: with as few descriptors as most systems give."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, soft), hard))
    try:
        with opened(memory) as door:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            yield door
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def at(door: PageDoor) -> str:
    return f"/api/projects/{door.get('/api/session')['project']}"


def descriptors(door: PageDoor) -> int:
    return len(os.listdir(f"/proc/{door.process.pid}/fd"))


def kilobytes(door: PageDoor) -> int:
    status = Path(f"/proc/{door.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1])


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the system does not tell of processes")


async def ask(door: PageDoor, path: str, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """One request on a connection of its own, which ends with the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    try:
        given = [("Host", door.name), ("Connection", "close"), *(headers or (door.bearer,))]
        lines = "".join(f"{name}: {value}\r\n" for name, value in given)
        writer.write(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        await writer.drain()
        said = await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    head, _, body = said.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    found = [(name, value) for name, _, value in (line.partition(": ") for line in rest)]
    return Reply(int(first.split()[1]), found, body)


def asked(number: int, at: str) -> str:
    """A mixture of everything, every fifth of them a question that nobody else asks."""
    own = f"{at}/records?text=number+{number % 50}&limit={number % 7 + 1}"
    return (
        own,
        f"{at}/record?ref=gotcha.trap-number-{number % 50}",
        f"{at}/search?q=trap+number+{number}",
        (f"{at}/today", f"{at}/map", f"{at}/graph", f"{at}/timeline", at, f"{at}/inbox")[number % 6],
        ("/", "/app.js", "/api/session", "/api/projects", f"{at}/health/files")[number % 5],
    )[number % 5]


def check_answer(number: int, path: str, reply: Reply) -> None:
    """It is the answer to that question, and to no other."""
    check_sealed(reply)
    if path in ("/", "/app.js"):
        assert reply.body[:9] == (b"<!doctype" if path == "/" else b'"use stri')
        return
    data = json.loads(reply.body)["data"]
    kind = number % 5
    if kind == 0:
        assert (
            f"Trap number {number % 50}" in [item["title"] for item in data["items"]] or number % 7 + 1 < data["total"]
        )
        assert len(data["items"]) == min(number % 7 + 1, data["total"])
    elif kind == 1:
        assert data["item"]["ref"] == f"gotcha.trap-number-{number % 50}"
    elif kind == 2:
        assert data["question"] == f"trap number {number}"
    else:
        known = {"today": "digest", "map": "stages", "graph": "refs", "timeline": "lanes", "inbox": "pending"}
        known |= {"session": "version", "projects": "projects", "files": "layers"}
        assert known.get(path.rpartition("/")[2], "kinds") in data, path


@pytest.mark.proof
@needs_proc
def test_a_thousand_at_once_are_all_answered_each_with_its_own(door: PageDoor, at: str) -> None:
    asyncio.run(_all(door, at, range(40)))
    files, size = descriptors(door), kilobytes(door)
    replies = asyncio.run(_all(door, at, range(CROWD)))
    statuses = Counter(reply.status for reply in replies)
    assert sum(statuses.values()) == CROWD
    assert set(statuses) <= {200, 429, 503}, statuses
    for number, reply in enumerate(replies):
        if reply.status == 200:
            check_answer(number, asked(number, at), reply)
        else:
            assert reply.header("retry-after")
    assert statuses[200] == CROWD, statuses
    assert until(lambda: descriptors(door) <= files + 4), (files, descriptors(door))
    assert kilobytes(door) - size < 200_000, (size, kilobytes(door))


async def _all(door: PageDoor, at: str, numbers: range) -> list[Reply]:
    async with asyncio.timeout(120):
        return await asyncio.gather(*(ask(door, asked(number, at)) for number in numbers))


# -- who listens ------------------------------------------------------------------------------------


def stream(door: PageDoor, project: str = "") -> socket.socket:
    connection = door.connect()
    lines = f"Host: {door.name}\r\n{': '.join(door.bearer)}\r\n"
    connection.sendall(f"GET /api/events?project={project} HTTP/1.1\r\n{lines}\r\n".encode())
    return connection


def begun(connection: socket.socket) -> bytes:
    """The status of an answer, and what follows until the first event is whole."""
    said = b""
    while b"data: " not in said and not said.startswith(b"HTTP/1.1 5") and not said.endswith(b"\r\n0\r\n\r\n"):
        more = connection.recv(4096)
        if not more:
            break
        said += more
    return said


@needs_proc
def test_many_may_listen_and_one_too_many_is_told_so(door: PageDoor, at: str, memory: Memory) -> None:
    project = at.rpartition("/")[2]
    before = descriptors(door)
    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(stream(door, project)) for _ in range(STREAMS)]
        for connection in listening:
            assert begun(connection).startswith(b"HTTP/1.1 200 ")
        more = door.ask(f"/api/events?project={project}")
        assert (more.status, more.error["message"]) == (503, "Too many open pages.")
        assert more.header("retry-after") == "1"
        check_sealed(more)
        assert door.ask(f"{at}/today").status == 200, "whoever asks is not held up by those who listen"
        memory.save({"kind": "gotcha", "title": "Something new", "body": "x"})
        for connection in listening:
            assert connection.recv(4096), "everybody is told"
    assert until(lambda: descriptors(door) <= before + 4), (before, descriptors(door))
    again = stream(door, project)
    with again:
        assert begun(again).startswith(b"HTTP/1.1 200 "), "their places are free again"


@needs_proc
def test_no_more_listen_than_may_however_fast_they_come(door: PageDoor, at: str) -> None:
    with contextlib.ExitStack() as stack:
        come = [stack.enter_context(stream(door, at.rpartition("/")[2])) for _ in range(4 * STREAMS)]
        assert door.ask(f"{at}/map").status == 200
        told = [begun(connection) for connection in come]
        assert sum(b"data: " in said for said in told) == STREAMS
        assert all(said.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 503 ")) for said in told)
        more = stack.enter_context(stream(door))
        assert begun(more).startswith(b"HTTP/1.1 503 ")
    assert until(lambda: _listens(door)), "their places are free again"


def _listens(door: PageDoor) -> bool:
    with stream(door) as connection:
        return begun(connection).startswith(b"HTTP/1.1 200 ")


# -- who goes away, and who dawdles -------------------------------------------------------------------


@needs_proc
def test_who_goes_away_in_the_middle_leaves_nothing_behind(door: PageDoor, at: str) -> None:
    before = descriptors(door)
    head = f"Host: {door.name}\r\n{': '.join(door.bearer)}\r\n"
    halves = (
        f"GET {at}/search?q=gone+NUMBER HTTP/1.1\r\n{head}\r\n",
        f"GET /app.js HTTP/1.1\r\n{head}\r\n",
        f"GET {at}/gra",
        f"POST {at}/actions HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{{",
        f"GET /api/events HTTP/1.1\r\n{head}\r\n",
    )
    for number in range(150):
        connection = door.connect()
        connection.sendall(halves[number % 5].replace("NUMBER", str(number)).encode())
        # The connection is torn, not closed.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    assert door.ask(f"{at}/today").status == 200
    assert until(lambda: descriptors(door) <= before + 4), (before, descriptors(door))
    assert door.process.poll() is None


def test_who_does_not_finish_holds_up_nobody(door: PageDoor, at: str) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(200):
            connection = stack.enter_context(door.connect())
            connection.sendall((b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: ")[number % 3])
        for path in ("/", "/api/session", f"{at}/today", f"{at}/search?q=clocks"):
            assert door.ask(path).status == 200


@pytest.mark.proof
@needs_proc
def test_who_has_no_place_is_told_so_with_all_headers(memory: Memory) -> None:
    """The server has a bound on connections; beyond it there is an honest answer."""
    with opened(memory) as door, contextlib.ExitStack() as stack:
        for _ in range(1_250):
            stack.enter_context(door.connect())
        assert until(lambda: descriptors(door) > 1_240), descriptors(door)
        reply = door.ask("/api/session")
        assert reply.status == 503
        check_sealed(reply)


@pytest.mark.proof
@needs_proc
def test_more_than_there_is_room_for_are_no_end_of_it(memory: Memory) -> None:
    """Where the system gives few files and they are all taken, nothing is said of it; then everything goes on."""
    poor = Memory(memory.cwd, memory.env, prefix=["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"])
    with opened(poor) as door:
        at = f"/api/projects/{door.get('/api/session')['project']}"
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                stack.enter_context(door.connect())
            assert until(lambda: descriptors(door) >= 200)
        assert until(lambda: descriptors(door) < 100), descriptors(door)
        for path in ("/", "/api/session", f"{at}/graph", f"{at}/history?ref=decision.use-the-queue"):
            reply = door.ask(path)
            assert reply.status == 200, reply.body
        assert door.end() == (0, b"")
