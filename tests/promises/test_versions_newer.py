"""Files of a newer version: read at most, never written, by any verb; and it is said."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from version_stores import NOW, Store, newest, opened
from version_verbs import APART, TOUR, given_to, lines_for, verbs_of

from installed import Memory
from promised import proves, tally
from quire.files.world import World
from quire.surfaces.mcp.catalogue import chosen_tools
from quire.surfaces.mcp.tool_calls import ToolCalls
from thorough import LONG, some

NEWEST = newest()


class Newer(NamedTuple):
    """One kind of file made newer, which verbs are about it, and how one of them says so."""

    path: str
    key: str
    value: int | str
    about: str
    asked: str
    code: int
    said: str


KINDS = {
    "storage": Newer(".memory/config.json", "version", 99, "", "status", 3, "storage version 99"),
    "sync marker": Newer(".memory/sync-state.json", "version", 99, "sync", "sync", 0, "newer"),
    "pins": Newer(
        ".memory/local/working.json", "version", 99, "facts", "facts focus @other", 3, "newer version of Quire"
    ),
    "session": Newer(
        ".memory/local/sessions/*.json",
        "version",
        99,
        "facts",
        "facts session 8d2f --turns 3",
        3,
        "newer version of Quire",
    ),
    "rejection": Newer(".memory/rejected/*.json", "version", 99, "inbox", "inbox rejected", 0, "newer"),
    "record of hooks": Newer(
        ".memory/integrations/claude-settings*.json", "version", 99, "integrate", "integrate claude", 3, "newer version"
    ),
    "record of a server": Newer(
        ".memory/integrations/mcp-json*.json", "version", 99, "integrate", "integrate --repair", 3, "newer version"
    ),
    "profile 1.3": Newer(
        ".ai-state/memory.json",
        "schema_version",
        "1.3",
        "profile",
        "profile forget tools x",
        3,
        "can be read and searched",
    ),
    "profile 2.0": Newer(
        ".ai-state/memory.json", "schema_version", "2.0", "profile", "profile remember tools x y", 3, "`2.0`"
    ),
    "profile 9.9": Newer(
        ".ai-state/memory.json", "schema_version", "9.9", "profile", "profile about-me", 3, "neither read nor written"
    ),
    "private 1.3": Newer(
        ".ai-state/local/memory.json", "schema_version", "1.3", "profile", "profile remember user x y", 3, "`1.3`"
    ),
    "private 9.9": Newer(
        ".ai-state/local/memory.json", "schema_version", "9.9", "profile", "profile about-me", 3, "neither read"
    ),
    "journal": Newer(
        ".agent-memory/state.json", "schemaVersion", 3, "journal", "journal status", 3, "schema version `3`"
    ),
    "imports": Newer(".agent-memory/local/imports.json", "version", 99, "journal", "journal sync --all", 0, "newer"),
    "projects": Newer("../home/registry/projects.json", "version", 99, "projects", "projects add .", 3, "newer"),
}


def made_newer(store: Store, kind: Newer) -> Path:
    (path,) = (
        store.root.parent.glob(f"harbor/{kind.path}")
        if not kind.path.startswith("..")
        else (store.root.parent / kind.path[3:],)
    )
    fields = json.loads(path.read_bytes())
    assert kind.key in fields or path.parent.name == "rejected"
    path.write_text(json.dumps({**fields, kind.key: kind.value, "x_new": {"more": [1]}}, indent=2) + "\n")
    store.git.commit()
    return path


def lines_about(store: Store, kind: Newer) -> list[list[str]]:
    """Every verb in a long run; every day those that the file is about, and some of the others."""
    about = tuple(line for line in TOUR if kind.about and line.startswith(kind.about))
    sample = some(TOUR, 8)
    return lines_for(store.said, tuple(line for line in TOUR if LONG or line in about or line in sample))


@pytest.mark.proof(keep=5)
@proves("P5.5", "D15", over="graph facts profile journal inbox wiring machine")
@pytest.mark.parametrize("name", KINDS)
def test_no_verb_writes_to_a_file_of_a_newer_version(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    store = opened(NEWEST, tmp_path)
    path = made_newer(store, kind)
    before = path.read_bytes()
    for line in lines_about(store, kind):
        run = store(*line, stdin=given_to(line))
        assert path.read_bytes() == before, line
        assert run.code in (0, 1, 3), (line, run)
        if run.code == 3:
            assert "hint: " in run.err, (line, run)
    tally("P5.5", inputs=len(lines_about(store, kind)))


@pytest.mark.proof(keep=5)
@proves("P5.5", "D15", over="graph facts profile journal inbox wiring machine")
@pytest.mark.parametrize("name", KINDS)
def test_what_cannot_be_used_because_it_is_newer_is_said(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    store = opened(NEWEST, tmp_path)
    made_newer(store, kind)
    (line,) = lines_for(store.said, (kind.asked,))
    run = store(*line)
    assert run.code == kind.code
    assert kind.said in run.err, run
    assert "hint: " in run.err or "pdate" in run.err


@proves("P5.5", "D15")
def test_the_tour_goes_through_every_verb(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    lines = lines_for(store.said, (*TOUR, *APART))
    toured = {" ".join(words) for line in lines for words in (line[:1], line[:2])}
    assert verbs_of(store) - toured == {"reset"}  # whoever asks for that wants no memory any more


@proves("P5.5", "D15", over="index")
def test_an_index_of_a_newer_version_is_made_again_and_the_truth_untouched(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    said = store.asked()
    (file,) = store.root.glob(".memory/index/*.sqlite")
    before = store.files()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    assert store.asked() == said
    assert store.files() == before


@proves("P5.5", "D15", over="graph profile journal")
def test_work_that_a_newer_version_was_cut_off_in_is_kept_and_not_carried_out(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path, cut_off=True)
    staged: dict[str, list[bytes]] = {}
    for place in store.cut_off:
        (intent,) = (store.root / place).glob("recovery/transaction-*/intent.json")
        fields = json.loads(intent.read_bytes())
        intent.write_text(json.dumps({**fields, "version": 2, "more": True}))
        staged[place] = sorted(path.read_bytes() for path in intent.parent.iterdir())
    for line in lines_for(store.said, some(TOUR, 20)):
        assert store(*line, stdin=given_to(line)).code in (0, 1, 3), line
    for place, parts in staged.items():
        (kept,) = (store.root / place).glob("recovery/unapplied-*")
        assert sorted(path.read_bytes() for path in kept.iterdir()) == parts
    assert store("inspect", "feature.harbor-lights").code == 1
    assert store("profile", "recall", "tools", "pager").code == 1


TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "storage": ("save_memory", {"task": "t", "nodes": [{"kind": "gotcha", "title": "T", "body": "B."}]}),
    "pins": ("memory_focus", {"fact_ids": ["0a1b2c3d4e5f"]}),
    "profile 2.0": ("remember", {"category": "tools", "key": "x", "value": "y"}),
    "private 9.9": ("about_me", {}),
    "journal": ("journal_sync", {}),
}


@proves("P5.5", "D15", over="graph facts profile journal")
@pytest.mark.parametrize("name", TOOLS)
def test_no_tool_of_the_server_writes_to_a_newer_version(name: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    path = made_newer(store, KINDS[name])
    before = path.read_bytes()
    tool, arguments = TOOLS[name]
    tool_calls = ToolCalls(chosen_tools(["all"]), World(**_world(store)), str(store.root))
    result = json.loads(json.dumps(tool_calls.call(tool, arguments).result()))
    assert result["isError"] is True, result
    assert "hint" in json.dumps(result)
    assert path.read_bytes() == before


def _world(store: Store) -> dict[str, Any]:
    return {
        "cwd": str(store.root),
        "env": store.env,
        "now": lambda: datetime.fromisoformat(NOW),
        "token": lambda: "0123456789abcdef",
        "sleep": lambda _seconds: None,
        "pid": os.getpid(),
    }


@proves("P5.5", "D15", over="wiring", found="one record of a newer version stopped every look at the wiring")
def test_a_record_of_a_newer_version_does_not_stop_a_look_at_the_others(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    made_newer(store, KINDS["record of hooks"])
    run = store("integrate", "--status", "--json")
    assert run.warnings == ["LocalStateNewer"]
    clients = {item["client"]: item for item in run.data["clients"]}
    assert clients["codex"]["wired"] is True
    held = [part for part in clients["codex"]["parts"] if part["scope"] == "project" and part["part"] != "skill"]
    assert {part["state"] for part in held} == {"present"}
    assert store("doctor", "--json").code in (0, 1)


@proves("P5.5", "D15", over="machine", found="a project of a newer version was taken off the list of projects")
@pytest.mark.parametrize("text", ['{"version": 99}', "{ broken"])
def test_projects_that_are_newer_or_damaged_stay_on_the_list(text: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    assert store("projects", "add", ".").code == 0
    (store.root / ".memory/config.json").write_text(text)
    assert store("projects", "prune", "--json").json["data"]["projects_removed"] == []
    (store.root / ".memory/config.json").unlink()
    gone = store("projects", "prune", "--json").json["data"]["projects_removed"]
    assert str(store.root) in [item["project_root"] for item in gone]


@proves("P5.5", "D15", over="machine", found="a list of projects of a newer version was replaced by one of ours")
def test_a_list_of_projects_that_is_newer_is_not_called_empty_and_stops_no_project(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    path = made_newer(store, KINDS["projects"])
    before = {item: item.read_bytes() for item in path.parent.iterdir() if item.suffix == ".json"}
    assert store("projects", "list").code == store("status", "--all").code == 3
    run = store("init", "--json")
    assert (run.code, run.warnings) == (0, ["MemoryUnsupportedStorageVersion"])
    assert {item: item.read_bytes() for item in path.parent.iterdir() if item.suffix == ".json"} == before


@proves("P5.5", "D15", over="graph", found="a sync wrote over a marker of a newer version")
def test_a_sync_beside_a_marker_of_a_newer_version_reports_all_the_same(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    path = made_newer(store, KINDS["sync marker"])
    before = path.read_bytes()
    run = store("sync", "--json")
    assert (run.code, run.warnings, run.data["marker_advanced"]) == (0, ["LocalStateNewer"], False)
    assert path.read_bytes() == before


@proves("P5.5", "D15", over="graph")
@pytest.mark.parametrize("name", some([name for name in KINDS if KINDS[name].path.startswith(".")], 2))
def test_the_page_is_exported_without_a_byte_changed(name: str, tmp_path: Path, memory: Memory) -> None:
    store = opened(NEWEST, tmp_path / "kept")
    path = made_newer(store, KINDS[name])
    before = path.read_bytes()
    run = memory("view", "--export", "site", cwd=store.root, env=store.env)
    assert run.code in (0, 3), run
    assert path.read_bytes() == before
