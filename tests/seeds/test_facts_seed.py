"""Facts: every statement of the description, tried."""

from __future__ import annotations

from functools import partial

import pytest
from commanding import Here, lines_of
from seeds_table import Row, Table

from installed import Git, make_environment

FACTS = Table("facts")
NOW = "2026-03-02T11:19:00+00:00"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Here:
    """A project with a memory, which the checks fill."""
    folder = tmp_path_factory.mktemp("facts")
    env = {**make_environment(folder), "MEMORY_NOW": NOW}
    root = folder / "harbor"
    root.mkdir()
    Git(root, env)("init", "--quiet")
    here = Here(root, env)
    assert here("init").code == 0
    return here


def stored_in(section: str, told: Here) -> None:
    name = told.store(section, f"Something about {section}.")
    assert {line["section"] for line in lines_of(told.file) if line.get("id") == name} == {section}


for number, section in ((25, "Architecture"), (26, "Decisions")):
    FACTS.add(number, f"Sections: {section}", partial(stored_in, section))


@pytest.mark.parametrize("row", FACTS.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)
