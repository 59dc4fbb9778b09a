"""`memory-mcp --http` as a process of its own, and requests to it as they go over the wire: nothing is made polite."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from mcp_here import PROGRAM, Here

from installed import Git, make_environment
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory

__all__ = [
    "MODERN",
    "READER",
    "WRITER",
    "Door",
    "Reply",
    "bearer",
    "empty_project",
    "error_of",
    "messages_of",
    "modern_headers",
    "request_of",
    "result_of",
    "started",
]

WRITER, READER = "writer-0123456789abcdef", "reader-fedcba9876543210"
MODERN = "2026-07-28"
_META = "io.modelcontextprotocol/"
_ENVELOPE = {
    f"{_META}protocolVersion": MODERN,
    f"{_META}clientCapabilities": {},
    f"{_META}clientInfo": {"name": "test", "version": "1"},
}
_LISTENS = re.compile(r"memory-mcp listens on http://(\[[^]]+\]|[^:]+):(\d+)/mcp")
Headers = Sequence[tuple[str, str]]


class Reply(msgspec.Struct, frozen=True):
    """What came back, its headers as they came."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name]
        return found[0] if found else None

    @property
    def text(self) -> str:
        return self.body.decode()


def bearer(token: str) -> tuple[str, str]:
    return ("Authorization", f"Bearer {token}")


def request_of(method: str, number: int | str = 1, **params: Any) -> dict[str, Any]:
    """A request of the newer era, whole in itself."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": _ENVELOPE}}


def modern_headers(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the newer era wants said of a message before it is read."""
    params = message["params"]
    named = params.get("name") or params.get("uri")
    headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", message["method"])]
    return [*headers, ("Mcp-Name", named)] if named else headers


def chunks(body: Iterator[bytes]) -> Iterator[bytes]:
    yield from (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in body)
    yield b"0\r\n\r\n"


def _harmless(reply: Reply) -> Reply:
    """What holds of every answer: no page of another origin may read it, and no secret is said again."""
    names = {name.lower() for name, _ in reply.headers}
    assert not [name for name in names if name.startswith("access-control-")], names
    assert "server" not in names
    whole = reply.body + repr(reply.headers).encode()
    assert WRITER.encode() not in whole
    assert READER.encode() not in whole
    return reply


class Door:
    """A server that listens."""

    def __init__(self, process: subprocess.Popen[bytes], host: str, port: int, said: str) -> None:
        self.process = process
        self.host = host
        self.port = port
        self.said = said
        """What it said on its standard error before it listened."""

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"

    def ask(
        self,
        headers: Headers = (),
        body: bytes | Iterator[bytes] = b"",
        *,
        method: str = "POST",
        path: str = "/mcp",
        host: str | None = "",
        seconds: float = 30,
    ) -> Reply:
        """One request on a connection of its own. Without a `host`, the right one; with None, no such header."""
        named = [] if host is None else [("Host", host or self.name)]
        size = ("Content-Length", str(len(body))) if isinstance(body, bytes) else ("Transfer-Encoding", "chunked")
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (*named, *headers, size))]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        with socket.create_connection((self.host.strip("[]"), self.port), timeout=seconds) as connection:
            # Whoever is refused early need not be listened to until he has said everything.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for piece in [head + body] if isinstance(body, bytes) else [head, *chunks(body)]:
                    connection.sendall(piece)
            answer = http.client.HTTPResponse(connection, method=method)
            answer.begin()
            return _harmless(Reply(answer.status, answer.getheaders(), answer.read()))

    def send(self, message: Any, token: str = WRITER, more: Headers = (), **options: Any) -> Reply:
        """A message of the newer era with all that belongs to it."""
        headers = [bearer(token), *_TYPES, *modern_headers(message), *more]
        return self.ask(headers, json.dumps(message).encode(), **options)

    def post(self, message: Any, session: str | None = None, token: str = WRITER, version: str = "2025-11-25") -> Reply:
        """A message of the older era, in a session unless it begins one."""
        headers = [bearer(token), *_TYPES]
        headers += [("Mcp-Session-Id", session), ("MCP-Protocol-Version", version)] if session else []
        return self.ask(headers, json.dumps(message).encode())

    def call(self, tool: str, token: str = WRITER, /, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        return result_of(self.send(request_of("tools/call", name=tool, arguments=arguments), token))

    def open_session(self, token: str = WRITER, version: str = "2025-11-25") -> str:
        """The handshake; the session that it began."""
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        reply = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, token=token)
        assert messages_of(reply)[-1]["result"]["protocolVersion"] == version
        session = reply.header("mcp-session-id")
        assert session
        told = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session, token, version)
        assert told.status == 202
        return session

    def end(self, number: int = signal.SIGTERM, seconds: float = 20) -> tuple[int, str]:
        """Ask it to end; how it ended, and what else it said."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, err.decode()


_TYPES = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]


def messages_of(reply: Reply) -> list[Any]:
    """The messages of an answer, whichever way they were sent."""
    assert reply.status == 200, (reply.status, reply.text)
    if (reply.header("content-type") or "").startswith("application/json"):
        return [json.loads(reply.body)]
    lines = (line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: "))
    return [json.loads(line) for line in lines if line.strip()]


def result_of(reply: Reply) -> dict[str, Any]:
    result: dict[str, Any] = messages_of(reply)[-1]["result"]
    return result


def error_of(reply: Reply) -> dict[str, Any]:
    """The protocol's error, whatever status it came with."""
    error: dict[str, Any] = json.loads(reply.body)["error"]
    return error


def empty_project(place: Path) -> Here:
    """A repository with a memory in which there is nothing yet."""
    env = make_environment(place)
    root = place / "harbor"
    root.mkdir()
    Git(root, env)("init", "--quiet")
    init_memory(Project.open(str(root), msgspec.structs.replace(real_world(str(root)), env=env)))
    return Here(root, env)


@contextlib.contextmanager
def started(
    here: Here, *arguments: str, tokens: tuple[str, str] = (WRITER, READER), cwd: Path | None = None
) -> Iterator[Door]:
    """A server on any free port, ended afterwards."""
    env = {**here.env, "MEMORY_MCP_TOKEN": tokens[0], "MEMORY_MCP_READ_TOKEN": tokens[1]}
    line = [PROGRAM, "--http", "--port", "0", *arguments]
    process = subprocess.Popen(
        line, cwd=cwd or here.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield _door(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _door(process: subprocess.Popen[bytes], seconds: float = 30) -> Door:
    """Wait until it says where it listens, and until it has said everything it says then."""
    assert process.stderr is not None
    said, end = b"", time.monotonic() + seconds
    while not _LISTENS.search(said.decode()) or not said.endswith(b"\n"):
        ready = select.select([process.stderr], [], [], max(0.0, end - time.monotonic()))[0]
        more = os.read(process.stderr.fileno(), 65_536) if ready else b""
        assert more, f"it does not listen: {said.decode()}"
        said += more
    found = _LISTENS.search(said.decode())
    assert found
    host = {"0.0.0.0": "127.0.0.1"}.get(found[1], found[1])
    return Door(process, host, int(found[2]), said.decode())
