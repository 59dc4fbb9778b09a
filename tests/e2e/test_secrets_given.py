"""A credential that a client gives to a hook or a tool is in no answer, no log and no file afterwards."""

from __future__ import annotations

import json
import os
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hooks_here import SHOP_NODES, Hooks
from mcp_here import Here, folder, prepared
from mcp_http_here import MODERN, WRITER, bearer, request_of, started
from mcp_lines import Server, call, hello, request, serving

from installed import Memory
from promised import proves, tally
from quire.clients.spool import waiting_sessions
from thorough import some

TOKEN = "gh" + "p_" + "".join(random.Random(17).choices(string.ascii_letters + string.digits, k=36))
STARTS = pytest.mark.parametrize("start", [(), ("--sdk-first",)], ids=["front", "sdk"])


def repeats(said: str) -> bool:
    return any(TOKEN[at : at + 12].lower() in said.lower() for at in range(4, len(TOKEN) - 11))


def keeping(top: Path) -> list[str]:
    found = []
    for place, _, names in os.walk(top):
        for name in names:
            path = Path(place, name)
            if path.is_file() and (TOKEN in name or TOKEN.encode() in path.read_bytes()):
                found.append(str(path.relative_to(top)))
    return found


# -- hooks ---------------------------------------------------------------------------------------------


@proves("P9.2", "G10", over="inbox")
def test_a_hook_keeps_no_credential_of_what_a_client_says(memory: Memory, repo: Path) -> None:
    memory.init()
    (repo / "src").mkdir()
    (repo / "src/orders.py").write_text("def add(): ...\n")
    memory.save(*SHOP_NODES)
    hooks = Hooks(repo, memory.env)
    words = f"We use {TOKEN} to deploy.\nOpen: the nightly job."
    said: dict[str, dict[str, Any]] = {
        "session-start": {"session_id": f"s {TOKEN}", "source": "startup"},
        "prompt": {"session_id": TOKEN, "prompt": f"What about {TOKEN} and the order book?"},
        "before-edit": {"tool_name": "Edit", "tool_input": {"file_path": str(repo / "src" / f"{TOKEN}.py")}},
        "after-compaction": {"hook_event_name": "PostCompact", "compact_summary": words, "trigger": TOKEN},
        "session-end": {"session_id": f"{TOKEN}-1", "transcript_path": f"/tmp/{TOKEN}.jsonl", "reason": TOKEN},
        TOKEN: {},
    }
    for event, fields in said.items():
        done = hooks("claude", event, stdin=fields)
        assert (done.code, done.err) == (0, ""), event
        assert not repeats(done.out), event
    assert not hooks(TOKEN, "prompt").out
    assert keeping(repo) == []
    # What is left of it is kept, and can be read.
    assert any("Open: the nightly job." in item.summary for item in waiting_sessions(str(repo)))
    assert hooks.receipts()
    assert hooks.log()


# -- tools ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


def placed(schema: dict[str, Any]) -> Any:
    """The token, in the shape that an argument has."""
    kinds = schema.get("type") or next((item.get("type") for item in schema.get("anyOf", ())), "string")
    if kinds == "array":
        return [placed(schema.get("items", {}))]
    if kinds == "object":
        return {TOKEN: TOKEN, "task": TOKEN, "nodes": [{"kind": TOKEN, "title": TOKEN, "tags": [TOKEN]}]}
    return TOKEN


@proves("P9.2", "G10", over="graph facts profile journal inbox")
@STARTS
def test_no_tool_repeats_or_keeps_a_credential(here: Here, start: tuple[str, ...]) -> None:
    mine = here.copy("sdk" if start else "front")
    with serving(mine, "--toolset", "all", *start) as server:
        server.send(*hello(name="hello"))
        server.answers("hello")
        tools = server.ask(request("list", "tools/list"))["result"]["tools"]
        asked: list[dict[str, Any]] = []
        for tool in tools:
            fields = tool["inputSchema"].get("properties", {})
            needed = dict.fromkeys(tool["inputSchema"].get("required", ()), "retries")
            for name in (*fields, TOKEN):
                asked.append(
                    call(f"{tool['name']} {name[:8]}", tool["name"], **{**needed, name: placed(fields.get(name, {}))})
                )
        asked = some(asked, 80)
        asked += [
            call("a tool", TOKEN),
            request("a method", TOKEN),
            request("a resource", "resources/read", {"uri": f"memory://{TOKEN}"}),
            request("a prompt", "prompts/get", {"name": TOKEN}),
            request("its argument", "prompts/get", {"name": "memory-save", "arguments": {TOKEN: TOKEN}}),
            request("no parameters", "tools/call", {"name": [TOKEN], "arguments": TOKEN}),
        ]
        for message in asked:
            answer = server.ask(message)
            assert not repeats(json.dumps(answer)), (message["id"], answer)
        server.end()
        assert not repeats(server.errors)
    assert keeping(mine.root) == []
    tally("P9.2", inputs=len(asked))


def test_the_server_says_no_credential_of_its_own_line(here: Here) -> None:
    for line in (["--toolset", TOKEN], ["--token-file", f"/nowhere/{TOKEN}"], [f"--{TOKEN}"], ["--port", TOKEN]):
        server = Server(here, *line)
        server.close()
        assert server.wait() != 0
        assert not repeats(server.errors), line
        server.dispose()


# -- keys that stand twice -----------------------------------------------------------------------------

TWICE = {
    "in the message": '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}',
    "in the parameters": '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"project_status","name":"x"}}',
    "in the arguments": (
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query_memory",'
        '"arguments":{"question":"retries","question" : "other"}}}'
    ),
    "deep, and spelled in another way": (
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_memory","arguments":'
        '{"task":"t","nodes":[{"kind":"gotcha","title":"A","t\\u0069tle":"B","body":"C"}]}}}'
    ),
}


@STARTS
@proves("P10.4", "H5")
def test_a_message_with_a_key_twice_is_refused(here: Here, start: tuple[str, ...]) -> None:
    with serving(here, *start) as server:
        server.send(*hello(name="hello"))
        server.answers("hello")
        for where, line in TWICE.items():
            server.send(line.encode())
            error = server.answers(7)[7]["error"]
            assert (error["code"], "occurs twice" in error["message"]) == (-32600, True), where
        text = '{"kind": "gotcha", "title": "A", "title": "B", "body": "C"}'
        done = server.ask(call(8, "save_memory", task="t", nodes=f"[{text}]"))["result"]
        assert done["isError"] is True
        assert "occurs twice" in done["content"][0]["text"]
        # What only looks like it is answered.
        fine = server.ask(call(9, "query_memory", question='Why "a": 1, "a": 2 and \\"a\\": 3?'))["result"]
        assert fine["isError"] is False


@pytest.mark.proof
def test_a_key_twice_is_refused_over_http(here: Here) -> None:
    with started(here) as door:
        types = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        good = request_of("tools/call", name="query_memory", arguments={"question": "retries"})
        headers = [bearer(WRITER), *types, ("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call")]
        headers.append(("Mcp-Name", "query_memory"))
        body = json.dumps(good).replace('{"question": ', '{"question": "x", "question": ').encode()
        refused = door.ask(headers, body)
        assert refused.status == 400
        error = json.loads(refused.body)
        assert (error["id"], error["error"]["code"]) == (1, -32600)
        assert door.ask(headers, json.dumps(good).encode()).status == 200
