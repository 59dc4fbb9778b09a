"""A sparse checkout that hides the memory or a part of it: said, with the command that helps; nothing is made anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from version_stores import Store, newest, opened
from version_verbs import TOUR, given_to, lines_for

from promised import proves, tally
from thorough import some

NEWEST = newest()
HIDDEN = {
    "graph": ".memory",
    "facts": ".memory/facts.jsonl",
    "a node": ".memory/memory/retry-queue.json",
    "profile": ".ai-state",
    "the profile's document": ".ai-state/memory.json",
    "journal": ".agent-memory",
    "the journal's log": ".agent-memory/history/events.jsonl",
}
ANYWAY = (
    "doctor",
    "docs",
    "completion",
    "projects",
    "hook",
    "init --brief",
    "journal providers",
    "integrate --status",
    "status --all",
    "facts import",
    "merge-driver",
    "review",
)
"""What needs no memory, or tells of the installation."""


def hide(store: Store, path: str) -> None:
    """Everything else stays; git takes the files out of the working tree."""
    store.git.commit()
    store.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{path}")
    if "/" not in path:  # what git never knew is not there in a checkout of somebody else
        shutil.rmtree(store.root / path, ignore_errors=True)


@pytest.mark.proof(keep=3)
@proves("P4.3", "C9", over="graph facts profile journal", found="a hidden memory was taken for none, and made anew")
@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_memory_is_said_to_be_hidden_with_the_command_that_helps(name: str, tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    said = store.asked()
    hide(store, HIDDEN[name])
    path = HIDDEN[name]
    rule = f"'/{os.path.dirname(path)}/*'" if "/" in path else path
    for line in lines_for(store.said, some(TOUR, 14)):
        if " ".join(line).startswith(ANYWAY):
            continue
        run = store(*line, stdin=given_to(line))
        assert run.code == 3, (line, run)
        assert "sparse checkout" in run.err
        assert f"`git sparse-checkout add {rule}`" in run.err
    assert not (store.root / path).exists()
    assert store.git("status", "--porcelain").strip() == ""
    store.git("sparse-checkout", "add", rule.strip("'"))
    assert (store.root / path).exists()
    if "/" in path:
        assert store.asked() == said
    assert store("status").code == 0
    tally("P4.3", inputs=len(TOUR))


@proves("P4.3", "C9", over="graph profile journal")
def test_in_a_cone_that_leaves_all_of_it_out_the_command_names_every_folder(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    store.git.commit()
    store.git("clone", "--quiet", store.root, tmp_path / "clone")
    clone = Store(tmp_path / "clone", store.env)
    clone.said = store.said
    clone.git = type(store.git)(clone.root, store.git.env)
    clone.git("sparse-checkout", "set", "--cone", "src")
    for line in (["status"], ["facts"], ["profile", "about-me"], ["journal", "status"], ["init"], ["query", "retry"]):
        run = clone(*line)
        assert (run.code, "git sparse-checkout add .agent-memory .ai-state .memory" in run.err) == (3, True), (
            line,
            run,
        )
    clone.git("sparse-checkout", "add", ".agent-memory", ".ai-state", ".memory")
    assert clone.data("status")["nodes_by_kind"] == store.said["status"]["nodes_by_kind"]
    assert clone.data("journal", "status")["events"] == store.said["journal status"]["events"]


@proves("P4.3", "C9")
def test_a_sparse_checkout_that_hides_other_files_stops_nothing(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    hide(store, "docs/decisions")
    assert store("status").code == 0
    store.git("sparse-checkout", "disable")
    assert store("status").code == 0


@proves("P4.3", "C9", over="machine")
def test_a_project_whose_memory_is_hidden_stays_on_the_list(tmp_path: Path) -> None:
    store = opened(NEWEST, tmp_path)
    assert store("projects", "add", ".").code == 0
    hide(store, ".memory")
    gone = store("projects", "prune", "--json").json["data"]["projects_removed"]
    assert str(store.root) not in [item["project_root"] for item in gone]
