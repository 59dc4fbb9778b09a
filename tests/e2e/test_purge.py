"""`memory purge` through the installed command: what is said, what is refused, and that the text is nowhere shown."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from installed import Git, Memory
from promised import proves

VALUE = "hidden-harbour-77"
PLACED = f"The gate opens by {VALUE} at night."
Tree = dict[str, bytes]


@pytest.fixture
def told(memory: Memory) -> Memory:
    """In the graph, in a fact, in the profile, in a note."""
    memory.init()
    memory.save({"kind": "gotcha", "title": "The gate", "body": f"# The gate\n\n{PLACED}"})
    memory("facts", "store", "Specs", PLACED)
    memory("profile", "remember", "tools", "gate", PLACED)
    memory("note", PLACED)
    return memory


def everywhere(folder: Path) -> list[str]:
    """Files that have it, but for git's own."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts and VALUE.encode() in path.read_bytes()
    )


@proves("P9.3", "G12", over="graph facts profile")
def test_what_a_person_sees(told: Memory, git: Git, tmp_path: Path) -> None:
    git.commit()
    assert told("query", "gate").code == 0
    assert len(everywhere(tmp_path)) >= 5
    done = told("purge", "--yes", stdin=f"{VALUE}\n")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("Taken out ")
    for path in (
        ".memory/memory/the-gate.md",
        ".memory/facts.jsonl",
        ".ai-state/memory.json",
        ".memory/local/notes.md",
    ):
        assert any(line.startswith(f"  {path}: ") for line in lines), path
    assert lines[-5:] == [
        "",
        "Replace the credential where it is used: anyone who had the files may have it.",
        "Git history still holds it. To remove it there, put the text into a file outside the repository and run:",
        "  git filter-repo --replace-text FILE",
        "This does not reach other clones, other branches, or your agents' sessions.",
    ]
    assert VALUE not in done.out
    assert everywhere(tmp_path) == []
    assert told("check").out.splitlines()[-1].startswith("The memory is sound: ")
    assert "The gate opens by [purged] at night." in told("inspect", "gotcha.the-gate").out
    assert "[purged]" in told("query", "gate").out
    assert told("purge", "--yes", stdin=VALUE).out == "The text is in no file of the memory.\n"


@proves("P9.3", "G12", over="graph facts profile")
def test_what_a_program_sees(told: Memory, tree: Callable[..., Tree], tmp_path: Path) -> None:
    before = tree(tmp_path, generated=True)
    shown = told("purge", "--dry-run", "--json", stdin=VALUE)
    assert {name for name, data in tree(tmp_path, generated=True).items() if before.get(name) != data} == set()
    data = shown.data
    assert (data["dry_run"], data["texts"], data["left"], data["has_history"]) == (True, 1, [], True)
    assert set(data) == {"dry_run", "texts", "places", "left", "has_history"}
    assert set(data["places"][0]) == {"path", "count", "action", "reason"}
    done = told("purge", "--yes", "--json", stdin=VALUE)
    assert done.data == {**data, "dry_run": False}
    assert VALUE not in shown.out + shown.err + done.out + done.err
    assert everywhere(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("short", "A text of fewer than 6 characters is not purged: it would be found in too many places."),
        ("\n\n", "A text of fewer than 6 characters is not purged: it would be found in too many places."),
        ("[purged]", "`[purged]` is the replacement for a purged text."),
        ("purged", "`[purged]` is the replacement for a purged text."),
        ("content", "holds the text in a field name."),
    ],
)
def test_what_is_refused(told: Memory, tree: Callable[..., Tree], text: str, said: str) -> None:
    before = tree(told.cwd)
    done = told("purge", "--yes", "--json", stdin=text)
    assert done.code == 1
    assert said in done.error["message"]
    assert done.error["hint"]
    assert tree(told.cwd) == before


def test_it_is_not_done_unasked(told: Memory, tree: Callable[..., Tree]) -> None:
    before = tree(told.cwd)
    for line in (("purge",), ("purge", "--json"), ("purge", "--secrets"), ("purge", "--yes", VALUE)):
        done = told(*line, stdin=VALUE)
        assert done.code == 2, line
    assert tree(told.cwd) == before


