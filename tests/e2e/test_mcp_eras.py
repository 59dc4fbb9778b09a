"""Both eras of the protocol over both transports, through the SDK's client: everything a client can ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp_here import (
    FACTS,
    LEGACY,
    MODERN,
    Asked,
    Here,
    Listening,
    folder,
    holding,
    listening,
    over_http,
    over_stdio,
    prepared,
    write_sessions,
)

from promised import proves
from quire.surfaces.mcp.catalogue import chosen_tools

DECISION = "decision.retries-run-in-the-worker"
WAYS = [("stdio", LEGACY), ("stdio", MODERN), ("http", LEGACY), ("http", MODERN)]
INVALID_PARAMS, NOT_FOUND = -32602, -32002
numbers = count(1)


class Way(Asked):
    """A client that came one of the four ways, and the project it came to."""

    def __init__(self, asked: Asked, here: Here, mode: str) -> None:
        super().__init__(asked.portal, asked.client)
        self.here = here
        self.mode = mode

    def refused(self, method: str, /, *arguments: Any) -> MCPError:
        with pytest.raises(MCPError) as caught:
            self.do(method, *arguments)
        return caught.value


@pytest.fixture(scope="module")
def place() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture(scope="module")
def door(place: Here) -> Iterator[Listening]:
    with listening(place, "--toolset", "all") as door:
        yield door


@pytest.fixture(scope="module", params=WAYS, ids=["-".join(way) for way in WAYS])
def way(request: pytest.FixtureRequest, place: Here) -> Iterator[Way]:
    transport, mode = request.param
    if transport == "http":
        client = over_http(request.getfixturevalue("door"), mode)
    else:
        client = over_stdio(place, "--toolset", "all", mode=mode)
    with client as asked:
        yield Way(asked, place, mode)


# -- what there is ----------------------------------------------------------------------------


@pytest.mark.proof(keep=1)
@proves("P10.4", "H5")
def test_the_era_is_the_one_that_was_asked_for(way: Way) -> None:
    assert way.client.protocol_version == ("2025-11-25" if way.mode == LEGACY else MODERN)
    if way.mode == LEGACY:
        assert way.client.server_info.name == "quire"
        assert way.client.instructions.startswith("Quire is the memory of this project")


@pytest.mark.proof
def test_left_to_itself_the_client_finds_the_newer_era(place: Here, door: Listening) -> None:
    for client in (over_stdio(place, mode="auto"), over_http(door, "auto")):
        with client as asked:
            assert asked.client.protocol_version == MODERN
            assert asked.client.server_info.name == "quire"
            assert asked.client.server_capabilities.tools == types.ToolsCapability(list_changed=False)
            assert asked.client.instructions.startswith("Quire is the memory of this project")


def test_lists(way: Way) -> None:
    tools = way.do("list_tools")
    assert [tool.name for tool in tools.tools] == list(chosen_tools(["all"]))
    assert tools.next_cursor is None
    by_name = {tool.name: tool for tool in tools.tools}
    assert by_name["query_memory"].annotations.read_only_hint is True
    assert by_name["forget"].annotations.destructive_hint is True
    assert by_name["query_memory"].input_schema["required"] == ["question"]
    resources = way.do("list_resources").resources
    assert [resource.uri for resource in resources] == ["memory://map", "memory://status", "memory://schema"]
    (template,) = way.do("list_resource_templates").resource_templates
    assert template.uri_template == "memory://record/{ref}"
    prompts = way.do("list_prompts").prompts
    assert [(prompt.name, [given.name for given in prompt.arguments]) for prompt in prompts] == [
        ("orient", ["topic"]),
        ("save_what_changed", ["task"]),
        ("hand_over", ["to"]),
    ]


def test_what_may_be_kept_is_said_in_the_newer_era(way: Way) -> None:
    kept = [way.do(f"list_{name}") for name in ("tools", "prompts", "resources", "resource_templates")]
    found = {(item.ttl_ms, item.cache_scope) for item in kept}
    read = way.do("read_resource", "memory://schema")
    if way.mode == MODERN:
        assert found == {(3_600_000, "public")}
        assert (read.ttl_ms, read.cache_scope) == (2_000, "private")


# -- calls ------------------------------------------------------------------------------------


@proves("P10.4", "H5")
def test_a_question_and_a_change(way: Way) -> None:
    result = way.call("query_memory", question="where do retries run?", limit=1)
    assert result.structured_content["data"]["results"][0]["ref"] == DECISION
    boundary = result.structured_content["meta"]["boundary"]
    assert result.structured_content["meta"]["project_root"] == str(way.here.root)
    (part,) = result.content
    assert f'<{boundary} ref="{DECISION}" origin="agent" verdict="fresh">\n' in part.text
    content = f"The queue has room for {next(numbers)} thousand deliveries."
    stored = way.data("memory_store", section="Specs", content=content)
    assert stored["action"] == "stored"
    lines = map(json.loads, (way.here.root / ".memory/facts.jsonl").read_text().splitlines())
    assert [line["id"] for line in lines if line.get("content") == content] == [stored["fact"]["id"]]


def test_what_cannot_be_done_is_a_result_that_says_why(way: Way) -> None:
    error = way.error("inspect_memory", id="decision.nobody")
    assert error["code"] == "MemoryObjectNotFound"
    assert set(error) == {"code", "message", "hint", "details"}
    assert way.error("query_memory")["details"]["takes"][1] == "question"


@proves("P10.4", "H5")
def test_an_unknown_tool(way: Way) -> None:
    refused = way.refused("call_tool", "forget_everything", {})
    assert (refused.code, refused.message) == (INVALID_PARAMS, "Unknown tool: forget_everything")
    assert refused.error.data["hint"].startswith("There are query_memory, save_memory, ")


# -- resources and prompts --------------------------------------------------------------------


def test_each_resource(way: Way) -> None:
    def read(uri: str) -> tuple[str | None, str]:
        (content,) = way.do("read_resource", uri).contents
        assert content.uri == uri
        return content.mime_type, content.text

    mime, text = read("memory://map")
    assert (mime, "Retry queue" in text, text.startswith("Between memory-")) == ("text/markdown", True, True)
    mime, text = read("memory://status")
    assert (mime, json.loads(text)["project"]["name"]) == ("application/json", "harbor")
    mime, text = read("memory://schema")
    assert (mime, json.loads(text)["graph"]["kinds"]) == (
        "application/json",
        ["feature", "decision", "gotcha", "question"],
    )
    records = {
        DECISION: "Requests must not wait for a delivery.",
        way.here.refs["five"]: FACTS["five"][1],
        "profile:tools.package_manager": "uv, never pip",
        "event:evt-000002": "Cache the order list.",
        "checkpoint:chk-000001": "chk-000001",
        "bundle:project": "Harbor",
    }
    for ref, said in records.items():
        mime, text = read(f"memory://record/{ref}")
        assert (mime, said in text) == ("text/markdown", True), ref


@pytest.mark.parametrize("uri", ["memory://nothing", "memory://record/decision.nobody", "file:///etc/passwd"])
def test_an_unknown_resource(way: Way, uri: str) -> None:
    refused = way.refused("read_resource", uri)
    assert refused.code == (NOT_FOUND if way.mode == LEGACY else INVALID_PARAMS)
    assert refused.error.data["code"] == "MemoryObjectNotFound"
    assert refused.error.data["hint"]


def test_each_prompt(way: Way) -> None:
    def text(name: str, arguments: dict[str, str] | None = None) -> str:
        (message,) = way.do("get_prompt", name, arguments).messages
        assert message.role == "user"
        return str(message.content.text)

    told = text("orient", {"topic": "retries"})
    assert "I am about to work on: retries." in told
    assert "Requests must not wait for a delivery." in told
    assert "Requests must not wait for a delivery." not in text("orient")
    assert text("save_what_changed", {"task": "the cache"}).startswith("Save what changed in this task: the cache.\n")
    assert text("hand_over", {"to": "Ada"}).startswith("Hand this work over to Ada: ")


def test_an_unknown_prompt(way: Way) -> None:
    refused = way.refused("get_prompt", "sing")
    assert (refused.code, refused.message) == (INVALID_PARAMS, "There is no prompt `sing`.")
    assert refused.error.data["hint"] == "There are orient, save_what_changed, hand_over."
    assert way.refused("get_prompt", "orient", {"song": "x"}).code == INVALID_PARAMS


# -- progress ---------------------------------------------------------------------------------


def heard(way: Way, tool: str, **arguments: Any) -> tuple[Any, list[tuple[float, float | None]]]:
    """The result of a call, and how far it said it was."""
    told: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total))

    result = way.do("call_tool", tool, arguments, progress_callback=hear)
    before = list(told)
    way.call("automation_status")
    assert told == before, "nothing is told after the result"
    assert result.is_error is False, result.content
    return result.structured_content["data"], told


def test_progress_grows_and_ends_with_the_result(way: Way) -> None:
    start = 1000 * next(numbers)
    write_sessions(way.here.root.parent / "agent/transcripts", 25, start)
    done, told = heard(way, "journal_sync")
    values = [value for value, _ in told]
    assert done["imported"] == 25
    assert values == sorted(set(values))
    assert len(values) >= 3
    assert told[-1][0] == told[-1][1]
    done, told = heard(way, "memory_maintain")
    assert done["details"]["run"]["status"] == "recalled"
    assert told == [(1, 3), (2, 3), (3, 3)]


# -- withdrawing ------------------------------------------------------------------------------


@proves("P10.4", "H5")
def test_a_call_that_is_withdrawn_amid_its_work_leaves_the_journal_whole(way: Way) -> None:
    start, many = 1000 * next(numbers), 80
    write_sessions(way.here.root.parent / "agent/transcripts", many, start)
    before = way.data("memory_status")["history"]["totalEvents"]

    async def withdrawn() -> bool:
        with anyio.CancelScope() as scope:

            async def hear(*_: object) -> None:
                scope.cancel()

            await way.client.call_tool("journal_sync", {}, progress_callback=hear)
        return scope.cancelled_caught

    assert way.portal.call(withdrawn)
    # The next change of this project waits for its turn, so that afterwards nothing of the first is under way.
    rest = way.data("journal_sync")
    assert (rest["imported"] in (0, many), rest["failed"]) == (True, 0)
    assert way.data("memory_status")["history"]["totalEvents"] == before + many
    assert way.data("memory_validate")["failCount"] == 0


@proves("P10.4", "H5")
def test_a_save_that_is_withdrawn_happens_whole_or_not_at_all(way: Way) -> None:
    number = next(numbers)
    node = {"kind": "gotcha", "title": f"Withdrawn {number}", "body": "Perhaps."}

    async def withdrawn() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(way.client.call_tool, "save_memory", {"task": "t", "nodes": [node]})
            # It has been read by now, and waits for the other writer.
            await way.client.call_tool("automation_status", {})
            tasks.cancel_scope.cancel()

    with holding(way.here.root):
        way.portal.call(withdrawn)
        assert way.data("automation_status")["running"] is False
    later = {"kind": "gotcha", "title": f"Later {number}", "body": "Surely."}
    assert way.data("save_memory", task="t", nodes=[later])["memory_created"] == [f"gotcha.later-{number}"]
    files = {path.name for path in (way.here.root / ".memory/memory").glob(f"withdrawn-{number}.*")}
    logged = f"gotcha.withdrawn-{number}" in (way.here.root / ".memory/events.jsonl").read_text()
    assert (files, logged) in (
        (set(), False),
        ({f"withdrawn-{number}.json", f"withdrawn-{number}.md"}, True),
    )
    assert way.data("check_memory")["valid"] is True
