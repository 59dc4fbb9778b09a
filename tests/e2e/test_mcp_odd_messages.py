"""Odd messages get the same reply, or none, whether the front hears them first or the SDK does.

Every case is told to two servers: one that has said no more than its opening, so that the front is still there, and one
that has loaded the SDK before anything. Each table says what the SDK makes of the message: the error's code, `OK` for a
result, nothing where it does not answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_here import Here, folder, prepared
from mcp_lines import ENVELOPE, Server, cancel, hello, request, until

from promised import proves

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NO_RESOURCE, OTHER_VERSION = -32002, -32022
OK, NOTHING = "result", None
META = "io.modelcontextprotocol/"
LOOK = {"name": "inspect_memory", "arguments": {"id": "decision.retries-run-in-the-worker"}}
INITIALIZE = hello(name=1)[0]
DISCOVER = request(0, "server/discover", modern=True)
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def told(method: Any = "ping", params: Any = ..., **top: Any) -> dict[str, Any]:
    """A message with parts that may be wrong or, as `...`, missing."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **top}
    return {name: value for name, value in message.items() if value is not ...}


def notice(method: str, params: Any = ...) -> dict[str, Any]:
    return told(method, params, id=...)


def shake(**changed: Any) -> dict[str, Any]:
    """The handshake, with something different."""
    params = {**INITIALIZE["params"], **changed}
    return told("initialize", {name: value for name, value in params.items() if value is not ...})


