"""What the machine found, each in the fewest steps that show it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

from installed import Git
from promised import proves
from quire.files import disk
from quire.project import Project
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.graph.save import save_nodes

ONE, OTHER = "decision.one", "decision.other"


@pytest.fixture
def two(project: Project, repo: Path, git: Git) -> Project:
    """Two decisions that are committed, and a change of one that is not."""
    nodes = [{"kind": "decision", "title": title, "body": f"About {title}."} for title in ("One", "Other")]
    save_nodes(project, {"task": "begin", "nodes": nodes})
    git.commit()
    save_nodes(project, {"task": "look", "stale": [{"id": ONE, "reason": "gone"}]})
    return project


def die_superseding(project: Project, number: int) -> int:
    """One takes the place of the other, in a process that dies at this call; how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        calls = iter(range(10**6))

        def before(_operation: str, _path: str) -> None:
            if next(calls) == number:
                os._exit(137)

        disk.before = before
        entry = {"id": ONE, "superseded_by": OTHER, "reason": "better"}
        save_nodes(project, {"task": "look", "supersede": [entry]})
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.proof
@proves("P2.1", over="graph", found="a save that died was completed by half after git had taken away what it rested on")
def test_a_save_that_died_is_whole_or_nothing_after_a_reset(two: Project, git: Git) -> None:
    ends = set()
    for number in range(60):
        code = die_superseding(two, number)
        git("add", "--all")
        git("reset", "--quiet", "--hard")
        found = inspect_node(two, ONE)
        ends.add((found.node.node.status, found.node.node.superseded_by, len(found.incoming)))
        save_nodes(two, {"task": "again", "stale": [{"id": ONE, "reason": "gone"}]})
        if code == 0:
            break
    assert ends == {("active", None, 0)}
