"""A project with all layers, and the installed `memory-mcp` asked through the SDK's own client: by pipes, or by HTTP.

`prepared` makes the project, once for a module; `over_stdio` starts a server and gives the client of it; `listening`
starts one on a local port, and `over_http` gives a client of that. For raw lines see `mcp_lines.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from installed import Git, Memory, make_environment

NOW = "2026-03-02T11:19:00+00:00"
LEGACY, MODERN = "legacy", "2026-07-28"
"""The two eras of the protocol, as the SDK's client names them."""
PROGRAM = str(Path(sys.executable).parent / "memory-mcp")
_SHARED_MEMORY = "/dev/shm"

__all__ = [
    "FACTS",
    "LEGACY",
    "MODERN",
    "NOW",
    "Asked",
    "Here",
    "Listening",
    "folder",
    "holding",
    "listening",
    "over_http",
    "over_stdio",
    "prepared",
    "write_sessions",
]


# -- a project ----------------------------------------------------------------------------------


class Here(msgspec.Struct, frozen=True):
    """A project with all four layers, and the environment in which servers and commands are started."""

    root: Path
    env: Mapping[str, str]
    refs: Mapping[str, str] = {}
    """Facts by a short name, since their ids are drawn by lot."""

    @property
    def memory(self) -> Memory:
        return Memory(self.root, self.env)

    def copy(self, name: str) -> Here:
        """The same project in another folder beside it: a test that writes has one of its own."""
        root = self.root.parent / name
        shutil.copytree(self.root, root, symlinks=True)
        return Here(root, self.env, self.refs)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder for a whole module, on a disk in memory where there is one: every save is synced."""
    place = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    path = tempfile.mkdtemp(prefix="quire-mcp-", dir=place)
    try:
        yield Path(path).resolve()
    finally:
        shutil.rmtree(path, ignore_errors=True)


NODES: tuple[dict[str, Any], ...] = (
    {"kind": "feature", "title": "Retry queue", "body": "Failed deliveries are sent again.", "stage": "building"},
    {
        "kind": "decision",
        "title": "Retries run in the worker",
        "body": "Requests must not wait for a delivery.",
        "anchors": ["src/worker.py#retry"],
        "related": [{"predicate": "affects", "to": "feature.retry-queue"}],
    },
    {"kind": "gotcha", "title": "Fonts without a cmap", "body": "PDF export hangs.", "anchors": ["src/pdf.py"]},
    {"kind": "question", "title": "How long may a delivery take", "body": "Nobody has measured it."},
)
FACTS = {
    "five": ("Constraints", "A delivery is retried at most five times."),
    "worker": ("Architecture", "Webhook retries run in the worker, never in the request."),
    "redis": ("Decisions", "The queue lives in Redis."),
}
SESSION = (
    "Cache the order list.",
    "DECISION: Cache the order list for 30 seconds in src/cache.ts.\n"
    "GOTCHA: Cache keys must include the tenant: otherwise tenants see each other's orders.\n"
    "NEXT: Write a cache runbook.",
)


def prepared(place: Path, sessions: int = 1) -> Here:
    """A project under git with a graph, facts, a profile and a journal of imported sessions, all committed."""
    env = {**make_environment(place), "MEMORY_NOW": NOW}
    root = place / "harbor"
    (root / "src").mkdir(parents=True)
    (root / "src/worker.py").write_text("LIMIT = 5\n\n\ndef retry() -> int:\n    return LIMIT\n")
    (root / "src/pdf.py").write_text("def export() -> bytes:\n    return b''\n")
    (root / "README.md").write_text("# Harbor\n\nSends webhooks.\n")
    git, memory = Git(root, env), Memory(root, env)
    git("init", "--quiet")
    memory.init()
    memory.save(*NODES, task="Set up")
    refs = {name: _done(memory, "facts", "store", *told)["fact"]["ref"] for name, told in FACTS.items()}
    _done(memory, "facts", "archive", refs["redis"], "--reason", "it moved to the database")
    _done(memory, "facts", "session", "s1", "--turns", "3", "--title", "Webhook retries", "--close")
    _done(memory, "profile", "remember", "user", "timezone", "Europe/Madrid", "--source", "user-stated")
    _done(memory, "profile", "remember", "tools", "package_manager", "uv, never pip", "--importance", "8")
    _done(memory, "profile", "remember", "learnings", "lock_files", "Two lock files drift apart.")
    _done(memory, "profile", "link", "learnings.lock_files", "tools.package_manager", "elaborates")
    _done(memory, "journal", "init")
    write_sessions(place / "agent/transcripts", sessions)
    _done(memory, "journal", "add", "claude-local", str(place / "agent"), "--name", "agent")
    _done(memory, "journal", "sync", "agent")
    git.commit("Set up")
    return Here(root, env, refs)


def _done(memory: Memory, *arguments: str) -> Any:
    run = memory(*arguments, "--json")
    assert run.code == 0, run.out
    return run.data


def write_sessions(place: Path, count: int, start: int = 0) -> None:
    """Sessions as an agent keeps them, each of its own."""
    place.mkdir(parents=True, exist_ok=True)
    for number in range(start, start + count):
        lines = []
        for turn, text in enumerate(SESSION):
            role = "assistant" if turn % 2 else "user"
            message = {"role": role, "content": text.replace("orders", f"orders of kind {number}")}
            at = f"2026-03-01T10:{turn:02}:00.000Z"
            lines.append({"type": role, "sessionId": f"s{number:04}", "timestamp": at, "message": message})
        file = place / f"s{number:04}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(file, (1772366400, 1772366400))


@contextlib.contextmanager
def holding(root: Path, lock: str = ".memory/.lock") -> Iterator[None]:
    """Be another writer of this project: whatever wants to change it waits meanwhile."""
    path = root / lock
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        os.close(descriptor)


# -- the SDK's client -----------------------------------------------------------------------------


class Asked:
    """The SDK's client. Its loop runs on a thread of its own, so that tests ask one thing after another."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """The result of a tool, which the client has checked against the tool's schema."""
        return self.portal.call(partial(self.client.call_tool, tool, arguments))

    def data(self, tool: str, /, **arguments: Any) -> Any:
        """What a call that worked has to say to programs."""
        result = self.call(tool, **arguments)
        assert result.is_error is False, result.content
        assert result.structured_content is not None
        assert result.structured_content["ok"] is True
        return result.structured_content["data"]

    def error(self, tool: str, /, **arguments: Any) -> Any:
        """Why a call was refused."""
        result = self.call(tool, **arguments)
        assert result.is_error is True, result.content
        assert result.structured_content is not None
        return result.structured_content["error"]

    def do(self, method: str, /, *arguments: Any, **named: Any) -> Any:
        """Any other thing that the client can be asked for."""
        return self.portal.call(partial(getattr(self.client, method), *arguments, **named))


@contextlib.contextmanager
def _asked(transport: Any, mode: str) -> Iterator[Asked]:
    with start_blocking_portal() as portal:
        # Nothing is kept by the client, so that every answer is the server's.
        client = Client(transport, mode=mode, cache=None, read_timeout_seconds=60)
        with portal.wrap_async_context_manager(client) as entered:
            yield Asked(portal, entered)


@contextlib.contextmanager
def over_stdio(
    here: Here, *arguments: str, mode: str = LEGACY, errors: Any = None, program: str = PROGRAM
) -> Iterator[Asked]:
    """A server of its own, and its client. What it says aside goes to the file `errors`, or has to be nothing."""
    started = StdioServerParameters(command=program, args=list(arguments), env=dict(here.env), cwd=here.root)
    with tempfile.TemporaryFile("w+") as file:
        with _asked(stdio_client(started, errors or file), mode) as asked:
            yield asked
        file.seek(0)
        assert file.read() == ""


class Listening(msgspec.Struct, frozen=True):
    """A server on a port of this machine."""

    url: str
    token: str
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def listening(here: Here, *arguments: str) -> Iterator[Listening]:
    """A server over HTTP on any free port, until the end of the `with`."""
    process = subprocess.Popen(
        [PROGRAM, "--http", "--port", "0", *arguments],
        cwd=here.root,
        env=here.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        url = process.stderr.readline().decode().split()[-1]
        token = process.stderr.readline().decode().split()[-1]
        yield Listening(url, token, process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait(30)
        process.stderr.close()


@contextlib.contextmanager
def over_http(server: Listening, mode: str = LEGACY) -> Iterator[Asked]:
    @contextlib.asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(server.url, http_client=http) as streams,
        ):
            yield streams

    with _asked(transport(), mode) as asked:
        yield asked
