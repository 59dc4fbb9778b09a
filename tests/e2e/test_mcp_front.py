"""Before the SDK is loaded and after: the same answers, none lost, none twice, whoever gives them.

The front answers whatever comes in one piece with the opening, since there is no quiet moment in it; the first message
that is not beyond doubt brings the SDK.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from mcp_here import Here, folder, holding, prepared, write_sessions
from mcp_lines import MODERN, Server, call, cancel, hello, request, serving, until

DECISION = "decision.retries-run-in-the-worker"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01", MODERN)
ERAS = ("2025-11-25", MODERN)
STARTS = ("front", "handed over", "sdk first")
Asked = tuple[str, dict[str, Any]]
SHORT: tuple[Asked, ...] = (
    ("tools/list", {}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {"_meta": {"progressToken": "t"}}),
    ("resources/read", {"uri": "memory://map"}),
    ("resources/read", {"uri": "memory://status"}),
    ("resources/read", {"uri": "memory://schema"}),
    ("resources/read", {"uri": f"memory://record/{DECISION}"}),
    ("resources/read", {"uri": "memory://record/decision.nobody"}),
    ("resources/read", {"uri": "memory://nothing"}),
    ("prompts/get", {"name": "orient", "arguments": {"topic": "retries"}}),
    ("prompts/get", {"name": "save_what_changed"}),
    ("prompts/get", {"name": "hand_over", "arguments": {}}),
    ("prompts/get", {"name": "sing"}),
    ("prompts/get", {"name": "orient", "arguments": {"song": "x"}}),
    ("tools/call", {"name": "query_memory", "arguments": {"question": "where do retries run?"}}),
    ("tools/call", {"name": "query_memory", "arguments": {}}),
    ("tools/call", {"name": "query_memory", "arguments": {"question": "x", "colour": "red"}}),
    ("tools/call", {"name": "inspect_memory", "arguments": {"id": "decision.nobody"}}),
    ("tools/call", {"name": "status_memory"}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
)
READS: dict[str, dict[str, Any]] = {
    "inspect_memory": {"id": DECISION},
    "brief_memory": {"files": ["src/worker.py"]},
    "why_memory": {"place": "src/worker.py:4"},
    "check_memory": {},
    "diff_memory": {},
    "memory_recall": {"query": "how often is a delivery retried?"},
    "memory_query": {"limit": 1},
    "memory_episodes": {},
    "memory_search_archive": {"query": "where does the queue live?"},
    "memory_compact": {},
    "connections": {"category": "learnings", "key": "lock_files"},
    "reflect": {},
    "export_memories": {"output_format": "json"},
    "memory_assess": {},
    "memory_compact_handoff": {},
    "journal_query": {"question": "What was said about the cache?"},
    "memory_status": {"showDiff": "yes"},
    "memory_validate": {},
    "automation_status": {},
    "journal_recall": {"dry_run": True},
    "save_memory": {"task": "t", "nodes": [{"kind": "song", "title": "x"}]},
    "remember": {"category": "songs", "key": "x", "value": "y"},
    "memory_store": {"section": "Gossip", "content": "x"},
}
LONG = (*SHORT, *(("tools/call", {"name": name, "arguments": given}) for name, given in READS.items()))
numbers = count()


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture
def own(here: Here) -> Here:
    return here.copy(f"own{next(numbers)}")


def opening(version: str) -> list[dict[str, Any]]:
    return [request(0, "server/discover", modern=True)] if version == MODERN else hello(version)


def conversation(version: str, asked: Sequence[Asked], start: int) -> list[dict[str, Any]]:
    return [
        request(start + number, method, params, modern=version == MODERN)
        for number, (method, params) in enumerate(asked)
    ]


def plain(message: dict[str, Any]) -> Any:
    """The message without what is drawn by lot."""
    text = re.sub(r"memory-[0-9a-f]{12}", "memory-x", json.dumps(message))
    return json.loads(re.sub(r'("(?:estimated_)?tokens"): \d+', r"\1: 0", text))


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_same_is_said_before_and_after_the_sdk_has_come(here: Here, version: str) -> None:
    asked = LONG if version in ERAS else SHORT
    first, second = conversation(version, asked, 1), conversation(version, asked, 1001)
    odd = request("odd", "nope", modern=version == MODERN)
    names = [message["id"] for message in first], [message["id"] for message in second]
    said = []
    for arguments in ((), ("--sdk-first",)):
        with serving(here, "--toolset", "all", *arguments) as server:
            server.send(*opening(version), *first)
            found = server.answers(0, *names[0])
            server.send(odd, *second)
            found |= server.answers("odd", *names[1])
            said.append({name: plain(message) for name, message in found.items()})
    front, sdk = said
    assert front == sdk
    for before, after in zip(*names, strict=True):
        assert {**front[before], "id": 0} == {**front[after], "id": 0}
    assert sum("result" in message for message in front.values()) > len(front) * 3 // 5


def test_the_sdk_is_not_waited_for(own: Here) -> None:
    """While a call is under way it is not even loaded, so that the answers here can only be the front's."""
    with serving(own, fresh=True) as server:
        maps = Path(f"/proc/{server.pid}/maps")
        with holding(own.root):
            save = call("save", "save_memory", task="t", nodes=[{"kind": "gotcha", "title": "One", "body": "b"}])
            server.send(*hello(), save, request(1, "tools/list"), call(2, "query_memory", question="retries"))
            assert len(server.answers(0, 1, 2)[1]["result"]["tools"]) == 8
            assert server.ask(request(3, "resources/read", {"uri": "memory://map"}))["result"]["contents"]
            assert "pydantic_core" not in maps.read_text()
        assert server.answers("save")["save"]["result"]["isError"] is False
        until(lambda: "pydantic_core" in maps.read_text())
        assert server.ask(call(4, "query_memory", question="retries"))["result"]["isError"] is False
        assert "error" in server.ask(request(5, "nope"))


