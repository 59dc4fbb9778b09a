"""The pulse of a project: another one with every change that a view would show, the same while there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.files.world import World
from quire.project import Project
from quire.verbs.facts.changes import memory_store
from quire.verbs.graph.changes import save
from quire.verbs.page.change_token import judged_anew, view_pulse
from quire.verbs.page.health_views import view_anchor_health


@pytest.fixture
def watching(project: Project, repo: Path, world: World, git: Any) -> Project:
    """A project as a process keeps it that stays alive, after it has looked at everything a few times."""
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text("a = 1\n", encoding="utf-8")
    git.commit("first")
    nodes = [{"kind": "feature", "title": "Queue", "body": "Retries wait.", "anchors": ["src/"]}]
    save(project, {"task": "t", "nodes": nodes})
    found = Project.open(str(repo), msgspec.structs.replace(world, cwd=str(repo)))
    found.looks = found.new_looks()
    settle(found)
    return found


def settle(project: Project) -> str:
    """Until looks at the files count, which they do a moment after the first one."""
    view_pulse(project)
    time.sleep(0.12)
    view_pulse(project)
    return view_pulse(project)


def test_the_pulse_stays_while_nothing_changes(watching: Project, world: World) -> None:
    beats = {view_pulse(watching) for _ in range(5)}
    other = Project.open(watching.root, world)
    assert beats == {view_pulse(other)}


def test_files_are_not_looked_at_again_while_nothing_happens(
    watching: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quire.layers.graph.source import GraphSource

    looked = []
    real = GraphSource.stamps
    monkeypatch.setattr(GraphSource, "stamps", lambda self, *given: looked.append(1) or real(self, *given))
    view_pulse(watching)
    assert not looked
    node = next((Path(watching.root) / ".memory/memory").glob("*queue*.md"))
    with node.open("a", encoding="utf-8") as file:
        file.write("More.\n")
    view_pulse(watching)
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
    memory_store(Project.open(str(root)), "Architecture", "Retries run in the worker.", session="s-1")


@pytest.mark.parametrize("change", [edited_in_place, replaced, added, removed, told_a_fact])
def test_every_change_of_the_memory_is_felt(watching: Project, change: Callable[[Path], None]) -> None:
    before = view_pulse(watching)
    change(Path(watching.root))
    after = view_pulse(watching)
    assert after != before
    settle(watching)
    edited = view_pulse(watching)
    assert edited == view_pulse(watching)


def test_an_edit_inside_a_folder_that_a_verdict_rests_on_is_felt(watching: Project) -> None:
    """The anchor names the folder; that its files count is known once the verdict was worked out."""
    assert view_anchor_health(watching).now == {"fresh": 1}
    judged_anew(watching)
    before = view_pulse(watching)
    assert before == view_pulse(watching)
    with (Path(watching.root) / "src/queue.py").open("a", encoding="utf-8") as file:
        file.write("b = 2\n")
    assert view_pulse(watching) != before
    assert view_anchor_health(watching).now == {"changed": 1}


def test_two_that_look_at_one_project_do_not_take_each_others_word(watching: Project, world: World) -> None:
    other = Project.open(watching.root, world)
    other.looks = watching.looks
    settle(other)
    before = view_pulse(watching)
    edited_in_place(Path(watching.root))
    assert view_pulse(other) != before
    assert settle(other) == view_pulse(watching)
