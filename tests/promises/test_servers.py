"""The servers and the hooks where the world is against them: names that lead elsewhere, ends, crashes, odd payloads."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# What starts servers and hooks is with the tests of the installed commands.
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from hooks_here import SHOP_NODES, SILENCE, Hooks, text_in
from mcp_here import Here, folder, prepared
from mcp_http_here import WRITER, bearer, empty_project, modern_headers, request_of, started
from mcp_lines import Server, call, hello, request
from page_here import made, viewing

from installed import Git, Memory
from promised import proves, tally
from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.types import HookEvent
from thorough import either, some

PAYLOADS = Path(__file__).parents[1] / "clients_hooks" / "payloads"
GOLDEN = sorted(path for path in PAYLOADS.rglob("*.json") if not path.name.endswith(".expected.json"))
EVENTS = ("session-start", "prompt", "before-edit", "turn-end", "session-end")
ROOM = 8_000
UNKNOWN = {
    "x_new": {"deep": [1, None, {"a": "b"}]},
    "schema_version": 99,
    "laterName": "later",
    "": "",
    "\u00e9\n": [[]],
}
NAME = "rebound.example"
BROKEN = """
import sys
from importlib.machinery import PathFinder


class Breaking:
    def find_spec(self, name, path=None, target=None):
        if name != "{module}":
            return None
        spec = PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def broken(*_, **__):
            open({mark!r}, "a").close()
            raise ZeroDivisionError("an error that nobody thought of")

        def loaded(module):
            load(module)
            owner, _, function = "{function}".rpartition(".")
            setattr(getattr(module, owner) if owner else module, function, broken)

        spec.loader.exec_module = loaded
        return spec


sys.meta_path.insert(0, Breaking())
"""
LISTENING = """
import os
import sys


def heard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open({file!r}, "a") as file:
            file.write(event + " " + repr(arguments[1:]) + "\\n")


sys.addaudithook(heard)
"""


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


# -- a name that leads to two machines ------------------------------------------------------------


class Attacker(threading.Thread):
    """A page of somebody else, at another address and the same port; it answers once and is gone."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._socket = socket.create_server(("127.0.0.2", port))

    def run(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nevil")
        self._socket.close()


@contextlib.contextmanager
def two_addresses(monkeypatch: pytest.MonkeyPatch, port: int) -> Iterator[None]:
    """The name has two records: the first is the attacker's machine, the second is this one."""
    asked = socket.getaddrinfo

    def resolve(host: Any, *given: Any, **more: Any) -> Any:
        if host != NAME:
            return asked(host, *given, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port)) for place in ("127.0.0.2", "127.0.0.1")]

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolve)
        yield


def fetched(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """What a script of the page is given: the browser sends the page's own name and origin, wherever it leads."""
    connection = http.client.HTTPConnection(NAME, port, timeout=30)
    own = {"Origin": f"http://{NAME}:{port}", "Sec-Fetch-Site": "same-origin", **headers}
    try:
        connection.request(method, path, body or None, own)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def rebound(
    monkeypatch: pytest.MonkeyPatch, port: int, asked: list[tuple[str, str, bytes]], headers: dict[str, str]
) -> set[int]:
    """The statuses that scripts of a page get once its name has been bent; the page itself came from elsewhere."""
    try:
        attacker = Attacker(port)
    except OSError as error:
        pytest.skip(f"this machine has no second address of its own: {error}")
    attacker.start()
    with two_addresses(monkeypatch, port):
        assert fetched(port, "GET", "/", b"", {}) == (200, b"evil")
        attacker.join(30)
        found = {fetched(port, *one, headers)[0] for one in asked}
    tally("P10.1", inputs=len(asked))
    return found


@pytest.mark.proof
@proves("P10.1", "H1")
@pytest.mark.parametrize("with_token", either([True], [False, True]))
def test_a_page_whose_name_is_bent_to_this_machine_gets_nothing_of_a_server(
    monkeypatch: pytest.MonkeyPatch, with_token: bool
) -> None:
    with folder() as place, started(empty_project(place)) as door:
        save = request_of("tools/call", name="memory_store", arguments={"section": "Specs", "content": "Evil."})
        named = [*modern_headers(save), *([bearer(WRITER)] if with_token else [])]
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **dict(named)}
        asked = [("POST", "/mcp", json.dumps(save).encode()), ("GET", "/mcp", b""), ("DELETE", "/mcp", b"")]
        assert rebound(monkeypatch, door.port, asked, headers) == {421}
        assert not (place / "harbor/.memory/facts.jsonl").exists()


