"""memory journal add, sources, remove, sync: places of sessions, what arrives from them, what cannot be read."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from journal_here import CACHE, UMLAUTS, Journal, journal_in, on_a_terminal, write_session

from installed import Memory


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A journal without sources; an agent has had two sessions."""
    journal = journal_in(tmp_path, environment)
    journal.done("init")
    write_session(journal.agent / "transcripts/cache.jsonl", CACHE)
    write_session(journal.agent / "transcripts/größe.jsonl", UMLAUTS)
    return journal


# -- add, sources, remove ---------------------------------------------------------------------


def test_a_source_is_added_listed_and_removed(here: Journal) -> None:
    assert here.journal("sources").out == ("No sources. `memory journal add claude-local ~/.claude` registers one.\n")
    run = here.journal("add", "claude-local", "../agent", "--name", "My Agent")
    assert run.out == (
        f"Added: source my-agent (claude-local) -> {here.agent}\n`memory journal sync my-agent` imports its sessions.\n"
    )
    assert here.journal("sources").out == (f"- my-agent (claude-local) -> {here.agent}\n  Never synced.\n")
    assert here.program("agent-memory", "sources").out == (
        f"- my-agent (claude-local) -> {here.agent}\n  status=never lastSyncedAt=never imported=0\n"
    )
    assert here.state["maintenance"]["importSourceCount"] == 1
    run = here.journal("remove", "my-agent")
    assert run.out == "Removed: source my-agent. What was imported from it is kept.\n"
    assert here.done("sources") == {"sources": []}


def test_sources_in_json(here: Journal) -> None:
    added = here.done("add", "claude-local", str(here.agent))
    assert set(added) == {"source", "sources", "removed", "dry_run"}
    assert (added["sources"], added["removed"], added["dry_run"]) == (1, False, False)
    (source,) = here.done("sources")["sources"]
    assert (
        source
        == added["source"]
        == {
            "id": "claude-local-agent",
            "type": "claude-local",
            "path": str(here.agent),
            "last_synced_at": None,
            "last_sync_status": "never",
            "last_sync_error": None,
            "last_imported_count": 0,
            "exists": True,
            "all_folders": False,
        }
    )
    removed = here.done("remove", "claude-local-agent")
    assert (removed["removed"], removed["sources"]) == (True, 0)


def test_add_and_remove_can_be_tried(here: Journal) -> None:
    run = here.journal("add", "codex-local", str(here.agent), "--name=codex", "--dry-run")
    assert run.out == f"Would add: source codex (codex-local) -> {here.agent}\n"
    assert here.done("sources") == {"sources": []}
    here.done("add", "claude-local", str(here.agent), "--name", "agent")
    assert here.journal("remove", "agent", "--dry-run").out.startswith("Would remove: source agent.")
    assert len(here.done("sources")["sources"]) == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["add", "cursor-local", "../agent"], "MemoryValidationFailed"),
        (["add", "claude-local", "../nowhere"], "MemoryObjectNotFound"),
        (["add", "claude-local", "../agent", "--name", "agent"], "MemoryConflictDetected"),
        (["remove", "ghost"], "MemoryObjectNotFound"),
        (["sync", "ghost"], "MemoryObjectNotFound"),
    ],
)
def test_sources_that_cannot_be(here: Journal, line: list[str], code: str) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    run = here.journal(*line, "--json")
    assert (run.code, run.error["code"]) == (1, code)
    assert run.error["hint"]
    assert [source["id"] for source in here.done("sources")["sources"]] == ["agent"]


def test_a_wrong_type_is_answered_with_the_list(here: Journal) -> None:
    run = here.journal("add", "cursor", "../agent")
    assert "claude-local" in run.err
    assert "codex-local" in run.err


def test_names_and_paths_in_any_script(here: Journal) -> None:
    odd = here.root.parent / "агент 注文"
    write_session(odd / "transcripts/s.jsonl", CACHE)
    name = here.done("add", "claude-local", str(odd), "--name", "агент")["source"]["id"]
    assert name
    assert name.isascii()
    assert here.done("sync", name)["imported"] == 1
    assert f"-> {odd}\n" in here.journal("sources").out


def test_a_path_that_is_no_text_is_no_crash(here: Journal) -> None:
    odd = os.fsdecode(os.fsencode(here.root.parent) + b"/\xff")
    os.mkdir(odd)
    run = here.journal("add", "claude-local", odd, "--name", "odd")
    assert (run.code, run.err.splitlines()[0]) == (1, "error: The path is not UTF-8 text.")
    assert here.done("sources")["sources"] == []


def test_a_source_whose_place_is_gone_says_so(here: Journal) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    here.agent.rename(here.agent.with_name("moved"))
    assert f"- agent (claude-local) -> {here.agent} (not on this machine)\n" in here.journal("sources").out


def test_sessions_of_other_projects_are_taken_only_if_told_so(here: Journal) -> None:
    for name, folder in (("ours", here.root), ("theirs", here.root.parent / "theirs")):
        path = here.root.parent / f"claude/projects/{re.sub('[^a-zA-Z0-9]', '-', str(folder))}/{name}.jsonl"
        write_session(path, CACHE, cwd=folder)
    here.done("add", "claude-local", "../claude", "--name", "mine")
    assert here.done("sync", "mine")["imported"] == 1
    here.done("add", "claude-local", "../claude", "--name", "every", "--all-folders")
    assert here.done("sync", "every", "--dry-run")["imported"] == 2
    assert f"- every (claude-local) -> {here.root.parent / 'claude'} (all folders)\n" in here.journal("sources").out


