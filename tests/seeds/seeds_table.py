"""What users were promised, statement by statement, each with a check; `docs/reference/conformance.md` is made of it.

A module `test_<name>_seed.py` declares the statements of one description, in any order:

    FACTS = Table("facts")

    @FACTS.holds(33, "Facts are stored with a section")
    def _(told: Here) -> None:
        assert ...

    @FACTS.differs(34, "... and a confidence", why="It is full at first, and left out.", instead="Read it by ...")
    def _(told: Here) -> None:
        assert ...  # what Quire does instead

    for number, name in ((25, "Architecture"), (26, "Decisions")):
        FACTS.add(number, f"Sections: {name}", partial(check_section, name))

    @pytest.mark.parametrize("row", FACTS.rows, ids=str)
    def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
        row.check(request)

    def test_every_statement_is_tried_once() -> None:
        FACTS.check_numbers()

The parameters of a check that have no value yet are fixtures of its module: one project serves many statements.
After a change of texts run `.venv/bin/python tools/make_conformance.py`; a test holds the page against the tables.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

TESTS = Path(__file__).resolve().parents[1]
for _folder in (TESTS, TESTS / "e2e", TESTS / "seeds"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

__all__ = ["SEEDS", "Row", "Seed", "Table", "page", "tables"]

Check = Callable[..., None]


class Seed(msgspec.Struct, frozen=True):
    """A description of an original program: what it is called here, and how many statements it makes."""

    title: str
    count: int
    module: str


SEEDS = {
    "graph": Seed("Graph reference", 159, "test_graph_seed"),
    "commands": Seed("Graph commands", 46, "test_command_seed"),
    "profile": Seed("Profile", 164, "test_profile_seed"),
    "journal": Seed("Journal", 165, "test_journal_seed"),
    "facts": Seed("Facts", 98, "test_facts_seed"),
}


class Row(msgspec.Struct, frozen=True):
    """One statement: its number, its words, how it is checked; where Quire differs, why, and what to do instead."""

    number: int
    text: str
    function: Check
    why: str = ""
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.number:03}"

    @property
    def differs(self) -> bool:
        return bool(self.why)

    def check(self, request: pytest.FixtureRequest) -> None:
        """Try it, with the fixtures that its parameters name."""
        needed = inspect.signature(self.function).parameters.values()
        given = {item.name: request.getfixturevalue(item.name) for item in needed if item.default is item.empty}
        self.function(**given)


class Table:
    """The statements of one description, in the order of their numbers."""

    def __init__(self, seed: str) -> None:
        self.seed = SEEDS[seed]
        self._rows: list[Row] = []

    @property
    def rows(self) -> list[Row]:
        return sorted(self._rows, key=lambda row: row.number)

    def add(self, number: int, text: str, function: Check, *, why: str = "", instead: str = "") -> None:
        assert bool(why) == bool(instead), f"{number}: say why it differs, and what to do instead"
        self._rows.append(Row(number, text, function, why, instead))

    def holds(self, number: int, text: str) -> Callable[[Check], Check]:
        """The function checks that this is so."""
        return self._decorator(number, text, "", "")

    def differs(self, number: int, text: str, *, why: str, instead: str) -> Callable[[Check], Check]:
        """Quire differs; the function checks what it does instead."""
        return self._decorator(number, text, why, instead)

    def _decorator(self, number: int, text: str, why: str, instead: str) -> Callable[[Check], Check]:
        def declare(function: Check) -> Check:
            self.add(number, text, function, why=why, instead=instead)
            return function

        return declare

    def check_numbers(self) -> None:
        """Every statement has one row, and there is no other row."""
        numbers = [row.number for row in self.rows]
        wanted = range(1, self.seed.count + 1)
        assert not set(wanted) - set(numbers), f"not tried: {sorted(set(wanted) - set(numbers))}"
        assert numbers == list(wanted), f"tried twice or unknown: {numbers}"


def tables() -> dict[str, Table]:
    """The tables of all descriptions whose module is here."""
    found = {}
    for name, seed in SEEDS.items():
        if (TESTS / "seeds" / f"{seed.module}.py").is_file():
            module = importlib.import_module(seed.module)
            found[name] = next(item for item in vars(module).values() if isinstance(item, Table))
    return found


HEAD = """# Conformance

Quire does the work of five documented programs. Every statement of their descriptions has a number here, and a test
under `tests/seeds/` that tries it with the installed commands, the MCP server or the files. "differs" says why, and
what to do instead; the test of such a statement checks what Quire does instead. [Compatibility](compatibility.md) lists
the differences from the programs themselves.

`tools/make_conformance.py` writes this page from the tests.
"""


def page() -> str:
    """The page of all tables."""
    found = tables()
    parts = [HEAD, "| description | statements | hold | differ |", "|---|---:|---:|---:|"]
    for name, table in found.items():
        differ = sum(row.differs for row in table.rows)
        title = SEEDS[name].title
        anchor = title.lower().replace(" ", "-")
        parts.append(f"| [{title}](#{anchor}) | {len(table.rows)} | {len(table.rows) - differ} | {differ} |")
    for name, table in found.items():
        parts += ["", f"## {SEEDS[name].title}", "", "| no. | statement | Quire |", "|---:|---|---|"]
        parts += [f"| {row.number} | {_cell(row.text)} | {_verdict(row)} |" for row in table.rows]
    return "\n".join(parts) + "\n"


def _verdict(row: Row) -> str:
    return _cell(f"differs: {row.why} Instead: {row.instead}") if row.differs else "holds"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
