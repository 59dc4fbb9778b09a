"""Targets: requests and messages at the doors, command lines, answers of models, words of git."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Iterator
from typing import IO, Any

from fuzz_engine import Target
from fuzz_machine import of_local
from fuzz_yard import home, root, world

from quire.capture.providers import claude, codex, openai
from quire.capture.providers.call import decoded, reported_cost, value_in
from quire.capture.providers.failures import ProviderFailed, last_words, says_signed_out
from quire.capture.providers.requests import bundle_problems, query_problems
from quire.capture.providers.settings import EndpointSettings, ProgramSettings
from quire.files import daemons
from quire.files.git import Git
from quire.files.git_history import attributes, changes_between, line_origins, log_paths, newest_commits, read_blobs
from quire.model.errors import QuireError
from quire.surfaces.cli.main import find_command
from quire.surfaces.cli.plain import read_plain
from quire.surfaces.mcp import fast_path
from quire.surfaces.mcp.options import read_options
from quire.surfaces.mcp.wire import unread
from quire.surfaces.server.http_auth import HttpAuth, Rules
from quire.surfaces.web import page_process
from quire.verbs.page.actions import read_action

__all__ = ["TARGETS"]


# -- doors and messages -------------------------------------------------------------------------------------------

_RULES = Rules(
    path="/api/",
    tokens={"secret": "write"},
    hosts=frozenset({"127.0.0.1:4000"}),
    origins=frozenset({"http://127.0.0.1:4000"}),
    rate=1_000_000,
    open_paths=frozenset({"/"}),
)


def _door(data: bytes) -> object:
    """The input is a request: a path, then headers, a line each. Only the one that is allowed may come through."""
    first, *rest = data.split(b"\n")
    headers = [(name.lower(), value.strip()) for name, colon, value in (line.partition(b":") for line in rest) if colon]
    passed: list[str] = []
    answered: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope["path"])

    async def send(message: Any) -> None:
        answered.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    path = first.decode("latin-1")
    scope = {"type": "http", "path": path, "headers": headers, "method": "GET"}
    asyncio.run(HttpAuth(app, _RULES, lambda: 0.0)(scope, receive, send))
    assert bool(passed) != bool(answered), "neither let in nor turned away"
    if passed:
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        assert hosts == ["127.0.0.1:4000"], "let in by another name"
        tokens = [value for name, value in headers if name == b"authorization"]
        assert path == "/" or (len(tokens) == 1 and tokens[0].split()[-1:] == [b"secret"]), "let in without the token"
    return passed, [message.get("status") for message in answered[:1]]


def _message(data: bytes) -> object:
    value, answer = fast_path.decoded(data), unread(data)
    if answer is not None:
        json.dumps(answer).encode()
        assert answer["error"]["code"] in (-32700, -32600)
    fields = value if isinstance(value, dict) else {}
    shapes = [
        check(fields) for check in (fast_path._plain_capabilities, fast_path._is_envelope, fast_path._is_plain_meta)
    ]
    return value, answer, shapes, fast_path._is_call(fields, "arguments"), fast_path._is_client(value)


def _words(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\n")


def _mcp_settings() -> object:
    return read_options((), {}, home(), "memory-mcp")


def _answers(data: bytes) -> object:
    """What models and their programs say, in each provider's own form."""
    said = data.decode("utf-8", "replace")
    value = decoded(said)
    found: list[object] = [value_in(said), claude._envelope(value), last_words(data), says_signed_out(data)]
    envelope = claude._envelope(value)
    found.append((claude._unwrapped(envelope), reported_cost(envelope.get("total_cost_usd"))) if envelope else None)
    events = codex._events(data)
    found += [codex._cost(events, ProgramSettings()), codex._last_message(events), codex._complaint(events)]
    found += [bundle_problems(value), query_problems(value, "answer", [])]
    try:
        found.append(openai._reply(value, EndpointSettings()))
    except ProviderFailed as error:
        found.append(str(error))
    return found


def _running(data: bytes) -> object:
    place = page_process._place(world(), root())
    hold = daemons.hold(place, lambda _said: False, lambda _seconds: None)
    assert hold is not None
    try:
        hold.say(data[:2000])
        return page_process._running(world(), root())
    finally:
        hold.release()


# -- words of git -------------------------------------------------------------------------------------------------


class _Spoken(Git):
    """Git whose answers are given: the form is git's own, and what stands in it is anybody's."""

    def __init__(self, answer: bytes, **others: bytes) -> None:
        super().__init__(root(), {})
        self.answer, self.others = answer, others

    def run(self, command: str, *arguments: str, allow: tuple[int, ...] = (0,), stdin: bytes = b"") -> bytes:
        return self.others.get(command.replace("-", "_"), self.answer)

    @contextlib.contextmanager
    def stream(self, command: str, *arguments: str, stdin: bytes) -> Iterator[IO[bytes]]:
        yield io.BytesIO(self.run(command))


