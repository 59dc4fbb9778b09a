"""The product on shelves: what stands where, how many there are, and what is left out."""

from __future__ import annotations

from typing import Any

from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.board import ProductMap, Shelf, StageShelf, product_board
from quire.verbs.graph.save import save_nodes


def board(project: Project, limit: int = 200) -> ProductMap:
    return project.with_index(
        lambda index: product_board(index, Verdicts(project.root, project.git, index), limit),
    )


def refs(shelf: Shelf | StageShelf) -> list[str]:
    return [item.ref for item in shelf.items]


def save(project: Project, *nodes: dict[str, Any], **lists: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"body": "x", **node} for node in nodes], **lists})


def test_everything_stands_on_its_shelf(project: Project) -> None:
    save(
        project,
        {"kind": "feature", "title": "Queue", "stage": "building"},
        {"kind": "feature", "title": "Fax", "stage": "dead"},
        {"kind": "feature", "title": "Plan", "stage": "idea"},
        {"kind": "feature", "title": "Wish"},
        {"kind": "feature", "title": "Old", "stage": "shipped"},
        {"kind": "decision", "title": "Worker"},
        {"kind": "gotcha", "title": "Clocks"},
        {"kind": "question", "title": "Answered", "status": "closed"},
        {"kind": "question", "title": "When"},
    )
    save(project, stale=[{"id": "feature.old", "reason": "Nobody needs it."}])
    found = board(project)
    assert [shelf.stage for shelf in found.stages] == ["idea", "building", "shipped", "paused", "dead"]
    assert [refs(shelf) for shelf in found.stages] == [
        ["feature.plan", "feature.wish"],
        ["feature.queue"],
        [],
        [],
        ["feature.fax"],
    ]
    assert [shelf.total for shelf in found.stages] == [2, 1, 0, 0, 1]
    assert (refs(found.decisions), refs(found.gotchas)) == (["decision.worker"], ["gotcha.clocks"])
    assert refs(found.questions) == ["question.when", "question.answered"]
    assert found.project is not None
    assert (found.project.kind, found.project.verdict) == ("project", None)


def test_a_shelf_shows_so_many_and_counts_all(project: Project) -> None:
    save(project, *({"kind": "feature", "title": f"Idea {number}"} for number in range(3)))
    save(project, *({"kind": "feature", "title": f"Said {number}", "stage": "idea"} for number in range(3)))
    save(project, *({"kind": "question", "title": f"Open {number}"} for number in range(3)))
    save(project, {"kind": "question", "title": "Closed", "status": "closed"})
    found = board(project, 4)
    assert (found.stages[0].total, len(found.stages[0].items)) == (6, 4)
    assert (found.questions.total, refs(found.questions)[3]) == (4, "question.closed")
    assert (board(project, 3).questions.total, len(board(project, 3).questions.items)) == (4, 3)


def test_what_is_shown_is_held_against_the_code(project: Project) -> None:
    save(project, {"kind": "feature", "title": "Queue", "anchors": ["src/queue.py"]}, {"kind": "gotcha", "title": "G"})
    save(project, {"kind": "feature", "title": "Fax", "stage": "dead", "anchors": ["src/fax.py"]})
    found = board(project)
    assert found.stages[0].items[0].verdict == "orphaned"
    assert found.gotchas.items[0].verdict == "unanchored"
    assert found.stages[4].items[0].verdict is None


def test_an_empty_memory_has_empty_shelves(project: Project) -> None:
    found = board(project)
    assert [shelf.total for shelf in (*found.stages, found.decisions, found.gotchas, found.questions)] == [0] * 8
