"""`memory import git`: the history is listed, read, proposed once, accepted; in every clone the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from installed import Git, Memory

QUEUE = "class Queue:\n    NAME = 'jobs'\n    LIMIT = 10\n    RETRIES_AT_MOST = 3\n"
REASON = (
    "feat(queue): use Postgres for the queue (#12)\n\n"
    "We chose Postgres instead of Redis, because the backups already cover it.\n"
    "Redis would need a second place to restore from.\n"
)
TRAP = (
    "fix: close the pool before the fork\n\n"
    "A forked worker silently shared its sockets with the parent, because the pool\n"
    "stays open. Answers went to whoever read first.\n"
)


def _commit(git: Git, message: str, **files: str) -> str:
    for name, text in files.items():
        path = git.cwd / f"src/{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return git.commit(message)


@pytest.fixture
def told(memory: Memory, git: Git) -> Memory:
    """A repository with two things to remember."""
    _commit(git, "start", main="print('start')\n")
    _commit(git, REASON, queue=QUEUE)
    _commit(git, TRAP, pool="class Pool:\n    def close(self):\n        self.sockets.clear()\n")
    memory.init()
    return memory


def _titles(found: list[dict[str, Any]]) -> list[str]:
    return [str(item["fields"]["title"]) for item in found]


def test_from_the_list_to_the_records(told: Memory, git: Git) -> None:
    listed = told("import", "--json").data
    assert "git" not in {source["kind"] for source in listed["sources"]}
    assert listed["unread"] == ["git"]
    assert "`memory import git` reads it" in told("import").out

    dry = told("import", "git", "--dry-run", "--json").data
    assert sorted(_titles(dry["results"])) == ["Close the pool before the fork", "Use Postgres for the queue"]
    assert told("inbox", "--json").data["results"] == []
    made = told("import", "git", "--json").data
    assert [item["id"] for item in made["results"]] == [item["id"] for item in dry["results"]]
    again = told("import", "git").out
    assert "0 new proposals. (2 known already)" in again

    settled = told("inbox", "accept", "--all", "--json").data["settled"]
    assert {item["ref"] for item in settled} == {
        "gotcha.close-the-pool-before-the-fork",
        "decision.use-postgres-for-the-queue",
    }
    shown = told("inspect", "decision.use-postgres-for-the-queue", "--json").data["object"]
    sha = git("log", "--format=%H", "--grep=use Postgres").strip()
    assert shown["anchors"] == ["src/queue.py#Queue"]
    assert {"kind": "commit", "id": sha} in shown["evidence"]
    assert shown["origin"] == {"kind": "external", "locator": f"git:{sha}"}
    assert told("check").code == 0
    asked = told("query", "why is the queue in Postgres", "--json").data["results"]
    assert (asked[0]["ref"], asked[0]["verdict"]) == ("decision.use-postgres-for-the-queue", "fresh")


def test_another_clone_proposes_nothing_twice(told: Memory, git: Git, tmp_path: Path) -> None:
    """One was accepted and then reworded, one was rejected: both travel with the repository."""
    found = {item["fields"]["title"]: item for item in told("import", "git", "--json").data["results"]}
    ref = told("inbox", "accept", found["Use Postgres for the queue"]["id"], "--json").data["settled"][0]["ref"]
    node = {"id": ref, "title": "Postgres holds the queue", "body": "Other words altogether."}
    assert told("save", "--stdin", stdin=json.dumps({"task": "reword", "nodes": [node]}).encode()).code == 0
    told("inbox", "reject", found["Close the pool before the fork"]["id"], "--reason", "everybody knows")
    git.commit("memory")
    clone = tmp_path / "clone"
    git("clone", "-q", str(told.cwd), clone)
    other = Memory(clone, told.env)
    done = other("import", "git", "--json").data
    assert (done["results"], done["known"]) == ([], 2)


def test_options_say_what_is_wrong(told: Memory) -> None:
    for words, said in {
        ("import", "git", "--since", "lately"): "`lately` is not a date.",
        ("import", "--limit", "3"): "--limit, --since and --kind are about the history.",
        ("import", "--as", "git", "x"): "The history is not a file",
        ("import", "git", "--limit", "0"): "The limit must be a whole number from 1 to 500, not 0.",
    }.items():
        done = told(*words)
        assert done.code in (1, 2)
        assert said in done.err
    assert told("import", "git", "--kind", "gossip").code == 2
    assert told("import", "git", "--kind", "revert", "--json").data["results"] == []
    assert told("import", "git", "--since", "2999-01-01", "--json").data["results"] == []


def test_without_history_there_is_nothing(memory: Memory) -> None:
    memory.init()
    shutil.rmtree(memory.cwd / ".git")
    assert memory("import", "--json").data["unread"] == []
    done = memory("import", "git")
    assert done.code == 0
    assert "git                    no commit of a git repository was found here" in done.out
    assert "adr                    nothing of this kind was found here" in memory("import", "adr").out


def test_a_detached_head_and_a_missing_git(told: Memory, git: Git) -> None:
    git("checkout", "-q", "--detach", "HEAD~1")
    assert _titles(told("import", "git", "--dry-run", "--json").data["results"]) == ["Use Postgres for the queue"]
    lost = Memory(told.cwd, {**told.env, "PATH": "/nonexistent"})("import", "git")
    assert (lost.code, "no commit of a git repository was found here" in lost.out) == (0, True)