# -- the change from one to the other ---------------------------------------------------------


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("version", ERAS)
def test_nothing_is_lost_and_nothing_is_doubled_amid_a_stream(own: Here, version: str) -> None:
    modern = version == MODERN
    calls = []
    for number in range(1, 301):
        tool, given = (
            ("memory_store", {"section": "Specs", "content": f"Room {number} holds {number * 7} boats."})
            if number % 10 == 0
            else ("memory_recall", {"query": f"boats in room {number}", "k": 1})
        )
        calls.append(call(number, tool, modern=modern, **given))
    calls.insert(150, request("odd", "nope", modern=modern))
    with serving(own) as server:
        server.send(*opening(version), *calls)
        found = server.answers(0, "odd", *range(1, 301))
        assert all(found[number]["result"]["isError"] is False for number in range(1, 301))
        assert server.ask(request("last", "tools/list", modern=modern))["result"]["tools"]
    lines = [json.loads(line) for line in (own.root / ".memory/facts.jsonl").read_text().splitlines()]
    assert sum(line.get("section") == "Specs" for line in lines) == 30


def begin(server: Server, version: str, start: str, *messages: dict[str, Any]) -> None:
    """Send these first; afterwards it is the front that works on them, or worked when the SDK came, or the SDK."""
    modern = version == MODERN
    server.send(*opening(version), *messages)
    server.answers(0)
    if start == "handed over":
        assert server.ask(request("odd", "nope", modern=modern))["error"]["code"] == -32601


def node(title: str) -> dict[str, Any]:
    return {"task": "t", "nodes": [{"kind": "gotcha", "title": title, "body": "b"}]}


def saved(here: Here) -> set[str]:
    return {path.name for path in (here.root / ".memory/memory").glob("call-*")}


@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("start", STARTS)
def test_a_call_under_way_is_answered_and_a_waiting_one_can_be_withdrawn(own: Here, version: str, start: str) -> None:
    modern = version == MODERN
    with serving(own, *(["--sdk-first"] if start == "sdk first" else [])) as server:
        with holding(own.root):
            calls = [call(name, "save_memory", modern=modern, **node(f"Call {name}")) for name in (1, 2, 3)]
            begin(server, version, start, *calls)
            server.send(cancel(2), cancel(True))
            assert server.ask(request("list", "tools/list", modern=modern))["result"]["tools"]
        found = server.answers(1, 3)
        assert [found[name]["result"]["isError"] for name in (1, 3)] == [False, False]
        server.ask(call("last", "save_memory", modern=modern, **node("Last")))
        assert 2 not in [message.get("id") for message in server.said]
    assert saved(own) == {"call-1.json", "call-1.md", "call-3.json", "call-3.md"}


@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("start", STARTS)
def test_progress_comes_in_order_and_before_the_result(here: Here, version: str, start: str) -> None:
    modern, number = version == MODERN, next(numbers)
    write_sessions(here.root.parent / "agent/transcripts", 12, start=100 * (number + 1))
    told = {"name": "journal_sync", "arguments": {}}
    token = request(1, "tools/call", {**told, "_meta": {"progressToken": f"token {number}"}}, modern=modern)
    with serving(here, "--toolset", "all", *(["--sdk-first"] if start == "sdk first" else [])) as server:
        if start == "handed over":
            begin(server, version, start)
            server.send(token)
        else:
            begin(server, version, start, token)
        assert server.answers(1)[1]["result"]["structuredContent"]["data"]["imported"] == 12
        server.ask(request(2, "tools/call", told, modern=modern))
    methods = [message.get("method") for message in server.said]
    place = [message.get("id") for message in server.said].index(1)
    assert methods.count("notifications/progress") == methods[:place].count("notifications/progress")
    params = [message["params"] for message in server.said if "method" in message]
    values = [item["progress"] for item in params]
    assert {item["progressToken"] for item in params} == {f"token {number}"}
    assert (len(values) >= 3, values) == (True, sorted(set(values)))
    assert params[-1]["progress"] == params[-1]["total"]


@pytest.mark.parametrize("start", STARTS)
def test_a_name_may_be_used_again(here: Here, start: str) -> None:
    with serving(here, *(["--sdk-first"] if start == "sdk first" else [])) as server:
        begin(server, "2025-11-25", start)
        for _ in range(2):
            assert server.ask(call("same", "status_memory"))["result"]["isError"] is False
