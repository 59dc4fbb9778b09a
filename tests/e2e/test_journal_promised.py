"""What the journal promises about texts, pages, files of people and sessions, tried as its users meet it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from journal_here import CACHE, NOW, Journal, journal_in, write_session

from installed import make_environment
from quire.clients.spool import Ended, note_ended

FIXTURES = Path(__file__).parents[3] / "shared/fixtures/journal"
needs_fixtures = pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded journals lie outside the repository")
BLOCK = re.compile(r"<!-- agent-memory:entry .*? start -->.*?<!-- agent-memory:entry end -->\n?", re.S)


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_environment(tmp_path_factory.mktemp("home"))


@pytest.fixture
def here(tmp_path: Path, env: dict[str, str]) -> Journal:
    return journal_in(tmp_path, env)


def said_by_a_model(here: Journal, **fields: Any) -> None:
    """A journal as the other program leaves it: its texts are a model's."""
    here.done("init")
    path = here.root / ".agent-memory/state.json"
    state = json.loads(path.read_bytes())
    state["provider"] |= {"name": "codex", "binary": "codex"}
    for name, value in fields.items():
        state["bundle"][name] |= value
    path.write_text(json.dumps(state))
    assert here.journal("validate", "--repair").code == 0


# -- what an update keeps ---------------------------------------------------------------------


def test_an_update_keeps_what_a_model_said_and_the_files_do_not(here: Journal) -> None:
    for name in ("src", "tools"):
        (here.root / name).mkdir()
        (here.root / name / "main.py").write_text("")
    parts = [
        {"name": "src", "path": "src/", "responsibility": "Takes the orders."},
        {"name": "tools", "path": "tools", "responsibility": "Loads the fixtures."},
        {"name": "gone", "path": "gone", "responsibility": "Was removed."},
    ]
    told = {"summary": "Orders of a harbor, taken by phone.", "packageManager": "none"}
    said_by_a_model(
        here, project=told, projectMap={"modules": parts}, currentFocus={"summary": "Retries are being made durable."}
    )
    here.done("update", "--yes")
    bundle = here.state["bundle"]
    assert {item["path"].rstrip("/"): item["responsibility"] for item in bundle["projectMap"]["modules"]} == {
        "src": "Takes the orders.",
        "tools": "Loads the fixtures.",
    }
    assert bundle["project"]["summary"] == "Orders of a harbor, taken by phone."
    assert bundle["currentFocus"]["summary"] == "Retries are being made durable."
    assert any(line.startswith("On branch") for line in bundle["currentFocus"]["currentState"])
    assert here.state["provider"]["name"] == "local"
    assert here.done("update", "--yes")["changed"] is False, "the second update is ours, and keeps them as well"
    (here.root / "README.md").write_text("# Orders\n\nTakes other orders.\n")
    here.done("update", "--yes")
    assert here.state["bundle"]["project"]["summary"] == "Orders of a harbor, taken by phone."


def test_what_the_files_said_is_made_anew_and_never_becomes_none(here: Journal) -> None:
    here.done("init")
    assert here.state["bundle"]["project"]["summary"] == "Takes orders."
    (here.root / "README.md").write_text("# Orders\n\nTakes other orders.\n")
    here.done("update", "--yes")
    assert here.state["bundle"]["project"]["summary"] == "Takes other orders."
    (here.root / "README.md").unlink()
    (here.root / "package.json").unlink()
    here.done("update", "--yes")
    bundle = here.state["bundle"]
    assert bundle["project"]["summary"] == "Takes other orders."
    assert bundle["validationCommands"]


def test_only_commands_of_the_project_are_run(here: Journal) -> None:
    (here.root / "package.json").unlink()
    said_by_a_model(here)
    path = here.root / ".agent-memory/state.json"
    state = json.loads(path.read_bytes())
    command = {"label": "smoke", "command": ["touch", "was-run"], "purpose": "Prove that commands run."}
    state["bundle"]["validationCommands"] = [command]
    path.write_text(json.dumps(state))
    here.journal("validate", "--repair")
    here.done("update", "--yes", "--validate")
    assert here.state["bundle"]["validationCommands"] == [command]
    assert not (here.root / "was-run").exists()


