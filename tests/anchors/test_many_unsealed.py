"""Records of other programs, which carry no seals: many of them cost no more calls of git than a few."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from counting_work import calls_of_git

from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.status import status as status_of
from quire.verbs.graph.save import save_nodes


@pytest.mark.parametrize("others", [40, 70])
def test_the_calls_of_git_do_not_grow_with_the_records(
    others: int, desk: Any, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Both below and above the number of files that are named to git one by one."""
    init_memory(desk.project)
    desk.write("src/retry.py")
    desk.write("src/queue.py")
    nodes = [
        {"kind": "gotcha", "title": f"Trap {number}", "body": "Mind it.", "anchors": ["src/retry.py"]}
        for number in range(others)
    ]
    refs = save_nodes(desk.project, {"task": "test", "nodes": nodes}).memory_created
    left = desk.save("src/queue.py", title="Queue")
    edited = desk.save("src/queue.py", title="Edited")
    for ref in (*refs, left, edited):
        desk.unsealed(ref)
    desk.commit("as another program left it")
    late = desk.save("src/retry.py", title="Late")
    desk.unsealed(late)
    desk.write("src/queue.py", "jobs = []\n")
    desk.commit("the code goes on, and one record is written anew")
    path = desk.sidecar_path(edited)
    path.write_text(json.dumps({**desk.sidecar(edited), "title": "Edited since"}, indent=2) + "\n", encoding="utf-8")

    search, notes = calls_of_git(tmp_path, environment)
    status = status_of(desk.elsewhere(desk.repo, PATH=search).project)

    assert len(notes.read_text().splitlines()) < 32
    verdicts = {row.id: row.verdict for row in status.attention}
    assert verdicts == {left: "changed", edited: "unverifiable"}
    assert status.verdicts["fresh"] == others + 1
