"""An MCP server as a process of its own, spoken to over its pipes or over HTTP, and what it took to get an answer."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

__all__ = ["Served", "Server", "Spent", "bare"]

_IDLE_SECONDS, _IDLE_CPU = 0.4, 0.004
_HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Spent(msgspec.Struct, frozen=True):
    """What something took, in seconds."""

    wall: float
    cpu: float


class Server:
    """A server from its start to its end. Times are counted from the start of the process."""

    _stderr = subprocess.DEVNULL

    def __init__(self, line: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._begin = time.perf_counter()
        self._process = subprocess.Popen(
            line, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        # The clock of another process, as the kernel names it; threads that have ended are counted too.
        self._clock = (~self._process.pid << 3) | 2
        self._number = 0

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def spent(self) -> Spent:
        """What the process has taken so far."""
        return Spent(time.perf_counter() - self._begin, time.clock_gettime(self._clock))

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request."""
        self._number += 1
        answer = self._exchange({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}})
        assert "result" in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    def begin(self) -> dict[str, Any]:
        """The handshake."""
        found = self.ask("initialize", _HELLO)
        self._tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        found = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not found.get("isError"), found
        return found

    def settle(self) -> None:
        """Wait until it is idle: what it loads after its first answers must not slow what is measured next."""
        before = self.spent().cpu
        while True:
            time.sleep(_IDLE_SECONDS)
            now = self.spent().cpu
            if now - before < _IDLE_CPU:
                return
            before = now

    def held(self) -> dict[str, float]:
        """What the process holds in memory now, and held at most, in MB; only Linux says."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        except OSError:
            return {}
        told = dict(line.split(":", 1) for line in lines)
        return {said: round(int(told[name].split()[0]) / 1024, 1) for name, said in _HELD.items()}

    def _tell(self, message: Mapping[str, Any]) -> None:
        stdin = _open(self._process.stdin)
        stdin.write(json.dumps(message).encode() + b"\n")
        stdin.flush()

    def _exchange(self, message: Mapping[str, Any]) -> dict[str, Any]:
        self._tell(message)
        while True:
            line = _open(self._process.stdout).readline()
            assert line, "the server has gone"
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer


class Served(Server):
    """Ours over HTTP: one connection that is kept, as clients do."""

    _stderr = subprocess.PIPE

    def __init__(self, line: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        super().__init__([*line, "--http", "--port", "0", "--rate", "10000"], folder, env)
        url, token = (_open(self._process.stderr).readline().decode().split()[-1] for _ in range(2))
        place = urlsplit(url)
        self._path = place.path
        self._connection = HTTPConnection(place.hostname or "", place.port)
        accepted = "application/json, text/event-stream"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": accepted}

    def end(self) -> None:
        self._connection.close()
        super().end()

    def _tell(self, message: Mapping[str, Any]) -> None:
        self._post(message)

    def _exchange(self, message: Mapping[str, Any]) -> dict[str, Any]:
        body = self._post(message)
        lines = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith((b"data: ", b"{"))]
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer

    def _post(self, message: Mapping[str, Any]) -> bytes:
        try:
            answer = self._posted(message)
        except ConnectionError:  # it was idle for so long that the server closed it
            self._connection.close()
            answer = self._posted(message)
        session = answer.getheader("mcp-session-id")
        if session:
            self._headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": _HELLO["protocolVersion"]}
        return answer.read()

    def _posted(self, message: Mapping[str, Any]) -> HTTPResponse:
        self._connection.request("POST", self._path, json.dumps(message).encode(), self._headers)
        return self._connection.getresponse()


_HELD = {"VmRSS": "now", "VmHWM": "at most"}


def bare(line: Sequence[str], env: Mapping[str, str]) -> Spent:
    """A program that does nothing, from its start to its end."""
    begin = time.perf_counter()
    process = subprocess.Popen(line, env=env)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Spent(time.perf_counter() - begin, used.ru_utime + used.ru_stime)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