def _git(data: bytes) -> object:
    name = (data.replace(b"\0", b"").replace(b"\n", b"") or b"x")[:300]
    commit = b"0" * 39 + b"1"
    raw = b":100644 100644 " + commit + b" " + commit
    found: list[object] = [
        changes_between(_Spoken(raw + b" M\0" + name + b"\0" + raw + b" R100\0a\0" + name + b"\0"), "a")
    ]
    row = b"\0".join((commit, b"2026-03-02T11:19:00+00:00", name, name, name, b"")) + b"\n"
    found.append(newest_commits(_Spoken(b"commit " + commit + b"\n" + row), 5))
    found.append(log_paths(_Spoken(row, diff_tree=commit + b"\0" + raw + b" M\0" + name + b"\0"), ["a"], limit=5))
    quoted = b'"' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
    for shown in (name if not name.startswith(b'"') else b"x", quoted):
        blame = (
            commit + b" 1 1 1\nauthor " + name + b"\nsummary " + name + b"\nfilename " + shown + b"\n\t" + name + b"\n"
        )
        found.append(line_origins(_Spoken(blame), "a", 1, 1))
    found.append(attributes(_Spoken(name + b"\0filter\0" + name + b"\0"), ["a"], ["filter"]))
    blob = b"1" * 40
    found.append(
        read_blobs(_Spoken(blob + b" blob %d\n" % len(data) + data + b"\n"), [blob.decode()], each=9**9, together=9**9)
    )
    index = _Spoken(b"100644 " + commit + b" 0\t" + name + b"\0")
    return found, index.staged(["a"]), index.unmerged(["a"]), index.untracked(["a"]), index._conversions()


TARGETS: tuple[Target, ...] = (
    of_local(
        "mcp-settings",
        "~/mcp.json",
        _mcp_settings,
        "surfaces.mcp.options",
        b'{"toolset":"core,facts"}',
        b'{"toolset":["core"]}',
    ),
    Target(
        "page-lock",
        _running,
        lambda: [b'{"pid":4000,"mark":"1","url":"http://127.0.0.1:1/","root":"/w","write":true,"started_at":"2026"}'],
        "surfaces.web.page_process files.daemons",
        cost=3,
    ),
    Target(
        "door",
        _door,
        lambda: [
            b"/api/x\nhost: 127.0.0.1:4000\norigin: http://127.0.0.1:4000\nauthorization: Bearer secret",
            b"/\nhost: 127.0.0.1:4000\nx-forwarded-host: evil\ncontent-length: 3\ntransfer-encoding: chunked",
        ],
        "surfaces.server.http_auth",
        most=600,
        cost=2,
    ),
    Target(
        "mcp-message",
        _message,
        lambda: [
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_memory",'
            b'"arguments":{"question":"x"}}}',
            b'{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18",'
            b'"capabilities":{},'
            b'"clientInfo":{"name":"x","version":"1"}}}',
        ],
        "surfaces.mcp.wire surfaces.mcp.fast_path",
    ),
    Target(
        "page-act",
        read_action,
        lambda: [b'{"action":"edit","ref":"feature.a","revision":"x","title":"T"}', b'{"action":"accept","id":"0"}'],
        "verbs.page.actions",
        (QuireError,),
    ),
    Target(
        "command-line",
        lambda data: repr(read_plain(_words(data), find_command)) is None,
        lambda: [b"query\nwhy?\n--path\nsrc/a.py\n--json", b"inbox\nlist\n--limit\n3", b"--json\njournal\nquery\n- x"],
        "surfaces.cli.plain",
        most=300,
    ),
    Target(
        "provider-answers",
        _answers,
        lambda: [
            b'{"type":"result","is_error":false,"total_cost_usd":0.01,"result":"```json\\n{\\"a\\":1}\\n```"}',
            b'{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}\n{"type":"item.completed","item":'
            b'{"type":"agent_message","text":"{}"}}\n{"type":"error","message":"no"}\n',
            b'{"choices":[{"message":{"content":"{\\"mode\\":\\"answer\\"}"},"finish_reason":"stop"}],"usage":'
            b'{"prompt_tokens":1,"completion_tokens":2}}',
            b'Here you are:\n```json\n{"mode":"answer","answer":"x","citations":[{"sourceType":"a",'
            b'"sourceId":"b"}]}\n```',
        ],
        "capture.providers.call capture.providers.requests capture.providers.claude "
        "capture.providers.codex capture.providers.openai capture.providers.failures",
    ),
    Target(
        "git",
        _git,
        lambda: [b"src/a b.py", "gr\u00f6\u00dfe.md".encode(), b'a\\t"b', b"-x"],
        "files.git files.git_history",
    ),
)
