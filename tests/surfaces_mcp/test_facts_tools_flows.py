"""The tools around a session: pins, compaction, and what design documents decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from facts_calling import LIMIT, RETRIES, Tools

from quire.files.world import World
from quire.project import Project
from quire.verbs.facts.compact import CONVERSATION_BYTES
from quire.verbs.facts.ingest import CANDIDATE

Tree = dict[str, bytes]


@pytest.fixture
def tools(project: Project, world: World) -> Tools:
    return Tools(world, Path(project.root))


def talk(turns: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "system", "content": "You work on Harbor."}]
    for turn in range(1, turns + 1):
        found += [
            {"role": "user", "content": f"Request {turn}: rework module {turn}. " + "It is slow. " * 30},
            {"role": "assistant", "content": f"Decided: module {turn} uses queue {turn}. " + "It went well. " * 60},
        ]
    return found


def test_pins_are_kept_for_each_session(tools: Tools) -> None:
    first, second = tools.store(), tools.store(LIMIT, "Constraints")
    done = tools("memory_focus", fact_ids=[first, second], session="s1")
    assert done["outcomes"] == {first: "pinned", second: "pinned"}
    assert [item["ref"] for item in done["pins"]] == [first, second]
    assert (done["used"], done["slots"], "missing" in done) == (2, 25, False)
    assert tools("memory_focus", fact_ids=[second])["used"] == 1
    result = tools.answer("memory_focus", fact_ids=["nobody", first], session="s1")
    assert result["isError"] is True
    assert result["structuredContent"]["data"]["outcomes"] == {"nobody": "not found", first: "already pinned"}
    assert result["content"][0]["text"].startswith("Pinned 1 of 2.\n")
    left = tools("memory_release", fact_ids=[first], session="s1")
    assert (left["outcomes"], [item["ref"] for item in left["pins"]]) == ({first: "released"}, [second])
    assert tools("memory_release", session="s1")["pins"] == []
    assert tools("memory_release")["outcomes"] == {second.removeprefix("fact:"): "released"}
    again = tools.answer("memory_release", fact_ids=[first])
    assert again["isError"] is True
    assert len(tools.lines()) == 2


def test_release_of_an_empty_list_is_not_release_of_all(tools: Tools) -> None:
    tools("memory_focus", fact_ids=[tools.store()])
    assert tools.error("memory_release", fact_ids=[])["details"]["field"] == "fact_ids"
    assert len(tools("memory_release")["outcomes"]) == 1


def test_a_conversation_is_compacted_and_what_goes_is_kept(tools: Tools) -> None:
    tools("memory_focus", fact_ids=[tools.store(LIMIT, "Constraints")])
    said = talk(6)
    planned = tools("memory_compact", conversation=said, keep_turns=1, dry_run=True)
    assert (planned["compacted"], "checkpoint" in planned) == (True, False)
    assert not (tools.root / ".memory/local/checkpoints").exists()
    result = tools.answer("memory_compact", conversation=said, keep_turns=1, instructions="Test the bounces.")
    done = result["structuredContent"]["data"]
    assert (done["compacted"], done["evicted"], done["kept"]) == (True, 10, 3)
    assert done["after_tokens"] < done["before_tokens"]
    assert [done["messages"][0], *done["messages"][2:]] == [said[0], *said[-2:]]
    summary = done["messages"][1]["content"]
    for text in (LIMIT, said[1]["content"].strip(), "Test the bounces."):
        assert text in summary
    gone = (tools.root / done["checkpoint"]).read_bytes().splitlines()
    assert [json.loads(line) for line in gone] == said[1:11]
    text = result["content"][0]["text"]
    assert text.startswith("Compacted: 10 messages became a summary;")
    assert LIMIT in text


def test_a_short_conversation_stays_as_it_is(tools: Tools) -> None:
    result = tools.answer("memory_compact", conversation=talk(2))
    done = result["structuredContent"]["data"]
    assert done["compacted"] is False
    assert "messages" not in done
    assert result["content"][0]["text"] == done["note"]
    assert done["note"].startswith("Nothing to compact yet:")


@pytest.mark.proof
def test_what_is_no_conversation_is_refused(tools: Tools) -> None:
    error = tools.error("memory_compact", conversation=[{"role": "wizard", "content": "x"}])
    assert (error["code"], error["details"]["field"]) == ("MemoryValidationFailed", "messages[0].role")
    long = [{"role": "user", "content": "x" * CONVERSATION_BYTES}]
    error = tools.error("memory_compact", conversation=long)
    assert error["details"] == {"field": "conversation", "maximum": CONVERSATION_BYTES}
    assert "long tool results" in error["hint"]


def test_without_a_conversation_it_says_what_must_survive_and_that_it_freed_nothing(
    tools: Tools, tree: Callable[..., Tree]
) -> None:
    nothing = tools("memory_compact")
    assert (nothing["compacted"], "markdown" in nothing) == (False, False)
    assert "freed nothing" in nothing["note"]
    assert "memory_focus" in nothing["note"]
    pin, other = tools.store(LIMIT, "Constraints"), tools.store()
    tools("memory_focus", fact_ids=[pin], session="s1")
    before = tree(tools.root)
    found = tools("memory_compact", session="s1")
    assert (found["pins"], "facts" in found) == ([pin], False)
    assert LIMIT in found["markdown"]
    more = tools("memory_compact", session="s1", instructions="rework how failed webhooks are retried by the worker")
    assert (more["pins"], more["facts"]) == ([pin], [other])
    assert RETRIES in more["markdown"]
    assert tree(tools.root) == before


# -- design documents -----------------------------------------------------------------------------

DOCUMENT = """---
id: cache
title: The cache
status: decided
---
# The cache