@proves("P10.1", "H1")
@pytest.mark.parametrize("with_token", either([True], [False, True]))
def test_a_page_whose_name_is_bent_to_this_machine_gets_nothing_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_token: bool, tree: Callable[..., dict[str, bytes]]
) -> None:
    memory = made(tmp_path)
    memory.save({"kind": "gotcha", "title": "Late clocks", "body": "They drift."})
    with viewing(memory, "--write") as page:
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {page.token}"} if with_token else {}
        base = f"/api/projects/{page.get('/api/session')['project']}"
        stale = json.dumps({"action": "stale", "ref": "gotcha.late-clocks", "reason": "evil"}).encode()
        asked = [("GET", path, b"") for path in ("/", "/app.js", "/api/session", f"{base}/today", "/api/events")]
        before = tree(memory.cwd)
        asked += [("POST", f"{base}/actions", stale), ("POST", "/api/tickets", b"{}")]
        assert rebound(monkeypatch, page.port, asked, headers) == {421}
        assert tree(memory.cwd) == before


# -- ends and crashes -----------------------------------------------------------------------------


def break_at(place: Path, module: str, function: str) -> Path:
    """Let a function of ours fail in every process that finds this folder first; the file that tells that it did."""
    mark = place / "it happened"
    text = BROKEN.format(module=module, function=function, mark=str(mark))
    (place / "sitecustomize.py").write_text(text)
    return mark


@proves("P10.4", "H5")
@pytest.mark.parametrize("opened", [False, True], ids=["before the handshake", "after it"])
def test_the_end_of_input_ends_a_server(here: Here, opened: bool) -> None:
    server = Server(here)
    try:
        if opened:
            server.send(*hello(), call(1, "status_memory"))
            server.answers(0, 1)
        assert server.end() == 0
    finally:
        server.dispose()


