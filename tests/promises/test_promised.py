"""Every promise is proven, every test of this folder proves one, and the page that publishes them says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from marks import marks_of, read_marks, unmarked
from proof import PAGE, RESULTS, cases_of, failures_fixed, table

from promised import CASES, CLAUSES, PROMISES

MARKS = read_marks()
# Tests of the tests: what they hold up is the harness, not a promise.
OF_THE_HARNESS = {"test_promised.py"}
HERE = sorted(path for path in Path(__file__).parent.glob("test_*.py") if path.name not in OF_THE_HARNESS)


def test_clauses_belong_to_promises_and_cases_to_clauses() -> None:
    assert list(PROMISES) == [f"P{number}" for number in range(1, 11)]
    assert {clause.partition(".")[0] for clause in CLAUSES} == set(PROMISES)
    assert len(CASES) == 94
    for name, case in CASES.items():
        assert case.clauses.split(), name
        assert set(case.clauses.split()) <= set(CLAUSES), name


def test_every_clause_is_proven_in_every_run() -> None:
    assert sorted(set(CLAUSES) - {mark.clause for mark in MARKS if mark.everyday}) == []


def test_every_clause_has_a_case() -> None:
    tried = {clause for case in CASES.values() for clause in case.clauses.split()}
    assert sorted(set(CLAUSES) - tried) == ["P3.4"]


def test_every_case_is_tried_over_every_place_that_it_concerns() -> None:
    for name, case in CASES.items():
        found = [mark for mark in MARKS if name in mark.cases]
        assert found, f"no test names {name}"
        tried = {place for mark in found for place in mark.over}
        assert sorted(set(case.over.split()) - tried) == [], name


def test_tests_name_only_what_is_promised() -> None:
    assert len(MARKS) >= 94
    for mark in MARKS:
        assert mark.clause in CLAUSES, mark
        assert set(mark.cases) <= set(CASES), mark


def test_every_test_here_names_the_promise_that_it_proves() -> None:
    found = {path.name: unmarked(path.read_text(encoding="utf-8")) for path in HERE}
    assert {name: tests for name, tests in found.items() if tests} == {}


def test_the_page_publishes_the_promises_in_these_words() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, said in PROMISES.items():
        assert f"## {name}. {said}\n" in page, name
    flowing = re.sub(r"\s+", " ", page)
    for name, said in CLAUSES.items():
        assert f"- **{name}** {said}" in flowing, name
    assert set(re.findall(r"\*\*(P\d+\.\d+)\*\*", page)) == set(CLAUSES)


def test_the_page_lists_what_cannot_be_tried_here() -> None:
    page = re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))
    listed = page.partition("## What is not tried")[2]
    for name, case in CASES.items():
        assert (f"| {name} | {case.not_here} |" in listed) == bool(case.not_here), name


def test_the_table_says_what_was_counted() -> None:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert list(found["promises"]) == list(PROMISES)
    for name, row in found["promises"].items():
        assert row["left"] == 0, name
        assert row["fixed"] == failures_fixed(MARKS, name), name
        assert row["cases"] == cases_of(name), name
    assert table(found) in PAGE.read_text(encoding="utf-8")


# -- the checks above can fail ----------------------------------------------------------------------


def test_a_mark_is_read_from_a_decorator_a_module_a_class_and_an_assignment() -> None:
    own = '@proves("P1.1", "A1", over="graph facts", found="it was lost")\ndef test_a(): ...\ndef test_b(): ...\n'
    (mark,) = marks_of(own, "t.py")
    assert mark == ("t.py", "test_a", "P1.1", ("A1",), ("graph", "facts"), "it was lost", True)
    assert unmarked(own) == ["test_b"]
    module = 'pytestmark = [proves("P2.1"), other]\ndef test_a(): ...\ndef test_b(): ...\n'
    assert [(each.test, each.clause) for each in marks_of(module, "t.py")] == [("test_a", "P2.1"), ("test_b", "P2.1")]
    assert unmarked(module) == []
    kind = '@proves("P3.1")\nclass TestX:\n    def test_a(self): ...\n    def other(self): ...\n'
    assert [each.test for each in marks_of(kind, "t.py")] == ["TestX.test_a"]
    assert [each.clause for each in marks_of('TestTour = proves("P3.4")(Tour.TestCase)\n', "t.py")] == ["P3.4"]
    assert unmarked("TestTour = Tour.TestCase\n") == ["TestTour"]


def test_what_only_a_proof_tries_is_read_from_a_decorator_a_module_a_class_and_an_assignment() -> None:
    texts = (
        '@pytest.mark.proof\n@proves("P1.1")\ndef test_a(): ...\n',
        'pytestmark = [pytest.mark.proof, proves("P1.1")]\ndef test_a(): ...\n',
        'pytestmark = pytest.mark.proof\n@proves("P1.1")\ndef test_a(): ...\n',
        '@pytest.mark.proof\nclass TestX:\n    @proves("P1.1")\n    def test_a(self): ...\n',
        'TestTour = pytest.mark.proof(proves("P1.1")(Tour.TestCase))\n',
    )
    assert [[mark.everyday for mark in marks_of(text, "t.py")] for text in texts] == [[False]] * 5


def test_a_mark_has_to_be_written_out() -> None:
    with pytest.raises(AssertionError):
        list(marks_of("@proves(CLAUSE)\ndef test_a(): ...\n", "t.py"))
