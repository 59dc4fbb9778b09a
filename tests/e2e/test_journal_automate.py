"""`memory journal automate` as it is called: what it prints, how it ends, and the process it starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journal_here import CACHE, Journal, journal_in, write_session

LAST_RUN = """- last run status: recalled
- last run finishedAt: 2026-03-02T11:19:00.000Z
- sync attempted: yes
- recall attempted: yes
- recall applied: yes
- recall grouped items: 1
- prune attempted: yes
- archived events: 0
- archived checkpoints: 0
- expired archive batches: 0
- prune skippedReason: Nothing is old enough to be archived, and no batch has expired.
"""
SETTLED = 1_772_000_000  # 2026-02-25


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A journal with one source, whose session nobody has imported."""
    journal = journal_in(tmp_path, environment)
    journal.done("init")
    write_session(journal.agent / "transcripts/cache.jsonl", CACHE)
    os.utime(journal.agent / "transcripts/cache.jsonl", (SETTLED, SETTLED))
    journal.done("add", "claude-local", str(journal.agent), "--name", "agent")
    return journal


@pytest.fixture
def live(here: Journal) -> Iterator[Journal]:
    """The same while time passes. The process that keeps it is stopped in the end."""
    del here.env["MEMORY_NOW"]
    yield here
    here.program("memory", "journal", "automate", "stop")


def automate(here: Journal, *arguments: str, code: int = 0) -> str:
    """What the installed command says; nothing on its standard error."""
    run = here.program("memory", "journal", "automate", *arguments)
    assert (run.code, run.err) == (code, ""), run
    return run.out


def data(here: Journal, *arguments: str) -> Any:
    return json.loads(automate(here, *arguments, "--json"))["data"]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int, seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not runs(pid)


# -- one cycle ------------------------------------------------------------------------------------


def test_run_once_says_what_it_did(here: Journal) -> None:
    run = here.program("agent-memory", "automate", "run-once")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Automation run status: recalled\n"
        "- provider: auto\n"
        "- sync attempted: yes\n"
        "  - agent: imported=1 skipped=0 failed=0\n"
        "- recall attempted: yes\n"
        "- recall applied: yes\n"
        "- raw events: 1\n"
        "- grouped items: 1\n"
        "- prune attempted: yes\n"
        "- archived events: 0\n"
        "- archived checkpoints: 0\n"
        "- expired archive batches: 0\n"
        "- pruneSkippedReason: Nothing is old enough to be archived, and no batch has expired.\n"
    )
    assert here.titles["gotchas"] == ["Cache keys must include the tenant"]
    again = here.journal("automate", "run-once")
    assert again.out == "Nothing new in `agent`: 1 known already.\nNothing to merge.\n"


def test_run_once_says_in_sentences_what_it_did(here: Journal) -> None:
    run = here.journal("automate", "run-once")
    assert run.out == "Imported 1 session from `agent`.\nMerged 1 session or run into the memory.\n"
    assert here.journal("automate", "status").out == (
        "No background process runs, and none is needed.\nThe last cycle ended at 2026-03-02T11:19:00.000Z: recalled.\n"
        "Last runs:\n- 2026-03-02T11:19:00.000Z recalled: 1 session imported, 1 event recalled\n"
    )


def test_run_once_in_json_is_the_run_that_was_noted(here: Journal) -> None:
    found = here.done("automate", "run-once")
    assert (set(found), found["status"], found["busy"]) == ({"status", "run", "busy"}, "recalled", False)
    assert found["run"] == json.loads((here.root / ".agent-memory/automation/latest-run.json").read_bytes())


def test_run_once_can_be_quiet(here: Journal) -> None:
    run = here.journal("automate", "run-once", "--quiet")
    assert (run.code, run.out, run.err) == (0, "", "")
    assert here.titles["gotchas"] == ["Cache keys must include the tenant"]


def test_a_failed_run_ends_with_one_and_says_why(here: Journal) -> None:
    (here.root / ".agent-memory/config.json").write_text("{}")
    run = here.journal("automate", "run-once")
    assert run.code == 1
    assert "\n`.agent-memory/config.json` cannot be used: config.recall must be" in run.out
    assert here.journal("automate", "run-once", "--quiet").code == 1
    found = here.journal("automate", "run-once", "--json")
    assert (found.code, found.data["status"]) == (1, "failed")


def test_the_work_is_done_under_the_other_name_too(here: Journal) -> None:
    run = here.program("agent-memory", "automate", "run-once")
    assert run.code == 0
    assert run.out.startswith("Automation run status: recalled\n")


def test_without_a_journal_every_verb_says_how_to_make_one(environment: dict[str, str], tmp_path: Path) -> None:
    empty = journal_in(tmp_path, environment)
    for verb in ("start", "stop", "status", "run-once", "ensure-running"):
        run = empty.journal("automate", verb, "--json")
        assert (run.code, run.error["code"]) == (3, "MemoryNotInitialized")
    quiet = empty.journal("automate", "ensure-running", "--quiet")
    assert (quiet.code, quiet.out) == (0, "")
    assert quiet.err.startswith("warning: There is no journal here")
    assert not (empty.root / ".agent-memory").exists()


def test_mistakes_are_told(here: Journal) -> None:
    run = here.journal("automate", "dance")
    assert (run.code, run.out) == (2, "")
    assert "No such command 'dance'" in run.err
    assert here.journal("automate", "run-once", "--loud").code == 2


# -- how it stands --------------------------------------------------------------------------------


