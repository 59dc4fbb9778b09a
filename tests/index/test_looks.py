"""A process that stays alive does not look at every file at every question, and misses nothing that was replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.index import Looks, looks
from quire.project import Project


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("quire.index.looks.monotonic", clock)
    monkeypatch.setattr("quire.index.catalog.monotonic", clock)
    return clock


FOLDERS = {"memory": 1, "relations": 2}


def test_a_look_suffices_for_two_seconds_once_the_folders_have_settled(clock: Clock) -> None:
    seen = Looks()
    assert not seen.suffices("here", "graph", FOLDERS)
    seen.note("here", "graph", FOLDERS, clock())
    assert not seen.suffices("here", "graph", FOLDERS)  # they may have changed twice in that moment
    clock.now += 0.2
    seen.note("here", "graph", FOLDERS, clock())
    assert seen.suffices("here", "graph", FOLDERS)
    clock.now += looks.SECONDS - 0.01
    assert seen.suffices("here", "graph", FOLDERS)
    clock.now += 0.02
    assert not seen.suffices("here", "graph", FOLDERS)


def test_a_look_does_not_suffice_elsewhere_or_after_something_was_replaced(clock: Clock) -> None:
    seen = Looks()
    for _ in range(2):
        seen.note("here", "graph", FOLDERS, clock())
        clock.now += 0.2
    assert seen.suffices("here", "graph", FOLDERS)
    assert not seen.suffices("there", "graph", FOLDERS)
    assert not seen.suffices("here", "facts", FOLDERS)
    assert not seen.suffices("here", "graph", {**FOLDERS, "memory": 3})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.open(str(tmp_path))
    project.init(name="Looks", guidance=False)
    nodes = [{"kind": "gotcha", "title": f"Trap {n}", "body": f"The turbine number {n} overheats."} for n in range(5)]
    project.save({"task": "begin", "nodes": nodes})
    return project


def _ask(project: Project, shared: Looks, question: str) -> list[str]:
    """As the next call of a server would: a project of its own, with the looks of the process."""
    asked = Project.open(project.root)
    asked.looks = shared
    word = question.partition(" ")[0]
    return [hit.record.ref for hit in asked.query(question).hits if word in hit.record.text]


def test_what_is_replaced_is_seen_at_once_and_what_is_edited_in_place_after_two_seconds(
    project: Project, clock: Clock
) -> None:
    shared = Looks()
    for _ in range(3):
        assert _ask(project, shared, "zeppelin hangar") == []
        clock.now += 0.3
    body = Path(project.root, ".memory/memory/trap-1.md")

    body.write_text("The zeppelin leaves its hangar.\n")  # in place: its folder does not change
    assert _ask(project, shared, "zeppelin hangar") == []
    assert [hit.record.ref for hit in Project.open(project.root).query("zeppelin hangar").hits] == ["gotcha.trap-1"]
    clock.now += looks.SECONDS
    assert _ask(project, shared, "zeppelin hangar") == ["gotcha.trap-1"]

    for _ in range(2):
        clock.now += 0.3
        assert _ask(project, shared, "walrus lagoon") == []
    fresh = body.with_name("fresh")
    fresh.write_text("The walrus sleeps in its lagoon.\n")
    os.replace(fresh, body)
    assert _ask(project, shared, "walrus lagoon") == ["gotcha.trap-1"]


def test_a_save_of_another_process_is_seen_at_once(project: Project, clock: Clock) -> None:
    shared = Looks()
    for _ in range(3):
        assert _ask(project, shared, "walrus lagoon") == []
        clock.now += 0.3
    body = "The walrus sleeps in its lagoon."
    Project.open(project.root).save({"task": "more", "nodes": [{"kind": "gotcha", "title": "Walrus", "body": body}]})
    assert _ask(project, shared, "walrus lagoon") == ["gotcha.walrus"]
    Project.open(project.root).save({"task": "less", "delete": [{"id": "gotcha.walrus", "reason": "gone"}]})
    assert _ask(project, shared, "walrus lagoon") == []