def test_what_a_merge_left_open_is_refused(told: Memory, git: Git, tree: Callable[..., Tree]) -> None:
    body = told.cwd / ".memory/memory/the-gate.md"
    git.commit()
    git("checkout", "--quiet", "-b", "other")
    body.write_text("Theirs.\n")
    git.commit()
    git("checkout", "--quiet", "main")
    body.write_text(f"Ours: {VALUE}.\n")
    git.commit()
    merged = subprocess.run(
        ["git", "merge", "other"], cwd=told.cwd, env=dict(git.env), capture_output=True, check=False
    )
    assert merged.returncode == 1
    before = tree(told.cwd)
    done = told("purge", "--yes", "--json", stdin=VALUE)
    assert (done.code, done.error["code"]) == (1, "MemoryConflictDetected")
    assert done.error["message"] == "`.memory/memory/the-gate.md` has an unresolved merge; nothing was purged."
    assert tree(told.cwd) == before


def _token(letter: str) -> str:
    """Of a known form; made of parts, so that no file of ours holds one."""
    return "gh" + "p_" + (letter + "7xQ2") * 7 + letter


@proves("P9.3", "G12", over="graph facts")
def test_every_secret_that_a_check_names(told: Memory, tmp_path: Path) -> None:
    body = told.cwd / ".memory/memory/the-gate.md"
    body.write_text(body.read_text() + f"\nWith {_token('a')}.\n")
    facts = told.cwd / ".memory/facts.jsonl"
    facts.write_text(facts.read_text().replace(VALUE, _token("b")))
    log = told.cwd / ".memory/local/hooks.log"
    log.write_text(f"said {_token('a')}\n")
    found = told("check", "--json").json
    named = [one for one in found["data"]["errors"] if one["code"] == "MemorySecretDetected"]
    assert {one["path"] for one in named} == {".memory/memory/the-gate.md", ".memory/facts.jsonl"}
    assert {"memory purge --secrets" in one["hint"] for one in named} == {True}
    done = told("purge", "--secrets", "--yes", "--json")
    assert done.data["texts"] == 2
    assert {place["path"] for place in done.data["places"]} == {
        ".memory/memory/the-gate.md",
        ".memory/facts.jsonl",
        ".memory/local/hooks.log",
    }
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for token in (_token("a"), _token("b")):
        assert token not in done.out
        assert token.encode() not in held
    codes = [one["code"] for one in told("check", "--json").data["errors"]]
    assert codes == []
    assert told("purge", "--secrets", "--yes").out == "No secret was found.\n"


def test_a_node_named_after_it_is_told(memory: Memory) -> None:
    memory.init()
    memory.save({"kind": "gotcha", "title": f"Gate {VALUE}", "body": "Opens."})
    data = memory("purge", "--yes", "--json", stdin=VALUE).data
    assert [place["path"] for place in data["left"] if "its file name contains the text" in place["reason"]] == [
        f".memory/memory/gate-{VALUE}.json",
        f".memory/memory/gate-{VALUE}.md",
    ]


def test_files_of_the_user_are_told_and_left(told: Memory) -> None:
    readme = told.cwd / "README.md"
    readme.write_text(f"By {VALUE}.\n")
    done = told("purge", "--yes", stdin=VALUE)
    assert "  README.md: not changed: it is a file of yours\n" in done.out
    assert readme.read_text() == f"By {VALUE}.\n"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_it_is_asked_for_and_never_shown(told: Memory, tmp_path: Path, answer: str) -> None:
    code, seen = _at_terminal(told, [("The text (it is not shown): ", VALUE), ("from all of them? [y/N] ", answer)])
    assert VALUE not in seen
    assert "It stands there " in seen
    assert (everywhere(tmp_path) == []) == (answer == "y")
    assert code == (0 if answer == "y" else 1)


def _at_terminal(memory: Memory, turns: list[tuple[str, str]]) -> tuple[int, str]:
    """Type each answer once its question is there, and echo is off where it has to be."""
    ours, its = pty.openpty()
    program = os.path.join(os.path.dirname(sys.executable), "memory")
    try:
        process = subprocess.Popen(
            [program, "purge"],
            cwd=memory.cwd,
            env=dict(memory.env),
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        seen, until = "", monotonic() + 60
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            assert monotonic() < until, seen
            if select.select([ours], [], [], 0.02)[0]:
                seen += os.read(ours, 65536).decode()
            if turns and seen.endswith(turns[0][0]) and (len(turns) == 1 or _is_silent(its)):
                os.write(ours, f"{turns.pop(0)[1]}\n".encode())
        return process.wait(60), seen
    finally:
        os.close(its)
        os.close(ours)


def _is_silent(terminal: int) -> bool:
    local: Any = termios.tcgetattr(terminal)[3]
    return not local & termios.ECHO


def test_help_does_not_invite_it_onto_the_command_line(memory: Memory) -> None:
    shown = memory("purge", "--help").out
    assert "shells remember command" in shown
    assert json.dumps("--text") not in shown
