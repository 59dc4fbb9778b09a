"""Clients that others wrote speak to the installed server: the TypeScript SDK in both eras, and the inspector."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_here import MODERN, PROGRAM, Here, Listening, folder, listening
from mcp_node import CLIENTS, NEWER, inspector, need_node, walk

from installed import Git, Memory, make_environment
from quire import __version__
from quire.surfaces.mcp.server_text import DESCRIPTION, INSTRUCTIONS, TITLE

CORE = [
    ["query_memory", "Ask the memory", "object"],
    ["save_memory", "Save what changed", "object"],
    ["inspect_memory", "Look at one record", "object"],
    ["status_memory", "Overview", "object"],
    ["brief_memory", "Records about a change", "object"],
    ["sync_memory", "Find records that are out of date", "object"],
    ["memory_store", "Store a fact", "object"],
    ["memory_recall", "Recall facts", "object"],
]
WALKS = {
    "1.x": (1, "legacy", "legacy", "2025-11-25"),
    "2.x, older era": (2, "legacy", "legacy", "2025-11-25"),
    "2.x, newer era": (2, MODERN, "modern", MODERN),
    "2.x, whichever the server speaks": (2, "auto", "modern", MODERN),
}
"""Which client and which era it is told to use; the era and the version that they must agree on."""
SUBJECTS = dict(zip(WALKS, ("amber", "cobalt", "scarlet", "ochre"), strict=True))


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    """One project for all walks, each with a subject of its own."""
    with folder() as place:
        here = Here(place / "harbor", make_environment(place))
        (here.root / "src").mkdir(parents=True)
        (here.root / "src/ferry.py").write_text("NOON = 12\n")
        Git(here.root, here.env)("init", "--quiet")
        Memory(here.root, here.env).init()
        yield here


@pytest.fixture(scope="module")
def server(here: Here) -> Iterator[Listening]:
    with listening(here, "--project", str(here.root)) as server:
        yield server


@pytest.mark.proof
@pytest.mark.parametrize(("name", "option"), [*((name, "") for name in WALKS), ("1.x", "--sdk-first")])
def test_a_client_walks_through_the_server_over_pipes(here: Here, name: str, option: str) -> None:
    need_node()
    sdk, asked, _, _ = WALKS[name]
    subject = f"{SUBJECTS[name]}-{'late' if option else 'piped'}"
    started = {"command": [PROGRAM, *option.split()], "cwd": str(here.root), "env": dict(here.env)}
    seen = walk(here.env, sdk=sdk, era=asked, subject=subject, **started)
    assert (seen.pop("ended"), seen.pop("said")) == (True, "")
    _check(seen, subject, name)


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("name", WALKS)
def test_a_client_walks_through_the_server_over_http(here: Here, server: Listening, name: str) -> None:
    need_node()
    sdk, asked, _, _ = WALKS[name]
    subject = f"{SUBJECTS[name]}-served"
    seen = walk(here.env, sdk=sdk, era=asked, subject=subject, url=server.url, token=server.token)
    _check(seen, subject, name)


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("toolset", ["core", "all"])
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_the_tools_and_finds_no_fault_in_them(here: Here, toolset: str, era: str) -> None:
    need_node(NEWER)
    line = [PROGRAM, "--toolset", toolset, "--method", "tools/list", "--strict", "--protocol-era", era]
    done = inspector(line, here.env, here.root)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    names = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    if toolset == "core":
        assert names == [name for name, _, _ in CORE]
    else:
        assert len(names) == len(set(names)) == 47


def test_the_inspector_calls_a_tool_over_http(here: Here, server: Listening) -> None:
    need_node(NEWER)
    place = [server.url, "--transport", "http", "--header", f"Authorization: Bearer {server.token}"]
    asked = ["--method", "tools/call", "--tool-name", "inspect_memory", "--tool-arg", "id=project.harbor"]
    done = inspector([*place, *asked], here.env, here.root)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert json.loads(done.stdout)["structuredContent"]["data"]["object"]["type"] == "project"


@pytest.mark.proof
def test_the_packages_are_pinned_without_saying_where_they_come_from() -> None:
    given = json.loads((CLIENTS / "package.json").read_text())
    assert all(re.fullmatch(r"(npm:@[a-z/]+@)?\d[\w.-]*", wanted) for wanted in given["dependencies"].values())
    assert "://" not in (CLIENTS / "package-lock.json").read_text()


# -- what must have been seen -----------------------------------------------------------------


def _check(seen: dict[str, Any], subject: str, name: str) -> None:
    sdk, _, era, version = WALKS[name]
    refused = {1: "McpError", 2: "ProtocolError"}[sdk]
    ref, fact = f"decision.ferry-{subject}", f"Only {subject} lanterns burn on deck."
    calls, reads, gets = seen.pop("calls"), seen.pop("reads"), seen.pop("gets")
    assert seen == {
        "era": era,
        "version": version,
        "server": {"name": "quire", "title": TITLE, "version": __version__, "description": DESCRIPTION},
        "capabilities": {
            "prompts": {"listChanged": False},
            "resources": {"subscribe": False, "listChanged": False},
            "tools": {"listChanged": False},
        },
        "instructions": INSTRUCTIONS,
        "tools": CORE,
        "garbled": {
            "kind": refused,
            "code": -32602,
            "message": "Structured content does not match the tool's output schema: data/ok must be boolean",
            "data": None,
        },
        "resources": [
            ["memory://map", "text/markdown"],
            ["memory://status", "application/json"],
            ["memory://schema", "application/json"],
        ],
        "templates": ["memory://record/{ref}"],
        "prompts": [["orient", ["topic"]], ["save_what_changed", ["task"]], ["hand_over", ["to"]]],
        "ping": {} if era == "legacy" else None,
        "failures": [],
    }
    assert calls.pop("unknown") == {
        "kind": refused,
        "code": -32602,
        "message": "Unknown tool: no_such_tool",
        "data": {"hint": f"There are {', '.join(name for name, _, _ in CORE)}."},
    }
    # Each era has a code of its own for it; the newer client makes one error of its own of the older code.
    absent = {
        (1, "legacy"): ("McpError", -32002),
        (2, "legacy"): ("ResourceNotFoundError", -32602),
        (2, "modern"): ("ProtocolError", -32602),
    }[sdk, era]
    missing = reads.pop("missing")
    assert (missing["kind"], missing["code"], missing["message"]) == (
        *absent,
        "There is no resource `memory://nowhere`.",
    )
    assert missing["data"]["uri"] == "memory://nowhere"
    missing = gets.pop("missing")
    assert (missing["kind"], missing["code"], missing["message"]) == (
        refused,
        -32602,
        "There is no prompt `no_such_prompt`.",
    )
    _check_calls(calls, subject, ref, fact)
    _check_reads(reads, ref)
    _check_prompts(gets, subject, ref)


def _check_calls(calls: dict[str, Any], subject: str, ref: str, fact: str) -> None:
    failed = {name: calls.pop(name) for name in ("missing", "refused")}
    told = {name: (call["isError"], call["structured"]["error"]["code"]) for name, call in failed.items()}
    assert told == {"missing": (True, "MemoryObjectNotFound"), "refused": (True, "MemoryValidationFailed")}
    assert "`decision.no-such-thing` is not in the memory" in failed["missing"]["text"]
    assert "unknown field `colour`" in failed["refused"]["text"]
    for name, call in calls.items():
        assert (call["isError"], call["structured"]["ok"], call["types"]) == (False, True, ["text"]), name
        assert set(call["structured"]) == {"ok", "data", "warnings", "meta"}, name
    data = {name: call["structured"]["data"] for name, call in calls.items()}
    assert data["status"]["project"] == {"id": "project.harbor", "name": "harbor"}
    assert (data["save"]["memory_created"], data["save"]["changed"]) == ([ref], True)
    first = data["query"]["results"][0]
    assert (first["ref"], first["verdict"], first["origin"]) == (ref, "fresh", "mcp")
    shown = data["inspect"]["object"]
    assert (shown["ref"], shown["body"]) == (ref, f"The {subject} ferry leaves at noon.")
    assert ref in {row["ref"] for row in data["brief"]["results"]}
    assert (data["sync"]["changed"], data["sync"]["marker_advanced"]) == ([], False)
    assert (data["store"]["action"], data["store"]["fact"]["section"]) == ("stored", "Constraints")
    found = data["recall"]["results"][0]
    assert (found["ref"], found["content"]) == (data["store"]["fact"]["ref"], fact)
    for name, inside in (("query", "leaves at noon"), ("inspect", "leaves at noon"), ("recall", fact)):
        mark = calls[name]["structured"]["meta"]["boundary"]
        text = calls[name]["text"]
        assert inside in re.sub(rf"(?s)\A.*?<{mark} ref=[^>]*>|</{mark}>", "", text), name
        assert text.count(f"<{mark}") == text.count(f"</{mark}>") > 0, name


def _check_reads(reads: dict[str, Any], ref: str) -> None:
    (record,) = reads.pop("record")
    assert record[:2] == [f"memory://record/{ref}", "text/markdown"]
    assert f'ref="{ref}"' in record[2]
    ((uri, mime, text),) = reads.pop("map")
    assert (uri, mime) == ("memory://map", "text/markdown")
    assert "## Product map" in text
    for name, key in (("status", "nodes_by_kind"), ("schema", "verdicts")):
        ((uri, mime, text),) = reads.pop(name)
        assert (uri, mime) == (f"memory://{name}", "application/json")
        assert key in json.loads(text)
    assert not reads


def _check_prompts(gets: dict[str, Any], subject: str, ref: str) -> None:
    for name, begins in (
        ("orient", f"Get oriented in this project before anything else. I am about to work on: the {subject} ferry."),
        ("save_what_changed", f"Save what changed in this task: {subject}."),
        ("hand_over", "Hand this work over: write what a newcomer needs to continue."),
    ):
        ((role, kind, text),) = gets.pop(name)
        assert (role, kind) == ("user", "text")
        assert text.startswith(begins), name
        assert (f'ref="{ref}"' in text) == (name == "orient"), name
    assert not gets
