"""`memory doctor` through the installed command: what it finds, what it fixes, what it leaves alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal_here import typed

NOBODY = 2**22 + 1
BESIDE = str(Path(sys.executable).parent)
CLIENTS = ["claude", "codex", "cursor", "gemini", "opencode", "copilot", "cline"]


@pytest.fixture
def doctor(memory: Any, environment: dict[str, str], repo: Path) -> Doctor:
    memory.env = {**memory.env, "PATH": f"{BESIDE}:/usr/bin:/bin"}
    return Doctor(memory, repo)


class Doctor:
    """The command in a repository, and its findings by section and name."""

    def __init__(self, memory: Any, root: Path) -> None:
        self.memory = memory
        self.root = root

    def __call__(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Seen:
        run = self.memory("doctor", *words, "--json", env=env or {}, cwd=cwd)
        return Seen(run.code, run.data)


class Seen:
    def __init__(self, code: int, data: Any) -> None:
        assert set(data) == {"healthy", "findings", "counts", "fixed"}
        for finding in data["findings"]:
            assert list(finding) == ["section", "name", "state", "message", "hint", "fixable"]
            assert finding["state"] == "ok" or finding["hint"] or finding["name"] == "check", finding
        assert code == (0 if data["healthy"] else 1)
        assert data["healthy"] == (data["counts"]["error"] == 0)
        self.code = code
        self.fixed = [item["message"] for item in data["fixed"]]
        self.findings = data["findings"]

    def __getitem__(self, place: tuple[str, str]) -> Any:
        (found,) = [item for item in self.findings if (item["section"], item["name"]) == place]
        return found

    def state(self, section: str, name: str) -> str:
        return str(self[section, name]["state"])

    @property
    def bad(self) -> list[tuple[str, str, str]]:
        return [
            (item["section"], item["name"], item["state"])
            for item in self.findings
            if item["state"] in ("warning", "error")
        ]


# -- a healthy one ----------------------------------------------------------------------------


def test_everything_is_well(doctor: Doctor) -> None:
    doctor.memory.init()
    seen = doctor()
    assert (seen.code, seen.bad, seen.fixed) == (0, [], [])
    sections = list(dict.fromkeys(item["section"] for item in seen.findings))
    assert sections == ["program", "machine", "project", "agents", "sessions", "server"]
    assert seen["server", "memory-mcp"]["message"] == "It answers: quire 0.1.0"
    assert seen["project", "root"]["message"] == str(doctor.root)


def test_it_works_without_a_memory(doctor: Doctor, tree: Any) -> None:
    before = tree(doctor.root, generated=True)
    seen = doctor()
    assert (seen.code, seen.bad) == (0, [])
    assert (seen.state("project", "memory"), seen.state("program", "memory")) == ("note", "ok")
    assert "`memory init`" in seen["project", "memory"]["hint"]
    assert doctor("--fix").fixed == []
    assert tree(doctor.root, generated=True) == before


def test_looking_changes_nothing(doctor: Doctor, tree: Any) -> None:
    doctor.memory.init("--yes")
    (doctor.root / ".gitignore").write_text("")
    (doctor.root / ".memory/recovery/transaction-abc").mkdir(parents=True)
    (doctor.root / ".memory/.lock").write_text(json.dumps({"pid": NOBODY, "operation": "save", "created_at": ""}))
    (doctor.root / ".memory/index/quire.sqlite").write_bytes(b"nonsense" * 100)
    before = tree(doctor.root, generated=True)
    seen = doctor()
    assert sorted(seen.bad) == [
        ("project", "gitignore", "warning"),
        ("project", "index", "warning"),
        ("project", "lock", "warning"),
        ("project", "transactions", "warning"),
    ]
    assert seen.state("project", "check") == "note"
    assert tree(doctor.root, generated=True) == before


def test_people_read_sections_and_hints(doctor: Doctor) -> None:
    doctor.memory.init()
    (doctor.root / ".gitignore").write_text("")
    run = doctor.memory("doctor")
    assert run.code == 0
    assert "\nproject\n" in run.out
    assert (
        "  warning  gitignore: .gitignore lacks lines that keep generated files out of git.\n"
        "           --fix adds them; so does `memory init`.\n"
    ) in run.out
    assert run.out.endswith("\nFound: 1 warning, 2 notes.\n`memory doctor --fix` repairs one of them.\n")
    run = doctor.memory("doctor", "--fix")
    assert run.out.startswith("Added the missing lines to .gitignore.\n\nprogram\n")
    env = {**doctor.memory.env, "NO_COLOR": "1"}
    assert "\x1b" not in typed(doctor.root, env, "memory", "doctor")[1]
    assert "\x1b[1mprogram\x1b[0m" in typed(doctor.root, doctor.memory.env, "memory", "doctor")[1]


# -- repairing ----------------------------------------------------------------------------------


def test_fix_repairs_the_storage_and_loses_nothing(doctor: Doctor, tree: Any) -> None:
    memory = doctor.memory
    memory.init()
    memory.save({"kind": "gotcha", "title": "Webhook ids repeat", "body": "The provider reuses ids."})
    before = tree(doctor.root / ".memory")
    (doctor.root / ".gitignore").write_text("node_modules/\n")
    (doctor.root / ".memory/recovery/transaction-abc").mkdir(parents=True)
    (doctor.root / ".memory/.lock").write_text(json.dumps({"pid": NOBODY, "operation": "save", "created_at": ""}))
    (doctor.root / ".memory/index/quire.sqlite").write_bytes(b"nonsense" * 100)
    seen = doctor("--fix")
    assert seen.bad == []
    assert seen.fixed[0] == "Completed a change that was interrupted."
    assert seen.fixed[-2:] == ["Added the missing lines to .gitignore.", "Rebuilt the index: 2 records."]
    assert (doctor.root / ".gitignore").read_text().startswith("node_modules/\n\n.memory/index/\n")
    assert not (doctor.root / ".memory/.lock").exists()
    assert tree(doctor.root / ".memory") == before
    assert "Webhook ids repeat" in memory("query", "do webhook ids repeat?").out
    assert doctor("--fix").fixed == []


def test_an_interrupted_change_is_completed(doctor: Doctor) -> None:
    doctor.memory.init()
    folder = doctor.root / ".memory/recovery/transaction-abc"
    folder.mkdir(parents=True)
    (folder / "0.new").write_text("staged\n")
    step = {"action": "replace", "path": "memory/new.txt", "staged": "0.new", "planned": None}
    (folder / "intent.json").write_text(json.dumps({"version": 1, "steps": [step]}))
    assert doctor().state("project", "transactions") == "warning"
    assert not (doctor.root / ".memory/memory/new.txt").exists()
    assert "Completed a change that was interrupted." in doctor("--fix").fixed
    assert (doctor.root / ".memory/memory/new.txt").read_text() == "staged\n"


def test_projects_that_are_gone_leave_the_list(doctor: Doctor, tmp_path: Path, git: Any) -> None:
    doctor.memory.init()
    other = tmp_path / "other"
    shutil.copytree(doctor.root, other)
    doctor.memory.init(cwd=other)
    assert doctor().bad == []
    shutil.rmtree(other)
    assert doctor().bad == [("machine", "projects", "warning")]
    seen = doctor("--fix")
    assert (seen.bad, seen.fixed) == ([], ["Took 1 project without a memory from the list."])
    listed = doctor.memory("projects", "list", "--json").data["projects"]
    assert [item["project_root"] for item in listed] == [str(doctor.root)]


def test_faults_of_the_files_are_counted_and_left_to_people(doctor: Doctor) -> None:
    doctor.memory.init()
    for name in ("one", "two"):
        (doctor.root / f".memory/memory/{name}.json").write_text("{ broken")
    seen = doctor("--fix")
    assert seen.code == 1
    found = seen["project", "check"]
    assert (found["state"], found["fixable"]) == ("error", False)
    said = doctor.memory("check", "--json").data["errors"]
    codes = {code: sum(item["code"] == code for item in said) for code in {item["code"] for item in said}}
    for code, count in codes.items():
        assert f"{code} ({count})" in found["message"]
    assert (doctor.root / ".memory/memory/one.json").read_text() == "{ broken"


@pytest.mark.parametrize("text", ["{ broken", '{"version": 99, "project": {"id": "project.x", "name": "X"}}'])
def test_a_storage_that_is_not_ours_is_an_error_and_left_alone(doctor: Doctor, text: str, tree: Any) -> None:
    doctor.memory.init()
    (doctor.root / ".memory/config.json").write_text(text)
    before = tree(doctor.root / ".memory")
    seen = doctor("--fix")
    assert (seen.code, seen.state("project", "graph")) == (1, "error")
    assert seen.state("server", "memory-mcp") == "ok"
    assert tree(doctor.root / ".memory") == before


# -- agents -----------------------------------------------------------------------------------


def test_every_client_that_was_wired_is_well(doctor: Doctor) -> None:
    doctor.memory.init("--agents", "all")
    seen = doctor()
    assert seen.bad == []
    assert {name: seen["agents", name]["message"] for name in CLIENTS} == dict.fromkeys(
        CLIENTS, "connected in this project"
    )
    assert seen.state("agents", "receipts") == "note"


def test_an_agent_that_is_found_and_not_wired_is_a_note(doctor: Doctor, tmp_path: Path) -> None:
    doctor.memory.init()
    (tmp_path / "home/.codex").mkdir()
    found = doctor()["agents", "codex"]
    assert (found["state"], found["hint"]) == ("note", "`memory integrate codex` does it.")


def test_damaged_wiring_is_written_again(doctor: Doctor, git: Any) -> None:
    doctor.memory.init("--agents", "claude")
    git.commit()
    settings = doctor.root / ".claude/settings.json"
    whole = settings.read_bytes()
    kept = json.loads(whole)
    kept["model"] = "opus"
    del kept["hooks"]["SessionStart"]
    settings.write_text(json.dumps(kept, indent=2))
    (doctor.root / ".mcp.json").unlink()
    seen = doctor()
    found = seen["agents", "claude"]
    assert (found["state"], found["fixable"]) == ("warning", True)
    assert "mcp missing in .mcp.json" in found["message"]
    assert "hooks changed in .claude/settings.json" in found["message"]
    seen = doctor("--fix")
    assert seen.bad == []
    assert seen.fixed == ["Wrote .mcp.json, .claude/settings.json."]
    now = json.loads(settings.read_bytes())
    assert now["model"] == "opus"
    assert now["hooks"] == json.loads(whole)["hooks"]
    changed = git("status", "--porcelain").split()[1::2]
    assert [path for path in changed if not path.startswith(".memory/integrations/")] == [".claude/settings.json"]


def test_a_file_that_cannot_be_read_is_an_error_and_left_alone(doctor: Doctor) -> None:
    doctor.memory.init("--agents", "claude")
    (doctor.root / ".mcp.json").write_text("{ broken")
    seen = doctor("--fix")
    found = seen["agents", "claude"]
    assert (seen.code, found["state"], found["fixable"]) == (1, "error", False)
    assert (doctor.root / ".mcp.json").read_text() == "{ broken"


def test_what_no_record_tells_of_is_not_written_unasked(doctor: Doctor) -> None:
    doctor.memory.init("--agents", "claude")
    shutil.rmtree(doctor.root / ".memory/integrations")
    (doctor.root / ".claude/settings.json").unlink()
    seen = doctor("--fix")
    found = seen["agents", "claude"]
    assert (found["state"], found["fixable"], seen.fixed) == ("warning", False, [])
    assert found["hint"] == "`memory integrate claude --repair` repairs it."
    assert not (doctor.root / ".claude/settings.json").exists()


def test_hooks_that_cannot_start_their_program(doctor: Doctor, tmp_path: Path) -> None:
    doctor.memory.init("--agents", "claude,codex")
    seen = doctor(env={"PATH": "/usr/bin:/bin"})
    assert seen.code == 1
    found = seen["agents", "quire on the PATH"]
    assert found["state"] == "error"
    assert found["message"] == "Hooks of claude, codex start `quire`, which is not on the PATH."
    assert seen.state("agents", "memory-mcp on the PATH") == "error"
    other = tmp_path / "bin/quire"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho quire\n")
    other.chmod(0o755)
    seen = doctor(env={"PATH": f"{other.parent}:{BESIDE}:/usr/bin:/bin"})
    said = seen["agents", "quire on the PATH"]["message"]
    assert said == f"Hooks of claude, codex start `quire`, which is another program ({other})."


@pytest.mark.parametrize(("value", "bad"), [("off", True), (" OFF ", True), ("0", True), ("on", False), ("", False)])
def test_hooks_that_are_switched_off(doctor: Doctor, value: str, bad: bool) -> None:
    doctor.memory.init("--agents", "claude")
    assert (("agents", "MEMORY_HOOKS", "warning") in doctor(env={"MEMORY_HOOKS": value}).bad) is bad


def test_failures_of_hooks_and_receipts(doctor: Doctor) -> None:
    memory = doctor.memory
    memory.init("--agents", "claude")
    memory.save({"kind": "gotcha", "title": "Webhook ids repeat", "body": "The provider reuses ids."})
    payload = {"session_id": "s1", "cwd": str(doctor.root), "hook_event_name": "SessionStart", "source": "startup"}
    assert "Webhook ids repeat" in memory("hook", "claude", "session-start", stdin=payload).out
    seen = doctor()
    assert seen["agents", "receipts"]["message"] == "Last sent something: claude 2026-03-02T11:19:00 (1 in all)"
    log = doctor.root / ".memory/local/hooks.log"
    log.write_text("2026-03-01T08:00:00+00:00 claude prompt: ended after 2.5 s without an answer\n")
    assert doctor()["agents", "hooks"]["message"].startswith("1 hook failure is noted; the last: 2026-03-01T08")
    assert doctor().state("agents", "hooks") == "warning"
    log.write_text("2026-01-01T08:00:00+00:00 claude prompt: ended after 2.5 s without an answer\n" * 2)
    assert doctor().state("agents", "hooks") == "note"


# -- sessions and the server ------------------------------------------------------------------


def test_sessions_that_wait_are_read(doctor: Doctor, tmp_path: Path) -> None:
    doctor.memory.init()
    lines = [
        {"client": "claude", "session": "a", "at": "2026-02-20T10:00:00+00:00", "event": "turn-end"},
        {"client": "claude", "session": "a", "at": "2026-02-20T11:00:00+00:00", "event": "session-end"},
        {"client": "codex", "session": "b", "at": "2026-03-02T11:18:00+00:00", "event": "turn-end"},
    ]
    spool = doctor.root / ".memory/local/ended.jsonl"
    spool.parent.mkdir(exist_ok=True)
    spool.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{ broken\n")
    found = doctor()["sessions", "waiting"]
    assert (found["state"], found["fixable"]) == ("warning", True)
    assert found["message"] == "2 sessions not read yet, the oldest since 2026-02-20T11:00:00."
    seen = doctor("--fix")
    assert seen.fixed == ["Read 0 sessions: 0 proposed; 1 could not be read."]
    found = seen["sessions", "waiting"]
    assert (found["state"], found["fixable"]) == ("note", False)
    assert found["message"] == "1 session not read yet, the oldest since 2026-03-02T11:18:00."


def test_a_server_that_does_not_start_says_why(doctor: Doctor, tmp_path: Path) -> None:
    doctor.memory.init()
    seen = doctor(env={"MEMORY_TOOLSET": "nonsense"})
    found = seen["server", "memory-mcp"]
    assert (seen.code, found["state"]) == (1, "error")
    assert found["message"].startswith("The server does not answer: ")
    assert "nonsense" in found["message"]


@pytest.mark.proof
def test_a_server_that_hangs_is_ended(doctor: Doctor, tmp_path: Path) -> None:
    """A module of somebody else that never comes back, in the server's process alone."""
    doctor.memory.init()
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys, time\nif 'quire.surfaces.mcp' in ' '.join(sys.orig_argv):\n    time.sleep(60)\n"
    )
    seen = doctor(env={"PYTHONPATH": str(folder)})
    found = seen["server", "memory-mcp"]
    assert (seen.code, found["message"]) == (1, "The server does not answer: it did not answer within 5 seconds")


def test_nothing_of_the_network_is_loaded(doctor: Doctor) -> None:
    doctor.memory.init()
    code = (
        "import socket, sys\n"
        "def barred(*a, **k): raise SystemExit('a socket was made')\n"
        "socket.socket.connect = barred\n"
        "from quire.surfaces.cli.main import run\n"
        "code = run(['doctor'])\n"
        "assert not {'urllib.request', 'http.client', 'ssl'} & set(sys.modules)\n"
        "sys.exit(code)\n"
    )
    env = {**os.environ, **doctor.memory.env}
    done = subprocess.run([sys.executable, "-c", code], cwd=doctor.root, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