@proves("P10.4", "H5")
@pytest.mark.parametrize("arguments", either([()], [(), ("--sdk-first",)]))
def test_an_error_that_nobody_thought_of_is_an_answer_and_the_server_goes_on(
    here: Here, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """That each line on its standard output is a message is looked at by whoever reads it, to the end."""
    mark = break_at(tmp_path, "quire.retrieval.query", "ask")
    env = {"PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "default"}
    server = Server(here, *arguments, fresh=True, env=env)
    try:
        server.send(*hello(), *(call(name, "query_memory", question="retries") for name in range(1, 6)))
        found = server.answers(*range(6))
        for name in range(1, 6):
            result = found[name]["result"]
            assert result["isError"] is True
            assert result["structuredContent"]["error"]["code"] == "MemoryInternalError"
            assert "Traceback" not in json.dumps(result)
        assert server.ask(call(7, "status_memory"))["result"]["isError"] is False
        assert server.ask(request(8, "tools/list"))["result"]["tools"]
        assert server.end() == 0
        assert mark.exists()
    finally:
        server.dispose()


# -- hooks ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(shared_memory: Memory) -> Hooks:
    (shared_memory.cwd / "src").mkdir()
    (shared_memory.cwd / "src/orders.py").write_text("def add(): ...\n")
    shared_memory.save(*SHOP_NODES)
    Git(shared_memory.cwd, shared_memory.env).commit()
    return Hooks(shared_memory.cwd, shared_memory.env)


def variants(path: Path, root: Path) -> list[tuple[str, dict[str, Any]]]:
    """The payload with fields that nobody knows, and without each of its own; within its objects, too."""
    home = str(root.parent)
    text = path.read_text().replace("/home/ada/shop", str(root)).replace("/home/ada", home)
    whole: dict[str, Any] = json.loads(text)
    found = [("more", {**UNKNOWN, **whole, **UNKNOWN})]
    for name, value in whole.items():
        found.append((f"without {name}", {key: other for key, other in whole.items() if key != name}))
        if isinstance(value, dict):
            found.append((f"more in {name}", {**whole, name: {**value, **UNKNOWN}}))
            found += [
                (f"without {name}.{inner}", {**whole, name: {key: one for key, one in value.items() if key != inner}})
                for inner in value
            ]
    return found


@proves("P10.5", "H6")
def test_every_payload_with_more_or_fewer_fields_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    tried = 0
    for path in GOLDEN:
        client, asked = path.parent.name, asked_for(path)
        for name, payload in variants(path, tmp_path / "shop"):
            tried += 1
            said = heard(client, asked, payload)
            assert isinstance(said, HookEvent) or said.endswith("."), (path.name, name)
            if name == "more":
                known = {key: value for key, value in payload.items() if key not in UNKNOWN}
                assert said == heard(client, asked, known), path.name
                assert isinstance(said, HookEvent), path.name
    tally("P10.5", inputs=tried)
    assert tried > 500


def heard(client: str, asked: str, payload: dict[str, Any]) -> HookEvent | str:
    """What is made of a payload: an event, or a sentence that says why not."""
    try:
        return read_event(client, asked, json.dumps(payload).encode())
    except ValueError as error:
        return str(error)


def asked_for(path: Path) -> str:
    asked: str = json.loads(path.with_name(f"{path.stem}.expected.json").read_bytes())["asked"]
    return asked


@proves("P10.5", "H6")
@pytest.mark.parametrize("client", SILENCE)
def test_a_hook_answers_in_its_form_whatever_fields_there_are(shop: Hooks, client: str) -> None:
    memory = Memory(shop.root, shop.env)
    tried = [(path, *one) for path in GOLDEN if path.parent.name == client for one in variants(path, shop.root)]
    chosen = some(tried, 6)
    for path, name, payload in chosen:
        done = memory("hook", client, asked_for(path), stdin=json.dumps(payload).encode())
        assert (done.code, done.err) == (0, ""), (path.name, name)
        assert len(text_in(done.out, client)) <= ROOM
    tally("P10.5", inputs=len(chosen), processes=len(chosen))


BREAKING = {
    "while it answers": ("quire.verbs.agents.hook_answer", "answer_hook"),
    "while it reads": ("quire.clients.hooks.read_event", "read_event"),
    "while it replies": ("quire.clients.hooks.reply", "reply"),
    "while it notes": ("quire.clients.ended_sessions", "note_session"),
    "while it looks for a memory": ("quire.layers.presence", "memory_root"),
}


@proves("P10.5", "H6", found="a hook failed with a traceback where even its silence could not be put into words")
@pytest.mark.parametrize("what", some(list(BREAKING), 3))
def test_an_error_that_nobody_thought_of_stops_no_client(shop: Hooks, tmp_path: Path, what: str) -> None:
    module, function = BREAKING[what]
    mark = break_at(tmp_path, module, function)
    for client, event in (("claude", "session-start"), ("gemini", "prompt"), ("copilot", "session-end")):
        prompt = {"prompt": "how are webhook retries limited?", "session_id": f"{what} {event}"}
        done = shop(client, event, stdin=prompt, env={"PYTHONPATH": str(tmp_path)})
        assert (done.code, done.err) == (0, "")
        assert done.out == "{}\n" or text_in(done.out, client) is not None
    assert mark.exists()
    tally("P10.5", faults=3, processes=3)


@proves("P10.5", "H6")
def test_a_hook_asks_nobody_else(shop: Hooks, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    (tmp_path / "sitecustomize.py").write_text(LISTENING.format(file=str(asked)))
    check = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 9))"
    env = {**shop.env, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", check], env=env, check=True)
    assert "socket.connect" in asked.read_text()  # who asks is heard
    asked.unlink()
    for event in EVENTS:
        file = {"tool_name": "Edit", "tool_input": {"file_path": str(shop.root / "src/orders.py")}}
        given = {"session_id": f"listened to {event}", "prompt": "how are webhook retries limited?", **file}
        assert shop("claude", event, stdin=given, env={"PYTHONPATH": str(tmp_path)}).code == 0
    assert not asked.exists()
