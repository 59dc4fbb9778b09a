"""What git does under a server that runs, and a check that stands before every commit."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# What starts servers is with the tests of the installed commands.
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from mcp_here import Here
from mcp_lines import Server, call, hello, serving

from installed import Git, Memory
from promised import proves, tally
from thorough import either, some

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
MARKS = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"
BODY, FACTS, PROFILE = ".memory/memory/kangaroo.md", ".memory/facts.jsonl", ".ai-state/memory.json"
EVENTS = ".agent-memory/history/events.jsonl"


@pytest.fixture
def filled(memory: Memory, git: Git) -> Memory:
    """Something in every layer, committed."""
    memory.init()
    memory.save({"kind": "gotcha", "title": "Kangaroo", "body": "Kangaroos jump over it."})
    for line in (
        ("facts", "store", "Specs", "Kangaroos are fed at noon."),
        ("profile", "remember", "tools", "pager", "less"),
        ("journal", "init"),
    ):
        assert memory(*line).code == 0, line
    git.commit("begin")
    return memory


# -- under a server -----------------------------------------------------------------------------------------------


def numbers() -> Iterator[int]:
    yield from range(1, 10**6)


class Asking:
    """A server that runs all the while: which nodes, facts and entries it tells of."""

    def __init__(self, server: Server) -> None:
        self.server, self.count = server, numbers()
        server.ask(hello()[0])
        server.send(hello()[1])

    def tool(self, name: str, **given: Any) -> str:
        answer = self.server.ask(call(next(self.count), name, **given))["result"]
        return json.dumps(answer)

    def told(self) -> tuple[bool, bool, bool]:
        """Whether what the side branch added is told: a node, a fact, an entry."""
        return (
            "gotcha.hedgehog" in self.tool("query_memory", question="hedgehog"),
            "Hedgehogs sleep." in self.tool("memory_query"),
            "fish 4" in self.tool("query_memory", question="shell", layers=["profile"]),
        )


@proves("P6.4", "E10", over="graph facts profile")
def test_a_server_that_runs_answers_from_the_files_as_git_left_them(filled: Memory, git: Git, repo: Path) -> None:
    git("checkout", "--quiet", "-b", "side")
    with serving(Here(repo, filled.env), "--toolset", "all") as server:
        asking = Asking(server)
        nothing, everything = (False, False, False), (True, True, True)
        assert asking.told() == nothing
        filled.save({"kind": "gotcha", "title": "Hedgehog", "body": "Hedgehogs roll up."})
        assert filled("facts", "store", "Specs", "Hedgehogs sleep.").code == 0
        assert filled("profile", "remember", "tools", "shell", "fish 4").code == 0
        assert asking.told() == everything
        git("stash", "--quiet", "--include-untracked")
        assert asking.told() == nothing
        git("stash", "pop", "--quiet")
        assert asking.told() == everything
        git("checkout", "--quiet", "--force", "HEAD", "--", ".")
        assert asking.told() == (True, False, False)  # a node has files of its own, which git did not know
        git("clean", "--quiet", "-fdx")
        assert asking.told() == nothing
        filled.save({"kind": "gotcha", "title": "Hedgehog", "body": "Hedgehogs roll up."})
        assert filled("facts", "store", "Specs", "Hedgehogs sleep.").code == 0
        assert filled("profile", "remember", "tools", "shell", "fish 4").code == 0
        git.commit("hedgehogs")
        for _ in range(either(1, 20)):
            git("switch", "--quiet", "main")
            assert asking.told() == nothing
            git("switch", "--quiet", "side")
            assert asking.told() == everything
        git("reset", "--quiet", "--hard", "HEAD~1")
        assert asking.told() == nothing
    tally("P6.4", states=7 + 2 * either(1, 20))


# -- before a commit ----------------------------------------------------------------------------------------------


def written(path: str, change: Callable[[str], str]) -> Callable[[Path], str]:
    def act(root: Path) -> str:
        file = root / path
        file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
        return path

    return act


def secret_line(text: str) -> str:
    """The last line once more, with a secret in what it says, under another id."""
    last = json.loads(text.splitlines()[-1])
    said = {"content": f"The key is {SECRET}", "summary": f"The key is {SECRET}"}
    last |= {key: value for key, value in said.items() if key in last}
    last["id"] = "abababababab" if "content" in last else "evt-000002"
    return text + json.dumps(last) + "\n"


WRONG: dict[str, Callable[[Path], str]] = {
    "a secret in a body": written(BODY, lambda text: f"The key is {SECRET}\n"),
    "marks in a body": written(BODY, lambda text: MARKS),
    "a sidecar that is no JSON": written(".memory/memory/kangaroo.json", lambda text: text[:-20]),
    "a secret in a fact": written(FACTS, secret_line),
    "facts that cannot be read": written(FACTS, lambda text: text + "{half\n"),
    "a secret in an entry": written(PROFILE, lambda text: text.replace('"less"', f'"The key is {SECRET}"')),
    "marks in the profile": written(PROFILE, lambda text: text.replace("{\n", "{\n" + MARKS, 1)),
    "a profile that is no JSON": written(PROFILE, lambda text: text[:-20]),
    "a secret in an event": written(EVENTS, secret_line),
    "marks in the journal": written(EVENTS, lambda text: text + MARKS),
    "a state that is no JSON": written(".agent-memory/state.json", lambda text: text[:-20]),
}


@pytest.fixture
def hooked(filled: Memory, git: Git, repo: Path, request: pytest.FixtureRequest) -> Memory:
    """A repository whose commits are checked first; by the usual folder, or by one that is set."""
    folder = repo / ".git/hooks"
    if getattr(request, "param", "") == "set":
        folder = repo / "tools/hooks"
        folder.mkdir(parents=True)
        git("config", "core.hooksPath", "tools/hooks")
    folder.mkdir(exist_ok=True)
    hook = folder / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec '{filled.program[0]}' check\n", encoding="utf-8")
    hook.chmod(0o755)
    return filled


def commit(git: Git) -> subprocess.CompletedProcess[bytes]:
    git("add", "--all")
    line = ["git", "commit", "--quiet", "--message", "work"]
    return subprocess.run(line, cwd=git.cwd, env=git.env, capture_output=True, check=False)


@pytest.mark.proof(keep=1)
@proves("P9.1", "E11", over="graph facts profile journal")
@proves("P6.2", "E11", over="graph profile journal")
@pytest.mark.parametrize("hooked", ["usual", "set"], indirect=True)
def test_a_check_before_a_commit_refuses_what_is_wrong_and_nothing_else(
    hooked: Memory, git: Git, repo: Path, request: pytest.FixtureRequest
) -> None:
    (repo / "src.py").write_text("LIMIT = 5\n", encoding="utf-8")
    assert commit(git).returncode == 0
    head = git("rev-parse", "HEAD")
    names = some(list(WRONG), 6 if "usual" in request.node.name else 2)
    for name in names:
        path = WRONG[name](repo)
        done = commit(git)
        assert done.returncode != 0, name
        assert path.encode() in done.stdout + done.stderr, name
        assert SECRET.encode() not in done.stdout + done.stderr, name
        assert git("rev-parse", "HEAD") == head, name
        git("reset", "--quiet", "--hard")
    (repo / "src.py").write_text("LIMIT = 6\n", encoding="utf-8")
    assert commit(git).returncode == 0
    tally("P9.1", inputs=len(names))


@pytest.mark.proof
@proves("P6.2", "E11", over="graph")
def test_a_check_of_a_hundred_nodes_is_not_much_longer_than_that_of_one(filled: Memory, git: Git) -> None:
    """Counted in what the processor was busy, so that a busy machine makes no difference."""

    def busy() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = [*filled.program, "check"]
        assert subprocess.run(line, cwd=filled.cwd, env=filled.env, capture_output=True, check=False).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    few = min(busy() for _ in range(2))
    filled.save(*({"kind": "gotcha", "title": f"Trap {n}", "body": f"Trap {n} waits."} for n in range(50)))
    filled.save(*({"kind": "gotcha", "title": f"Snare {n}", "body": f"Snare {n} waits."} for n in range(50)))
    git.commit("a hundred")
    many = min(busy() for _ in range(2))
    assert len(os.listdir(filled.cwd / ".memory/memory")) > 200
    assert many < 3 * few + 0.1, (few, many)