# -- sync -------------------------------------------------------------------------------------


def test_sync_imports_once(here: Journal) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    tried = here.journal("sync", "--all", "--dry-run")
    assert tried.out == (
        "Would import 2 sessions from `agent`: 2 decisions, 2 gotchas, 1 next step.\nDry run: nothing was written.\n"
    )
    assert len(here.events) == 1
    run = here.journal("sync", "agent")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Imported 2 sessions from `agent`: 2 decisions, 2 gotchas, 1 next step.\n"
        "Run `memory journal recall` to merge the imported sessions.\n"
    )
    assert here.journal("sync", "--all").out == "Nothing new in `agent`: 2 known already.\n"
    assert [event["kind"] for event in here.events] == ["tool_run", "imported_session", "imported_session"]
    assert "„Größe“" in "".join(str(event) for event in here.events)


def test_sync_in_json(here: Journal) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    data = here.done("sync", "--all")
    assert set(data) == {"sources", "imported", "skipped", "failed", "dry_run", "cost_usd"}
    (source,) = data["sources"]
    assert (source["id"], source["imported"], source["skipped"], source["failed"], source["failures"]) == (
        "agent",
        2,
        0,
        0,
        [],
    )
    assert source["events"] == ["evt-000002", "evt-000003"]


def test_what_cannot_be_read_keeps_nothing_from_being_imported(here: Journal) -> None:
    (here.agent / "transcripts/broken.jsonl").write_text("{nonsense\n")
    here.done("add", "claude-local", "../agent", "--name", "agent")
    run = here.journal("sync", "agent")
    assert run.code == 1
    first, second, *_ = run.out.splitlines()
    assert first.startswith("Imported 2 sessions from `agent`: ")
    assert first.endswith(" 1 failed.")
    assert second.startswith("  failed ")
    assert "broken.jsonl: " in second
    assert len(here.events) == 3
    again = here.journal("sync", "agent", "--json")
    # As long as it does not change it is not tried again, and not forgotten either.
    assert (again.code, again.data["failed"], again.data["imported"], again.data["skipped"]) == (0, 0, 0, 3)
    assert "broken.jsonl: left out: none of its 1 lines can be read" in again.data["sources"][0]["warnings"][0]
    (here.agent / "transcripts/broken.jsonl").write_text("{still nonsense\n")
    assert here.journal("sync", "agent").code == 1
    write_session(here.agent / "transcripts/broken.jsonl", CACHE)
    assert here.journal("sync", "agent", "--json").data["imported"] == 1


def test_a_source_that_is_gone_keeps_no_other_from_being_synced(here: Journal) -> None:
    write_session(here.root.parent / "gone/transcripts/s.jsonl", CACHE)
    here.done("add", "claude-local", "../gone", "--name", "gone")
    here.done("add", "claude-local", "../agent", "--name", "agent")
    (here.root.parent / "gone").rename(here.root.parent / "elsewhere")
    run = here.journal("sync", "--all")
    assert run.code == 1
    assert run.out.startswith("Nothing new in `gone`: 1 failed.\n  failed ")
    assert "\nImported 2 sessions from `agent`: " in run.out
    sources = {source["id"]: source for source in here.done("sources")["sources"]}
    assert (sources["gone"]["last_sync_status"], sources["agent"]["last_sync_status"]) == ("failed", "passed")
    assert f"\n  The last sync failed: {sources['gone']['last_sync_error']}\n" in here.journal("sources").out


def test_sync_without_sources_says_how_to_add_one(here: Journal) -> None:
    run = here.journal("sync", "--all")
    assert (run.code, run.out) == (1, "")
    assert "`memory journal add claude-local ~/.claude`" in run.err


def test_a_session_that_grew_is_imported_from_where_it_was(here: Journal) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    here.done("sync", "agent")
    more = [*CACHE, "And retries?", "GOTCHA: Retries double: the id must be sent along."]
    write_session(here.agent / "transcripts/cache.jsonl", more)
    assert here.journal("sync", "agent").out.startswith("Imported 1 session from `agent`: 1 gotcha. 1 known already.\n")
    assert [event["sourceId"] for event in here.events] == ["agent-memory.local", "agent", "agent", "agent"]


def test_a_secret_is_not_imported(here: Journal) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    write_session(here.agent / "transcripts/secret.jsonl", ["Deploy.", f"DECISION: Deploy with the token {token}."])
    here.done("add", "claude-local", "../agent", "--name", "agent")
    here.journal("sync", "agent")
    here.journal("recall")
    for path in here.root.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes(), path


# -- on a terminal ----------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_and_nowhere_else(here: Journal) -> None:
    here.done("add", "claude-local", "../agent", "--name", "agent")
    code, seen = on_a_terminal(here, "agent-memory", "sync", "--all")
    assert code == 0
    assert "\r\x1b[Kagent [########################] 2/2 sessions, 2 imported" in seen
    assert seen.endswith(
        "\r\x1b[K- agent: imported=2 skipped=0 failed=0\nRun `agent-memory recall` to merge the imported sessions.\n"
    )
    _, seen = on_a_terminal(here, "agent-memory", "sync", "--all", "--json")
    assert "\x1b" not in seen
    memory = Memory(here.root, here.env)
    process = memory.start("journal", "sync", "--all", stdin=subprocess.DEVNULL)
    assert process.communicate(timeout=60) == (b"Nothing new in `agent`: 2 known already.\n", b"")
