"""What is recorded although a live record says nearly the same, or the opposite: kept, and told at once.

Each warning names the record and one command that supersedes it, which is run here as it is printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_here import folder, over_stdio, prepared

from installed import Memory, Run

SAME, OPPOSITE = "SaysNearlyTheSame", "SaysTheOpposite"
LATER = {"MEMORY_NOW": "2026-03-03T11:19:00+00:00"}
OLD, NEW = "decision.retries-run-in-the-worker-process", "decision.retries-never-run-in-the-worker-process"
FIRST = {"kind": "decision", "title": "Retries run in the worker process", "body": "Requests must not wait."}
SECOND = {"kind": "decision", "title": "Retries never run in the worker process", "body": "The worker is overloaded."}


@pytest.fixture
def here(memory: Memory) -> Memory:
    memory.init()
    return memory


def saved(memory: Memory, *nodes: dict[str, Any], **more: Any) -> Run:
    return memory("save", "--stdin", "--json", stdin={"task": "t", "nodes": nodes, **more})


def codes(run: Run) -> list[str]:
    return [item["code"] for item in run.json["warnings"]]


def carried_out(memory: Memory, hint: str) -> None:
    """The command of a hint, pasted into a shell."""
    command = hint.partition(": ")[2]
    path = f"{Path(sys.executable).parent}:{memory.env['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=memory.cwd, env={**memory.env, "PATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 0, (command, done.stderr.decode())


def found_by_check(memory: Memory) -> list[dict[str, Any]]:
    run = memory("check", "--json")
    assert run.code == 0
    return [item for item in run.data["warnings"] if item["code"] in (SAME, OPPOSITE)]


# -- the graph ----------------------------------------------------------------------------------


def test_a_node_that_says_the_opposite(here: Memory) -> None:
    assert codes(saved(here, FIRST)) == []
    run = here("save", "--stdin", stdin={"task": "t", "nodes": [SECOND]}, env=LATER)
    assert (run.code, run.out.splitlines()[0]) == (0, "Saved:")
    first, second = run.err.splitlines()
    assert first == f"warning: `{OLD}` says the opposite: “Retries run in the worker process”."
    assert second.strip().startswith("If the new one replaces it: echo '{")
    (finding,) = found_by_check(here)
    assert (finding["code"], finding["fixed_by"], finding["severity"]) == (OPPOSITE, "person", "warning")
    assert f"`{OLD}`" in finding["message"]
    assert f"`{NEW}`" in finding["message"]
    assert finding["hint"].partition(": ")[2] == second.partition(": ")[2]
    carried_out(here, second)
    assert here("inspect", OLD, "--json").data["object"]["status"] == "superseded"
    assert found_by_check(here) == []


def test_the_same_node_again_is_no_other(here: Memory) -> None:
    saved(here, FIRST)
    assert codes(saved(here, FIRST)) == []
    assert codes(saved(here, {"id": OLD, "body": "Requests must not wait for a delivery."})) == []


def test_a_title_that_is_used_again_is_named_once(here: Memory) -> None:
    saved(here, FIRST)
    assert codes(saved(here, {**FIRST, "body": "The worker has room for it."})) == ["SimilarNode"]


def test_what_is_replaced_in_the_same_save_is_not_named(here: Memory) -> None:
    saved(here, FIRST)
    replaces = [{"id": OLD, "superseded_by": NEW, "reason": "overloaded"}]
    assert codes(saved(here, {**SECOND, "id": NEW}, supersede=replaces)) == []


def test_what_answers_the_title_is_named_whatever_its_kind(here: Memory) -> None:
    saved(here, FIRST)
    assert codes(saved(here, {**FIRST, "title": "Reports run in the night", "body": "The database is idle."})) == []
    asked = saved(here, {"kind": "question", "title": "Do retries run in the worker process?", "body": "Since when?"})
    (warning,) = asked.json["warnings"]
    assert warning["code"] == "SimilarRecord"
    assert warning["message"] == f"Similar record: `{OLD}` “Retries run in the worker process” (2026-03-02)."
    later = {"id": asked.data["memory_created"][0], "body": "Since May?"}
    assert [codes(run(here, later)) for run in (tried, saved)] == [[], []]
    saved(here, {"kind": "decision", "title": "The retry table is kept in Redis", "body": "It is fast."})
    told = here("facts", "store", "Decisions", "The retry table is kept in Postgres", "--json")
    assert ["retry-table-is-kept-in-redis" in item["message"] for item in told.json["warnings"]] == [True]


def test_a_claim_is_held_against_others_without_its_reason(here: Memory) -> None:
    redis = here("facts", "store", "Decisions", "The retry table is kept in Redis, because it is fast.", "--json").data
    other = "The report table is written at night, because the database is idle then."
    assert codes(here("facts", "store", "Decisions", other, "--json")) == []
    text = "The retry table is kept in Postgres, because Redis lost jobs."
    told = here("facts", "store", "Decisions", text, "--json")
    assert [redis["fact"]["ref"] in item["message"] for item in told.json["warnings"]] == [True]


def test_records_of_an_import_are_not_held_against_each_title(here: Memory) -> None:
    saved(here, FIRST)
    asked = {"kind": "question", "title": "Do retries run in the worker process?", "body": "Since when?"}
    parts = [{"kind": "feature", "title": f"Part {name}", "body": name, "stage": "idea"} for name in "abcdefghij"]
    assert codes(tried(here, asked, *parts[1:])) == ["SimilarRecord"]
    assert codes(tried(here, asked, *parts)) == []


def tried(memory: Memory, *nodes: dict[str, Any]) -> Run:
    return memory("save", "--stdin", "--json", "--dry-run", stdin={"task": "t", "nodes": nodes})


def test_what_is_linked_is_not_named(here: Memory) -> None:
    saved(here, FIRST)
    linked = {**SECOND, "related": [{"predicate": "related_to", "to": OLD}]}
    assert codes(saved(here, linked)) == []
    assert found_by_check(here) == []


# -- facts --------------------------------------------------------------------------------------


def test_a_fact_that_says_the_opposite(here: Memory) -> None:
    old = here("facts", "store", "Constraints", "The request timeout is 30 s for all clients.", "--json").data["fact"]
    run = here("facts", "store", "Specs", "The request timeout is 60 s for all clients.", "--json")
    new = run.data["fact"]
    (warning,) = run.json["warnings"]
    assert warning["code"] == OPPOSITE
    assert old["ref"] in warning["message"]
    assert [(item["id"], item["opposite"]) for item in run.data["similar"]] == [(old["id"], True)]
    (finding,) = found_by_check(here)
    assert (finding["code"], finding["path"]) == (OPPOSITE, ".memory/facts.jsonl")
    again = here("facts", "store", "Specs", "The request timeout is 60 s for all clients.", "--json")
    assert codes(again) == []
    carried_out(here, warning["hint"])
    shown = here("inspect", old["ref"], "--json").data
    assert (shown["object"]["status"], shown["replaced_by"]) == ("superseded", [new["id"]])
    assert found_by_check(here) == []


def test_a_fact_takes_the_place_of_another_by_its_id(here: Memory) -> None:
    old, new = (
        here("facts", "store", "Specs", text, "--json").data["fact"]["id"]
        for text in ("The port is open at night.", "Ships wait outside until the morning.")
    )
    for wrong in (["nosuchfact12"], [new[:6], "some text"]):
        assert here("facts", "supersede", old, "--by", *wrong).code != 0
    assert here("facts", "supersede", old, "--by", old).code != 0
    done = here("facts", "supersede", old, "--by", new, "--json").data
    assert (done["old"]["id"], done["new"]["id"], done["old"]["status"]) == (old, new, "superseded")


# -- the profile --------------------------------------------------------------------------------


def test_an_entry_that_says_the_opposite(here: Memory) -> None:
    here("profile", "remember", "learnings", "squash", "Always squash commits before merging a feature branch.")
    run = here(
        "profile", "remember", "learnings", "no_squash", "Never squash commits before merging a feature branch.",
        "--force", "--json",
    )  # fmt: skip
    assert run.data["action"] == "ADD"
    (warning,) = run.json["warnings"]
    assert (warning["code"], "profile:learnings.squash" in warning["message"]) == (OPPOSITE, True)
    (finding,) = found_by_check(here)
    assert finding["path"] == ".ai-state/memory.json"
    same = here("profile", "remember", "learnings", "no_squash", "--importance", "9", "--json")
    assert codes(same) == []
    carried_out(here, warning["hint"])
    assert here("profile", "recall", "learnings", "squash", "--json").data["results"][0]["status"] == "archived"
    assert found_by_check(here) == []


# -- agents -------------------------------------------------------------------------------------


def test_an_agent_is_told_which_tool_supersedes() -> None:
    with folder() as place, over_stdio(prepared(place), "--toolset", "all") as asked:
        result = asked.call("save_memory", task="t", nodes=[{**FIRST, "title": "Retries never run in the worker"}])
        (warning,) = result.structured_content["warnings"]
        assert warning["code"] == OPPOSITE
        assert re.search(r"save_memory with supersede: id decision\.retries-run-in-the-worker,", warning["hint"])
        assert "decision.retries-run-in-the-worker" in result.content[0].text
        text = "Webhook retries never run in the worker, not in the request."
        fact = asked.call("memory_store", section="Architecture", content=text).structured_content
        assert [item["code"] for item in fact["warnings"]] in ([SAME], [OPPOSITE])
        told = {"category": "tools", "key": "installer", "value": "uv for packages, never pip or poetry"}
        asked.call("remember", **told)
        value = "uv for packages, always pip or poetry"
        entry = asked.call("remember", category="tools", key="other", value=value, force=True).structured_content
        assert [(item["code"], "add_link" in item["hint"]) for item in entry["warnings"]] == [(OPPOSITE, True)]
