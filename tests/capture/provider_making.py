"""Stand-ins for providers: real scripts on a path of their own, a real server, and answers that fit."""

from __future__ import annotations

import json
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

from installed import begins_python
from quire.capture.providers.ask import ProviderAnswer, ask
from quire.capture.providers.requests import Task, bundle_task, query_task, session_task
from quire.capture.providers.settings import EndpointSettings, ProgramSettings, ProviderSettings
from quire.files.world import World, real_world

KEY = "sk-test-4f9aQ7zX2mB8vK1pL6nR3tW5yC0dE"
SESSION = {
    "summary": "The cache got a limit.",
    "signals": {
        "decisions": ["The cache holds 500 orders."],
        "gotchas": [],
        "nextStepHints": ["NEXT: measure it"],
        "keyPaths": ["src/cache.ts"],
        "validationObservations": [],
    },
}
BUNDLE: dict[str, Any] = {
    "project": {
        "name": "orders",
        "summary": "Takes orders.",
        "primaryEcosystem": "node",
        "packageManager": "npm",
        "workspaceManager": "none",
        "recommendedEntryFile": "README.md",
        "keyPaths": ["src/", "."],
    },
    "projectMap": {
        "modules": [{"name": "cache", "path": "src/cache.ts", "responsibility": "Keeps orders."}],
        "entrypoints": [{"path": "src/index.js", "role": "Entry."}],
        "denseSourceAreas": [{"path": "src", "note": "4 files"}],
        "architectureNotes": ["One process."],
        "firstFilesToRead": ["README.md"],
    },
    "currentFocus": {
        "summary": "The cache.",
        "currentState": [],
        "knownRisks": [],
        "validationSnapshot": {
            "status": "not-run",
            "validatedAt": None,
            "summary": "Nothing ran.",
            "results": [],
            "suggestedNextActions": [],
        },
    },
    "gotchas": [{"title": "Stale", "symptom": "Old orders.", "cause": "No limit.", "correctPath": "Set one."}],
    "nextSteps": [],
    "validationCommands": [{"label": "test", "command": ["npm", "test"], "purpose": "Tests."}],
}
SHORTLIST = [
    {"sourceType": "event", "sourceId": "evt-000004", "pathOrSection": "event:evt-000004", "content": "Cache 30 s."},
    {
        "sourceType": "bundle",
        "sourceId": "project-map",
        "pathOrSection": "bundle.projectMap",
        "content": "One process.",
    },
]
QUERY = {
    "mode": "answer",
    "answer": "For 30 seconds.",
    "why": "An event says so.",
    "citations": [
        {
            "sourceType": "event",
            "sourceId": "evt-000004",
            "pathOrSection": "event:evt-000004",
            "summary": "Cache 30 s.",
            "projectionPath": None,
        }
    ],
}


def session_of(item: dict[str, Any]) -> Task:
    return session_task(source={"id": "claude", "type": "claude-local"}, item=item)


SESSION_REQUEST = session_of(
    {"externalItemId": "7b1c", "createdAt": "2026-03-01T10:00:00Z", "payload": "Decision: limit the cache"}
)
BUNDLE_REQUEST = bundle_task(context={"mode": "init", "contextFiles": []}, local_bundle=BUNDLE)
QUERY_REQUEST = query_task(question="how long is it cached?", mode="answer", shortlist=SHORTLIST)

# What every stand-in begins with: it notes how it was called.
_NOTE = f"""{begins_python()}import json, os, signal, subprocess, sys, time
def note(**more):
    with open({{log!r}}, "a") as log:
        log.write(json.dumps({{{{"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ), **more}}}}) + "\\n")
"""
_HEARS = "heard = sys.stdin.buffer.read().decode()\nnote(stdin=heard, pid=os.getpid())\n"


