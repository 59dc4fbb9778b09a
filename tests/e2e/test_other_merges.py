"""Branches that were merged without our driver: by another program than git, or as text by an older Quire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from branches_here import clone, commit, in_conflict, on_branch, save
from commanding import Here

from installed import Git

READERS = (
    ("check",), ("status",), ("query", "pay"), ("brief", "src/pay.py"), ("inspect", "feature.pay"), ("list",),
    ("facts", "list"), ("profile", "recall", "tools"), ("journal", "log"), ("journal", "validate"), ("export",),
    ("sync", "--dry-run"), ("why", "src/pay.py:1"), ("doctor",), ("diff",),
)  # fmt: skip


@pytest.fixture
def here(repo: Path, git: Git, environment: dict[str, str]) -> Here:
    """A clone on its default branch, with something in every layer."""
    return clone(
        repo,
        git,
        environment,
        lambda here: here.store("Architecture", "Retries run in the worker."),
        lambda here: here("profile", "remember", "tools", "pager", "less"),
        lambda here: here("journal", "init", "--yes"),
    )


def read_by_every_verb(here: Here) -> None:
    for words in READERS:
        said = here(*words)
        assert said.code in (0, 1), (words, said.err)
        assert "Traceback" not in said.err, words


@pytest.mark.proof
def test_another_program_merges_branches_that_touch_different_records(here: Here, git: Git, repo: Path) -> None:
    porcelain = pytest.importorskip("dulwich.porcelain")
    on_branch(
        git,
        "one",
        lambda: save(
            here, {"id": "feature.pay", "stage": "shipped"}, {"kind": "gotcha", "title": "Twice", "body": "B."}
        ),
        lambda: save(here, {"id": "feature.pay", "body": "One!\n\nTwo.\n\nThree."}),
        lambda: here.store("Decisions", "Invoices live in Postgres."),
        lambda: here("profile", "remember", "tools", "editor", "vim"),
    )
    on_branch(
        git,
        "two",
        lambda: save(
            here, {"id": "feature.pay", "tags": ["money"]}, {"kind": "question", "title": "Who?", "body": "?"}
        ),
        lambda: save(here, {"id": "feature.pay", "body": "One.\n\nTwo.\n\nThree!"}),
        lambda: here.store("Decisions", "The queue lives in Redis."),
        lambda: here("profile", "remember", "tools", "shell", "fish"),
    )
    for name in ("one", "two"):
        assert porcelain.merge(str(repo), name, no_ff=True, author=b"A <a@b.c>")[1] == []
    assert git("status", "--porcelain") == ""
    for _ in ("as merged", "folded"):
        read_by_every_verb(here)
        node = here("inspect", "feature.pay", "--json").data["object"]
        assert (node["stage"], node["tags"]) == ("shipped", ["money"])
        assert node["body"].strip() == "One!\n\nTwo.\n\nThree!"
        assert set(here.listed().values()) >= {"Invoices live in Postgres.", "The queue lives in Redis."}
        assert all(f"tools.{key}" in here("profile", "recall", "tools").out for key in ("editor", "pager", "shell"))
        assert here("check", "--json").data["errors"] == []
        assert here("fold").code == 0
        assert {"editor", "pager", "shell"} == json.loads((repo / ".ai-state/memory.json").read_text())["memories"][
            "tools"
        ].keys()


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("remote", [True, False], ids=["in fragments", "in the log"])
def test_a_relation_to_a_node_that_was_deleted_is_repaired_after_any_merge(here: Here, git: Git, remote: bool) -> None:
    if not remote:
        git("update-ref", "-d", "refs/remotes/origin/main")
        git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    related = {"id": "feature.pay", "related": [{"predicate": "depends_on", "to": "decision.queue"}]}
    on_branch(git, "one", lambda: save(here, delete=[{"id": "decision.queue", "reason": "moot"}]))
    on_branch(git, "two", lambda: save(here, related))
    for name in ("one", "two"):
        git("merge", "-q", "--no-edit", name, "-X", "ours")  # in the instruction files both wrote the map
    read_by_every_verb(here)
    assert [problem["code"] for problem in here("check", "--json").data["errors"]] == ["RelationEndpointMissing"]
    if remote:
        assert here("fold").code == 0
    assert here("check", "--repair").code == 0
    assert here("check", "--json").data["errors"] == []
    assert here("inspect", "feature.pay", "--json").data["relations"]["outgoing"] == []


def older(here: Here) -> None:
    """As a Quire without fragments writes, and a clone without a driver merges."""
    config = here.root / ".memory/config.json"
    fields = json.loads(config.read_bytes())
    fields["memory"] |= {"fragments": "never", "map": "never"}
    config.write_text(json.dumps(fields, indent=2) + "\n")


@pytest.mark.proof
def test_a_store_that_an_older_quire_merged_as_text_is_read_right(here: Here, git: Git) -> None:
    older(here)
    both, theirs = here.store("Specs", "Queues are durable."), here.store("Specs", "Jobs are idempotent.")
    git("commit", "-qam", "older")
    git("update-ref", "refs/remotes/origin/main", "main")
    on_branch(
        git,
        "one",
        lambda: save(
            here, {"id": "feature.pay", "stage": "shipped"}, {"kind": "gotcha", "title": "Twice", "body": "B."}
        ),
        lambda: here.store("Decisions", "Invoices live in Postgres."),
        lambda: here.facts("archive", both, "--reason", "gone"),
        lambda: here("confirm", "decision.queue", "--reason", "looked"),
    )
    on_branch(
        git,
        "two",
        lambda: save(
            here, {"id": "feature.pay", "tags": ["money"]}, {"kind": "question", "title": "Who?", "body": "?"}
        ),
        lambda: here.store("Decisions", "The queue lives in Redis."),
        lambda: here.facts("archive", both, "--reason", "gone"),
        lambda: here.facts("archive", theirs, "--reason", "moot"),
        lambda: here("confirm", "decision.queue", "--reason", "looked, too"),
    )
    for name in ("one", "two"):
        git("merge", "-q", "--no-edit", name, "-X", "theirs")
    wanted = {"Retries run in the worker.", "Invoices live in Postgres.", "The queue lives in Redis."}
    logs = {
        path: path.read_bytes().splitlines(keepends=True) for path in (here.file, here.root / ".memory/events.jsonl")
    }
    told = []
    for order in (1, -1):
        for times in (1, 2):
            for path, lines in logs.items():
                path.write_bytes(b"".join(lines[::order] * times))
            read_by_every_verb(here)
            assert set(here.listed().values()) == wanted
            checked = here("check", "--json").data
            assert (
                checked["errors"],
                {one["code"] for one in checked["warnings"]} - {"FactConflict", "LineTwice"},
            ) == ([], set())
            told.append(
                [here(*words).out for words in (("query", "queue", "jobs"), ("inspect", "feature.pay"), ("list",))]
            )
    assert all(answers == told[0] for answers in told)
    node = here("inspect", "feature.pay", "--json").data["object"]
    assert (node["stage"], node["tags"]) == ("shipped", ["money"])
    assert here("check", "--repair").code == 0
    here.store("Decisions", "Shards are counted.")
    assert set(here.listed().values()) == {*wanted, "Shards are counted."}
    assert here("check", "--json").data["errors"] == []


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_recalls_of_both_that_git_leaves_in_conflict_are_settled_by_one_command(
    here: Here, git: Git, repo: Path, style: str
) -> None:
    def session(name: str) -> None:
        (repo / f"sessions/{name}.md").write_text(f"# Session\n\nDecision: {name} is cached, because {name} is slow.\n")
        assert here("journal", "sync", "--all").code == 0
        assert here("journal", "recall", "--yes").code == 0

    (repo / "sessions").mkdir()
    assert here("journal", "add", "markdown", "sessions").code == 0
    session("first")
    commit(git, "begin")
    rules = (repo / "AGENTS.md").read_text()
    for name in ("search", "upload"):
        on_branch(git, name, lambda name=name: session(name))
    git("merge", "-q", "search")
    git("config", "merge.conflictStyle", style)
    in_conflict(git, "upload")
    assert len(git("diff", "--name-only", "--diff-filter=U").split()) == 8
    assert here("resolve").code == 0
    git("add", "-A")
    assert here("check", "--json").data["errors"] == []
    state = (repo / ".agent-memory/state.json").read_text().lower()
    assert all(f"{name} is cached" in state for name in ("search", "upload"))
    assert "<<<<<<<" not in (repo / "AGENTS.md").read_text()
    git("reset", "-q", "--hard", "ORIG_HEAD")
    (repo / "AGENTS.md").write_text(f"Mine.\n{rules}")
    commit(git, "mine")
    git("checkout", "-q", "upload")
    (repo / "AGENTS.md").write_text(f"Theirs.\n{rules}")
    commit(git, "theirs")
    git("checkout", "-q", "main")
    in_conflict(git, "upload")
    assert "AGENTS.md: It stays as it is" in here("resolve").err
    assert "<<<<<<< HEAD\nMine.\n" in (repo / "AGENTS.md").read_text()
