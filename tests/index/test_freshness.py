"""A process that stays alive does not look at every file at every question, and misses nothing that was replaced."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from quire.files import freshness
from quire.files.freshness import Freshness
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("quire.files.freshness.monotonic", clock)
    return clock


FOLDERS = {"memory": 1, "relations": 2}


def _unwatched() -> Freshness:
    """As on a system that tells nothing."""
    return Freshness(watch=lambda folders: None)


def _look(seen: Freshness, place: str = "here") -> None:
    seen.end_check(place, "graph", FOLDERS, seen.begin_check(place, "graph", FOLDERS, "/nowhere"))


def test_a_look_suffices_for_two_seconds_once_the_folders_have_settled(clock: Clock) -> None:
    seen = _unwatched()
    assert not seen.is_current("here", "graph", FOLDERS)
    _look(seen)
    assert not seen.is_current("here", "graph", FOLDERS)  # they may have changed twice in that moment
    clock.now += 0.2
    _look(seen)
    assert seen.is_current("here", "graph", FOLDERS)
    clock.now += freshness.SECONDS - 0.01
    assert seen.is_current("here", "graph", FOLDERS)
    clock.now += 0.02
    assert not seen.is_current("here", "graph", FOLDERS)


def test_a_look_does_not_suffice_elsewhere_or_after_something_was_replaced(clock: Clock) -> None:
    seen = _unwatched()
    for _ in range(2):
        _look(seen)
        clock.now += 0.2
    assert seen.is_current("here", "graph", FOLDERS)
    assert not seen.is_current("there", "graph", FOLDERS)
    assert not seen.is_current("here", "facts", FOLDERS)
    assert not seen.is_current("here", "graph", {**FOLDERS, "memory": 3})


class Told:
    """What the kernel would tell: something happened so many times."""

    def __init__(self) -> None:
        self.happened = 0
        self.closed = False

    def touched(self) -> bool:
        happened, self.happened = bool(self.happened), 0
        return happened

    def close(self) -> None:
        self.closed = True


def test_where_the_kernel_tells_a_look_counts_until_it_does(clock: Clock) -> None:
    told = Told()
    seen = Freshness(watch=lambda folders: told)  # type: ignore[arg-type,return-value]
    for _ in range(2):
        _look(seen)
        clock.now += 0.2
    clock.now += freshness.WATCHED_SECONDS - 1
    assert seen.is_current("here", "graph", FOLDERS)
    told.happened = 3
    assert not seen.is_current("here", "graph", FOLDERS)
    assert not seen.is_current("here", "graph", FOLDERS)  # nor for the next who asks, though it is told only once
    _look(seen)
    assert seen.is_current("here", "graph", FOLDERS)
    clock.now += freshness.WATCHED_SECONDS + 1
    assert not seen.is_current("here", "graph", FOLDERS)


def test_what_happens_during_a_look_makes_it_not_count(clock: Clock) -> None:
    told = Told()
    seen = Freshness(watch=lambda folders: told)  # type: ignore[arg-type,return-value]
    _look(seen)
    clock.now += 0.2
    begun = seen.begin_check("here", "graph", FOLDERS, "/nowhere")
    told.happened = 1
    assert not seen.is_current("here", "graph", FOLDERS)  # somebody else hears of it
    seen.end_check("here", "graph", FOLDERS, begun)
    assert not seen.is_current("here", "graph", FOLDERS)


def test_watches_are_closed_when_there_are_too_many(clock: Clock) -> None:
    watches: list[Told] = []

    def watch(folders: object) -> Told:
        watches.append(Told())
        return watches[-1]

    seen = Freshness(watch=watch)  # type: ignore[arg-type]
    for number in range(40):
        _look(seen, f"store {number}")
    assert len(watches) == 40
    assert [number for number, told in enumerate(watches) if told.closed] == list(range(8))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.open(str(tmp_path))
    init_memory(project, name="Looks", guidance=False)
    nodes = [{"kind": "gotcha", "title": f"Trap {n}", "body": f"The turbine number {n} overheats."} for n in range(5)]
    save_nodes(project, {"task": "begin", "nodes": nodes})
    return project


def _ask(project: Project, shared: Freshness, question: str) -> list[str]:
    """As the next call of a server would: a project of its own, with the looks of the process."""
    asked = Project.open(project.root)
    asked.freshness = shared
    word = question.partition(" ")[0]
    return [hit.record.ref for hit in answer_question(asked, question).hits if word in hit.record.text]


def test_what_is_replaced_is_seen_at_once_and_what_is_edited_in_place_after_two_seconds(
    project: Project, clock: Clock
) -> None:
    shared = _unwatched()
    for _ in range(3):
        assert _ask(project, shared, "zeppelin hangar") == []
        clock.now += 0.3
    body = Path(project.root, ".memory/memory/trap-1.md")

    body.write_text("The zeppelin leaves its hangar.\n")  # in place: its folder does not change
    assert _ask(project, shared, "zeppelin hangar") == []
    assert [hit.record.ref for hit in answer_question(Project.open(project.root), "zeppelin hangar").hits] == [
        "gotcha.trap-1"
    ]
    clock.now += freshness.SECONDS
    assert _ask(project, shared, "zeppelin hangar") == ["gotcha.trap-1"]

    for _ in range(2):
        clock.now += 0.3
        assert _ask(project, shared, "walrus lagoon") == []
    fresh = body.with_name("fresh")
    fresh.write_text("The walrus sleeps in its lagoon.\n")
    os.replace(fresh, body)
    assert _ask(project, shared, "walrus lagoon") == ["gotcha.trap-1"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of edits inside a file")
def test_what_is_edited_in_place_is_seen_at_once_where_the_kernel_tells(project: Project, clock: Clock) -> None:
    shared = Freshness()
    for _ in range(3):
        assert _ask(project, shared, "zeppelin hangar") == []
        clock.now += 0.3
    Path(project.root, ".memory/memory/trap-1.md").write_text("The zeppelin leaves its hangar.\n")
    assert _ask(project, shared, "zeppelin hangar") == ["gotcha.trap-1"]


@pytest.mark.parametrize("shared", [Freshness(), Freshness(watch=lambda folders: None)], ids=["watched", "unwatched"])
def test_a_save_of_another_process_is_seen_at_once(project: Project, clock: Clock, shared: Freshness) -> None:
    for _ in range(3):
        assert _ask(project, shared, "walrus lagoon") == []
        clock.now += 0.3
    body = "The walrus sleeps in its lagoon."
    save_nodes(
        Project.open(project.root), {"task": "more", "nodes": [{"kind": "gotcha", "title": "Walrus", "body": body}]}
    )
    assert _ask(project, shared, "walrus lagoon") == ["gotcha.walrus"]
    save_nodes(Project.open(project.root), {"task": "less", "delete": [{"id": "gotcha.walrus", "reason": "gone"}]})
    assert _ask(project, shared, "walrus lagoon") == []
