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
from quire.verbs.ask.answers import answer_question
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.page.change_token import TokenMemo, change_token
from quire.verbs.profile.remember import RememberEntry, remember_entry

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
    save_nodes(project, {"task": "first", "nodes": NODES})
    git.commit("memory")
    return project


@pytest.fixture
def token(filled: Project, world: World) -> Callable[[], str]:
    """The token of the same project, opened once more."""
    project, memo = Project.open(filled.root, world), TokenMemo()
    return lambda: change_token(project, memo)


def proposal(project: Project) -> None:
    node = {"kind": "gotcha", "title": "Pipes", "body": "They block."}
    inbox_add(project, [propose("graph", "gotcha", "They block.", node, origin="s", by="user")])


CHANGES: dict[str, Callable[[Project, Path, Git], object]] = {
    "a save": lambda project, _, __: save_nodes(
        project, {"task": "x", "nodes": [{"id": "gotcha.clock-drift", "body": "!"}]}
    ),
    "a new node": lambda project, _, __: save_nodes(project, {"task": "x", "nodes": [{**NODES[1], "title": "Other"}]}),
    "a text by hand": lambda _, root, __: (root / ".memory/memory/clock-drift.md").write_text("By hand.\n"),
    "a text that is gone": lambda _, root, __: (root / ".memory/memory/clock-drift.md").unlink(),
    "other settings": lambda _, root, __: (root / ".memory/config.json").write_text("{}"),
    "a fact": lambda project, _, __: store(project, Store(section="Specs", content="Tickets expire.")),
    "a proposal": lambda project, _, __: proposal(project),
    "a profile": lambda project, _, __: remember_entry(
        project, RememberEntry(category="tools", key="shell", value="fish", force=True)
    ),
    "code that a node speaks of": lambda _, root, __: (root / "src/queue.py").write_text("def push(x): ...\n"),
    "code that is gone": lambda _, root, __: (root / "src/queue.py").unlink(),
    "a commit": lambda _, __, git: git("commit", "--quiet", "--allow-empty", "--message", "more"),
    "another branch": lambda _, __, git: git("switch", "--quiet", "--create", "other"),
    "the same size, another time": lambda _, root, __: os.utime(root / "src/queue.py", (1, 1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_seen_changes_it(token: Callable[[], str], filled: Project, repo: Path, git: Git, name: str) -> None:
    before = token()
    assert token() == before
    CHANGES[name](filled, repo, git)
    after = token()
    assert after != before
    assert token() == after


def test_what_is_not_seen_does_not(token: Callable[[], str], filled: Project, repo: Path) -> None:
    answer_question(filled, "queue")
    before = token()
    answer_question(filled, "clock")
    (repo / "other.py").write_text("b = 2\n")
    (repo / "src/new.txt").write_text("nothing that anybody speaks of\n")
    assert token() == before


def test_a_new_anchor_is_watched_from_then_on(token: Callable[[], str], filled: Project, repo: Path) -> None:
    token()
    save_nodes(filled, {"task": "x", "nodes": [{"id": "gotcha.clock-drift", "anchors": ["other.py"]}]})
    before = token()
    (repo / "other.py").write_text("b = 3  # longer\n")
    assert token() != before


def test_two_who_look_see_the_same(token: Callable[[], str], filled: Project, world: World) -> None:
    assert change_token(Project.open(filled.root, world), TokenMemo()) == token()


def test_a_look_writes_nothing(token: Callable[[], str], repo: Path, tree: Callable[..., dict[str, bytes]]) -> None:
    token()
    before = tree(repo)
    token()
    assert tree(repo) == before


def test_damage_is_no_obstacle(token: Callable[[], str], repo: Path) -> None:
    seen = {token()}
    (repo / ".memory/config.json").write_bytes(b"\xff{")
    seen.add(token())
    (repo / ".memory/facts.jsonl").write_bytes(b"\xff\n")
    seen.add(token())
    (repo / ".memory/memory/clock-drift.json").unlink()
    (repo / ".memory/memory/clock-drift.json").mkdir()
    seen.add(token())
    assert len(seen) == 4
