"""`memory view` as a process of its own, and requests to it as they go over the wire: nothing is made polite."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from installed import Git, Memory, make_environment
from quire.surfaces.web.serve import HEADERS

__all__ = ["HARMFUL", "PageDoor", "Reply", "check_sealed", "harbor", "opened", "saved_nodes"]

Headers = Sequence[tuple[str, str]]
HARMFUL = ("unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "http:", "https:", "*", "blob:")
"""What has no place in a policy of ours."""


class Reply(msgspec.Struct, frozen=True):
    """What came back, its headers as they came."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name]
        assert len(found) <= 1, f"{name} is there {len(found)} times"
        return found[0] if found else None

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.status == 200, (self.status, self.body[:400])
        return self.json["data"]

    @property
    def error(self) -> Any:
        assert self.status >= 400, self.status
        error = self.json["error"]
        assert set(error) == {"code", "message", "hint", "details"}
        return error


def check_sealed(reply: Reply) -> None:
    """Every answer, a refusal too, carries each header that keeps other pages away from it; none lets them in."""
    for name, value in HEADERS.items():
        assert reply.header(name) == value, (reply.status, name, reply.headers)
    names = {name.lower() for name, _ in reply.headers}
    assert not [name for name in names if name.startswith("access-control-")], names
    assert not names & {"server", "x-powered-by", "set-cookie"}, names


class PageDoor:
    """A page that is served."""

    def __init__(self, process: subprocess.Popen[bytes], told: dict[str, Any]) -> None:
        self.process = process
        self.told = told
        self.url: str = told["url"]
        self.port: int = told["port"]
        self.token = self.url.partition("#token=")[2]
        self.base = self.url.partition("#")[0].rstrip("/")

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def bearer(self) -> tuple[str, str]:
        return ("Authorization", f"Bearer {self.token}")

    def connect(self, seconds: float = 30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def ask(
        self,
        path: str,
        headers: Headers | None = None,
        body: bytes = b"",
        *,
        method: str = "GET",
        host: str | None = "",
        version: str = "1.1",
        sized: bool = True,
    ) -> Reply:
        """One request on a connection of its own. Without `headers`, with the token; with a `host` of None, no Host."""
        given = [self.bearer] if headers is None else headers
        named = [] if host is None else [("Host", host or self.name)]
        size = [("Content-Length", str(len(body)))] if sized and (body or method == "POST") else []
        lines = [f"{method} {path} HTTP/{version}", *(f"{name}: {value}" for name, value in (*named, *given, *size))]
        return self.raw("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body, method)

    def raw(self, data: bytes, method: str = "GET") -> Reply:
        """These bytes, and the answer to them, in which the token is never told."""
        with self.connect() as connection:
            # Whoever is refused early need not be listened to until he has said everything.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
            answer = http.client.HTTPResponse(connection, method=method)
            answer.begin()
            reply = Reply(answer.status, answer.getheaders(), answer.read())
        assert self.token.encode() not in reply.body + repr(reply.headers).encode()
        return reply

    def get(self, path: str) -> Any:
        """The data of an answer."""
        reply = self.ask(path)
        check_sealed(reply)
        return reply.data

    def post(self, path: str, value: Any, more: Headers = ()) -> Reply:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask(path, [self.bearer, ("Content-Type", "application/json"), *more], data, method="POST")

    def end(self, seconds: float = 20) -> tuple[int, bytes]:
        """Ask it to end; how it ended, and what else it said, on both of its outputs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out + err


def harbor(place: Path, *, now: str = "") -> Memory:
    """An empty repository with a memory, in a home of its own."""
    env = make_environment(place)
    root = place / "harbor"
    root.mkdir()
    Git(root, env)("init", "--quiet")
    memory = Memory(root, {**env, **({"MEMORY_NOW": now} if now else {})})
    memory.init()
    return memory


def saved_nodes(memory: Memory) -> None:
    """A few records, anchored to code that changed since."""
    code = memory.cwd / "src"
    code.mkdir()
    (code / "queue.py").write_text("def retry():\n    return 1\n")
    git = Git(memory.cwd, memory.env)
    git.commit("first")
    memory.save(
        {"kind": "feature", "title": "Retry queue", "body": "It retries.", "stage": "building"},
        {"kind": "decision", "title": "Use the queue", "body": "Because.", "anchors": ["src/queue.py"]},
        {"kind": "gotcha", "title": "Clocks differ", "body": "They do.", "anchors": ["src"]},
        {"kind": "question", "title": "How often", "body": "Who knows."},
    )
    git.commit("second")
    (code / "queue.py").write_text("def retry():\n    return 2\n")


@contextlib.contextmanager
def opened(
    memory: Memory, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[PageDoor]:
    """The page on any free port, ended afterwards."""
    line = [*memory.program, "view", "--json", *arguments]
    process = subprocess.Popen(
        line,
        cwd=cwd or memory.cwd,
        env={**memory.env, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield PageDoor(process, _told(process))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _told(process: subprocess.Popen[bytes], seconds: float = 60) -> dict[str, Any]:
    """What it says once it listens: one line."""
    assert process.stdout is not None
    said, end = b"", time.monotonic() + seconds
    while not said.endswith(b"\n"):
        ready = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]
        more = os.read(process.stdout.fileno(), 65_536) if ready else b""
        assert more, f"it does not listen: {said.decode()}"
        said += more
    envelope = json.loads(said)
    assert envelope["ok"] is True, said
    data: dict[str, Any] = envelope["data"]
    return data