@needs_fixtures
@pytest.mark.parametrize("name", ["basic-node", "extras", "unicode", "retention", "crash-matrix"])
def test_an_update_of_a_recorded_journal_loses_no_text(name: str, tmp_path: Path, env: dict[str, str]) -> None:
    root = tmp_path / "repo"
    shutil.copytree(FIXTURES / name / "repo", root, symlinks=True)
    here = Journal(root, {"MEMORY_NOW": NOW, **env})
    before = here.state["bundle"]
    here.done("update", "--yes")
    after = here.state["bundle"]
    for part in ("project", "currentFocus"):
        assert after[part]["summary"] == before[part]["summary"]
    described = {(item["path"], item["responsibility"]) for item in after["projectMap"]["modules"]}
    there = [item for item in before["projectMap"]["modules"] if (root / item["path"]).exists()]
    assert {(item["path"], item["responsibility"]) for item in there} <= described
    for part, key in (("projectMap", "architectureNotes"), ("currentFocus", "currentState")):
        assert set(before[part][key]) <= set(after[part][key])
    assert {item["title"] for item in before["gotchas"]} <= {item["title"] for item in after["gotchas"]}
    assert here.done("update", "--yes")["changed"] is False


# -- pages and the entry block ----------------------------------------------------------------


def test_update_and_recall_write_a_missing_page_anew(here: Journal) -> None:
    here.done("init")
    page = here.root / "docs/agent-memory/gotchas.md"
    for command in (("update",), ("update", "--yes"), ("recall",)):
        page.unlink()
        finding = next(
            one for one in here.journal("validate", "--json").data["findings"] if one["code"] == "projection:gotchas"
        )
        assert finding["level"] == "fail"
        tried = here.done(*command, "--dry-run")
        assert (tried["pages_anew"], [item["path"] for item in tried["planned"]]) == (
            False,
            [str(page.relative_to(here.root))],
        )
        assert not page.exists()
        run = here.journal(*command)
        assert (run.code, "were rewritten" in run.out) == (0, True)
        assert here.done("validate")["failed"] == 0
    page.write_text(page.read_text().replace("version=3", "version=2"))
    assert here.done("update")["pages_anew"] is True
    assert "version=3" in page.read_text()
    assert len(here.events) == 1


def test_a_page_that_somebody_edited_is_not_replaced_without_need(here: Journal) -> None:
    here.done("init")
    page = here.root / "docs/agent-memory/gotchas.md"
    page.write_text(page.read_text() + "\nMine.\n")
    assert here.done("update")["pages_anew"] is False
    assert page.read_text().endswith("Mine.\n")


def test_the_block_goes_into_no_file_of_people_unasked(here: Journal) -> None:
    here.fill()
    readme = here.root / "README.md"
    assert BLOCK.search(readme.read_text())
    readme.write_text(BLOCK.sub("", readme.read_text()))
    before = readme.read_text()
    run = here.journal("recall")
    assert (run.code, readme.read_text()) == (0, before)
    assert "`README.md` has no block" in run.err
    assert "`memory journal update --yes` adds it." in run.err
    assert here.journal("update").code == 0
    assert readme.read_text() == before
    finding = next(one for one in here.journal("validate", "--json").data["findings"] if one["code"] == "entry:marker")
    assert (finding["level"], "update --yes" in finding["hint"]) == ("fail", True)
    here.done("update", "--yes")
    assert BLOCK.search(readme.read_text())
    assert here.done("validate")["failed"] == 0


def test_the_block_moves_only_where_a_person_agrees(here: Journal) -> None:
    here.done("init")
    (here.root / "AGENTS.md").write_text("# Agents\n")
    (here.root / "README.md").write_text((here.root / "README.md").read_text() + "\nMore words.\n")
    here.done("update")
    assert (here.root / "AGENTS.md").read_text() == "# Agents\n"
    assert BLOCK.search((here.root / "README.md").read_text())
    assert here.done("validate")["failed"] == 0
    here.done("update", "--yes")
    assert BLOCK.search((here.root / "AGENTS.md").read_text())
    assert not BLOCK.search((here.root / "README.md").read_text())


