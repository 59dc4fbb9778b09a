"""What the tools over the facts are sent: what does not fit is refused by its name, a withdrawn call writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from facts_calling import LIMIT, TOOLS, Tools

from quire.files.world import World
from quire.guard.boundary import make_boundary
from quire.model.errors import Cancelled
from quire.project import Project
from quire.surfaces.mcp.schemas import input_schema
from quire.surfaces.mcp.tool import Call
from quire.surfaces.mcp.tool_calls import Ticket

Tree = dict[str, bytes]
TALK = [
    {"role": role, "content": f"{role} says {turn}. " + "It went well. " * 60}
    for turn in range(6)
    for role in ("user", "assistant")
]
PROPOSED = {
    "kind": "design-decision",
    "authority": "inferred",
    "section": "Decisions",
    "content": "The cache layer seems to own invalidation",
}


@pytest.fixture
def tools(project: Project, world: World) -> Tools:
    return Tools(world, Path(project.root))


@pytest.mark.parametrize("name", TOOLS)
def test_an_unknown_argument_is_refused_and_the_known_ones_are_named(tools: Tools, name: str) -> None:
    error = tools.error(name, wish="x")
    assert error["code"] == "MemoryValidationFailed"
    assert "wish" in error["message"]
    assert error["hint"] == f"It takes: {', '.join(input_schema(TOOLS[name])['properties'])}."


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("memory_recall", {"query": 7}, "query"),
        ("memory_recall", {"query": ""}, "query"),
        ("memory_recall", {"query": "x", "k": 0}, "k"),
        ("memory_recall", {"query": "x", "k": 51}, "k"),
        ("memory_recall", {"query": "x" * 4001}, "query"),
        ("memory_query", {"offset": -1}, "offset"),
        ("memory_query", {"limit": 501}, "limit"),
        ("memory_store", {"section": "Specs", "content": "x" * 8001}, "content"),
        ("memory_store", {"section": "Specs", "content": "x", "confidence": 1.5}, "confidence"),
        ("memory_store", {"section": "Specs", "content": "x", "tags": ["t"] * 65}, "tags"),
        ("memory_supersede", {"fact_id": ["a"], "content": "x"}, "fact_id"),
        ("memory_archive", {"fact_ids": ["a"] * 201}, "fact_ids"),
        ("memory_archive", {"fact_ids": [1]}, "fact_ids[0]"),
        ("memory_episodes", {"k": 51}, "k"),
        ("memory_focus", {"fact_ids": 7}, "fact_ids"),
        ("memory_release", {"session": "s" * 161}, "session"),
        ("memory_connect", {"source": "a", "target": "b", "relation": ""}, "relation"),
        ("memory_compact", {"conversation": "hello"}, "conversation"),
        ("memory_compact", {"conversation": ["hello"]}, "conversation[0]"),
        ("memory_compact", {"keep_turns": -1}, "keep_turns"),
        ("memory_search_archive", {"query": "x", "k": "many"}, "k"),
        ("memory_ingest_lifecycle", {"candidate": [1]}, "candidate"),
        ("memory_ingest_lifecycle", {"dry_run": "perhaps"}, "dry_run"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    tools: Tools, tree: Callable[..., Tree], name: str, arguments: dict[str, Any], field: str
) -> None:
    before = tree(tools.root)
    error = tools.error(name, **arguments)
    assert error["code"] == "MemoryValidationFailed"
    assert error["details"]["field"] == field
    assert tree(tools.root) == before


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_recall", {}),
        ("memory_store", {"section": "Specs"}),
        ("memory_supersede", {"content": "x"}),
        ("memory_archive", {}),
        ("memory_focus", {}),
        ("memory_connect", {"source": "a", "target": "b"}),
        ("memory_search_archive", {}),
    ],
)
def test_what_is_missing_is_named(tools: Tools, name: str, arguments: dict[str, Any]) -> None:
    missing = next(field for field in input_schema(TOOLS[name])["required"] if field not in arguments)
    assert f"`{missing}`" in tools.error(name, **arguments)["message"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_store", {"section": "Specs", "content": LIMIT}),
        ("memory_supersede", {"fact_id": "{ref}", "content": LIMIT}),
        ("memory_archive", {"fact_ids": ["{ref}"]}),
        ("memory_focus", {"fact_ids": ["{ref}"]}),
        ("memory_release", {}),
        ("memory_connect", {"source": "{ref}", "target": "{other}", "relation": "enables"}),
        ("memory_compact", {"conversation": TALK}),
        ("memory_ingest_lifecycle", {"candidate": PROPOSED}),
    ],
)
def test_a_withdrawn_call_writes_nothing(
    tools: Tools, tree: Callable[..., Tree], name: str, arguments: dict[str, Any]
) -> None:
    refs = {"{ref}": tools.store(), "{other}": tools.store("Bread is baked on Mondays.")}
    tools("memory_focus", fact_ids=[refs["{other}"]])
    text = json.dumps(arguments)
    for mark, ref in refs.items():
        text = text.replace(mark, ref)
    before = tree(tools.root)
    given = msgspec.convert(json.loads(text), TOOLS[name].takes)
    ticket = Ticket()
    ticket.withdraw()
    call = Call(fence=make_boundary(tools.world.token), wanted=ticket.wanted)
    project = Project.open(str(tools.root), tools.world)
    with pytest.raises(Cancelled):
        TOOLS[name].run(project, given, call)
    assert tree(tools.root) == before
