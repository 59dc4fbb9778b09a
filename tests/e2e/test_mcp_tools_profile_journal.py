"""Every tool over the profile and the journal, through the SDK's client, against an installed server over its pipes.

Every test has a copy of the project, named as `project_root`: even looking at an entry counts as a reading of it.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from mcp_here import Asked, Here, folder, over_stdio, prepared, write_sessions
from mcp_lines import until

from cases import each
from quire.surfaces.mcp.catalogue import chosen_tools

AT, THEN = "2026-03-02T11:19:00Z", "2026-03-02T11:19:00.000Z"
NO_PROCESS = "No background process runs, and none is needed."
SAID = "Asked: Cache the order list. Result: Cache the order list for 30 seconds in src/cache.ts."
TENANT, RUNBOOK = "Cache keys must include the tenant", "Write a cache runbook"
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


class Tools:
    """The tools, called in the test's own project."""

    def __init__(self, asked: Asked, own: Here) -> None:
        self.asked = asked
        self.root = own.root

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        return self.asked.data(tool, project_root=str(self.root), **arguments)

    def entry(self, category: str, key: str) -> Any:
        """An entry as it is stored."""
        return json.loads((self.root / ".ai-state/memory.json").read_text())["memories"][category].get(key)

    @property
    def events(self) -> list[Any]:
        lines = (self.root / ".agent-memory/history/events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def tools(asked: Asked, own: Here) -> Tools:
    return Tools(asked, own)


def entry(value: str, **fields: Any) -> dict[str, Any]:
    told = {"value": value, "created_at": AT, "updated_at": AT, "tags": [], "confidence": None, "importance": 5}
    told |= {"source": {"type": "session", "detail": None}, "access_count": 0, "last_accessed": None}
    return {**told, "status": "active", "links": [], **fields}


@each("tool", chosen_tools(["profile", "journal"]))
def test_of_every_tool_there_is_a_test(tool: str) -> None:
    assert callable(globals().get(f"test_{tool}")), f"write a test of {tool}"


# -- the profile ------------------------------------------------------------------------------


def test_session_start(tools: Tools) -> None:
    found = tools("session_start")
    assert (found["session_count"], found["total"], found["name_assigned"]) == (1, 4, True)
    assert found["categories"] == {
        "user": 1,
        "assistant": 1,
        "project": 0,
        "relationships": 0,
        "tools": 1,
        "learnings": 1,
    }
    assert "- timezone: Europe/Madrid\n" in found["context"]
    assert tools("session_start")["session_count"] == 2


def test_remember(tools: Tools) -> None:
    told = {"category": "tools", "key": "editor", "value": "Helix", "tags": ["daily"], "importance": 7}
    done = tools("remember", **told, confidence=0.6, source_type="inferred")
    source = {"type": "inferred", "detail": None}
    written = entry("Helix", tags=["daily"], importance=7, confidence=0.6, source=source)
    assert (done["action"], done["ref"], done["entry"]) == ("ADD", "profile:tools.editor", written)
    assert tools.entry("tools", "editor") == written
    assert tools("remember", category="tools", key="editor", value="Vim")["action"] == "UPDATE"
    kept = tools.entry("tools", "editor")
    assert (kept["value"], kept["tags"], kept["importance"]) == ("Vim", ["daily"], 7)


def test_forget(tools: Tools) -> None:
    done = tools("forget", category="tools", key="package_manager")
    removed = {name: done["removed"][name] for name in ("ref", "value", "importance")}
    assert removed == {"ref": "profile:tools.package_manager", "value": "uv, never pip", "importance": 8}
    assert done["links_removed"] == ["learnings.lock_files"]
    assert tools.entry("tools", "package_manager") is None
    assert (tools.root / done["backup_path"]).is_file()


def test_recall(tools: Tools) -> None:
    read = {"access_count": 1, "last_accessed": AT}
    shown = {**entry("uv, never pip", importance=8, **read), "ref": "profile:tools.package_manager"}
    found = tools("recall", category="tools", key="package_manager")
    assert found["entries"] == {"package_manager": {**shown, "origin": "session"}}
    assert list(tools("recall", category="learnings")["entries"]) == ["lock_files"]


def test_search(tools: Tools) -> None:
    found = tools("search", query="which package manager?")
    (best,) = found["results"]
    assert (best["ref"], best["category"], best["key"]) == ("profile:tools.package_manager", "tools", "package_manager")
    assert (best["entry"]["value"], best["why"]) == ("uv, never pip", "names it")
    assert (found["weak"], found["beyond"], found["total"]) == (False, 0, 3)


def test_status(tools: Tools) -> None:
    found = tools("status")
    assert found["statuses"] == {"active": 3, "archived": 0, "superseded": 0}
    assert (found["total"], found["links"], found["session_count"], found["schema_version"]) == (3, 1, 0, "1.2")
    text = tools.asked.call("status", project_root=str(tools.root)).content[0].text
    assert "flags=" not in text, "counts of our own are no instructions"


def test_export_memories(tools: Tools) -> None:
    found = tools("export_memories")
    assert (found["format"], found["entries"]) == ("markdown", 3)
    assert (
        "## user\n- **timezone**: Europe/Madrid\n\n## tools\n- **package_manager**: uv, never pip\n" in found["content"]
    )
    document = json.loads(tools("export_memories", output_format="json")["content"])
    assert document == json.loads((tools.root / ".ai-state/memory.json").read_text())


def test_about_me(tools: Tools) -> None:
    assert tools("about_me")["profile"] == "## User Profile\n- **timezone**: Europe/Madrid\n"


def test_about_us(tools: Tools) -> None:
    assert tools("about_us") == {"profile": "", "entries": 0}
    tools("remember", category="relationships", key="reviews", value="Ada reviews every change.")
    assert "- **reviews**: Ada reviews every change.\n" in tools("about_us")["profile"]


def test_reflect(tools: Tools) -> None:
    found = tools("reflect")
    assert (found["stale_entries"], found["archival_candidates"], found["confidence_updates"]) == ([], [], [])
    assert (found["summary"]["total_entries"], found["summary"]["active"]) == (3, 3)


def test_connections(tools: Tools) -> None:
    found = tools("connections", category="learnings", key="lock_files")
    link = {"source": "learnings.lock_files", "target": "tools.package_manager", "relation": "elaborates"}
    assert found["outgoing"] == [{**link, "entry_summary": "uv, never pip", "status": "active"}]
    assert found["incoming"] == []


def test_add_link(tools: Tools) -> None:
    ends = {"source_category": "user", "source_key": "timezone", "target_category": "tools"}
    done = tools("add_link", **ends, target_key="package_manager", relation="related-to")
    assert (done["link_created"], done["source"], done["target"]) == (True, "user.timezone", "tools.package_manager")
    assert tools.entry("user", "timezone")["links"] == [{"target": "tools.package_manager", "relation": "related-to"}]
    again = tools("add_link", **ends, target_key="package_manager", relation="related-to")
    assert again["link_created"] is False


def test_remove_link(tools: Tools) -> None:
    ends = {"source_category": "learnings", "source_key": "lock_files", "target_category": "tools"}
    done = tools("remove_link", **ends, target_key="package_manager")
    assert (done["link_removed"], done["relations"]) == (True, ["elaborates"])
    assert tools.entry("learnings", "lock_files")["links"] == []


# -- the journal ------------------------------------------------------------------------------


def test_memory_assess(tools: Tools) -> None:
    found = tools("memory_assess")
    waits = "Not merged yet: 1."
    assert (found["status"], found["errors"]) == ("warn", [])
    assert found["suggestedNextAction"] == f"{waits} Merge them. Call journal_recall."
    assert found["details"]["memoryHealth"] == "attention"
    assert found["details"]["backlog"] == {"unrecalledAll": 1, "unrecalledLocal": 0, "unrecalledImports": 1}
    assert found["details"]["validate"]["topFindings"] == []
    assert found["warnings"] == [waits]


def test_memory_maintain(tools: Tools, own: Here) -> None:
    agree(own)
    write_sessions(own.root.parent / "agent/transcripts", 1, start=next(numbers) + 100)
    done = tools("memory_maintain")
    assert (done["status"], done["errors"]) == ("ok", [])
    assert done["details"]["run"]["status"] == "recalled"
    assert done["details"]["daemon"] == {"wasRunning": False, "startedNow": False}
    assert ".agent-memory/state.json" in done["details"]["changedFiles"]
    assert done["suggestedNextAction"] == "Nothing to do."
    state = json.loads((own.root / ".agent-memory/state.json").read_text())
    assert TENANT in [item["title"] for item in state["bundle"]["gotchas"]]


def test_memory_compact_handoff(tools: Tools) -> None:
    found = tools("memory_compact_handoff")
    assert found["details"]["currentFocusSummary"] == "On branch `main`, nothing is committed yet."
    assert found["details"]["unrecalledGroupedCount"] == 1
    tools("journal_recall")
    found = tools("memory_compact_handoff")
    assert [item.partition(":")[0] for item in found["details"]["topGotchas"]] == [TENANT]
    assert [item.partition(":")[0] for item in found["details"]["topNextSteps"]] == [RUNBOOK]


def test_journal_query(tools: Tools) -> None:
    found = tools("journal_query", question="What did the sessions say about the cache?")
    assert (found["mode"], found["sufficient"]) == ("answer", True)
    (cited,) = found["citations"]
    assert (cited["ref"], cited["sourceType"], cited["summary"]) == ("event:evt-000002", "event", SAID)
    assert found["answer"].startswith("- evt-000002: ")


def test_memory_status(tools: Tools) -> None:
    found = tools("memory_status")
    assert found["history"] == {"totalEvents": 2, "unrecalledAll": 1, "unrecalledLocal": 0, "unrecalledImports": 1}
    (source,) = found["sources"]
    assert (source["id"], source["status"], source["lastSyncedAt"]) == ("agent", "passed", THEN)
    (group,) = found["unrecalledSummary"]["groups"]
    assert (group["eventIds"], group["representativeSummary"]) == (["evt-000002"], SAID)
    assert found["checkpoint"] is None
    compared = tools("memory_status", checkpointId="chk-000001", showDiff=True)
    assert compared["checkpoint"]["checkpointId"] == "chk-000001"


def test_memory_validate(tools: Tools) -> None:
    found = tools("memory_validate")
    assert (found["failCount"], found["warnCount"], found["findings"]) == (0, 0, [])
    with open(tools.root / ".agent-memory/history/events.jsonl", "a") as file:
        file.write("no event\n")
    assert tools("memory_validate")["failCount"] == 1


def test_journal_recall(tools: Tools) -> None:
    tried = tools("journal_recall", dry_run=True)
    assert (tried["dry_run"], tried["changed_sections"]) == (True, ["current-focus", "gotchas", "next-steps"])
    assert len(tools.events) == 2
    done = tools("journal_recall")
    assert (done["applied"], done["raw_event_count"], done["checkpoint"]) == (True, 1, "chk-000002")
    assert done["diff"]["addedGotchas"] == [TENANT]
    assert done["diff"]["addedNextSteps"] == [RUNBOOK]
    assert [event["id"] for event in tools.events] == ["evt-000001", "evt-000002", "evt-000003"]


def test_journal_sync(tools: Tools, own: Here) -> None:
    agree(own)
    before = len(tools.events)
    write_sessions(own.root.parent / "agent/transcripts", 2, start=next(numbers) + 200)
    done = tools("journal_sync", name="agent")
    assert (done["imported"], done["failed"]) == (2, 0)
    assert [source["id"] for source in done["sources"]] == ["agent"]
    assert len(tools.events) == before + 2
    assert tools("journal_sync")["imported"] == 0


def test_automation_status(tools: Tools) -> None:
    assert tools("automation_status") == {"running": False, "daemon": None, "latestRun": None}
    tools("automation_run_once")
    assert tools("automation_status")["latestRun"]["status"] == "recalled"


def test_automation_ensure_running(tools: Tools, own: Here) -> None:
    done = tools("automation_ensure_running")
    try:
        assert done["started"] is True
        assert tools("automation_ensure_running") == {"started": False, "pid": done["pid"]}
        until(lambda: tools("automation_status")["running"])
        assert tools("automation_status")["daemon"]["pid"] == done["pid"]
    finally:
        stopped = own.memory("journal", "automate", "stop", "--json")
        if stopped.code:
            os.kill(done["pid"], signal.SIGKILL)
    assert stopped.data["stopped"] is True


def test_automation_run_once(tools: Tools) -> None:
    done = tools("automation_run_once")
    assert (done["status"], done["busy"], done["errors"]) == ("recalled", False, [])
    assert (done["recall"]["applied"], done["recall"]["rawEventCount"]) == (True, 1)
    assert (done["startedAt"], done["finishedAt"]) == (THEN, THEN)


def agree(own: Here) -> None:
    """A copy of a project is another project: that its source may be read there has to be said again."""
    assert own.memory("journal", "sync", "agent").code == 0
