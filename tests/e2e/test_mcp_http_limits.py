"""What is too much over HTTP is refused early and in words, and never at the expense of others."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_here import Here, folder
from mcp_http_here import (
    READER,
    WRITER,
    Door,
    Headers,
    Reply,
    bearer,
    empty_project,
    error_of,
    messages_of,
    modern_headers,
    request_of,
    started,
)

from promised import proves
from thorough import LONG

MOST = 8 * 1024 * 1024
JSON = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
LIST = request_of("tools/list")
CALL = request_of("tools/call", name="memory_recall", arguments={"query": "HERE"})


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield empty_project(place)


@pytest.fixture(scope="module")
def door(here: Here) -> Iterator[Door]:
    with started(here, "--rate", "100000") as door:
        yield door


def headers_of(era: str, door: Door) -> Headers:
    if era == "2026":
        return [*JSON, bearer(WRITER), *modern_headers(CALL)]
    return [*JSON, bearer(WRITER), ("Mcp-Session-Id", door.open_session())]


def call_of(size: int) -> bytes:
    """A call that is exactly so long."""
    data = json.dumps(CALL).encode()
    return data.replace(b"HERE", b"x" * (size - len(data) + 4))


def pieces(data: bytes) -> Iterator[bytes]:
    """Sent in pieces, without a word on how long it all is."""
    yield from (data[start : start + 262_144] for start in range(0, len(data), 262_144))


# -- how long a message may be --------------------------------------------------------------------


@pytest.mark.proof(keep=1)
@proves("P10.4", "H5")
@pytest.mark.parametrize("era", ["2025", "2026"])
@pytest.mark.parametrize("way", ["at once", "in pieces"])
def test_a_message_of_more_than_8_mib_is_not_read(door: Door, era: str, way: str) -> None:
    body = call_of(MOST + 1)
    reply = door.ask(headers_of(era, door), body if way == "at once" else pieces(body))
    assert (reply.status, reply.text) == (413, "Request body too large")


@pytest.mark.proof
@pytest.mark.parametrize("era", ["2025", "2026"])
def test_one_of_8_mib_is(door: Door, era: str) -> None:
    reply = door.ask(headers_of(era, door), pieces(call_of(MOST)))
    (message,) = messages_of(reply)
    assert message["result"]["isError"] is True
    assert "`str` of length <= 4000 - at `query`" in message["result"]["structuredContent"]["error"]["message"]


@proves("P10.4", "H5")
def test_whoever_announces_too_much_is_refused_before_sending_it(door: Door) -> None:
    lines = f"POST /mcp HTTP/1.1\r\nHost: {door.name}\r\nAuthorization: Bearer {WRITER}\r\n"
    with socket.create_connection((door.host, door.port), timeout=30) as connection:
        connection.sendall(f"{lines}Content-Length: 999999999999\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 413 ")


def test_whoever_has_no_token_is_refused_before_sending_anything(door: Door) -> None:
    with socket.create_connection((door.host, door.port), timeout=30) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: {door.name}\r\nContent-Length: {MOST}\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")


@proves("P10.4", "H5")
@pytest.mark.parametrize("era", ["2025", "2026"])
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_what_is_nested_too_deeply_is_refused(door: Door, era: str, depth: int) -> None:
    deep = json.dumps(CALL).encode().replace(b'"HERE"', b"[" * depth + b"]" * depth)
    reply = door.ask(headers_of(era, door), deep)
    if depth == 1_000 and reply.status == 200:  # newer Pythons read that deep; then the tool refuses it
        assert json.loads(reply.body)["result"]["isError"] is True
    else:
        assert reply.status == 400
        assert error_of(reply)["code"] == -32700
    assert door.send(LIST).status == 200


BAD = {
    "nothing": (b"", -32700),
    "no JSON": (b"{", -32700),
    "two messages": (b"[" + json.dumps(LIST).encode() + b"," + json.dumps(LIST).encode() + b"]", -32600),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
    "a number that is too long": (b'{"jsonrpc": "2.0", "id": ' + b"9" * 10_000 + b', "method": "ping"}', -32700),
    "no message": (b'{"hello": 1}', -32600),
    "an answer": (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
    "an id that is no id": (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600),
}


@proves("P10.4", "H5")
@pytest.mark.parametrize("given", BAD)
def test_what_is_no_message_is_refused(door: Door, given: str) -> None:
    body, code = BAD[given]
    reply = door.ask([*JSON, bearer(WRITER), *modern_headers(LIST)], body)
    assert (reply.status, error_of(reply)["code"], json.loads(reply.body)["id"]) == (400, code, None)


def test_what_is_no_json_by_its_type_is_refused(door: Door) -> None:
    """A form of a page can be sent without asking first; a page cannot send JSON so."""
    data = json.dumps(LIST).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        headers = [("Content-Type", kind), JSON[1], bearer(WRITER)]
        assert door.ask([*headers, *modern_headers(LIST)], data).status == 400
        assert door.ask(headers, data).status == 400
    assert door.ask([JSON[1], bearer(WRITER), *modern_headers(LIST)], data).status == 400


# -- how often ------------------------------------------------------------------------------------


@pytest.mark.proof
def test_one_who_asks_too_often_has_to_wait_and_nobody_else(here: Here) -> None:
    """One a second, four at once: so many are served, and then the next has to wait."""
    with started(here, "--rate", "1") as door:
        for _ in range(20):
            assert door.ask([*JSON, bearer("wrong-0123456789abcdef")]).status == 401
        replies = [door.send(LIST)]
        while replies[-1].status == 200:
            replies.append(door.send(LIST))
        assert len(replies) - 1 >= 4
        late = replies[-1]
        assert (late.status, late.text) == (429, "Too many requests; try again in a moment.")
        assert late.header("retry-after") == "1"
        assert door.send(LIST, READER).status == 200
        time.sleep(1.05)
        assert door.send(LIST).status == 200


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
BEGIN = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
SHARE = 256


@pytest.mark.proof
def test_who_begins_too_many_sessions_loses_the_one_longest_unused_and_nobody_else_does(here: Here) -> None:
    with started(here, "--rate", "100000") as door:
        writer, first, used = door.open_session(), door.open_session(READER), door.open_session(READER)
        assert {door.post(BEGIN, token=READER).status for _ in range(SHARE - 2)} == {200}
        assert door.post(PING, used, READER).status == 200
        assert door.post(PING, first, READER).status == 200  # which is not the longest unused any more
        assert {door.post(BEGIN, token=READER).status for _ in range(SHARE - 2)} == {200}
        assert door.post(PING, first, READER).status == 200
        assert door.post(PING, used, READER).status == 200
        assert {door.post(BEGIN, token=READER).status for _ in range(SHARE)} == {200}
        assert door.post(PING, first, READER).status == 404
        assert door.post(PING, writer).status == 200
        assert door.post(PING, door.open_session()).status == 200
        assert door.send(LIST).status == 200


@pytest.mark.proof
def test_no_session_is_ended_in_which_somebody_listens(here: Here) -> None:
    with started(here, "--rate", "100000") as door, contextlib.ExitStack() as stack:
        for _ in range(SHARE):
            stack.enter_context(listening(door, door.open_session(READER)))
        late = door.post(BEGIN, token=READER)
        assert (late.status, error_of(late)["message"]) == (503, "Too many open sessions")
        session = door.open_session()
        assert door.post(PING, session).status == 200
        ended = door.ask([bearer(WRITER), ("Mcp-Session-Id", session), JSON[1]], method="DELETE")
        assert ended.status == 200
        assert door.post(PING, session).status == 404


@contextlib.contextmanager
def listening(door: Door, session: str) -> Iterator[None]:
    """The stream of a session, open."""
    with socket.create_connection((door.host, door.port), timeout=60) as connection:
        lines = [f"Host: {door.name}", f"Authorization: Bearer {READER}", f"Mcp-Session-Id: {session}"]
        lines += ["Accept: text/event-stream", "MCP-Protocol-Version: 2025-11-25", "", ""]
        connection.sendall("\r\n".join(["GET /mcp HTTP/1.1", *lines]).encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        yield


# -- those who dawdle -----------------------------------------------------------------------------


HALVES = {
    "nothing": b"",
    "half a line": b"POST /mcp HT",
    "half the headers": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nX-Slow: ",
    "no token, half a body": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n{",
    "half a body": (
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{"
    ),
    "half a piece": (
        b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{"
    ),
}


@contextlib.contextmanager
def dawdling(door: Door, number: int) -> Iterator[None]:
    """So many connections on which nothing is ever finished."""
    with contextlib.ExitStack() as stack:
        for place in range(number):
            connection = stack.enter_context(socket.create_connection((door.host, door.port), timeout=30))
            half = list(HALVES.values())[place % len(HALVES)]
            connection.sendall(half.replace(b"{host}", door.name.encode()).replace(b"{token}", WRITER.encode()))
        yield


def test_half_of_a_request_holds_up_nobody(door: Door) -> None:
    with dawdling(door, 150):
        session = door.open_session()
        assert door.call("memory_recall", query="retries")["isError"] is False
        assert door.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, session).status == 200
    assert door.send(LIST).status == 200


@pytest.mark.skipif(not LONG, reason="waits for as long as a client may dawdle")
def test_who_never_finishes_a_request_is_sent_away(here: Here) -> None:
    """Otherwise whoever has no token could take all the connections there are, and keep them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    try:
        with started(here) as door, contextlib.ExitStack() as stack:
            door.send(LIST)
            for _ in range(1500):
                connection = stack.enter_context(socket.create_connection((door.host, door.port), timeout=30))
                connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
            end = time.monotonic() + 30
            while (reply := door.send(LIST)).status != 200 and time.monotonic() < end:
                time.sleep(0.5)
            assert reply.status == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.proof
