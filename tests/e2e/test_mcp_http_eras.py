"""Both eras of the protocol over HTTP: sessions of the older one, and requests of the newer that stand alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_here import folder
from mcp_http_here import (
    MODERN,
    WRITER,
    Door,
    Headers,
    bearer,
    empty_project,
    error_of,
    messages_of,
    modern_headers,
    request_of,
    result_of,
    started,
)

from promised import proves

JSON = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
LIST = request_of("tools/list", 5)
CALL = request_of("tools/call", 5, name="status_memory", arguments={})
READ = request_of("resources/read", 5, uri="memory://map")
PROMPT = request_of("prompts/get", 5, name="orient")
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MISMATCH = -32020


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with folder() as place, started(empty_project(place), "--rate", "100000") as door:
        yield door


def asked(door: Door, session: str, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 5, "method": method, "params": params}
    return messages_of(door.post(message, session))[-1]


# -- the older era --------------------------------------------------------------------------------


@proves("P10.4", "H5")
@pytest.mark.parametrize("version", OLDER)
def test_a_session_from_the_handshake_to_its_end(door: Door, version: str) -> None:
    session = door.open_session(version=version)
    listing = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
    tools = messages_of(door.post(listing, session, version=version))[-1]["result"]["tools"]
    assert len(tools) == 8
    headers = [bearer(WRITER), ("Mcp-Session-Id", session), JSON[1]]
    assert door.ask(headers, method="DELETE").status == 200
    assert door.post(listing, session, version=version).status == 404
    assert door.ask(headers, method="DELETE").status == 404


def test_sessions_have_names_that_nobody_guesses(door: Door) -> None:
    names = {door.open_session() for _ in range(8)}
    assert len(names) == 8
    assert {len(name) for name in names} == {32}


def test_before_the_handshake_there_is_no_session(door: Door) -> None:
    reply = door.post({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
    assert reply.status == 400
    assert error_of(reply)["message"] == "Bad Request: Missing session ID"


def test_calls_resources_and_prompts_in_a_session(door: Door) -> None:
    session = door.open_session()
    called = asked(door, session, "tools/call", name="status_memory", arguments={})["result"]
    assert called["structuredContent"]["ok"] is True
    assert "resultType" not in called
    assert asked(door, session, "resources/read", uri="memory://map")["result"]["contents"][0]["uri"] == "memory://map"
    assert asked(door, session, "prompts/get", name="orient")["result"]["messages"][0]["role"] == "user"
    assert asked(door, session, "resources/read", uri="memory://none")["error"]["code"] == -32002
    unknown = asked(door, session, "tools/call", name="recall", arguments={})["error"]
    assert unknown["code"] == -32602
    assert unknown["data"] == {"hint": "It is in the toolset `profile`: start memory-mcp with --toolset core,profile."}


@proves("P10.4", "H5")
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "text/html", ""])
def test_who_does_not_take_what_is_sent_is_told_so(door: Door, accept: str) -> None:
    data, taken = json.dumps(LIST).encode(), [("Accept", accept)] if accept else []
    assert door.ask([JSON[0], *taken, bearer(WRITER), *modern_headers(LIST)], data).status == 406
    session = ("Mcp-Session-Id", door.open_session())
    assert door.ask([JSON[0], *taken, bearer(WRITER), session], data).status == 406


# -- the newer era --------------------------------------------------------------------------------


def test_each_request_stands_alone(door: Door) -> None:
    found = result_of(door.send(request_of("server/discover")))
    assert found["supportedVersions"] == [MODERN]
    assert set(found["capabilities"]) == {"prompts", "resources", "tools"}
    assert (found["ttlMs"], found["cacheScope"]) == (3_600_000, "public")
    for message, name in ((LIST, "tools"), (CALL, "content"), (READ, "contents"), (PROMPT, "messages")):
        reply = door.send(message)
        assert reply.header("mcp-session-id") is None
        result = result_of(reply)
        assert (result["resultType"], bool(result[name])) == ("complete", True)


def test_the_eras_say_the_same(door: Door) -> None:
    session = door.open_session()
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        newer = result_of(door.send(request_of(method)))
        for name in ("ttlMs", "cacheScope", "resultType", "_meta"):
            newer.pop(name)
        assert newer == asked(door, session, method)["result"]


@proves("P10.4", "H5")
def test_what_a_message_says_before_it_is_read_must_be_what_it_says(door: Door) -> None:
    """A proxy may decide by the headers, so that they must not be another's than the message's."""
    assert door.send(CALL).status == 200
    version, method, name = modern_headers(CALL)
    wrong: dict[str, Headers] = {
        "another method": [version, ("Mcp-Method", "tools/list"), name],
        "no method": [version, name],
        "an empty method": [version, ("Mcp-Method", ""), name],
        "a method in other letters": [version, ("Mcp-Method", "Tools/Call"), name],
        "two methods": [version, method, ("Mcp-Method", "tools/list"), name],
        "the same method twice": [version, method, method, name],
        "another tool": [version, method, ("Mcp-Name", "save_memory")],
        "no tool": [version, method],
        "two tools": [version, method, name, ("Mcp-Name", "save_memory")],
        "two versions": [version, version, method, name],
    }
    for given, headers in wrong.items():
        reply = door.ask([*JSON, bearer(WRITER), *headers], json.dumps(CALL).encode())
        assert (reply.status, error_of(reply)["code"]) == (400, MISMATCH), given
        assert json.loads(reply.body)["id"] == 5


@proves("P10.4", "H5")
@pytest.mark.parametrize("message", [READ, PROMPT])
def test_that_holds_for_resources_and_prompts(door: Door, message: dict[str, Any]) -> None:
    version, method, _ = modern_headers(message)
    reply = door.ask([*JSON, bearer(WRITER), version, method, ("Mcp-Name", "other")], json.dumps(message).encode())
    assert (reply.status, error_of(reply)["code"]) == (400, MISMATCH)


@proves("P10.4", "H5")
def test_a_tool_that_changes_something_cannot_be_called_as_another(door: Door) -> None:
    """Whoever lets only `status_memory` pass lets nothing else pass."""
    arguments = {"section": "Specs", "content": "Smuggled."}
    store = request_of("tools/call", name="memory_store", arguments=arguments)
    reply = door.ask([*JSON, bearer(WRITER), *modern_headers(CALL)], json.dumps(store).encode())
    assert reply.status == 400
    assert "Smuggled." not in door.call("memory_recall", query="smuggled")["content"][0]["text"]


VERSIONS: dict[str, tuple[str, str | None, int]] = {
    "one in the header, another in the message": (MODERN, "2025-11-25", MISMATCH),
    "one that nobody knows": ("2031-01-01", "2031-01-01", -32022),
    "one that is none": ("x", "x", -32022),
    "none in the message": (MODERN, None, -32602),
}


@proves("P10.4", "H5")
@pytest.mark.parametrize("given", VERSIONS)
def test_versions_that_do_not_fit(door: Door, given: str) -> None:
    header, inside, code = VERSIONS[given]
    message = json.loads(json.dumps(LIST))
    meta = message["params"]["_meta"]
    del meta["io.modelcontextprotocol/protocolVersion"]
    if inside is not None:
        meta["io.modelcontextprotocol/protocolVersion"] = inside
    headers = [*JSON, bearer(WRITER), ("MCP-Protocol-Version", header), ("Mcp-Method", "tools/list")]
    reply = door.ask(headers, json.dumps(message).encode())
    assert (reply.status, error_of(reply)["code"]) == (400, code)
    if code == -32022:
        assert error_of(reply)["data"] == {"supported": [MODERN], "requested": header}


def test_a_request_of_the_newer_era_without_its_header_is_not_taken_for_one(door: Door) -> None:
    assert door.ask([*JSON, bearer(WRITER)], json.dumps(LIST).encode()).status == 400


@proves("P10.4", "H5")
def test_requests_that_cannot_be_answered(door: Door) -> None:
    """Each with the status that goes with it, so that a proxy and a client see it at once."""
    cases = [
        (request_of("tools/nothing"), 404, -32601),
        (request_of("initialize"), 404, -32601),
        (request_of("tools/call", name="nothing", arguments={}), 400, -32602),
        (request_of("tools/call", name="status_memory", arguments=[]), 400, -32602),
        (request_of("resources/read", uri="memory://none"), 400, -32602),
        (request_of("resources/read", uri="file:///etc/passwd"), 400, -32602),
        (request_of("prompts/get", name="nothing"), 400, -32602),
        (request_of("prompts/get", name="orient", arguments={"nothing": "x"}), 400, -32602),
        (request_of("tools/list", cursor="x"), 400, -32602),
    ]
    for message, status, code in cases:
        reply = door.send(message)
        assert (reply.status, error_of(reply)["code"]) == (status, code), message
        assert "root:" not in reply.text


@proves("P10.4", "H5")
def test_a_notification_is_taken_and_does_nothing(door: Door) -> None:
    """Nobody can withdraw the call of somebody else by its number."""
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    reply = door.ask([*JSON, bearer(WRITER), ("MCP-Protocol-Version", MODERN)], json.dumps(told).encode())
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.proof
def test_an_error_of_a_tool_is_a_result(door: Door) -> None:
    result = result_of(door.send(request_of("tools/call", name="query_memory", arguments={"question": ""})))
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["details"]["field"] == "question"
