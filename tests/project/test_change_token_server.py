"""The change token in a server: another one with every change that a view would show, else the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.files.freshness import Freshness
from quire.files.world import World
from quire.project import Project
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.page.change_token import TokenMemo, change_token
from quire.verbs.page.health_views import ViewAnchorHealth, view_anchor_health


class Viewer:
    """A project as a long-lived process keeps it, with what it remembers between two tokens."""

    def __init__(self, project: Project) -> None:
        self.project, self.root = project, project.root
        self.memo = TokenMemo()

    def token(self) -> str:
        return change_token(self.project, self.memo)

    def settle(self) -> str:
        """Until checks of the files count, which they do a moment after the first one."""
        self.token()
        time.sleep(0.12)
        self.token()
        return self.token()


@pytest.fixture
def watching(project: Project, repo: Path, world: World, git: Any) -> Viewer:
    """After it has checked everything a few times."""
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text("a = 1\n", encoding="utf-8")
    git.commit("first")
    nodes = [{"kind": "feature", "title": "Queue", "body": "Retries wait.", "anchors": ["src/"]}]
    save_nodes(project, {"task": "t", "nodes": nodes})
    found = Project.open(str(repo), msgspec.structs.replace(world, cwd=str(repo)))
    found.freshness = Freshness()
    viewer = Viewer(found)
    viewer.settle()
    return viewer


def test_the_token_stays_while_nothing_changes(watching: Viewer, world: World) -> None:
    tokens = {watching.token() for _ in range(5)}
    other = Viewer(Project.open(watching.root, world))
    assert tokens == {other.token()}


def test_files_are_not_looked_at_again_while_nothing_happens(watching: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    from quire.layers.graph.source import GraphSource

    looked = []
    real = GraphSource.stamps
    monkeypatch.setattr(GraphSource, "stamps", lambda self, *given: looked.append(1) or real(self, *given))
    watching.token()
    assert not looked
    node = next((Path(watching.root) / ".memory/memory").glob("*queue*.md"))
    with node.open("a", encoding="utf-8") as file:
        file.write("More.\n")
    watching.token()
    assert looked


def edited_in_place(root: Path) -> None:
    with next((root / ".memory/memory").glob("*queue*.md")).open("a", encoding="utf-8") as file:
        file.write("More.\n")


def replaced(root: Path) -> None:
    node = next((root / ".memory/memory").glob("*queue*.md"))
    node.with_suffix(".tmp").write_text("Other.", encoding="utf-8")
    os.replace(node.with_suffix(".tmp"), node)


def added(root: Path) -> None:
    (root / ".memory/memory/odd.json").write_text("{}", encoding="utf-8")


def removed(root: Path) -> None:
    next((root / ".memory/memory").glob("*queue*.md")).unlink()


def told_a_fact(root: Path) -> None:
    store(Project.open(str(root)), Store(section="Architecture", content="Retries run in the worker.", session="s-1"))


@pytest.mark.parametrize("change", [edited_in_place, replaced, added, removed, told_a_fact])
def test_every_change_of_the_memory_is_felt(watching: Viewer, change: Callable[[Path], None]) -> None:
    before = watching.token()
    change(Path(watching.root))
    after = watching.token()
    assert after != before
    watching.settle()
    edited = watching.token()
    assert edited == watching.token()


def test_an_edit_inside_a_folder_that_a_verdict_rests_on_is_felt(watching: Viewer) -> None:
    """The anchor names the folder; that its files count is known once the verdict was worked out."""
    assert view_anchor_health(watching.project, ViewAnchorHealth()).now == {"fresh": 1}
    watching.memo.verdict_rounds += 1
    before = watching.token()
    assert before == watching.token()
    with (Path(watching.root) / "src/queue.py").open("a", encoding="utf-8") as file:
        file.write("b = 2\n")
    assert watching.token() != before
    assert view_anchor_health(watching.project, ViewAnchorHealth()).now == {"changed": 1}


def test_two_that_look_at_one_project_do_not_take_each_others_word(watching: Viewer, world: World) -> None:
    other = Viewer(Project.open(watching.root, world))
    other.project.freshness = watching.project.freshness
    other.settle()
    before = watching.token()
    edited_in_place(Path(watching.root))
    assert other.token() != before
    assert other.settle() == watching.token()
