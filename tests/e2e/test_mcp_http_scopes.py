"""Two tokens: one may change the memory, one may only read it, and a session takes nobody further than his token."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_here import Here, folder, prepared
from mcp_http_here import READER, WRITER, Door, messages_of, request_of, result_of, started

from promised import proves

NODE = "decision.retries-run-in-the-worker"
ENDS = {"source_category": "user", "source_key": "timezone", "target_category": "tools"}
LINK = {**ENDS, "target_key": "package_manager"}
WRITES: dict[str, dict[str, Any]] = {
    "save_memory": {"task": "t", "nodes": [{"kind": "gotcha", "title": "Nobody", "body": "Nobody may write this."}]},
    "sync_memory": {},
    "confirm_memory": {"ids": [NODE], "reason": "looked"},
    "propose_memory": {"kind": "decision", "text": "Nobody may write this."},
    "memory_store": {"section": "Specs", "content": "Nobody may write this."},
    "memory_supersede": {"fact_id": "FIVE", "content": "Nobody may write this."},
    "memory_archive": {"fact_ids": ["FIVE"]},
    "memory_focus": {"fact_ids": ["FIVE"]},
    "memory_release": {},
    "memory_connect": {"source": "FIVE", "target": "WORKER", "relation": "enables"},
    "memory_compact": {
        "conversation": [{"role": role, "content": "Nobody."} for _ in range(5) for role in ("user", "assistant")],
        "keep_turns": 1,
    },
    "memory_ingest_lifecycle": {},
    "session_start": {},
    "remember": {"category": "user", "key": "nobody", "value": "Nobody may write this."},
    "forget": {"category": "user", "key": "timezone"},
    "add_link": {**LINK, "relation": "related-to"},
    "remove_link": {**LINK, "source_category": "learnings", "source_key": "lock_files"},
    "memory_maintain": {},
    "journal_recall": {},
    "journal_sync": {},
    "automation_ensure_running": {},
    "automation_run_once": {},
}
READS: dict[str, dict[str, Any]] = {
    "query_memory": {"question": "where do retries run?"},
    "inspect_memory": {"id": NODE},
    "status_memory": {},
    "brief_memory": {"files": ["src/worker.py"]},
    "why_memory": {"place": "src/worker.py:4"},
    "check_memory": {},
    "diff_memory": {},
    "memory_recall": {"query": "retries"},
    "memory_query": {},
    "memory_episodes": {},
    "memory_search_archive": {"query": "queue"},
    "recall": {"category": "user"},
    "search": {"query": "timezone"},
    "status": {},
    "export_memories": {},
    "about_me": {},
    "about_us": {},
    "reflect": {},
    "connections": {"category": "user", "key": "timezone"},
    "memory_assess": {},
    "memory_compact_handoff": {},
    "journal_query": {"question": "what changed?"},
    "memory_status": {},
    "memory_validate": {},
    "automation_status": {},
}


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture(scope="module")
def door(here: Here) -> Iterator[Door]:
    with started(here, "--toolset", "all", "--rate", "100000") as door:
        yield door


def kept(here: Here) -> dict[str, str]:
    """A digest of every file in the project and around it, also where git ignores it; only the index is left out."""
    index = here.root / ".memory/index"
    files = [path for path in here.root.parent.rglob("*") if path.is_file() and not path.is_relative_to(index)]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def arguments_of(here: Here, given: dict[str, Any]) -> dict[str, Any]:
    refs = {"FIVE": here.refs["five"], "WORKER": here.refs["worker"]}
    return {
        name: [refs.get(item, item) if isinstance(item, str) else item for item in value]
        if isinstance(value, list)
        else refs.get(value, value)
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }


@proves("P10.2", "H2")
def test_every_tool_is_here(door: Door) -> None:
    tools = result_of(door.send(request_of("tools/list"), READER))["tools"]
    reading = {tool["name"] for tool in tools if tool["annotations"].get("readOnlyHint")}
    assert reading == set(READS)
    assert {tool["name"] for tool in tools} - reading == set(WRITES)


@proves("P10.2", "H2")
def test_who_may_only_read_changes_nothing_with_any_tool(door: Door, here: Here) -> None:
    before = kept(here)
    session = door.open_session(READER)
    for name, given in WRITES.items():
        arguments = arguments_of(here, given)
        results = [door.call(name, READER, **arguments)]
        params = {"name": name, "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        results.append(messages_of(door.post(call, session, READER))[-1]["result"])
        results.append(door.call(name, READER, **arguments, dry_run=True))
        for result in results:
            assert result["isError"] is True, name
            assert result["structuredContent"]["error"] == {
                "code": "MemoryValidationFailed",
                "message": f"`{name}` changes the memory, and this token can only read.",
                "hint": "Use a token with the scope `write`, or ask the user to make the change.",
                "details": {"scope": "write"},
            }
    assert kept(here) == before


@proves("P10.2", "H2")
def test_who_may_only_read_can_read_everything_and_leaves_it_as_it_is(door: Door, here: Here) -> None:
    before = kept(here)
    for name, arguments in READS.items():
        assert door.call(name, READER, **arguments)["isError"] is False, name
    for uri in ("memory://map", "memory://status", "memory://schema", f"memory://record/{NODE}"):
        assert result_of(door.send(request_of("resources/read", uri=uri), READER))["contents"][0]["text"]
    for name in ("orient", "save_what_changed", "hand_over"):
        assert result_of(door.send(request_of("prompts/get", name=name), READER))["messages"]
    assert kept(here) == before


def call_in(door: Door, session: str, token: str, content: str) -> dict[str, Any]:
    params = {"name": "memory_store", "arguments": {"section": "Specs", "content": content}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    reply = door.post(message, session, token)
    return {"status": reply.status} if reply.status != 200 else messages_of(reply)[-1]["result"]


@proves("P10.2", "H2")
def test_a_session_of_the_writer_gives_the_reader_no_rights(door: Door, here: Here) -> None:
    session = door.open_session(WRITER)
    before = kept(here)
    refused = call_in(door, session, READER, "The reader writes in the writer's session.")
    assert refused.get("status") == 404 or refused["isError"] is True
    assert kept(here) == before
    assert call_in(door, session, WRITER, "The writer writes in its own session.")["isError"] is False
    assert kept(here) != before


@proves("P10.2", "H2")
@pytest.mark.parametrize(("owner", "other"), [(WRITER, READER), (READER, WRITER)])
def test_a_session_belongs_to_the_token_that_began_it(door: Door, owner: str, other: str) -> None:
    """Whoever has the other token can neither ask in it, nor listen to it, nor end it."""
    session = door.open_session(owner)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = [("Authorization", f"Bearer {other}"), ("Mcp-Session-Id", session)]
    assert door.post(ping, session, other).status == 404
    assert door.ask([*headers, ("Accept", "application/json, text/event-stream")], method="DELETE").status == 404
    assert door.post(ping, session, owner).status == 200


def test_no_session_is_needed_for_what_a_token_may_do(door: Door) -> None:
    """A made-up session opens nothing; the two tokens do what they may without one."""
    assert door.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "0" * 32, WRITER).status == 404
    assert door.call("memory_store", WRITER, section="Specs", content="Written without a session.")["isError"] is False


@pytest.mark.proof
@proves("P10.2", "H2")
def test_a_reader_alone_has_a_server_on_which_nobody_writes(here: Here) -> None:
    with started(here, tokens=("", READER)) as door:
        assert door.call("status_memory", READER)["isError"] is False
        assert door.call("memory_store", READER, section="Specs", content="Nobody.")["isError"] is True
        assert door.send(request_of("tools/list"), WRITER).status == 401
        assert "token" not in door.said