def test_status_shows_the_last_runs(here: Journal) -> None:
    assert here.program("agent-memory", "automate", "status").out == "Automation daemon: stopped\n- last run: none\n"
    here.journal("automate", "run-once")
    here.journal("automate", "run-once", env={"MEMORY_NOW": "2026-03-02T11:34:00+00:00"})
    here.journal("automate", "run-once", env={"MEMORY_NOW": "2026-03-02T11:49:00+00:00"})
    run = here.program("agent-memory", "automate", "status")
    assert run.code == 0
    assert run.out == (
        "Automation daemon: stopped\n"
        + LAST_RUN.replace("recalled", "idle", 1)
        .replace("11:19", "11:34")
        .replace("recall attempted: yes", "recall attempted: no")
        .replace("recall applied: yes", "recall applied: no")
        .replace("grouped items: 1", "grouped items: 0")
        + "Last runs:\n"
        "- 2026-03-02T11:49:00.000Z idle: 2 times since 2026-03-02T11:34:00.000Z\n"
        "- 2026-03-02T11:19:00.000Z recalled: 1 session imported, 1 event recalled\n"
    )
    assert here.program("agent-memory", "automate").out == run.out
    found = here.done("automate", "status")
    assert (found["running"], found["pid"], [note["status"] for note in found["runs"]]) == (
        False,
        None,
        ["idle", "recalled"],
    )


def test_status_shows_no_more_than_five_runs(here: Journal) -> None:
    for number in range(8):
        (here.root / ".agent-memory/config.json").write_text("{}" if number % 2 else '{"recall": 1}')
        here.journal("automate", "run-once")
    assert len(here.done("automate", "status")["runs"]) == 5


# -- the process ----------------------------------------------------------------------------------


def test_the_process_is_started_seen_and_stopped(live: Journal) -> None:
    started = automate(live, "start")
    pid = data(live, "status")["pid"]
    assert started == f"Automation daemon started (pid={pid}).\n"
    second = live.program("memory", "journal", "automate", "start")
    assert (second.code, second.out) == (1, "")
    assert second.err.startswith(f"error: The automation of this journal is already running (pid={pid}).\n")
    assert automate(live, "ensure-running") == f"Automation daemon already running (pid={pid}).\n"
    until = time.monotonic() + 60
    while not live.titles["gotchas"] and time.monotonic() < until:
        time.sleep(0.05)
    assert live.titles["gotchas"] == ["Cache keys must include the tenant"]
    shown = live.program("agent-memory", "automate", "status").out.splitlines()
    assert automate(live, "status").startswith(
        f"A background process maintains the journal.\nProcess {pid}, every 15 minutes; "
    )
    assert shown[:2] == ["Automation daemon: running", f"- pid: {pid}"]
    assert [line.split(":")[0] for line in shown[2:8]] == [
        "- startedAt",
        "- lastHeartbeatAt",
        "- intervalMinutes",
        "- provider",
        "- next run",
        "- ends at",
    ]
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:-1]
    assert words == [b"-P", b"-m", b"quire", b"journal", b"automate", b"daemon"]
    assert automate(live, "stop") == f"Automation daemon stopped (pid={pid}).\n"
    assert gone(pid)
    assert automate(live, "stop") == "Automation daemon is not running.\n"


def test_the_files_of_the_process_are_in_canonical_form(live: Journal) -> None:
    pid = data(live, "ensure-running")["pid"]
    lock = (live.root / ".agent-memory/automation/daemon.lock").read_text()
    created = json.loads(lock)["createdAt"]
    assert lock == f'{{\n  "createdAt": "{created}",\n  "pid": {pid}\n}}\n'
    keeper = json.loads((live.root / ".agent-memory/automation/daemon.json").read_bytes())
    assert (keeper["pid"], keeper["intervalMinutes"], keeper["provider"]) == (pid, 15, "auto")
    assert (live.root / ".agent-memory/automation/daemon.json").read_text() == json.dumps(keeper, indent=2) + "\n"
    line = ["git", "status", "--porcelain", "--untracked-files=all"]
    seen = subprocess.run(line, cwd=live.root, env=live.env, capture_output=True, text=True, check=True).stdout
    assert ".agent-memory/state.json" in seen
    assert "automation" not in seen


def test_it_survives_the_terminal_it_was_started_from(live: Journal) -> None:
    """The whole session of the shell that started it is hung up."""
    code = "memory journal automate start && sleep 60"
    env = {**live.env, "PATH": f"{os.path.dirname(sys.executable)}:{live.env['PATH']}"}
    shell = subprocess.Popen(["sh", "-c", code], cwd=live.root, env=env, start_new_session=True, stdout=subprocess.PIPE)
    assert shell.stdout is not None
    said = shell.stdout.readline().decode()
    os.killpg(shell.pid, signal.SIGHUP)
    shell.wait()
    shell.stdout.close()
    pid = int(said.partition("pid=")[2].partition(")")[0])
    time.sleep(0.3)
    assert runs(pid)
    assert data(live, "status")["pid"] == pid


def test_modules_that_a_repository_brings_are_not_loaded(live: Journal) -> None:
    for name in ("msgspec.py", "contextlib.py", "quire.py"):
        (live.root / name).write_text(f"open({str(live.root / 'loaded')!r}, 'w')\n")
    pid = data(live, "start")["pid"]
    until = time.monotonic() + 60
    while not live.titles["gotchas"] and time.monotonic() < until:
        time.sleep(0.05)
    assert runs(pid)
    assert not (live.root / "loaded").exists()


def test_a_journal_that_is_made_anew_does_not_lose_its_process(live: Journal) -> None:
    pid = data(live, "start")["pid"]
    assert live.journal("init", "--yes", "--json").code == 0
    assert data(live, "ensure-running") == {"pid": pid, "started": False}
    assert data(live, "stop") == {"pid": pid, "stopped": True, "killed": False}
    assert gone(pid)
