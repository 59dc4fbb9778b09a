"""What a check of a large memory costs: counted in calls, since the clock depends on who else uses the machine."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.stores import make_records

from quire.files.world import real_world
from quire.project import Project
from quire.upkeep.product_map import render_map
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.query import Query, query
from quire.verbs.ask.status import status
from quire.verbs.facts.store import Store, store

SIZES = (100, 200, 400)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Project]:
    """Memories of several sizes, each indexed; a fact for every second node."""
    made = {}
    for size in SIZES:
        root = tmp_path_factory.mktemp("store") / str(size)
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        project = Project.open(str(root), real_world(str(root)))
        init_memory(project, guidance=False)
        _store_facts(root, make_records(root / ".memory", size)[::2])
        status(project)
        made[size] = project
    return made


def _store_facts(root: Path, texts: list[str]) -> None:
    lines = [
        f'{{"_type":"fact","id":"f{number:011d}","section":"Constraints","content":"{text[:200]}","status":"active",'
        f'"created_at":"2026-03-02T11:19:00Z","mind":"default","version":{number + 1}}}\n'
        for number, text in enumerate(texts)
    ]
    (root / ".memory/facts.jsonl").write_text("".join(lines))


def calls(work: Callable[[], Any]) -> int:
    """How many functions are called while something is done."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    was_on = gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        if was_on:
            gc.enable()
    return count


def growth(stores: dict[int, Project], work: Callable[[Project], Any]) -> tuple[float, float]:
    """Calls for each further node: from the smallest memory to the next, and from there to the largest."""
    small, middle, large = (calls(lambda project=stores[size]: work(project)) for size in SIZES)
    return (middle - small) / (SIZES[1] - SIZES[0]), (large - middle) / (SIZES[2] - SIZES[1])


@pytest.mark.proof
def test_a_check_costs_the_same_for_every_further_node(stores: dict[int, Project]) -> None:
    check_files(stores[SIZES[0]])  # what is made once is made
    first, later = growth(stores, check_files)
    assert later < first * 1.25
    assert later < 1500


@pytest.mark.proof
def test_a_fact_costs_no_more_than_a_question_for_the_nodes_beside_it(stores: dict[int, Project]) -> None:
    """It is compared with the records that answer what it says, and with no others."""
    said = "The ledger is closed on the last of May."
    store(stores[SIZES[0]], Store(section="Specs", content="What is made once is made."))
    query(stores[SIZES[0]], Query(question=said))
    _, asked = growth(stores, lambda project: query(project, Query(question=said)))
    _, later = growth(stores, lambda project: store(project, Store(section="Specs", content=said)))
    assert later < asked + 1


def test_the_state_costs_next_to_nothing_for_a_further_node(stores: dict[int, Project]) -> None:
    status(stores[SIZES[0]])
    _, later = growth(stores, status)
    assert later < 100


def test_the_map_looks_for_orders_once_in_each_line(stores: dict[int, Project]) -> None:
    project = stores[SIZES[-1]]
    shutil.rmtree(os.path.join(project.root, ".memory/index"))
    project.with_index(lambda index: None)  # what is made once is made

    def render() -> None:
        project.with_index(lambda index: render_map(index, project.root, project.git))

    first = calls(render)
    assert calls(render) < first * 0.7
