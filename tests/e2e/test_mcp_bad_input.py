"""What no client should send: too much, too deep, of the wrong kind. It is always answered, and the server lives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_here import Here, folder, prepared
from mcp_lines import Server, call, hello, request, serving

from promised import proves
from quire.surfaces.mcp.catalogue import chosen_tools

MEBI = 1024 * 1024
MOST = 8 * MEBI
TOOLS = list(chosen_tools(["all"]))
WRONG: tuple[Any, ...] = (True, 3, -1, 1.5, 10**30, "", "x", "{", [], ["x"], [["x"]], [None], {}, {"x": 1}, [{}])
STARTS = [(), ("--sdk-first",)]


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture(scope="module")
def common(here: Here) -> Iterator[Server]:
    """One server for all that must not harm it."""
    with serving(here, "--toolset", "all") as server:
        server.send(*hello(name="hello"))
        server.answers("hello")
        yield server


@pytest.fixture(scope="module")
def schemas(common: Server) -> dict[str, Any]:
    listed = common.ask(request("schemas", "tools/list"))["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in listed}


@pytest.fixture(params=STARTS, ids=["front", "sdk"])
def server(here: Here, request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(here, "--toolset", "all", *request.param) as server:
        server.send(*hello(name="hello"))
        server.answers("hello")
        yield server
        assert server.ask(call("alive", "automation_status"))["result"]["isError"] is False


def size_of(server: Server) -> int:
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- too long ---------------------------------------------------------------------------------


@pytest.mark.proof(keep=1)
@proves("P10.4", "H5")
def test_ten_megabytes_of_arguments_are_refused_by_their_id(server: Server) -> None:
    much = "x" * (10 * MEBI)
    last = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "query_memory", "arguments": {"question": much}},
    }
    for message in (call(1, "query_memory", question=much), {**last, "id": "two"}):
        error = server.ask(message)["error"]
        assert error["code"] == -32600
        assert error["message"].startswith("The message is longer than 8 MiB and was not read.")
    middle = {"jsonrpc": "2.0", "method": "tools/call", "id": 3, "params": last["params"]}
    server.send(middle)
    assert server.next()["id"] is None


@proves("P10.4", "H5")
def test_a_line_that_does_not_end_is_not_kept(server: Server) -> None:
    before = size_of(server)
    server.write(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"')
    for _ in range(36):
        server.write(b"x" * MEBI)
    server.send(request("other", "ping"))
    # The line ended with it, so that it was a part of it.
    assert server.answers(7)[7]["error"]["code"] == -32600
    assert size_of(server) - before < 2.5 * MOST
    assert server.ask(request("next", "ping"))["result"] == {}


def test_nine_megabytes_without_an_end_and_then_more(server: Server) -> None:
    server.write(b" " * (9 * MEBI))
    server.write(json.dumps(request(1, "ping")).encode() + b"\n")
    assert server.next()["error"]["code"] == -32600
    server.write(json.dumps(request(2, "ping")).encode()[:20])
    server.write(json.dumps(request(2, "ping")).encode()[20:] + b"\n" + json.dumps(request(3, "ping")).encode() + b"\n")
    assert set(server.answers(2, 3)) == {2, 3}


@proves("P10.4", "H5")
def test_nine_megabytes_and_then_nothing(here: Here) -> None:
    with serving(here) as server:
        server.write(b"x" * (9 * MEBI))
        assert server.end(5) == 0
        assert server.said == []


@pytest.mark.proof
def test_what_just_fits_is_read(server: Server) -> None:
    def message(room: int) -> bytes:
        return json.dumps(call(1, "query_memory", question="x" * room)).encode()

    room = MOST - len(message(0))
    server.write(message(room) + b"\n")
    error = server.answers(1)[1]["result"]["structuredContent"]["error"]
    assert error["details"]["field"] == "question"
    server.write(message(room + 1) + b"\n")
    assert server.answers(1)[1]["error"]["code"] == -32600


# -- not to be read ---------------------------------------------------------------------------


def line(value: bytes) -> bytes:
    head = b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"memory_recall","arguments":{"query":'
    return head + value + b'}},"id":1}'


UNREADABLE = {
    "lists in lists": b"[" * 100_000 + b"]" * 100_000,
    "objects in objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "lists that do not end": b"[" * 100_000,
    "half of a character": b'"a\\ud800b"',
    "halves in the wrong order": b'"\\udc00\\ud800"',
    "a half of a character, written out": b'"a\xed\xa0\x80b"',
    "a byte that is no text": b'"a\xffb"',
    "a control character": b'"a\x01b"',
}


@proves("P10.4", "H5")
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_answered_by_its_id(server: Server, name: str) -> None:
    server.send(line(UNREADABLE[name]))
    found = server.answers(1)[1]
    assert "error" in found or found["result"]["isError"] is True


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "9" * 400, '"a\\u0000b"', '"a\\u001bb"', '"\\u202eb"'])
def test_odd_values_are_answered(server: Server, value: str) -> None:
    server.send(line(value.encode()))
    text = json.dumps(server.answers(1)[1]["result"], ensure_ascii=False)
    assert not set(text) & {"\x00", "\x1b", "\u202e"}
    assert "itself failed" not in text


# -- of the wrong kind ------------------------------------------------------------------------


def least(schema: dict[str, Any]) -> dict[str, Any]:
    """What a tool must be given, each of a kind that its schema allows."""
    return {name: example(schema["properties"][name]) for name in schema.get("required", ())}


def example(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    return {"string": "x", "integer": 1, "number": 0.5, "boolean": True, "array": ["x"], "object": {}}.get(kind, "x")


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value could be meant for this: models send numbers, lists and objects as text, too."""
    if "anyOf" in schema:
        return any(fits(value, kind) for kind in schema["anyOf"])
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    kind = kinds[type(value)]
    return schema.get("type", kind) == kind or isinstance(value, str) or (kind, schema["type"]) == ("integer", "number")


