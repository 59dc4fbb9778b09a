"""The tools that tell the facts something: what they answer, what they write, what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from facts_calling import HOSTILE, LIMIT, RETRIES, Tools

from quire.files.world import World
from quire.project import Project

Tree = dict[str, bytes]
DAY = timedelta(days=1)


@pytest.fixture
def tools(project: Project, world: World) -> Tools:
    return Tools(world, Path(project.root))


def test_a_fact_is_stored_as_it_was_told(tools: Tools) -> None:
    result = tools.answer("memory_store", section="Known Issues", content=RETRIES, tags=["pdf"], confidence=0.8)
    data = result["structuredContent"]["data"]
    fact = data["fact"]
    assert data == {"action": "stored", "dry_run": False, "fact": fact}
    assert result["content"][0]["text"] == f"Stored in Known Issues:\n  {fact['ref']}"
    assert fact["content"] == RETRIES
    line = tools.line(fact["ref"])
    assert (line["section"], line["content"], line["tags"]) == ("Known Issues", RETRIES, ["pdf"])
    assert (line["confidence"], line["source"]) == (0.8, "mcp")


def test_what_is_known_is_confirmed_on_another_day(tools: Tools) -> None:
    ref = tools.store()
    again = tools("memory_store", section="Architecture", content=f"- {RETRIES.upper()}")
    assert (again["action"], again["fact"]["ref"]) == ("unchanged", ref)
    assert tools("memory_store", section="Architecture", content=RETRIES, tags=["web"])["action"] == "tagged"
    tools.moment += DAY
    arguments = {"section": "Decisions", "content": RETRIES}
    result = tools.answer("memory_store", **arguments)
    assert result["structuredContent"]["data"]["action"] == "reinforced"
    assert result["structuredContent"]["data"]["fact"]["reinforcements"] == 2
    (warning,) = result["structuredContent"]["warnings"]
    assert warning["code"] == "FactElsewhere"
    assert "memory_supersede" in warning["hint"]
    assert result["content"][0]["text"].startswith("Confirmed (stored 2 times now):\n")
    assert len(tools.lines()) == 1


def test_nearly_the_same_is_named_and_shown_as_data(tools: Tools) -> None:
    ref = tools.store()
    near = "Failed webhooks are retried by the worker, never inside the request."
    result = tools.answer("memory_store", section="Architecture", content=near)
    (similar,) = result["structuredContent"]["data"]["similar"]
    assert 0.6 <= similar.pop("share") < 1
    assert similar == {
        "ref": ref,
        "id": ref.removeprefix("fact:"),
        "section": "Architecture",
        "content": RETRIES,
        "opposite": False,
    }
    (warning,) = result["structuredContent"]["warnings"]
    assert (warning["code"], warning["hint"]) == (
        "SaysNearlyTheSame",
        f"If the new one replaces it: memory_supersede with fact_id {ref} and the new text.",
    )
    assert f"`{ref}` says nearly the same" in result["content"][0]["text"]


def test_what_was_put_away_is_told_inside_the_marks_alone(tools: Tools) -> None:
    tools("memory_archive", fact_ids=[tools.store()], reason=HOSTILE)
    result = tools.answer("memory_store", section="Architecture", content=RETRIES)
    (away,) = result["structuredContent"]["data"]["equal_archived"]
    assert (away["status"], away["reason"]) == ("archived", HOSTILE)
    boundary = result["structuredContent"]["meta"]["boundary"]
    outside = []
    inside = False
    for line in result["content"][0]["text"].splitlines():
        inside = inside or line.startswith(f"<{boundary} ")
        outside += [] if inside else [line]
        inside = inside and line != f"</{boundary}>"
    assert HOSTILE in result["content"][0]["text"]
    assert HOSTILE not in "\n".join(outside)


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({"section": "Gossip", "content": "x"}, "MemoryValidationFailed", "section"),
        ({"section": "Specs", "content": "  "}, "MemoryValidationFailed", "content"),
        ({"section": "Specs", "content": "x", "confidence": 0}, "MemoryValidationFailed", "confidence"),
        ({"section": "Specs", "content": "x", "mind": "two words"}, "MemoryValidationFailed", "mind"),
        ({"section": "Specs", "content": "ghp_" + "a1B2c3D4e5F6" * 3}, "MemorySecretDetected", "content"),
    ],
)
def test_a_fact_that_may_not_be_stored_changes_nothing(
    tools: Tools, tree: Callable[..., Tree], arguments: dict[str, Any], code: str, field: str
) -> None:
    before = tree(tools.root)
    error = tools.error("memory_store", **arguments)
    assert (error["code"], error["details"]["field"]) == (code, field)
    assert error["hint"]
    assert tree(tools.root) == before


def test_supersede_puts_the_old_away_and_the_new_in_its_place(tools: Tools, tree: Callable[..., Tree]) -> None:
    old = tools.store(tags=["web"])
    arguments = {"fact_id": old, "content": "The runner retries webhooks.", "section": "Decisions", "reason": "split"}
    before = tree(tools.root)
    planned = tools("memory_supersede", **arguments, dry_run=True)
    assert planned["dry_run"] is True
    assert tree(tools.root) == before
    done = tools("memory_supersede", **arguments)
    assert (done["old"]["ref"], done["old"]["content"], done["old"]["status"]) == (old, RETRIES, "superseded")
    assert done["old"]["replaced_by"] == [done["new"]["id"]]
    assert done["new"]["section"] == "Decisions"
    assert done["new"]["content"] == "The runner retries webhooks."
    line = tools.line(done["new"]["ref"])
    assert (line["content"], line["supersedes"], line["tags"]) == (
        "The runner retries webhooks.",
        old.removeprefix("fact:"),
        ["web"],
    )
    assert (tools.line(old)["status"], tools.line(old)["reason"]) == ("superseded", "split")
    error = tools.error("memory_supersede", **arguments)
    assert done["new"]["id"] in f"{error['message']} {error['hint']}"
    assert tools.error("memory_supersede", fact_id="nobody", content="x")["code"] == "MemoryObjectNotFound"


def test_archive_answers_for_each_id(tools: Tools) -> None:
    first, second = tools.store(), tools.store(LIMIT, "Constraints")
    planned = tools("memory_archive", fact_ids=[first], dry_run=True)
    assert (planned["changed"], planned["dry_run"]) == (1, True)
    assert tools.line(first)["status"] == "active"
    result = tools.answer("memory_archive", fact_ids=[first, "nobody"], reason="said twice")
    assert result["isError"] is True
    data = result["structuredContent"]["data"]
    assert [item["outcome"] for item in data["outcomes"]] == ["archived", "not found"]
    assert data["changed"] == 1
    assert result["content"][0]["text"].startswith("Between memory-")
    assert (tools.line(first)["status"], tools.line(first)["reason"]) == ("archived", "said twice")
    assert tools("memory_archive", fact_ids=[first])["outcomes"][0]["outcome"] == "already archived"
    assert tools.line(second)["status"] == "active"
    error = tools.error("memory_archive", fact_ids=[])
    assert (error["message"], error["hint"]) == ("No fact is named.", "Give at least one id.")


@pytest.mark.parametrize("form", ["{ref}", '["{ref}"]'])
def test_ids_may_come_as_text(tools: Tools, form: str) -> None:
    ref = tools.store()
    result = tools.tool_calls.call("memory_archive", {"fact_ids": form.replace("{ref}", ref)}).result()
    assert result["structuredContent"]["data"]["changed"] == 1
    assert tools.line(ref)["status"] == "archived"


def test_connect_joins_two_things(tools: Tools, tree: Callable[..., Tree]) -> None:
    first, second = tools.store(), tools.store(LIMIT, "Constraints")
    arguments = {"source": first, "target": second, "relation": "Motivated by", "description": "it can take minutes"}
    before = tree(tools.root)
    assert tools("memory_connect", **arguments, dry_run=True)["action"] == "connected"
    assert tree(tools.root) == before
    done = tools("memory_connect", **arguments)
    edge = done["edge"]
    assert done == {
        "action": "connected",
        "dry_run": False,
        "edge": {"ref": edge["ref"], "source": first, "relation": "motivated_by", "target": second},
    }
    line = tools.line(edge["ref"])
    assert (line["relation"], line["description"]) == ("motivated_by", "it can take minutes")
    assert tools("memory_connect", **arguments)["action"] == "unchanged"
    odd = tools.answer("memory_connect", source=first, target=second, relation="rhymes with")
    assert [item["code"] for item in odd["structuredContent"]["warnings"]] == ["RelationUnknown"]
    error = tools.error("memory_connect", source=first, target="feature.nowhere", relation="enables")
    assert (error["code"], error["details"]["field"]) == ("MemoryObjectNotFound", "target")