def test_one_who_does_not_read_an_answer_holds_up_nobody(door: Door) -> None:
    session = door.open_session()
    lines = (
        f"GET /mcp HTTP/1.1\r\nHost: {door.name}\r\nAuthorization: Bearer {WRITER}\r\n"
        f"Accept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    )
    with socket.create_connection((door.host, door.port), timeout=30) as connection:
        connection.sendall(lines.encode())
        assert connection.recv(16).startswith(b"HTTP/1.1 200")
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert len(messages_of(door.post(listing, session))[0]["result"]["tools"]) == 8


# -- many at once ---------------------------------------------------------------------------------


@pytest.mark.proof
def test_300_calls_at_once_are_all_answered_each_with_its_own(door: Door, here: Here) -> None:
    """Every third is a write; nothing is lost, and no answer goes to somebody else."""
    sessions = [door.open_session() for _ in range(4)]
    ready = threading.Barrier(50)

    def call(number: int) -> tuple[int, Reply]:
        if number < 50:
            ready.wait(30)
        content = f"Lantern number {number} hangs at berth {number * 7}."
        name, arguments = ("memory_recall", {"query": f"berth {number}"})
        if number % 3 == 0:
            name, arguments = "memory_store", {"section": "Specs", "content": content}
        if number % 2:
            return number, door.send(request_of("tools/call", number, name=name, arguments=arguments))
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return number, door.post(message, sessions[number % 4])

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(call, range(300)))
    for number, reply in found:
        message = messages_of(reply)[-1]
        assert message["id"] == number
        assert message["result"]["isError"] is False
    stored = (here.root / ".memory/facts.jsonl").read_text()
    assert all(f"Lantern number {number} hangs" in stored for number in range(0, 300, 3))
    assert stored.count("Lantern number") == 100
