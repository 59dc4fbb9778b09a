"""Calls that take long: how far they are is told, and they end when nobody wants them any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quire.files.world import real_world
from quire.project import Project
from quire.surfaces.mcp.catalogue import chosen_tools
from quire.surfaces.mcp.tool_calls import Ticket, ToolCalls
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes


@pytest.fixture
def many(tmp_path: Path) -> ToolCalls:
    """A project of many nodes that was never indexed."""
    project = Project.open(str(tmp_path))
    init_memory(project, name="Many", guidance=False)
    nodes = [{"kind": "gotcha", "title": f"Trap {n}", "body": f"Valve {n} sticks in winter."} for n in range(450)]
    save_nodes(project, {"task": "begin", "nodes": nodes})
    for file in (tmp_path / ".memory/index").iterdir():
        file.unlink()
    return ToolCalls(chosen_tools(["core"]), real_world(str(tmp_path)), str(tmp_path))


def test_reading_many_files_is_told_in_growing_numbers(many: ToolCalls) -> None:
    told: list[tuple[float, float | None, str]] = []
    ticket = Ticket(lambda *said: told.append(said))
    result = many.call("query_memory", {"question": "which valve sticks?"}, ticket).result()
    assert result["isError"] is False
    assert [done for done, _, _ in told] == [100, 200, 300, 400, 451]
    assert {(total, message) for _, total, message in told} == {(451, "Reading the memory's files")}
    told.clear()
    many.call("query_memory", {"question": "which valve sticks?"}, Ticket(lambda *said: told.append(said))).result()
    assert told == []


def test_a_call_that_is_withdrawn_while_files_are_read_ends_there(many: ToolCalls) -> None:
    told: list[float] = []

    def tell(done: float, total: Any, message: str) -> None:
        told.append(done)
        ticket.withdraw()

    ticket = Ticket(tell)
    result = many.call("query_memory", {"question": "which valve sticks?"}, ticket).result()
    assert told == [100]
    assert result["structuredContent"]["error"]["code"] == "MemoryCancelled"
    again = many.call("query_memory", {"question": "which valve sticks?"}).result()
    assert len(again["structuredContent"]["data"]["results"]) == 10


def test_what_is_not_further_than_before_is_not_told() -> None:
    told: list[float] = []
    ticket = Ticket(lambda done, total, message: told.append(done))
    for done in (1, 1, 3, 2, 4):
        ticket.progress(done, 4, "")
    assert told == [1, 3, 4]
