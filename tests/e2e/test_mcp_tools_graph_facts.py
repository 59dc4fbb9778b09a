"""Every tool over the graph and the facts, through the SDK's client, against an installed server over its pipes.

Tests that write have a copy of the project, named as `project_root`: no test sees what another did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from mcp_here import FACTS, NOW, Asked, Here, folder, over_stdio, prepared

from cases import each
from installed import Git
from quire.surfaces.mcp.catalogue import TOOLSETS, chosen_tools

DECISION, FEATURE = "decision.retries-run-in-the-worker", "feature.retry-queue"
GOTCHA, QUESTION = "gotcha.fonts-without-a-cmap", "question.how-long-may-a-delivery-take"
CHANGED = "LIMIT = 5\n\n\ndef retry() -> int:\n    return LIMIT + 1\n"
BECAUSE = "`src/worker.py#retry` changed in the working tree, not committed"
CREATED = "2026-03-02T11:19:00.000Z"
MOMENT = "2026-03-02T11:19:00+00:00"
TALK = [
    {"role": role, "content": f"{text} {turn}. " + "It is slow and hard to read. " * 40}
    for turn in range(1, 7)
    for role, text in (("user", "Rework module"), ("assistant", "Decided: a queue for module"))
]
numbers = count()


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture(scope="module")
def asked(here: Here) -> Iterator[Asked]:
    with over_stdio(here, "--toolset", "all") as asked:
        yield asked


@pytest.fixture
def own(here: Here) -> Here:
    return here.copy(f"own{next(numbers)}")


def facts_of(here: Here) -> dict[str, Any]:
    """The stored facts by their text."""
    lines = map(json.loads, (here.root / ".memory/facts.jsonl").read_text().splitlines())
    return {line["content"]: line for line in lines if line["_type"] == "fact"}


def fact(here: Here, name: str, **more: Any) -> dict[str, Any]:
    """One of the prepared facts, as answers have it."""
    ref, (section, content) = here.refs[name], FACTS[name]
    told = {"ref": ref, "id": ref.partition(":")[2], "section": section, "content": content, "confidence": 1.0}
    return {**told, "created_at": CREATED, "origin": "manual", "verdict": "unanchored", **more}


def hit(**fields: Any) -> dict[str, Any]:
    """The decision, as answers have it."""
    told = {"ref": DECISION, "id": DECISION, "layer": "graph", "kind": "decision", "title": "Retries run in the worker"}
    more = {"status": "active", "tier": "answer", "verdict": "fresh", "origin": "agent", "updated_at": MOMENT}
    return {**told, **more, **fields}


def unscored(item: dict[str, Any]) -> dict[str, Any]:
    """A result without its score, which depends on all records."""
    assert 0.2 < item.pop("score") < 4.5
    return item


# -- every tool has its test ------------------------------------------------------------------


@each("tool", chosen_tools(["graph", "facts"]))
def test_of_every_tool_there_is_a_test(tool: str) -> None:
    assert callable(globals().get(f"test_{tool}")), f"write a test of {tool}"


def test_all_tools_are_listed(asked: Asked) -> None:
    assert TOOLSETS == ("core", "graph", "facts", "profile", "journal", "all"), "write tests of the new toolset"
    assert [tool.name for tool in asked.do("list_tools").tools] == list(chosen_tools(["all"]))


# -- the graph --------------------------------------------------------------------------------


def test_query_memory(asked: Asked, here: Here) -> None:
    found = asked.data("query_memory", question="where do retries run?", limit=2)
    worker = here.refs["worker"]
    assert unscored(found["results"][0]) == hit(why="words and meaning")
    second = found["results"][1]
    assert (second["ref"], second["layer"], second["section"]) == (worker, "facts", "Architecture")
    assert len(found["results"]) == 2
    assert f'<memory-{found["markdown"].partition("<memory-")[2][:12]} ref="{DECISION}"' in found["markdown"]
    assert "Requests must not wait for a delivery." in found["markdown"]
    only = asked.data("query_memory", question="where do retries run?", layers=["facts"], kinds=["fact"])
    assert {item["layer"] for item in only["results"]} == {"facts"}


def test_save_memory(asked: Asked, own: Here) -> None:
    node = {"kind": "decision", "title": "Deliveries end after ten seconds", "body": "Measured.", "anchors": ["src/"]}
    told = {"task": "Measure", "nodes": [node], "stale": [{"id": QUESTION, "reason": "It was measured."}]}
    tried = asked.data("save_memory", project_root=str(own.root), dry_run=True, **told)
    assert (tried["dry_run"], tried["memory_created"]) == (True, ["decision.deliveries-end-after-ten-seconds"])
    assert not (own.root / ".memory/memory/deliveries-end-after-ten-seconds.md").exists()
    done = asked.data("save_memory", project_root=str(own.root), **told)
    assert done["changed"] is True
    assert done["memory_created"] == ["decision.deliveries-end-after-ten-seconds"]
    assert done["memory_marked_stale"] == [QUESTION]
    assert done["events_appended"] == 2
    assert (own.root / ".memory/memory/deliveries-end-after-ten-seconds.md").read_text() == "Measured."
    events = [json.loads(line) for line in (own.root / ".memory/events.jsonl").read_text().splitlines()]
    assert [(event["actor"], event["event"]) for event in events[-2:]] == [
        ("mcp", "memory.created"),
        ("mcp", "memory.marked_stale"),
    ]


def test_propose_memory(asked: Asked, own: Here) -> None:
    given = {"kind": "gotcha", "text": "Fonts drip when they are wet.", "project_root": str(own.root)}
    assert asked.data("propose_memory", **given)["action"] == "proposed"
    assert asked.data("propose_memory", **given)["action"] == "known"
    assert not (own.root / ".memory/memory/fonts-drip-when-they-are-wet.md").exists()
    assert "Fonts drip" in own.memory("inbox").out


def test_inspect_memory(asked: Asked, here: Here) -> None:
    found = asked.data("inspect_memory", id=DECISION)
    node = found["object"]
    assert (node["ref"], node["type"], node["status"], node["verdict"]) == (DECISION, "decision", "active", "fresh")
    assert (node["title"], node["body"]) == ("Retries run in the worker", "Requests must not wait for a delivery.")
    assert (node["anchors"], node["created_at"]) == (["src/worker.py#retry"], NOW)
    (link,) = found["relations"]["outgoing"]
    assert (link["from"], link["predicate"], link["to"]) == (DECISION, "affects", FEATURE)
    looked = asked.data("inspect_memory", id=here.refs["five"])["object"]
    assert (looked["ref"], looked["content"]) == (here.refs["five"], FACTS["five"][1])


def test_status_memory(asked: Asked, here: Here) -> None:
    found = asked.data("status_memory")
    assert found["project"] == {"id": "project.harbor", "name": "harbor"}
    assert found["features_by_stage"]["building"] == {"count": 1, "titles": ["Retry queue"]}
    assert found["nodes_by_kind"] == {"decision": 1, "feature": 1, "gotcha": 1, "project": 1, "question": 1}
    assert [question["id"] for question in found["open_questions"]] == [QUESTION]
    assert (found["verdicts"]["fresh"], found["verdicts"]["unanchored"], found["attention"]) == (2, 2, [])
    assert (found["facts"]["active"], found["facts"]["other"], found["facts"]["episodes"]) == (2, 1, 1)
    assert found["profile"]["by_category"] == {"user": 1, "tools": 1, "learnings": 1}
    assert (found["journal"]["events"], found["journal"]["sessions"]) == (2, 1)
    assert found["git"]["branch"] == "main"


def test_brief_memory(asked: Asked) -> None:
    found = asked.data("brief_memory", files=["src/worker.py"])
    assert found["files"] == ["src/worker.py"]
    assert [unscored(item) for item in found["results"]] == [hit(why="governs the file")]
    assert [item["ref"] for item in found["connected"]] == [FEATURE]
    assert found["markdown"].startswith('# Memory: "what governs src/worker.py"\n')


def test_sync_memory(asked: Asked, own: Here) -> None:
    (own.root / "src/worker.py").write_text(CHANGED)
    found = asked.data("sync_memory", project_root=str(own.root))
    (changed,) = found["changed"]
    assert (changed["id"], changed["because"], changed["new"]) == (DECISION, BECAUSE, True)
    assert (found["fresh"], found["moved"], found["orphaned"]) == (1, [], [])
    assert sorted(found["unanchored"]) == [FEATURE, QUESTION]
    assert found["marker_advanced"] is True
    again = asked.data("sync_memory", project_root=str(own.root), dry_run=True)
    assert (again["base_commit"], again["marker_advanced"]) == (found["head_commit"], False)


def test_why_memory(asked: Asked, here: Here) -> None:
    found = asked.data("why_memory", place="src/worker.py:4")
    head = Git(here.root, here.env)("rev-parse", "HEAD").strip()
    assert (found["path"], found["line"], found["text"]) == ("src/worker.py", 4, "def retry() -> int:")
    assert found["origin"] == {"commit": head, "path": "src/worker.py", "line": 4}
    assert [(item["id"], item["author"], item["subject"]) for item in found["commits"]] == [
        (head, "Tess Ter", "Set up")
    ]
    assert {item["ref"] for item in found["saves"]} == {DECISION, FEATURE, GOTCHA, QUESTION, "project.harbor"}
    assert [unscored(item) for item in found["results"]] == [hit(why="governs the file")]


def test_check_memory(asked: Asked, own: Here) -> None:
    assert asked.data("check_memory", project_root=str(own.root))["valid"] is True
    (own.root / ".memory/memory/retry-queue.json").write_text("{")
    found = asked.data("check_memory", project_root=str(own.root))
    assert found["valid"] is False
    assert next(fault["path"] for fault in found["errors"]) == ".memory/memory/retry-queue.json"


def test_diff_memory(asked: Asked, own: Here) -> None:
    assert asked.data("diff_memory", project_root=str(own.root))["files"] == []
    own.memory.save({"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."})
    found = asked.data("diff_memory", project_root=str(own.root))
    assert {item["path"]: item["change"] for item in found["files"]} == {
        ".memory/events.jsonl": "modified",
        ".memory/memory/late-clocks.json": "added",
        ".memory/memory/late-clocks.md": "added",
    }
    assert "+Clocks drift.\n" in found["diff"]


def test_confirm_memory(asked: Asked, own: Here) -> None:
    (own.root / "src/worker.py").write_text(CHANGED)
    done = asked.data("confirm_memory", project_root=str(own.root), ids=[DECISION], reason="I looked at it.")
    assert done["memory_confirmed"] == [DECISION]
    assert done["before"][DECISION]["verdict"] == "changed"
    assert asked.data("inspect_memory", project_root=str(own.root), id=DECISION)["object"]["verdict"] == "fresh"


# -- facts ------------------------------------------------------------------------------------


def test_memory_recall(asked: Asked, here: Here) -> None:
    found = asked.data("memory_recall", query="how often is a delivery retried?", k=1)
    assert [unscored(item) for item in found.pop("results")] == [fact(here, "five", tier="answer")]
    assert found == {"weak": False}


def test_memory_query(asked: Asked, here: Here) -> None:
    found = asked.data("memory_query")
    assert found["results"] == [fact(here, "worker"), fact(here, "five")]
    assert (found["total"], found["sections"]) == (2, {"Architecture": 1, "Constraints": 1})
    page = asked.data("memory_query", offset=1, limit=1)
    assert page["results"] == [fact(here, "five")]


def test_memory_store(asked: Asked, own: Here) -> None:
    told = {"section": "Specs", "content": "Invoices are numbered without gaps.", "tags": ["invoices"]}
    done = asked.data("memory_store", project_root=str(own.root), **told)
    stored = facts_of(own)[told["content"]]
    assert done["action"] == "stored"
    assert done["fact"]["ref"] == f"fact:{stored['id']}"
    assert (stored["section"], stored["tags"], stored["source"]) == ("Specs", ["invoices"], "mcp")
    again = asked.data("memory_store", project_root=str(own.root), **told)
    assert (again["action"], again["fact"]["ref"]) == ("unchanged", done["fact"]["ref"])


def test_memory_supersede(asked: Asked, own: Here) -> None:
    five, now = own.refs["five"], "A delivery is retried at most seven times."
    done = asked.data("memory_supersede", project_root=str(own.root), fact_id=five, content=now, reason="raised")
    assert (done["old"]["ref"], done["old"]["status"], done["old"]["reason"]) == (five, "superseded", "raised")
    assert (done["new"]["section"], done["new"]["supersedes"]) == ("Constraints", five.partition(":")[2])
    stored = facts_of(own)
    assert stored[now]["supersedes"] == five.partition(":")[2]
    assert stored[FACTS["five"][1]]["status"] == "superseded"


def test_memory_archive(asked: Asked, own: Here) -> None:
    done = asked.data("memory_archive", project_root=str(own.root), fact_ids=[own.refs["five"]], reason="gone")
    assert (done["changed"], [item["outcome"] for item in done["outcomes"]]) == (1, ["archived"])
    stored = facts_of(own)[FACTS["five"][1]]
    assert (stored["status"], stored["reason"]) == ("archived", "gone")


def test_memory_episodes(asked: Asked) -> None:
    found = asked.data("memory_episodes")
    (episode,) = found["results"]
    assert re.fullmatch(r"episode:session-[0-9a-f]{12}", episode.pop("ref"))
    assert episode == {
        "date": "2026-03-02",
        "title": "Session 2026-03-02: Webhook retries",
        "narrative": "Session on 2026-03-02: 3 turns, 0 tool calls, 0s.",
        "tags": ["auto"],
        "session": "s1",
        "origin": "session",
        "verdict": "unanchored",
    }
    assert found["total"] == 1


def test_memory_focus(asked: Asked, own: Here) -> None:
    done = asked.data("memory_focus", project_root=str(own.root), fact_ids=[own.refs["five"]])
    assert done["outcomes"] == {own.refs["five"]: "pinned"}
    assert (done["used"], done["slots"], done["pins"]) == (1, 25, [fact(own, "five")])


def test_memory_release(asked: Asked, own: Here) -> None:
    assert own.memory("facts", "focus", own.refs["five"], own.refs["worker"]).code == 0
    done = asked.data("memory_release", project_root=str(own.root), fact_ids=[own.refs["five"]])
    assert done["outcomes"] == {own.refs["five"]: "released"}
    assert done["pins"] == [fact(own, "worker")]
    assert asked.data("memory_release", project_root=str(own.root))["pins"] == []


def test_memory_connect(asked: Asked, own: Here) -> None:
    told = {"source": own.refs["five"], "relation": "enables", "target": FEATURE}
    done = asked.data("memory_connect", project_root=str(own.root), **told)
    edge = dict(done["edge"])
    assert edge.pop("ref").startswith("edge:")
    assert (done["action"], edge) == ("connected", told)
    again = asked.data("memory_connect", project_root=str(own.root), **told)
    assert again["edge"]["ref"] == done["edge"]["ref"]


def test_memory_compact(asked: Asked, own: Here) -> None:
    done = asked.data("memory_compact", project_root=str(own.root), conversation=TALK, keep_turns=2)
    assert (done["compacted"], done["evicted"], done["kept"]) == (True, 8, 4)
    assert done["messages"][-4:] == TALK[-4:]
    assert done["messages"][0]["content"].startswith("<!-- quire:summary version=1 -->\n")
    assert (own.root / done["checkpoint"]).is_file()
    without = asked.data("memory_compact", project_root=str(own.root))
    assert (without["compacted"], "Nothing is pinned" in without["note"]) == (False, True)


def test_memory_search_archive(asked: Asked, here: Here) -> None:
    found = asked.data("memory_search_archive", query="where does the queue live?")
    away = {"status": "archived", "tier": "answer", "reason": "it moved to the database", "put_away_at": CREATED}
    assert [unscored(item) for item in found["results"]] == [fact(here, "redis", **away)]


def test_memory_ingest_lifecycle(asked: Asked, own: Here) -> None:
    said = "Invalidation ends within 50 ms"
    told = {"kind": "design-constraint", "authority": "explicit", "section": "Constraints", "content": said}
    done = asked.data("memory_ingest_lifecycle", project_root=str(own.root), candidate=told)
    assert (done["counts"], done["pending"]) == ({"store": 1}, [])
    assert [(step["action"], step["content"]) for step in done["steps"]] == [("store", said)]
    assert facts_of(own)[said]["source"] == "lifecycle:design-constraint"
