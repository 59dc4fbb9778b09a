"""A whole story: wired once, a session is recorded, one thing of it accepted, one rejected; the next session knows."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from sessions_here import Recording
from terminal_here import typed

from installed import Git, Memory

DECISION = "We decided to use a visibility timeout of 120 seconds, because a job can take up to 90 seconds."
WRONG = "We decided to use Redis for the queue, because it is fast."
NEXT_SESSION = "aaaaaaaa-9b1d-4c3e-8a6f-1d2e3f4a5b6c"


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    return Path(environment["HOME"])


def _hooks(root: Path, event: str) -> list[str]:
    """The commands that Claude Code would run at an event, as the project's settings name them."""
    settings = json.loads((root / ".claude/settings.json").read_text())
    return [hook["command"] for group in settings["hooks"][event] for hook in group["hooks"]]


def _run_hook(memory: Memory, event: str, payload: bytes) -> str:
    """Run the hook as the client does: the line of its settings, in a shell, with the program on the PATH."""
    (command,) = _hooks(memory.cwd, event)
    # On a busy machine the time of a hook would be up; that it keeps to it has tests of its own.
    env = {
        **memory.env,
        "MEMORY_HOOK_SECONDS": "20",
        "PATH": f"{Path(memory.program[-1]).parent}{os.pathsep}{memory.env['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-c", command], input=payload, cwd=memory.cwd, env=env, capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    said = json.loads(done.stdout)
    assert set(said) == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["hookEventName"] == event
    text: str = said["hookSpecificOutput"]["additionalContext"]
    return text