# -- what is not known ------------------------------------------------------------------------


def test_what_is_not_known_is_left_out_of_pages_and_answers(here: Journal) -> None:
    here.done("init")
    write_session(
        here.agent / "transcripts/twice.jsonl",
        ("Why do mails arrive twice?", "GOTCHA: A second worker sends a mail twice.\nNEXT: Lock a job."),
    )
    here.done("add", "claude-local", str(here.agent), "--name", "agent")
    here.done("sync", "agent")
    here.done("recall")
    (gotcha,) = here.state["bundle"]["gotchas"]
    assert (gotcha["symptom"], gotcha["cause"], gotcha["correctPath"]) == ("none", "none", "none")
    assert gotcha["source"] == "evt-000002"
    for name in ("gotchas", "next-steps"):
        page = (here.root / f"docs/agent-memory/{name}.md").read_text()
        assert ": none" not in page
        assert "evt-" not in page
    assert "A second worker sends a mail twice" in (here.root / "docs/agent-memory/gotchas.md").read_text()
    for question in ("which traps are there?", "what should I do next?"):
        answer = here.done("query", question)["answer"]
        assert "none" not in answer
        assert "evt-" not in answer
    assert not any(": none" in text for event in here.events for text in event["signals"]["gotchas"])
    assert here.state["bundle"]["nextSteps"][0]["why"].startswith("Left open on 2026-03-01, in the session “")
    found = here.done("validate")
    assert (found["failed"], found["warned"]) == (0, 0)


def test_pages_of_an_earlier_version_count_as_they_are(here: Journal) -> None:
    here.fill()
    here.done("recall")
    page = here.root / "docs/agent-memory/gotchas.md"
    old = page.read_text().replace("\n\nCause: ", "\n\nSymptom: none\n\nCause: ").rstrip("\n")
    page.write_text(old + "\n\nCorrect path: See evt-000002 in the history.\n")
    assert here.done("validate")["warned"] == 0


def test_following_the_quick_start_leaves_no_warning(here: Journal) -> None:
    assert here("init").code == 0
    here.fill()
    here.done("recall")
    found = here("check", "--json").data
    assert [item for item in found["warnings"] if item["code"].startswith("Journal")] == []
    assert "Journal" not in "".join(here("status", "--json").warnings)


def test_a_session_is_found_once(here: Journal) -> None:
    assert here("init").code == 0
    here.fill()
    here.done("recall")
    found = here("query", "must cache keys include the tenant?", "--json").data["results"]
    refs = [item["ref"] for item in found]
    assert refs[0] == "bundle:gotchas.cache-keys-must-include-the-tenant"
    assert not [ref for ref in refs if ref.startswith(("event:", "checkpoint:"))]
    everything = here("query", "must cache keys include the tenant?", "--all", "--json").data["results"]
    assert {"event:evt-000002"} <= {item["ref"] for item in everything}
    only = here("query", "must cache keys include the tenant?", "--kind", "event", "--json").data["results"]
    assert [item["ref"] for item in only][:1] == ["event:evt-000002"]


# -- sessions ---------------------------------------------------------------------------------


def automate(here: Journal, payload: Any = None) -> Any:
    run = here("journal", "automate", "run-once", "--json", stdin=json.dumps(payload) if payload else b"")
    assert run.code == 0, run.out
    return run.data


def just_now(path: Path) -> None:
    """The file was written a minute ago, by the clock of these tests."""
    moment = datetime.fromisoformat(NOW).timestamp() - 60
    os.utime(path, (moment, moment))


