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


@pytest.fixture
def watching(project: Project, repo: Path, world: World, git: Any) -> Project:
    """A project as a process keeps it that stays alive, after it has looked at everything a few times."""
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text("a = 1\n", encoding="utf-8")
    git.commit("first")
    nodes = [{"kind": "feature", "title": "Queue", "body": "Retries wait.", "anchors": ["src/"]}]
    project.save({"task": "t", "nodes": nodes})
    found = Project.open(str(repo), msgspec.structs.replace(world, cwd=str(repo)))
    found.looks = found.new_looks()
    settle(found)
    return found


def settle(project: Project) -> str:
    """Until looks at the files count, which they do a moment after the first one."""
    project.view_pulse()
    time.sleep(0.12)
    project.view_pulse()
    return project.view_pulse()


def test_the_pulse_stays_while_nothing_changes(watching: Project, world: World) -> None:
    beats = {watching.view_pulse() for _ in range(5)}
    other = Project.open(watching.root, world)
    assert beats == {other.view_pulse()}


def test_files_are_not_looked_at_again_while_nothing_happens(
    watching: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quire.layers.graph.source import GraphSource

    looked = []
    real = GraphSource.stamps
    monkeypatch.setattr(GraphSource, "stamps", lambda self, *given: looked.append(1) or real(self, *given))
    watching.view_pulse()
    assert not looked
    node = next((Path(watching.root) / ".memory/memory").glob("*queue*.md"))
    with node.open("a", encoding="utf-8") as file:
        file.write("More.\n")
    watching.view_pulse()
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
    Project.open(str(root)).memory_store("Architecture", "Retries run in the worker.", session="s-1")


@pytest.mark.parametrize("change", [edited_in_place, replaced, added, removed, told_a_fact])
def test_every_change_of_the_memory_is_felt(watching: Project, change: Callable[[Path], None]) -> None:
    before = watching.view_pulse()
    change(Path(watching.root))
    after = watching.view_pulse()
    assert after != before
    settle(watching)
    edited = watching.view_pulse()
    assert edited == watching.view_pulse()


def test_an_edit_inside_a_folder_that_a_verdict_rests_on_is_felt(watching: Project) -> None:
    """The anchor names the folder; that its files count is known once the verdict was worked out."""
    assert watching.view_anchor_health().now == {"fresh": 1}
    watching.judged_anew()
    before = watching.view_pulse()
    assert before == watching.view_pulse()
    with (Path(watching.root) / "src/queue.py").open("a", encoding="utf-8") as file:
        file.write("b = 2\n")
    assert watching.view_pulse() != before
    assert watching.view_anchor_health().now == {"changed": 1}


def test_two_that_look_at_one_project_do_not_take_each_others_word(watching: Project, world: World) -> None:
    other = Project.open(watching.root, world)
    other.looks = watching.looks
    settle(other)
    before = watching.view_pulse()
    edited_in_place(Path(watching.root))
    assert other.view_pulse() != before
    assert settle(other) == watching.view_pulse()