## Decisions

### Decision: Write through
**Status:** decided
**Rationale:** Reads dominate.

### Decision: One region
**Rationale:** Nobody asked for more.
"""
PROPOSED = {
    "kind": "design-decision",
    "authority": "inferred",
    "section": "Decisions",
    "content": "The cache layer seems to own invalidation",
}


def test_design_documents_become_facts_once(tools: Tools, tree: Callable[..., Tree]) -> None:
    (tools.root / "docs").mkdir()
    (tools.root / "docs/cache.md").write_text(DOCUMENT)
    before = tree(tools.root)
    planned = tools("memory_ingest_lifecycle", dry_run=True)
    assert (planned["counts"], planned["dry_run"]) == ({"store": 1, "pend": 1}, True)
    assert tree(tools.root) == before
    result = tools.answer("memory_ingest_lifecycle")
    done = result["structuredContent"]["data"]
    assert (done["documents"], done["counts"]) == (1, {"store": 1, "pend": 1})
    assert [step["action"] for step in done["steps"]] == ["store", "pend"]
    assert result["content"][0]["text"].startswith("1 stored, 1 pending from 1 design document.\n")
    (waiting,) = done["pending"]
    assert (waiting["status"], waiting["origin"]) == ("pending", "lifecycle:design-decision")
    again = tools("memory_ingest_lifecycle")
    assert again["counts"] == {"unchanged": 2}
    accepted = tools("memory_ingest_lifecycle", accept=[waiting["id"]])
    assert (accepted["counts"], accepted["pending"]) == ({"accept": 1, "drop": 0}, [])
    assert tools.line(waiting["ref"])["status"] == "active"


def test_a_candidate_may_be_handed_in_and_dropped(tools: Tools) -> None:
    (waiting,) = tools("memory_ingest_lifecycle", candidate=PROPOSED)["pending"]
    dropped = tools("memory_ingest_lifecycle", drop=[waiting["ref"]])
    assert dropped["counts"] == {"accept": 0, "drop": 1}
    assert tools.line(waiting["ref"])["status"] == "archived"
    as_text = json.dumps({**PROPOSED, "authority": "explicit", "content": "Caches are warmed at night"})
    result = tools.tool_calls.call("memory_ingest_lifecycle", {"candidate": as_text}).result()
    assert result["structuredContent"]["data"]["counts"] == {"store": 1}


def test_a_candidate_that_is_none_is_refused(tools: Tools) -> None:
    error = tools.error("memory_ingest_lifecycle", candidate={**PROPOSED, "kind": "rumour"})
    assert error["details"]["field"] == "kind"
    assert error["details"]["allowed"] == CANDIDATE["properties"]["kind"]["enum"]  # type: ignore[index]
    error = tools.error("memory_ingest_lifecycle", candidate=PROPOSED, accept=["x"])
    assert (error["details"], error["hint"]) == (
        {"field": "candidate"},
        "Give one candidate, or decide on pending ones.",
    )
    assert tools.error("memory_ingest_lifecycle", accept=["nobody"])["code"] == "MemoryObjectNotFound"
    assert tools.error("memory_ingest_lifecycle", candidate="{")["code"] == "MemoryInvalidJson"
    assert tools.lines() == []


def test_without_design_documents_it_says_where_it_looked(tools: Tools) -> None:
    assert tools.text("memory_ingest_lifecycle").startswith("No design documents were found below docs/")