class Desk:
    """A user with a home, a project, a path of stand-ins, and a ceiling."""

    def __init__(self, tmp_path: Path, *, ceiling: float = 100.0, **env: str) -> None:
        self.path = tmp_path
        self.bin, self.home, self.root = tmp_path / "bin", tmp_path / "home" / "memory", tmp_path / "project"
        for folder in (self.bin, self.home, self.root):
            folder.mkdir(parents=True)
        base = real_world(str(self.root))
        given = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(tmp_path / "home"),
            "MEMORY_HOME": str(self.home),
            "LANG": "C.UTF-8",
            **env,
        }
        self.world: World = msgspec.structs.replace(base, env=given)
        program = ProgramSettings(timeout_seconds=20)
        self.settings = ProviderSettings(daily_ceiling_usd=ceiling, claude=program, codex=program)

    def stand_in(self, name: str, body: str, *, hears: bool = True) -> Path:
        """A program that notes how it was called, then does this."""
        path = self.bin / name
        path.write_text(_NOTE.format(log=str(self.bin / f"{name}.log")) + (_HEARS if hears else "") + body)
        path.chmod(0o755)
        return path

    def calls(self, name: str) -> list[dict[str, Any]]:
        log = self.bin / f"{name}.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def with_seconds(self, seconds: float) -> None:
        program = ProgramSettings(timeout_seconds=seconds)
        openai = msgspec.structs.replace(self.settings.openai, timeout_seconds=seconds)
        self.settings = msgspec.structs.replace(self.settings, claude=program, codex=program, openai=openai)

    def with_endpoint(self, url: str, **more: Any) -> None:
        endpoint = EndpointSettings(**{"base_url": url, "model": "small", "timeout_seconds": 20, **more})
        self.settings = msgspec.structs.replace(self.settings, openai=endpoint)

    def ask(self, provider: str, task: Any = SESSION_REQUEST, **more: Any) -> ProviderAnswer:
        return ask(task, provider=provider, settings=self.settings, world=self.world, root=str(self.root), **more)

    def day(self) -> dict[str, Any]:
        """What the ledger says of the only day there is."""
        (found,) = json.loads((self.home / "spend.json").read_text())["days"].values()
        return dict(found)


def envelope(value: Any, cost: Any = 0.0123, **more: Any) -> str:
    """A stand-in for claude that answers this in its envelope."""
    fields = {"type": "result", "subtype": "success", "is_error": False, "result": "", "total_cost_usd": cost}
    return f"sys.stdout.write({json.dumps({**fields, 'structured_output': value, **more})!r})\n"


def codex_answer(value: Any, *, read: int = 1000, written: int = 100) -> str:
    """A stand-in for codex that writes this to the file that it is given."""
    done = {"type": "turn.completed", "usage": {"input_tokens": read, "output_tokens": written}}
    return (
        "out = sys.argv[sys.argv.index('-o') + 1]\n"
        "schema = json.load(open(sys.argv[sys.argv.index('--output-schema') + 1]))\n"
        "note(schema=schema)\n"
        f"open(out, 'w').write({json.dumps(value)!r})\n"
        f"print({json.dumps(done)!r})\n"
    )


def completion(value: Any, *, read: int = 1000, written: int = 100, **more: Any) -> bytes:
    """What an endpoint answers."""
    text = value if isinstance(value, str) else json.dumps(value)
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, **more}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": read, "completion_tokens": written}}).encode()


class Server:
    """What came in, and what is answered."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.answers: list[Callable[[BaseHTTPRequestHandler], None]] = []


def status(code: int, body: bytes = b"", **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def drip(piece: bytes, head: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """A byte now and then, without an end."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        for _ in range(200):
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(0.1)

    return answer


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            server.requests.append(
                {"path": self.path, "headers": dict(self.headers), "body": json.loads(self.rfile.read(length))}
            )
            number = min(len(server.requests), len(server.answers)) - 1
            try:
                server.answers[number](self)
            except OSError:
                self.close_connection = True

        def log_message(self, *_arguments: Any) -> None:
            """Silence."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.block_on_close = False
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        http.socket = context.wrap_socket(http.socket, server_side=True)
        server.url = f"https://localhost:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def is_running(pid: int) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True
