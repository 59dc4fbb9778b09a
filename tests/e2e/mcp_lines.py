"""The installed `memory-mcp` over its two pipes, spoken to in raw lines, as any client in any language speaks to it."""

from __future__ import annotations

import array
import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp_here import Here

from standing import HEAD, Standing, receive
from thorough import LONG

MODERN = "2026-07-28"
PROGRAM = str(Path(sys.executable).parent / "memory-mcp")
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}
"""What every request of the newer era carries."""
SECONDS = 60.0
"""Longer than any answer takes on a busy machine: whoever waits so long waits for nothing."""

__all__ = [
    "ENVELOPE",
    "MODERN",
    "PROGRAM",
    "SECONDS",
    "Server",
    "call",
    "cancel",
    "hello",
    "request",
    "serving",
    "until",
]


def request(name: Any, method: str, params: Mapping[str, Any] | None = None, *, modern: bool = False) -> dict[str, Any]:
    """A request as the wire has it; with its envelope where it is of the newer era."""
    given = dict(params or {})
    if modern:
        given["_meta"] = {**ENVELOPE, **given.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": name, "method": method, **({"params": given} if given else {})}


def call(name: Any, tool: str, /, *, modern: bool = False, **arguments: Any) -> dict[str, Any]:
    return request(name, "tools/call", {"name": tool, "arguments": arguments}, modern=modern)


def cancel(name: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": name}}


def hello(version: str = "2025-11-25", name: Any = 0) -> list[dict[str, Any]]:
    """The handshake: a request that is answered, and a notification that is not."""
    client = {"name": "tests", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return [request(name, "initialize", params), {"jsonrpc": "2.0", "method": "notifications/initialized"}]


def until(condition: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """Wait for something that is about to be so."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
    return found


_idle: list[Standing] = []


class Server:
    """One server process. What it says is read all the time; a line that is no message of the protocol fails the test.

    Unless it should be `fresh`, it is forked from a process that has loaded all modules (see `standing.py`): it is
    ready at once, and so is the SDK when it is wanted. A run of the whole suite starts every one anew.
    """

    def __init__(self, here: Here, *arguments: str, fresh: bool = LONG, env: Mapping[str, str] | None = None) -> None:
        self._errors, name = tempfile.mkstemp()
        os.unlink(name)
        (to_read, self._in), (self._out, to_write) = os.pipe(), os.pipe()
        theirs = (to_read, to_write, self._errors)
        line, environment = [PROGRAM, *arguments], {**here.env, **(env or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._standing: Standing | None = None
        if fresh or env:
            self._process = subprocess.Popen(
                line, cwd=here.root, env=environment, stdin=to_read, stdout=to_write, stderr=theirs[2]
            )
            self.pid = self._process.pid
        else:
            self._standing = _idle.pop() if _idle else Standing()
            self.pid = _forked(self._standing, line, str(here.root), environment, theirs)
        os.close(to_read)
        os.close(to_write)
        self.code: int | None = None
        """How the process ended, once it has."""
        self.said: list[dict[str, Any]] = []
        """Every message so far, in order."""
        self._strays: list[bytes] = []
        self._news: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # -- speaking

    def send(self, *messages: Any) -> None:
        """Messages, or lines as they are, all in one piece."""
        lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in messages]
        self.write(b"".join(line + b"\n" for line in lines))

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._in, rest) :]

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        self.send(message)
        return self.answers(message["id"])[message["id"]]

    # -- listening

    def next(self, seconds: float = SECONDS) -> dict[str, Any]:
        """The next message, whatever it is."""
        found = self._news.get(timeout=seconds)
        assert found is not None, f"the server has gone: {self.errors}"
        return found

    def answers(self, *names: Any, seconds: float = SECONDS) -> dict[Any, dict[str, Any]]:
        """The answers to these requests, in whatever order they come; notifications between them are in `said`."""
        missing, found = set(names), {}
        while missing:
            message = self.next(seconds)
            if "method" not in message:
                name = message["id"]
                assert name in missing, f"nobody asked for this, or not again: {str(message)[:500]}"
                missing.discard(name)
                found[name] = message
        return found

    @property
    def errors(self) -> str:
        """What it said on standard error."""
        return os.pread(self._errors, 1 << 24, 0).decode()

    # -- ending

    def close(self) -> None:
        """The client writes no more."""
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    def signal(self, number: int = signal.SIGTERM) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float = SECONDS) -> int:
        """How it ended; it is killed where it does not end in time, and the test fails."""
        if self.code is None:
            self.code = self._ended(seconds)
            self._reader.join(SECONDS)
            assert not self._strays, f"no messages of the protocol: {self._strays[:3]}"
        return self.code

    def end(self, seconds: float = SECONDS) -> int:
        self.close()
        return self.wait(seconds)

    def _ended(self, seconds: float) -> int:
        try:
            if self._process is not None:
                return self._process.wait(seconds)
            assert self._standing is not None
            self._standing.socket.settimeout(seconds)
            (code,) = HEAD.unpack(receive(self._standing.socket, HEAD.size))
        except (TimeoutError, subprocess.TimeoutExpired):
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"it still runs after {seconds} s; it said: {self.errors}") from None
        self._standing.socket.settimeout(None)
        _idle.append(self._standing)
        return int(code)

    def dispose(self) -> None:
        """Nothing of it is left, however the test went; what it was at is not waited for."""
        self.close()
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.code = self._ended(SECONDS)
        self._reader.join(SECONDS)
        os.close(self._errors)

    def _read(self) -> None:
        kept = b""
        while chunk := os.read(self._out, 1 << 18):
            *lines, kept = (kept + chunk).split(b"\n")
            for line in lines:
                self._heard(line)
        if kept:
            self._strays.append(kept)
        os.close(self._out)
        self._news.put(None)

    def _heard(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            assert ("method" in message) or (("result" in message) != ("error" in message) and "id" in message)
        except (ValueError, TypeError, KeyError, AssertionError):
            self._strays.append(line)
            return
        self.said.append(message)
        self._news.put(message)


@contextlib.contextmanager
def serving(here: Here, *arguments: str, **options: Any) -> Iterator[Server]:
    """A server for the body of the `with`; afterwards it has ended by itself, cleanly, and has said nothing aside."""
    server = Server(here, *arguments, **options)
    try:
        yield server
        if server.code is None:
            assert server.end() == 0, server.errors
        assert server.errors == ""
    finally:
        server.dispose()


def _forked(standing: Standing, line: list[str], cwd: str, env: Mapping[str, str], theirs: tuple[int, ...]) -> int:
    mask = os.umask(0)
    os.umask(mask)
    data = json.dumps({"line": line, "cwd": cwd, "env": dict(env), "umask": mask}).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", theirs))]
    standing.socket.sendmsg([HEAD.pack(len(data)) + data], rights)
    (pid,) = HEAD.unpack(receive(standing.socket, HEAD.size))
    return int(pid)