@pytest.mark.proof(keep=12)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_value_of_the_wrong_kind_is_refused_by_name(common: Server, schemas: dict[str, Any], tool: str) -> None:
    properties, messages = schemas[tool]["properties"], {}
    for name in properties:
        # Nothing is changed but by what is looked at, and no process is started.
        dry = {"dry_run": True} if "dry_run" in properties and name != "dry_run" else {}
        for place, value in enumerate(WRONG):
            if (tool, value) != ("automation_ensure_running", ""):
                key = f"{tool} {name} {place}"
                messages[key] = name, value, call(key, tool, **{**least(schemas[tool]), **dry, name: value})
    common.send(*(message for _, _, message in messages.values()))
    found = common.answers(*messages)
    for key, (name, value, _) in messages.items():
        result = found[key]["result"]
        text = result["content"][0]["text"]
        assert "itself failed" not in text, (key, value, text)
        if not fits(value, properties[name]):
            assert result["isError"] is True, (key, value)
            assert name in text, (key, value, text)


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_argument_is_refused(common: Server, schemas: dict[str, Any], tool: str) -> None:
    given = {**least(schemas[tool]), "colour": "red"}
    error = common.ask(call(f"{tool} unknown", tool, **given))["result"]["structuredContent"]["error"]
    assert error["code"] == "MemoryValidationFailed"
    assert "colour" in error["message"]
    assert error["details"]["takes"] == list(schemas[tool]["properties"])


@pytest.mark.parametrize("tool", TOOLS)
def test_what_must_be_given_is_asked_for(common: Server, schemas: dict[str, Any], tool: str) -> None:
    for name in schemas[tool].get("required", ()):
        given = {key: value for key, value in least(schemas[tool]).items() if key != name}
        for number, told in enumerate((given, {**given, name: None})):
            result = common.ask(call(f"{tool} {name} {number}", tool, **told))["result"]
            assert result["isError"] is True, told
            assert name in result["content"][0]["text"]