def modern(method: str, envelope: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    """A request of the newer era, with something different in its envelope."""
    meta = {**ENVELOPE, **{f"{META}{name}": value for name, value in (envelope or {}).items()}}
    return told(method, {**params, "_meta": {name: value for name, value in meta.items() if value is not ...}})


def raw(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


FIRST: dict[str, tuple[Any, Any]] = {
    **{f"{method} before the handshake": (told(method), INVALID_PARAMS) for method in LISTS},
    "a call before the handshake": (told("tools/call", LOOK), INVALID_PARAMS),
    "a read before the handshake": (told("resources/read", {"uri": "memory://schema"}), INVALID_PARAMS),
    "a prompt before the handshake": (told("prompts/get", {"name": "orient"}), INVALID_PARAMS),
    "a ping before the handshake": (told("ping"), OK),
    "initialized before the handshake": (notice("notifications/initialized"), NOTHING),
    "cancelled before the handshake": (cancel(5), NOTHING),
    "an empty line": (b"", NOTHING),
    "a blank line": (b" \t ", NOTHING),
    "spaces around": (b"  " + raw(told()) + b"  \r", OK),
    "an empty method": (told(""), NO_METHOD),
    "no id": (told(id=...), NOTHING),
    "id: a text": (told(id="x"), OK),
    "id: an empty text": (told(id=""), OK),
    "id: huge": (told(id=2**70), OK),
    "id: negative": (told(id=-1), OK),
    "id: null": (told(id=None), NOTHING),
    "id: a fraction": (told(id=1.5), NOTHING),
    "id: a whole fraction": (told(id=1.0), NOTHING),
    "id: true": (told(id=True), NOTHING),
    "id: a list": (told(id=[1]), NOTHING),
    "params: null": (told(params=None), OK),
    "an unknown field": (told(foo=1), OK),
    "also a result": (told(result={}), OK),
    "not a number": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', OK),
    "a key twice": (b'{"jsonrpc":"2.0","id":2,"id":1,"method":"ping"}', -32600),
    "a response": (told(..., result={}), NOTHING),
    "an error": (told(..., error={"code": 1, "message": "x"}), NOTHING),
    "a response that is none": (told(..., result=None), NOTHING),
    "an error that is none": (told(..., error=3), NOTHING),
    "a notification with odd params": (notice("notifications/cancelled", [1]), NOTHING),
    "handshake without a version": (shake(protocolVersion=...), INVALID_PARAMS),
    "handshake, version: a number": (shake(protocolVersion=1), INVALID_PARAMS),
    "handshake, version: empty": (shake(protocolVersion=""), OK),
    "handshake, version of the newer era": (shake(protocolVersion="2026-07-28"), OK),
    "handshake without a client": (shake(clientInfo=...), INVALID_PARAMS),
    "handshake, client without a version": (shake(clientInfo={"name": "x"}), INVALID_PARAMS),
    "handshake, client with a title": (shake(clientInfo={"name": "x", "version": "1", "title": "X"}), OK),
    "handshake, client with odd icons": (shake(clientInfo={"name": "x", "version": "1", "icons": 7}), INVALID_PARAMS),
    "handshake without capabilities": (shake(capabilities=...), INVALID_PARAMS),
    "handshake, capabilities: null": (shake(capabilities=None), INVALID_PARAMS),
    "handshake, usual capabilities": (shake(capabilities={"roots": {"listChanged": True}, "sampling": {}}), OK),
    "handshake, unknown capability": (shake(capabilities={"foo": {}}), OK),
    "handshake, roots: a number": (shake(capabilities={"roots": 3}), INVALID_PARAMS),
    "handshake, odd roots": (shake(capabilities={"roots": {"listChanged": "maybe"}}), INVALID_PARAMS),
    "handshake, odd sampling": (shake(capabilities={"sampling": {"tools": 3}}), INVALID_PARAMS),
    "handshake, odd experiment": (shake(capabilities={"experimental": {"x": 3}}), INVALID_PARAMS),
    "handshake with an odd token": (shake(_meta={"progressToken": 1.5}), INVALID_PARAMS),
    "handshake with odd meta": (shake(_meta=3), INVALID_PARAMS),
    "handshake with an envelope": (shake(_meta=ENVELOPE), OK),
    "handshake that wants no answer": ({**shake(), "id": ...}, NOTHING),
    "discovery without an envelope": (told("server/discover"), NO_METHOD),
    "discovery, meta: null": (told("server/discover", {"_meta": None}), NO_METHOD),
    "discovery without capabilities": (modern("server/discover", {"clientCapabilities": ...}), INVALID_PARAMS),
    "discovery, odd capabilities": (modern("server/discover", {"clientCapabilities": {"roots": 3}}), INVALID_PARAMS),
    "discovery without a client": (modern("server/discover", {"clientInfo": ...}), OK),
    "discovery, odd client": (modern("server/discover", {"clientInfo": {"name": 3}}), INVALID_PARAMS),
    "discovery, version: a number": (modern("server/discover", {"protocolVersion": 3}), INVALID_PARAMS),
    "discovery, a later version": (modern("server/discover", {"protocolVersion": "2099-01-01"}), OTHER_VERSION),
    "discovery, an earlier version": (modern("server/discover", {"protocolVersion": "2025-11-25"}), OTHER_VERSION),
    "odd log level": (modern("tools/list", {"logLevel": 7}), INVALID_PARAMS),
}
SECOND: dict[str, tuple[Any, Any]] = {
    "a second handshake": (shake(), OK),
    "a second notice of it": (notice("notifications/initialized"), NOTHING),
    **{f"{method} from a cursor": (told(method, {"cursor": "x"}), INVALID_PARAMS) for method in LISTS},
    "cursor: null": (told("tools/list", {"cursor": None}), OK),
    "cursor: a number": (told("tools/list", {"cursor": 5}), INVALID_PARAMS),
    "list, unknown parameter": (told("tools/list", {"foo": 1}), OK),
    "list, params: null": (told("tools/list", None), OK),
    "list, meta: null": (told("tools/list", {"_meta": None}), OK),
    "list, meta: a list": (told("tools/list", {"_meta": []}), INVALID_PARAMS),
    "call without params": (told("tools/call"), INVALID_PARAMS),
    "call without a name": (told("tools/call", {"arguments": {}}), INVALID_PARAMS),
    "call, name: a number": (told("tools/call", {"name": 4}), INVALID_PARAMS),
    "call, name: empty": (told("tools/call", {"name": ""}), INVALID_PARAMS),
    "call without arguments": (told("tools/call", {"name": "query_memory"}), OK),
    "call, arguments: null": (told("tools/call", {"name": "query_memory", "arguments": None}), OK),
    "call, arguments: a list": (told("tools/call", {"name": "query_memory", "arguments": []}), INVALID_PARAMS),
    "call, arguments: a text": (told("tools/call", {"name": "query_memory", "arguments": "{}"}), INVALID_PARAMS),
    "call, unknown parameter": (told("tools/call", {**LOOK, "foo": 1}), OK),
    "call as a task": (told("tools/call", {**LOOK, "task": {"ttl": 5}}), OK),
    "call, token: a fraction": (told("tools/call", {**LOOK, "_meta": {"progressToken": 1.5}}), INVALID_PARAMS),
    "call, token: null": (told("tools/call", {**LOOK, "_meta": {"progressToken": None}}), INVALID_PARAMS),
    "call, token: true": (told("tools/call", {**LOOK, "_meta": {"progressToken": True}}), OK),
    "call, token: a list": (told("tools/call", {**LOOK, "_meta": {"progressToken": []}}), INVALID_PARAMS),
    "call that wants no answer": (notice("tools/call", LOOK), NOTHING),
    "read without an address": (told("resources/read", {}), INVALID_PARAMS),
    "read, address: a number": (told("resources/read", {"uri": 1}), INVALID_PARAMS),
    "read, address: empty": (told("resources/read", {"uri": ""}), NO_RESOURCE),
    "read, capitals": (told("resources/read", {"uri": "MEMORY://schema"}), NO_RESOURCE),
    "prompt, value: a number": (told("prompts/get", {"name": "orient", "arguments": {"topic": 3}}), INVALID_PARAMS),
    "prompt, arguments: null": (told("prompts/get", {"name": "save_what_changed", "arguments": None}), OK),
    "an unknown method": (told("nope"), NO_METHOD),
    **{
        f"{method}, which is not offered": (told(method, params), NO_METHOD)
        for method, params in (
            ("resources/subscribe", {"uri": "memory://map"}),
            ("logging/setLevel", {"level": "debug"}),
            ("roots/list", {}),
            ("tasks/list", {}),
        )
    },
    "an unknown notification": (notice("notifications/nope"), NOTHING),
    "cancelled, nothing named": (notice("notifications/cancelled"), NOTHING),
    "cancelled, an unknown request": (cancel(77), NOTHING),
    "cancelled, id: true": (cancel(True), NOTHING),
    "cancelled, id: an object": (cancel({}), NOTHING),
    "progress of the client": (notice("notifications/progress", {"progressToken": 1, "progress": 1}), NOTHING),
    "an envelope of the newer era": (modern("tools/list"), INVALID_REQUEST),
    "discovery after the handshake": (modern("server/discover"), INVALID_REQUEST),
    "ping with something": (told("ping", {"x": 1}), OK),
}
NEWER: dict[str, tuple[Any, Any]] = {
    "ping": (modern("ping"), NO_METHOD),
    "ping without an envelope": (told("ping"), INVALID_PARAMS),
    "list without an envelope": (told("tools/list"), INVALID_PARAMS),
    "call without an envelope": (told("tools/call", LOOK), INVALID_PARAMS),
    "a handshake": (shake(), OTHER_VERSION),
    "a handshake with an envelope": (shake(_meta=ENVELOPE), OTHER_VERSION),
    "a notice of a handshake": (notice("notifications/initialized"), NOTHING),
    "an unknown method": (modern("nope"), NO_METHOD),
    "from a cursor": (modern("tools/list", cursor="x"), INVALID_PARAMS),
    "without capabilities": (modern("tools/list", {"clientCapabilities": ...}), INVALID_PARAMS),
    "a later version": (modern("tools/list", {"protocolVersion": "2099-01-01"}), OTHER_VERSION),
    "call, arguments: null": (modern("tools/call", name="query_memory", arguments=None), OK),
    "call, arguments: a list": (modern("tools/call", name="query_memory", arguments=[]), INVALID_PARAMS),
    "call with answers": (modern("tools/call", **LOOK, inputResponses={}), OK),
    "call, odd log level": (modern("tools/call", {"logLevel": "loud"}, **LOOK), INVALID_PARAMS),
    "read of nothing": (modern("resources/read", uri="memory://x"), INVALID_PARAMS),
    "listening": (modern("subscriptions/listen", notifications={}), NO_METHOD),
    "discovery again": (modern("server/discover"), OK),
    "cancelled, an unknown request": (cancel(77), NOTHING),
}
UNREAD: dict[str, Any] = {
    "half of a message": b"{",
    "two messages in a line": raw(told()) * 2,
    "a mark before it": b"\xef\xbb\xbf" + raw(told()),
    "a byte that is no text": b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}',
    "half of a character": b'{"jsonrpc":"2.0","id":1,"method":"ping\\ud800"}',
    "deeper than anybody reads": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":'
    + b"[" * 999
    + b"]" * 999
    + b"}}",
    "null": b"null",
    "a number": b"42",
    "a text": b'"x"',
    "an empty list": b"[]",
    "several in a list": b"[" + raw(told()) + b"]",
    "an empty object": b"{}",
    "another version": told(jsonrpc="1.0"),
    "no version": told(jsonrpc=...),
    "no method": told(...),
    "method: a number": told(7),
    "params: a list": told(params=[]),
    "params: a text": told(params="x"),
}
"""What is no message of the protocol, and may have wanted an answer: there is one, with its id where that is seen."""
OPENINGS: dict[str, list[dict[str, Any]]] = {"first": [], "handshake": hello(), "newer": [DISCOVER]}
CASES = [
    pytest.param(opening, *case, id=f"{opening}: {name}")
    for opening, table in (("first", FIRST), ("handshake", SECOND), ("newer", NEWER))
    for name, case in table.items()
]


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.mark.proof(keep=13)
@proves("P10.4", "H5")
@pytest.mark.parametrize(("opening", "message", "expected"), CASES)
def test_the_front_and_the_sdk_say_the_same(here: Here, opening: str, message: Any, expected: Any) -> None:
    said = []
    for arguments in ((), ("--sdk-first",)):
        server = Server(here, *arguments)
        try:
            said.append(replies(server, OPENINGS[opening], message))
            assert server.end() == 0
        finally:
            server.dispose()
    assert said[0] == said[1]
    codes = {name: reply.get("error", {}).get("code", OK) for name, reply in said[1].items() if name not in AFTER}
    assert list(codes.values()) == ([] if expected is NOTHING else [expected])
    assert all(name in said[1] for name in AFTER), "the server goes on"


@proves("P10.4", "H5")
@pytest.mark.parametrize("opening", ["first", "handshake"])
def test_what_is_no_message_is_taken_alike(here: Here, opening: str) -> None:
    """One server for all: the SDK is loaded with the first of them, and hears the rest."""
    said = []
    for arguments in ((), ("--sdk-first",)):
        server = Server(here, *arguments)
        try:
            said.append(
                [
                    replies(server, OPENINGS[opening] if not place else [], line)
                    for place, line in enumerate(UNREAD.values())
                ]
            )
            assert server.end() == 0
        finally:
            server.dispose()
    front, sdk = (dict(zip(UNREAD, found, strict=True)) for found in said)
    assert front == sdk
    for name, found in sdk.items():
        (reply,) = [reply for place, reply in found.items() if place not in AFTER]
        assert (name, reply["error"]["code"]) in ((name, PARSE_ERROR), (name, INVALID_REQUEST))
        assert reply["id"] in (1, None)


AFTER = ("in the older era", "in the newer era")


def replies(server: Server, opening: list[dict[str, Any]], message: Any) -> dict[Any, Any]:
    """What is answered to a message, and to a request in either era after it."""
    if opening:
        server.send(*opening)
        server.answers(0)
    seen = len(server.said)
    line = (
        message
        if isinstance(message, bytes)
        else raw({name: part for name, part in message.items() if part is not ...})
    )
    wanted = [request(name, "tools/list", modern=name == AFTER[1]) for name in AFTER]
    server.send(line, *wanted)
    until(lambda: {*AFTER} <= {reply.get("id") for reply in server.said[seen:]})
    # Whatever is answered later than a list is a call: they take a moment longer.
    if isinstance(message, dict) and message.get("method") in ("tools/call", "prompts/get", "resources/read"):
        until(lambda: "id" not in message or any(reply.get("id") == message["id"] for reply in server.said[seen:]))
    found = server.said[seen:]
    named = {reply.get("id"): reply for reply in map(plain, found)}
    assert len(named) == len(found), "nothing is answered twice"
    return named


def plain(message: dict[str, Any]) -> Any:
    """The message without what is drawn by lot."""
    text = re.sub(r"memory-[0-9a-f]{12}", "memory-x", json.dumps(message))
    return json.loads(re.sub(r'"tokens": \d+', '"tokens": 0', text))
