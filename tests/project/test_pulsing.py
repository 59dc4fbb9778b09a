"""One text for the state of a project: another whenever something changed that somebody would see, else the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from installed import Git
from quire.files.world import World
from quire.inbox.proposals import propose
from quire.project import Project
from quire.project.pulsing import Pulsing

NODES = [
    {"kind": "feature", "title": "Queue", "body": "A queue.", "anchors": ["src/queue.py", "lib"]},
    {"kind": "gotcha", "title": "Clock drift", "body": "It is late."},
]


@pytest.fixture
def filled(project: Project, repo: Path, git: Git) -> Project:
    for path, text in (("src/queue.py", "def push(): ...\n"), ("lib/a.py", "a = 1\n"), ("other.py", "b = 1\n")):
        (repo / path).parent.mkdir(exist_ok=True)
        (repo / path).write_text(text)
    git.commit("code")
    project.save({"task": "first", "nodes": NODES})
    git.commit("memory")
    return project


@pytest.fixture
def pulsing(filled: Project, world: World) -> Pulsing:
    return Pulsing.open(filled.root, world)


def proposal(project: Project) -> None:
    node = {"kind": "gotcha", "title": "Pipes", "body": "They block."}
    project.inbox_add([propose("graph", "gotcha", "They block.", node, origin="s", by="user")])


CHANGES: dict[str, Callable[[Project, Path, Git], object]] = {
    "a save": lambda project, _, __: project.save({"task": "x", "nodes": [{"id": "gotcha.clock-drift", "body": "!"}]}),
    "a new node": lambda project, _, __: project.save({"task": "x", "nodes": [{**NODES[1], "title": "Other"}]}),
    "a text by hand": lambda _, root, __: (root / ".memory/memory/clock-drift.md").write_text("By hand.\n"),
    "a text that is gone": lambda _, root, __: (root / ".memory/memory/clock-drift.md").unlink(),
    "other settings": lambda _, root, __: (root / ".memory/config.json").write_text("{}"),
    "a fact": lambda project, _, __: project.memory_store("Specs", "Tickets expire."),
    "a proposal": lambda project, _, __: proposal(project),
    "a profile": lambda project, _, __: project.profile_remember("tools", "shell", "fish", force=True),
    "code that a node speaks of": lambda _, root, __: (root / "src/queue.py").write_text("def push(x): ...\n"),
    "code that is gone": lambda _, root, __: (root / "src/queue.py").unlink(),
    "a commit": lambda _, __, git: git("commit", "--quiet", "--allow-empty", "--message", "more"),
    "another branch": lambda _, __, git: git("switch", "--quiet", "--create", "other"),
    "the same size, another time": lambda _, root, __: os.utime(root / "src/queue.py", (1, 1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_seen_changes_it(pulsing: Pulsing, filled: Project, repo: Path, git: Git, name: str) -> None:
    before = pulsing.view_pulse()
    assert pulsing.view_pulse() == before
    CHANGES[name](filled, repo, git)
    after = pulsing.view_pulse()
    assert after != before
    assert pulsing.view_pulse() == after


def test_what_is_not_seen_does_not(pulsing: Pulsing, filled: Project, repo: Path) -> None:
    filled.query("queue")
    before = pulsing.view_pulse()
    filled.query("clock")
    (repo / "other.py").write_text("b = 2\n")
    (repo / "src/new.txt").write_text("nothing that anybody speaks of\n")
    assert pulsing.view_pulse() == before


def test_a_new_anchor_is_watched_from_then_on(pulsing: Pulsing, filled: Project, repo: Path) -> None:
    pulsing.view_pulse()
    filled.save({"task": "x", "nodes": [{"id": "gotcha.clock-drift", "anchors": ["other.py"]}]})
    before = pulsing.view_pulse()
    (repo / "other.py").write_text("b = 3  # longer\n")
    assert pulsing.view_pulse() != before


def test_two_who_look_see_the_same(pulsing: Pulsing, filled: Project, world: World) -> None:
    assert Pulsing.open(filled.root, world).view_pulse() == pulsing.view_pulse()


def test_a_look_writes_nothing(pulsing: Pulsing, repo: Path, tree: Callable[..., dict[str, bytes]]) -> None:
    pulsing.view_pulse()
    before = tree(repo)
    pulsing.view_pulse()
    assert tree(repo) == before


def test_damage_is_no_obstacle(pulsing: Pulsing, repo: Path) -> None:
    seen = {pulsing.view_pulse()}
    (repo / ".memory/config.json").write_bytes(b"\xff{")
    seen.add(pulsing.view_pulse())
    (repo / ".memory/facts.jsonl").write_bytes(b"\xff\n")
    seen.add(pulsing.view_pulse())
    (repo / ".memory/memory/clock-drift.json").unlink()
    (repo / ".memory/memory/clock-drift.json").mkdir()
    seen.add(pulsing.view_pulse())
    assert len(seen) == 4