def _until_filled(memory: Memory) -> list[dict[str, object]]:
    """The inbox, once the process that the hook left behind has filled it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found: list[dict[str, object]] = memory("inbox", "--json").data["results"]
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("the inbox stayed empty")


def test_what_was_accepted_is_told_and_what_was_rejected_never_again(memory: Memory, git: Git, home: Path) -> None:
    root = memory.cwd
    (root / "src").mkdir()
    (root / "src/queue.py").write_text("TIMEOUT = 1\n")
    git("add", "-A")
    git("commit", "-qm", "a queue")
    memory.init()
    assert memory("integrate", "claude").code == 0

    # A session is held: it is told nothing that nobody recorded, and at its end only a pointer is left.
    first = Recording(home, root)
    assert DECISION not in _run_hook(memory, "SessionStart", first.payload("SessionStart", source="startup"))
    first.user("The retry queue loses messages when two workers run. Please find out why.")
    first.agent("The jobs run longer than the visibility timeout.", edits="src/queue.py")
    first.user(DECISION).agent("Agreed, the timeout is 120 seconds now.", edits="src/queue.py")
    first.user(WRONG).agent("Agreed.", edits="src/queue.py")
    assert _run_hook(memory, "SessionEnd", first.payload("SessionEnd", reason="exit")) == ""
    assert (root / ".memory/local/ended.jsonl").read_text().count("\n") == 1
    assert memory("inbox", "--json").data["results"] == []

    # The next start has it read, by a process that ends by itself.
    second = Recording(home, root, NEXT_SESSION)
    assert DECISION not in _run_hook(memory, "SessionStart", second.payload("SessionStart", source="startup"))
    found = {str(item["text"]).rstrip("."): item for item in _until_filled(memory)}
    right, wrong = found[DECISION.rstrip(".")], found[WRONG.rstrip(".")]
    assert (right["kind"], right["into"], right["by"], right["status"]) == ("decision", "graph", "user", "pending")
    assert right["evidence"][0]["quote"] == DECISION  # type: ignore[index]
    assert "turn" in right["evidence"][0]["where"]  # type: ignore[index]

    # What only waits is told to nobody; that it waits is.
    third = Recording(home, root, "b" + NEXT_SESSION[1:])
    opening = _run_hook(memory, "SessionStart", third.payload("SessionStart", source="startup"))
    assert "120 seconds" not in opening
    assert "pending in the user's inbox: `memory inbox`" in opening

    # One yes, one no.
    accepted = memory("inbox", "accept", str(right["id"]), "--json").data["settled"][0]
    assert accepted["status"] == "accepted"
    assert memory("inbox", "reject", str(wrong["id"]), "--reason", "we have no Redis").code == 0

    # The next session starts with the one and never hears of the other.
    fourth = Recording(home, root, "c" + NEXT_SESSION[1:])
    opening = _run_hook(memory, "SessionStart", fourth.payload("SessionStart", source="startup"))
    prompted = _run_hook(
        memory,
        "UserPromptSubmit",
        fourth.payload("UserPromptSubmit", prompt="Which queue technology do we use, Redis?"),
    )
    edited = _run_hook(
        memory,
        "PreToolUse",
        fourth.payload("PreToolUse", tool_name="Edit", tool_input={"file_path": str(root / "src/queue.py")}),
    )
    told = "\n".join((opening, prompted, edited, (root / "CLAUDE.md").read_text()))
    assert accepted["ref"] in told
    assert "Redis for the queue" not in told
    shown = memory("receipts", fourth.session, "--json").data["results"]
    assert shown[0]["event"] == "session-start"
    assert accepted["ref"] in {item["ref"] for receipt in shown for item in receipt["included"]}

    # Nobody can to restore it: no agent, no session, no import; until it is lifted.
    refused = memory("save", "--stdin", "--json", stdin=json.dumps({"task": "t", "nodes": [_node(WRONG)]}).encode())
    assert (refused.code, refused.error["code"]) == (1, "MemoryValueRejected")
    assert "we have no Redis" in refused.error["message"]
    fourth.user(WRONG).agent("Agreed.", edits="src/queue.py")
    _run_hook(memory, "SessionEnd", fourth.payload("SessionEnd", reason="exit"))
    again = memory("inbox", "collect", "--json").data
    assert again["sessions"] == 1
    assert WRONG not in memory("inbox").out
    assert WRONG.rstrip(".") not in {
        str(item["text"]).rstrip(".") for item in memory("inbox", "--json").data["results"]
    }
    assert memory("inbox", "lift", str(wrong["id"])).code == 0
    assert memory("save", "--stdin", stdin=json.dumps({"task": "t", "nodes": [_node(WRONG)]}).encode()).code == 0

    # And out again, as if nothing had been.
    assert memory("integrate", "claude", "--remove").code == 0
    assert not (root / ".claude").exists()
    assert not (root / ".mcp.json").exists()


def _node(body: str) -> dict[str, str]:
    return {"kind": "decision", "title": "The queue", "body": body}


REASONS = {
    "Keep ten jobs": ("queue", "We keep ten jobs instead of all of them, because the disk of the worker is small."),
    "Retry in the worker": (
        "worker",
        "A retry runs in the worker rather than in the request, so that nobody waits for it.",
    ),
    "Store amounts as cents": ("amounts", "Amounts are integers, because floats lost a cent in March."),
    "Close the pool before a fork": (
        "pool",
        "A forked child silently shares the sockets, because the pool stays open.",
    ),
    "Read the clock once": ("clock", "Two reads of the clock may differ, so that a job would end before it began."),
    "Ask the mirror first": (
        "mirror",
        "The mirror is asked instead of the origin, because the origin limits us to ten a second.",
    ),
}


def test_a_repository_with_a_history_has_a_memory_after_its_first_run(memory: Memory, git: Git, home: Path) -> None:
    """The first run offers to read it, five of what it says are accepted at once, the next session is sent them."""
    root = memory.cwd
    (root / "src").mkdir()
    for number, (title, (name, reason)) in enumerate(REASONS.items()):
        (root / f"src/{name}.py").write_text(f"class {name.title()}:\n    SIZE = {number}\n    NAME = '{name}'\n")
        git.commit(f"feat({name}): {title.lower()} (#{number})\n\n{reason}\n")
        for more in range(3):
            git.commit(f"work {more}")
    (home / ".claude").mkdir(exist_ok=True)
    env = {**memory.env, "NO_COLOR": "1", "COLUMNS": "100"}
    code, seen = typed(root, env, "memory", "init", answers=["y", "y"], columns=100)
    assert code == 0
    assert "The history: 24 commits" in seen
    assert "6 proposals pending" in seen, seen

    # One is rejected, the others of the group are accepted with one key.
    found = {item["fields"]["title"]: item for item in memory("inbox", "--json").data["results"]}
    assert set(found) == set(REASONS)
    assert memory("inbox", "reject", found["Ask the mirror first"]["id"], "--reason", "the mirror is gone").code == 0
    code, seen = typed(root, env, "memory", "inbox", answers=["a"], columns=100)
    assert (code, memory("inbox", "--json").data["results"]) == (0, [])
    accepted = memory("inbox", "--status", "accepted", "--json").data["results"]
    assert len(accepted) == 5

    # The next session is sent what it needs of them: at its start, by a question, before an edit.
    session = Recording(home, root)
    told = _run_hook(memory, "SessionStart", session.payload("SessionStart", source="startup"))
    for title, (name, reason) in REASONS.items():
        edit = {"file_path": str(root / f"src/{name}.py")}
        told += _run_hook(memory, "PreToolUse", session.payload("PreToolUse", tool_name="Edit", tool_input=edit))
        if title in {item["fields"]["title"] for item in accepted}:
            assert reason.rstrip(".") in told
    assert all(item["ref"] in told for item in accepted)
    assert "origin limits us" not in told

    # Nothing of it is proposed again, by anybody who clones it.
    git.commit("the memory")
    clone = Memory(root.parent / "clone", memory.env)
    git("clone", "-q", str(root), clone.cwd)
    assert clone("import", "git", "--json").data["results"] == []
