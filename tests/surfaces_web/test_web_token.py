"""The token of a run is told to nobody but who was given the link; a ticket is good once."""

from __future__ import annotations

import hmac
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_serving import PageDoor, harbor, opened, saved_nodes

from installed import Memory
from quire.model.errors import NotFound
from quire.surfaces.server.http_auth import READ, HttpAuth, Rules
from quire.surfaces.web import tickets
from quire.surfaces.web.tickets import Tickets

SECRET = re.compile(r"[0-9a-f]{48}")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="module")
def memory(place: Path) -> Memory:
    memory = harbor(place)
    saved_nodes(memory)
    return memory


@pytest.fixture(scope="module")
def browser_program(place: Path) -> Path:
    """A browser that only writes down how it was started."""
    program = place / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {place}/started\n')
    program.chmod(0o755)
    return program


def started_with(place: Path, *, seconds: float = 20) -> str:
    """What the browser was given, once it was."""
    end = time.monotonic() + seconds
    path = place / "started"
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < end, "no browser was started"
        time.sleep(0.02)
    text = path.read_text()
    path.unlink()
    return text.strip()


def redeemed(door: PageDoor, ticket: str) -> tuple[int, bytes]:
    """What is answered to a ticket; the one answer in which the token may be."""
    body = json.dumps({"ticket": ticket}).encode()
    with door.connect() as connection:
        head = f"POST /api/ticket HTTP/1.0\r\nHost: {door.name}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        said = b"".join(iter(lambda: connection.recv(65_536), b""))
    return int(said.split(b" ")[1]), said.partition(b"\r\n\r\n")[2]


def test_a_browser_is_started_with_a_ticket_that_is_good_once(
    memory: Memory, place: Path, browser_program: Path
) -> None:
    """Everybody on this machine may list its processes, and how they were started."""
    with opened(memory, "--open", env={"BROWSER": f"{browser_program} %s"}) as door:
        given = started_with(place)
        assert door.told["opened"] is True
        found = re.fullmatch(rf"{re.escape(door.base)}/#ticket=([0-9a-f]+)", given)
        assert found, given
        ticket = found[1]
        assert len(ticket) == 48
        assert door.token not in given
        for wrong in (ticket[:-1], ticket + "0", ticket.upper() + "x", ""):
            assert redeemed(door, wrong)[0] == 404
        status, body = redeemed(door, ticket)
        assert (status, json.loads(body)) == (200, {"data": {"token": door.token}})
        assert redeemed(door, ticket)[0] == 404
        assert redeemed(door, "")[0] == 404
        assert door.ask("/api/session", [("Authorization", f"Bearer {ticket}")]).status == 401
        another = door.post("/api/tickets", {}).data["ticket"]
        assert another not in (ticket, door.token)
        assert redeemed(door, another)[0] == 200
        assert redeemed(door, another)[0] == 404


def test_the_token_stands_in_no_process_no_file_and_no_log(memory: Memory, place: Path) -> None:
    with opened(memory) as door:
        assert SECRET.fullmatch(door.token)
        for path in ("/", "/api/session", "/nothing", "/api/nothing", f"/api/session?token={door.token}"):
            door.ask(path)
            door.ask(path, [])
        for name in ("cmdline", "environ"):
            shown = Path(f"/proc/{door.process.pid}/{name}")
            if shown.exists():
                assert door.token.encode() not in shown.read_bytes()
        for folder, _, files in os.walk(place):
            for file in files:
                assert door.token.encode() not in Path(folder, file).read_bytes(), file
        code, said = door.end()
    assert (code, said) == (0, b"")


def test_each_run_has_a_token_of_its_own(memory: Memory) -> None:
    with opened(memory) as first, opened(memory) as second:
        assert first.token != second.token
        assert second.ask("/api/session", [first.bearer]).status == 401
        assert first.ask("/api/session").status == second.ask("/api/session").status == 200


def test_what_goes_on_alone_leaves_its_link_to_its_user_only(memory: Memory, place: Path) -> None:
    old = os.umask(0)  # whatever others may do by default
    try:
        started = memory("view", "--detach", "--json", env={"BROWSER": ""})
    finally:
        os.umask(old)
    try:
        token = started.data["url"].partition("#token=")[2]
        folder = Path(memory.env["MEMORY_HOME"], "view")
        holding = [path for path in folder.rglob("*") if token.encode() in path.read_bytes()]
        assert len(holding) == 1
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(holding[0].stat().st_mode) == 0o600
        others = [path for path in place.rglob("*") if path.is_file() and path not in holding]
        assert [path for path in others if token.encode() in path.read_bytes()] == []
        again = memory("view", "--detach", "--json").data
        assert again["url"] == started.data["url"]
        pid = json.loads(holding[0].read_bytes())["pid"]
        if Path("/proc").exists():
            assert token.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
            assert token.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        stopped = memory("view", "--stop", "--json")
    assert stopped.data["stopped"] is True
    assert [path for path in folder.rglob("*") if token.encode() in path.read_bytes()] == []


def test_a_page_without_a_token_is_refused(memory: Memory) -> None:
    refused = memory("view", "--no-token", "--json")
    assert refused.code == 2
    assert "never served without a token" in refused.error["message"]


# -- comparing ------------------------------------------------------------------------------------


def test_a_ticket_is_compared_in_the_same_time_and_lasts_a_short_while(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real, now = hmac.compare_digest, [100.0]

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    monkeypatch.setattr(tickets, "monotonic", lambda: now[0])
    held = Tickets("token", "ticket", lambda: "abc")
    for wrong in ("ticke", "tickets", "x" * 100_000, "", "\ud800", None, 5, ["ticket"]):
        with pytest.raises(NotFound):
            held.redeem(wrong)
    assert len(compared) == 5
    now[0] += 119
    assert held.redeem("ticket") == "token"
    assert held.issue() == "abcabcabc"
    now[0] += 121
    with pytest.raises(NotFound):
        held.redeem("abcabcabc")
    empty = Tickets("token", "", lambda: "")
    for nothing in ("", "-"):
        with pytest.raises(NotFound):
            empty.redeem(nothing)


def test_a_token_is_compared_in_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    compared: list[Any] = []
    real = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.append(other)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    statuses: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def receive() -> Any:
        return {"type": "http.request"}

    rules = Rules(path="/api/", tokens={"a" * 48: READ}, hosts=frozenset({"h"}), origins=frozenset(), rate=100)
    keeper = HttpAuth(app, rules)
    given = [b"a" * 48, b"a" * 47 + b"b", b"b" * 48, b"", b"\xff"]
    for token in given:
        headers = [(b"host", b"h"), (b"authorization", b"Bearer " + token)]
        asyncio.run(keeper({"type": "http", "path": "/api/x", "headers": headers}, receive, send))
    assert statuses == [200, 401, 401, 401, 401]
    assert len(compared) == len(given)
