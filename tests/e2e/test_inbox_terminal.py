"""`memory inbox` at a terminal: each group of one source and kind is settled with one key."""

from __future__ import annotations

import json

import pytest
from terminal_here import CTRL_C, CTRL_D, typed

from installed import Git, Memory

CHOICE = "[a]ccept all, [l]ook at each, [n]one and never again, [s]kip, [q]uit: "
ADR = "# {n}. {title}\n\n## Status\n\n{status}\n\n## Decision\n\nWe {title} everywhere.\n"


@pytest.fixture
def full(memory: Memory, git: Git) -> Memory:
    """Three records of decisions, one of them open; two rules; a reason in the history."""
    for number, (title, status) in enumerate(
        (("use Postgres", "Accepted"), ("ship on Fridays", "Accepted"), ("drop Python", "Proposed")), 1
    ):
        path = memory.cwd / f"docs/adr/000{number}-x.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ADR.format(n=number, title=title, status=status))
    (memory.cwd / "queue.py").write_text("LIMIT = 10\nRETRIES_AT_MOST = 3\n")
    git.commit("Keep ten jobs\n\nWe keep ten jobs instead of all, because the disk is small.\n")
    memory.init()
    assert memory("import", "adr", "git").code == 0
    return memory


def _left(memory: Memory) -> list[str]:
    return [f"{one['source']} {one['kind']} {one['count']}" for one in memory("inbox", "--json").data["groups"]]


def test_groups_are_accepted_skipped_and_rejected_with_a_key(full: Memory) -> None:
    assert _left(full) == ["docs/adr/ decision 3", "git decision 1"]
    code, seen = typed(full.cwd, full.env, "memory", "inbox", answers=["?a", "s"])
    assert code == 0
    assert "docs/adr/: 3 decisions" in seen
    assert seen.count(CHOICE) == 2
    assert "Accepted: 2." in seen
    assert "drop Python  (docs/adr/0003-x.md:1, undecided)" in seen
    assert "1 undecided proposal left: look at each." in seen
    assert _left(full) == ["docs/adr/ decision 1", "git decision 1"]
    code, seen = typed(full.cwd, full.env, "memory", "inbox", answers=["s", "n"])
    assert (code, "Rejected: 1." in seen) == (0, True)
    assert _left(full) == ["docs/adr/ decision 1"]
    assert full("import", "git", "--json").data["results"] == []


def test_each_of_a_group_is_looked_at(full: Memory) -> None:
    code, seen = typed(full.cwd, full.env, "memory", "inbox", answers=["l", "y", "n", "s", "q"])
    assert code == 0
    assert "1 of 3: [y]es, [n]o and never again, [s]kip, [q]uit" in seen
    assert _left(full) == ["docs/adr/ decision 1", "git decision 1"]


@pytest.mark.parametrize(("key", "code", "said"), [(CTRL_D, 1, "what is left stays in the inbox"), (CTRL_C, 130, "")])
def test_breaking_off_keeps_what_was_settled_before(full: Memory, key: str, code: int, said: str) -> None:
    done, seen = typed(full.cwd, full.env, "memory", "inbox", answers=["a", key])
    assert (done, said in seen) == (code, True)
    assert _left(full) == ["docs/adr/ decision 1", "git decision 1"]


def test_a_group_is_accepted_without_a_terminal(full: Memory) -> None:
    done = full("inbox", "accept", "--source", "git", "--kind", "decision", "--json").data
    assert [item["status"] for item in done["settled"]] == ["accepted"]
    done = full("inbox", "accept", "--source", "docs/adr/", "--json").data
    assert (len(done["settled"]), len(done["undecided"])) == (2, 1)
    assert full("inbox", "accept", "--source", "nowhere", "--json").data["settled"] == []
    assert full("inbox", "--source", "git", "--json").data["results"] == []
    assert full("inbox", "accept", "--kind", "decision").code == 2
    assert full("inbox", "accept", "--source", "git", "in-12345678").code == 2
    rejected = full("inbox", "reject", "--source", "docs/adr/", "--json").data
    assert len(rejected["rejections"]) == 1
    assert json.dumps(_left(full)) == "[]"
