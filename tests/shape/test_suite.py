"""The tests themselves: each file has a name of its own, and no test asserts how long something takes.

A busy machine says nothing about the code. Work is counted (see `work.py`), and what things cost is measured in
`benchmarks/`. A clock may end a wait, and say what came before what. What never ends is ended by pytest, at the limit
that `pyproject.toml` sets.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
# Fuzzing tells apart what is slow and what is long, by the time of the processor.
MEASURES = {"promises/fuzz_engine.py", "promises/fuzz_worst.py"}
STOPWATCHES = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time"}
CLOCKS = STOPWATCHES | {"monotonic", "monotonic_ns"}


def asserted(text: str) -> list[int]:
    """The lines of a file that read a stopwatch, or assert how much later it is."""
    tree = ast.parse(text)
    watches = [node.lineno for node in ast.walk(tree) if _called(node) in STOPWATCHES]
    asserts = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    differences = [node for test in asserts for node in ast.walk(test) if isinstance(node, ast.BinOp)]
    return sorted({*watches, *(node.lineno for node in differences if _reads_a_clock(node))})


def _reads_a_clock(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Sub) and any(_called(inner) in CLOCKS for inner in ast.walk(node))


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_every_file_has_a_name_of_its_own() -> None:
    """Modules of tests are imported by their names alone."""
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_test_asserts_how_long_something_takes() -> None:
    texts = {path.relative_to(TESTS).as_posix(): path.read_text("utf-8") for path in TESTS.rglob("*.py")}
    found = {name: asserted(text) for name, text in texts.items() if any(clock in text for clock in CLOCKS)}
    assert {name: lines for name, lines in found.items() if lines and name not in MEASURES} == {}


@pytest.mark.parametrize(
    "text",
    [
        "begun = time.perf_counter()",
        "begun = process_time()",
        "begun = time.monotonic()\nwork()\nassert time.monotonic() - begun < 5",
        "assert 1 <= monotonic() - begun",
    ],
)
def test_an_assertion_about_the_clock_is_found(text: str) -> None:
    assert asserted(text)


def test_a_wait_that_ends_is_none() -> None:
    assert asserted("end = time.monotonic() + 20\nwhile not done():\n    assert time.monotonic() < end\n") == []
