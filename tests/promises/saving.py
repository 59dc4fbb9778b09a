"""One of many writers or readers at work in the same memory. Run as a script: what to do, folder, number, how often.

Every acknowledged save is noted in a file of its own, so that the test can hold the store to it afterwards.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from quire.model.errors import NotFound
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status as status_of
from quire.verbs.graph.save import save_nodes


def save(root: str, intent: dict[str, Any], notes: Any) -> None:
    saved = save_nodes(Project.open(root), intent)
    assert {warning.code for warning in saved.warnings} <= {"SimilarNode", "SimilarRecord"}, saved.warnings
    notes.write(json.dumps({"task": saved.task, "created": saved.memory_created, "updated": saved.memory_updated}))
    notes.write("\n")
    notes.flush()


def create(root: str, number: int, times: int, notes: Any) -> None:
    """New nodes; every fifth title is used by all writers at once."""
    for turn in range(times):
        title = f"Shared {turn}" if turn % 5 == 0 else f"Part {number} of {turn}"
        node = {"kind": "feature", "title": title, "body": f"Made by writer {number}, turn {turn}."}
        save(root, {"task": f"{number}-{turn}", "nodes": [node]}, notes)


def update(root: str, number: int, times: int, notes: Any) -> None:
    """The same node again and again; its title and its body always say the same."""
    for turn in range(times):
        version = f"{number}-{turn}"
        node = {"id": "feature.counter", "title": f"v{version}", "body": f"v{version} " + "x" * 5000}
        save(root, {"task": version, "nodes": [node]}, notes)


def come_and_go(root: str, number: int, times: int, notes: Any) -> None:
    """A node of one's own, made and deleted in turn."""
    for turn in range(times):
        node = {"id": f"gotcha.brief-{number}", "title": f"v{turn}", "body": f"v{turn} " + "x" * 3000}
        save(root, {"task": "make", "nodes": [node]}, notes)
        save(root, {"task": "drop", "delete": [{"id": node["id"], "reason": "done"}]}, notes)


def look(root: str, _number: int, times: int, notes: Any) -> None:
    """Read what the writers write; what is seen must always be one version as a whole."""
    seen = set()
    for _ in range(times):
        project = Project.open(root)
        for ref in ("feature.counter", "gotcha.brief-0"):
            try:
                stored = inspect_node(project, ref).node
            except NotFound:
                assert ref != "feature.counter"
                continue
            assert stored.node.title == stored.body.partition(" ")[0], (stored.node.title, stored.body[:20])
            assert stored.hash_holds, stored.node.title
            seen.add(stored.node.title)
        status = status_of(project)
        assert status.unreadable == [], status.unreadable
        assert any(title.startswith("v") for title in status.features_by_stage["idea"].titles)
        errors = check_files(project).errors
        assert errors == [], errors
    notes.write(json.dumps({"seen": len(seen)}) + "\n")


if __name__ == "__main__":
    what, folder, who, often, path = sys.argv[1:6]
    with open(path, "w", encoding="utf-8") as file:
        {"create": create, "update": update, "come_and_go": come_and_go, "look": look}[what](
            folder, int(who), int(often), file
        )
