"""memory journal init, update, restore: what they say, write, keep and refuse; where nobody is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal, journal_in

PAGES = ["README.md", "current-focus.md", "gotchas.md", "next-steps.md", "project-map.md"]
REFRESHED = {
    "command",
    "applied",
    "changed",
    "project",
    "root",
    "signals",
    "package_manager",
    "workspace_manager",
    "provider",
    "planned",
    "changed_sections",
    "summary",
    "validations",
    "pages_anew",
    "checkpoint",
    "event",
    "backup",
    "cost_usd",
}
PLANNED = [
    ".agent-memory/state.json",
    "docs/agent-memory/README.md",
    "docs/agent-memory/project-map.md",
    "docs/agent-memory/current-focus.md",
    "docs/agent-memory/gotchas.md",
    "docs/agent-memory/next-steps.md",
    "README.md",
]


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    return journal_in(tmp_path, environment)


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- init -------------------------------------------------------------------------------------


def test_init_says_what_it_found_and_what_it_wrote(here: Journal) -> None:
    run = here.journal("init")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(
        f"Project: orders\nRoot: {here.root}\nSignals: .git, package.json, README.md\n"
        "Package manager: not detected\nWorkspace: not detected\nProvider: local\n"
        "\nPlanned changes:\n- CREATE .agent-memory/state.json: the memory itself\n"
        "- CREATE docs/agent-memory/README.md: "
    )
    assert "\n- PATCH README.md: the section for agents in it\n" in run.out
    assert "\nJournal made: checkpoint chk-000001, event evt-000001.\nState: .agent-memory/state.json\n" in run.out
    assert "`memory journal add claude-local ~/.claude`" in run.out
    assert sorted(path.name for path in (here.root / "docs/agent-memory").iterdir()) == PAGES
    assert (here.checkpoints, len(here.events)) == (["chk-000001"], 1)
    assert "<!-- agent-memory:entry " in (here.root / "README.md").read_text()


def test_init_in_json(here: Journal) -> None:
    data = here.done("init")
    assert set(data) == REFRESHED
    assert (data["command"], data["applied"], data["project"], data["root"]) == ("init", True, "orders", str(here.root))
    assert (data["checkpoint"], data["event"], data["backup"]) == ("chk-000001", "evt-000001", None)
    assert [item["path"] for item in data["planned"]] == PLANNED
    assert {item["kind"] for item in data["planned"]} == {"CREATE", "PATCH"}
    assert all(item["diff"] is None for item in data["planned"])


def test_init_can_be_tried(here: Journal) -> None:
    before = held(here.root)
    run = here.journal("init", "--dry-run", "--show-diff")
    assert run.code == 0
    assert "\nFile diffs:\n--- .agent-memory/state.json\n+++ .agent-memory/state.json\n" in run.out
    assert run.out.endswith("\nDry run: nothing was written.\n")
    data = here.done("init", "--dry-run", "--show-diff")
    assert (data["applied"], data["checkpoint"]) == (False, None)
    assert [item["path"] for item in data["planned"] if item["diff"]] == PLANNED
    assert held(here.root) == before


def test_init_shows_the_lines_of_what_it_wrote(here: Journal) -> None:
    run = here.journal("init", "--show-diff")
    assert "\nFile diffs:\n--- .agent-memory/state.json\n" in run.out
    assert "\nJournal made: " in run.out


def test_a_journal_that_is_there_is_not_replaced_unasked(here: Journal) -> None:
    here.fill()
    before = held(here.root / ".agent-memory/history")
    run = here.journal("init")
    assert (run.code, run.out) == (1, "")
    assert "The journal already exists, with 3 sessions and runs." in run.err
    assert here.journal("init", "--json").error["code"] == "MemoryConflictDetected"
    assert held(here.root / ".agent-memory/history") == before


@pytest.mark.parametrize("yes", ["--yes", "-y"])
def test_a_journal_that_is_replaced_is_kept(here: Journal, yes: str) -> None:
    here.fill()
    before = {name: data for name, data in held(here.root / ".agent-memory").items() if name.startswith("history/")}
    run = here.journal("init", yes)
    assert run.code == 0
    found = re.search(r"^The earlier journal is kept in (\.agent-memory/backup/\S+)$", run.out, re.M)
    assert found, run.out
    backup = held(here.root / found[1])
    assert {name: backup[name] for name in before} == before
    assert (len(here.events), here.checkpoints) == (1, ["chk-000001"])
    assert here.done("sources")["sources"] == []


def test_replacing_says_that_files_are_overwritten(here: Journal) -> None:
    here.done("init")
    kinds = {item["path"]: item["kind"] for item in here.done("init", "--dry-run")["planned"]}
    assert kinds == dict.fromkeys(PLANNED, "OVERWRITE")


def test_init_runs_the_projects_own_checks_only_if_told_so(here: Journal) -> None:
    ran = here.root / "ran"
    here.done("init")
    here.journal("init", "--yes", "--validate", "--dry-run")
    assert not ran.exists()
    run = here.journal("init", "--yes", "--validate")
    assert ran.exists()
    assert "\nValidation commands:\n- npm test: passed\n" in run.out
    assert "Running npm test …\n" in run.err
    (snapshot,) = here.state["bundle"]["currentFocus"]["validationSnapshot"]["results"]
    assert (snapshot["status"], snapshot["summary"]) == ("passed", "all is well")


def test_a_check_that_fails_is_told_and_no_failure_of_ours(here: Journal) -> None:
    programs = Path(here.env["PATH"].partition(":")[0])
    (programs / "npm").write_text("#!/bin/sh\necho 2 of 9 failed\nexit 3\n")
    run = here.journal("init", "--validate")
    assert run.code == 0
    assert "\n- npm test: failed (2 of 9 failed)\n" in run.out
    data = here.done("init", "--yes", "--validate")
    assert data["validations"] == [
        {
            "label": data["validations"][0]["label"],
            "command": "npm test",
            "status": "failed",
            "summary": "2 of 9 failed",
        }
    ]


def test_init_outside_of_a_repository(here: Journal, tmp_path: Path) -> None:
    bare = tmp_path / "größe 注文"
    bare.mkdir()
    run = here("journal", "init", cwd=bare)
    assert run.code == 0
    assert f"Root: {bare}\nSignals: none\n" in run.out
    assert "Note: no file here shows what project this is" in run.out
    assert (bare / ".agent-memory/state.json").exists()
    assert here("journal", "status", cwd=bare).code == 0


# -- update -----------------------------------------------------------------------------------


def test_an_update_that_finds_nothing_writes_nothing(here: Journal) -> None:
    here.done("init")
    before = held(here.root / ".agent-memory/history")
    run = here.journal("update")
    assert run.code == 0
    assert run.out.endswith("\nThe memory already says all of this; nothing was written.\n")
    data = here.done("update")
    assert set(data) == REFRESHED
    assert (data["command"], data["changed"], data["applied"], data["planned"]) == ("update", False, False, [])
    assert held(here.root / ".agent-memory/history") == before


def _change(here: Journal) -> None:
    (here.root / "README.md").write_text(
        (here.root / "README.md").read_text().replace("Takes orders.", "Takes orders and ships them.")
    )


def test_update_writes_what_changed(here: Journal) -> None:
    here.done("init")
    _change(here)
    tried = here.done("update", "--dry-run", "--show-diff")
    assert (tried["applied"], tried["changed"], tried["checkpoint"]) == (False, True, None)
    assert any("+  " in (item["diff"] or "") for item in tried["planned"])
    assert here.checkpoints == ["chk-000001"]
    run = here.journal("update", "--yes", "--show-diff")
    assert "\n- OVERWRITE .agent-memory/state.json: " in run.out
    assert "\nFile diffs:\n" in run.out
    assert "): checkpoint chk-000002, event evt-000002.\nState: .agent-memory/state.json\n" in run.out
    assert here.state["bundle"]["project"]["summary"] == "Takes orders and ships them."
    assert here.checkpoints == ["chk-000001", "chk-000002"]


def test_update_runs_the_checks_if_told_so(here: Journal) -> None:
    here.done("init")
    run = here.journal("update", "--validate")
    assert "\n- npm test: passed\n" in run.out
    assert "Running npm test …\n" in run.err
    assert "checkpoint chk-000002" in run.out
    assert here.journal("update", "--validate", "--json").err == ""


def test_a_model_that_is_not_there_changes_nothing(here: Journal) -> None:
    here.done("init")
    before = held(here.root / ".agent-memory/history")
    env = {"PATH": "/usr/bin:/bin", "AGENT_MEMORY_CODEX_BIN": "/nowhere/codex"}
    for verb in ("init", "update"):
        run = here.journal(verb, "--yes", "--provider", "codex", env=env)
        assert run.code in (1, 3)
        assert "codex" in run.err
    assert held(here.root / ".agent-memory/history") == before


# -- restore ----------------------------------------------------------------------------------


@pytest.fixture
def recalled(here: Journal) -> Journal:
    """A journal whose second checkpoint knows two traps."""
    here.fill()
    here.done("recall")
    assert len(here.titles["gotchas"]) == 2
    return here


def test_restore_brings_back_a_checkpoint(recalled: Journal) -> None:
    first = json.loads((recalled.root / ".agent-memory/history/checkpoints/chk-000001.json").read_bytes())
    tried = recalled.journal("restore", "chk-000001", "--dry-run", "--show-diff")
    assert "Changed sections: " in tried.out
    assert "\nFile diffs:\n" in tried.out
    assert tried.out.endswith("Dry run: nothing was written.\n")
    assert len(recalled.titles["gotchas"]) == 2
    run = recalled.journal("restore", "chk-000001")
    assert run.code == 0
    assert re.search(r"^Restored chk-000001: checkpoint chk-000003, event evt-\d+\.$", run.out, re.M)
    assert recalled.state["bundle"] == first["bundle"]
    again = recalled.journal("restore", "checkpoint:chk-000001")
    assert "The memory already is that of checkpoint" in again.out
    data = recalled.done("restore", "chk-000002", "--yes")
    assert (data["restored"], data["applied"], data["changed"], data["checkpoint"]) == (
        "chk-000002",
        True,
        True,
        "chk-000004",
    )
    assert len(recalled.titles["gotchas"]) == 2


def test_what_held_before_a_restore_can_be_brought_back(recalled: Journal) -> None:
    path = recalled.root / ".agent-memory/state.json"
    state = recalled.state
    state["bundle"]["gotchas"][0]["title"] = "Changed by hand"
    path.write_text(json.dumps(state))
    run = recalled.journal("restore", "chk-000001")
    found = re.search(r"^To undo: `memory journal restore (chk-\d+)`\.$", run.out, re.M)
    assert found, run.out
    recalled.done("restore", found[1])
    assert recalled.titles["gotchas"][0] == "Changed by hand"


@pytest.mark.parametrize("name", ["chk-999999", "nonsense", "../../state", "prune-20990101T000000Z", "größe"])
def test_restore_of_what_is_not_there(recalled: Journal, name: str) -> None:
    before = held(recalled.root / ".agent-memory/history")
    run = recalled.journal("restore", name, "--json")
    assert (run.code, run.error["code"]) == (1, "MemoryObjectNotFound")
    assert held(recalled.root / ".agent-memory/history") == before


@pytest.mark.parametrize("damage", [b"{ broken", None], ids=["damaged", "gone"])
def test_restore_makes_a_state_that_is_damaged_or_gone(recalled: Journal, damage: bytes | None) -> None:
    path = recalled.root / ".agent-memory/state.json"
    bundle = recalled.state["bundle"]
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert recalled.journal("status").code == 3
    run = recalled.journal("restore", "chk-000002")
    assert run.code == 0
    assert recalled.state["bundle"] == bundle
    kept = re.search(r"^The damaged state is kept in (\S+)$", run.out, re.M)
    assert (kept is not None) is (damage is not None)
    if kept is not None:
        assert (recalled.root / kept[1]).read_bytes() == damage
    assert recalled.journal("status").code == 0


def test_restore_in_json(recalled: Journal) -> None:
    data: Any = recalled.done("restore", "chk-000001", "--dry-run")
    assert set(data) == {
        "restored",
        "applied",
        "changed",
        "saved_as",
        "checkpoint",
        "event",
        "changed_sections",
        "summary",
        "planned",
        "events_returned",
        "checkpoints_returned",
        "kept_aside",
    }
    assert (data["applied"], data["changed"]) == (False, True)