def test_a_run_says_what_waits_and_takes_the_session_whose_hook_started_it(here: Journal) -> None:
    now = here
    now.done("init")
    ended, other = (now.agent / f"transcripts/{name}.jsonl" for name in ("ended", "other"))
    write_session(ended, CACHE)
    write_session(other, ("Draw the map.", "DECISION: Draw the map with SVG."))
    just_now(ended)
    just_now(other)
    now.done("add", "claude-local", str(now.agent), "--name", "agent")
    run = now("journal", "automate", "run-once")
    assert (
        "Nothing new in `agent`: 2 still running. `memory journal sync agent` imports what is still running." in run.out
    )
    recorded = now.program("agent-memory", "automate", "run-once")
    assert "waiting=2" in recorded.out
    assert "2 sessions changed in the last ten minutes" in recorded.out
    assert len(now.events) == 1
    assert automate(now, {"hook_event_name": "PreToolUse", "transcript_path": str(ended)})["status"] == "idle"
    payload = {"session_id": "ended", "transcript_path": str(ended), "hook_event_name": "Stop", "cwd": str(now.root)}
    run_of_hook = automate(now, payload)
    (result,) = run_of_hook["run"]["importSync"]["results"]
    assert (result["importedCount"], result["waitingCount"]) == (1, 1)
    assert [event["externalItemId"] for event in now.events if event["kind"] == "imported_session"] == ["ended"]
    assert "Write a cache runbook" in now.titles["nextSteps"]


def test_the_installed_hook_imports_its_session(here: Journal) -> None:
    now, env = here, here.env
    now.done("init")
    ended = now.agent / "transcripts/ended.jsonl"
    write_session(ended, CACHE)
    just_now(ended)
    now.done("add", "claude-local", str(now.agent), "--name", "agent")
    program = Path(sys.executable).parent / "agent-memory"
    payload = json.dumps({"session_id": "ended", "transcript_path": str(ended), "hook_event_name": "Stop"})
    command = [str(program), "automate", "run-once"]
    done = subprocess.run(command, cwd=now.root, env=env, input=payload, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "imported=1" in done.stdout
    held, kept_open = os.pipe()  # standard input that nobody writes to, or closes
    done = subprocess.run(command, cwd=now.root, env=env, stdin=held, text=True, capture_output=True, check=False)
    os.close(kept_open)
    assert (done.returncode, "imported=0" in done.stdout) == (0, True)


def test_a_session_is_known_by_where_it_ran_whatever_its_folder_is_called(here: Journal) -> None:
    here.done("init")
    home = here.agent
    write_session(home / "projects/renamed-by-hand/mine.jsonl", CACHE, cwd=here.root)
    write_session(home / "projects/-another-place/moved.jsonl", CACHE, cwd=here.root / "src")
    write_session(home / "projects/-somebody-else/theirs.jsonl", CACHE, cwd=Path("/somebody/else"))
    here.done("add", "claude-local", str(home), "--name", "agent")
    here.done("sync", "agent")
    found = {event["externalItemId"] for event in here.events if event["kind"] == "imported_session"}
    assert found == {"mine", "moved"}


def test_what_is_said_of_sessions_elsewhere_is_true(here: Journal) -> None:
    here.done("init")
    write_session(here.agent / "projects/-somebody-else/theirs.jsonl", CACHE, cwd=Path("/somebody/else"))
    write_session(here.agent / "projects/unnamed/nowhere.jsonl", CACHE)
    here.done("add", "claude-local", str(here.agent), "--name", "agent")
    run = here.journal("sync", "agent")
    assert "sessions there that did not run in this project, or do not say where: 2" in run.out


def test_the_inbox_says_that_a_session_is_unread(here: Journal) -> None:
    assert here("init").code == 0
    session = Path(here.env["HOME"]) / ".claude/projects/-orders/ended.jsonl"
    write_session(session, CACHE, cwd=here.root)
    assert here("inbox").out == "No pending proposals.\n"
    ended = Ended(client="claude", event="session-end", session="ended", at=NOW, transcript=str(session))
    assert note_ended(str(here.root), ended, "00")
    assert here("inbox", "--json").data["unread_sessions"] == 1
    assert "Sessions not read yet: 1 session. `memory inbox collect` reads what has ended." in here("inbox").out
    assert here("inbox", "collect").code == 0
    assert here("inbox", "--json").data["unread_sessions"] == 0
