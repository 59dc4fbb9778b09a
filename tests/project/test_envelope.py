"""The envelope: what every surface puts around an answer, an error, a fault of the program."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from quire.model.errors import NotFound, QuireError
from quire.model.records import Problem
from quire.model.verdicts import Verdict
from quire.project import Project
from quire.verbs.envelope import crashed, failed, succeeded
from quire.verbs.plain import json_line, verdict_fields


def test_what_was_done_comes_with_its_warnings_and_where_it_was_done(project: Project, repo: Path) -> None:
    problem = Problem(code="MemoryStale", message="Look at it.", path="a.md", line=3, severity="warning")
    assert succeeded(project, {"a": 1}, [problem]) == {
        "ok": True,
        "data": {"a": 1},
        "warnings": [
            {"code": "MemoryStale", "message": "Look at it.", "path": "a.md", "line": 3, "severity": "warning"}
        ],
        "meta": {"project_root": str(repo), "memory_root": str(repo / ".memory")},
    }


def test_what_belongs_to_no_project_names_none() -> None:
    assert succeeded(None, []) == {"ok": True, "data": [], "warnings": [], "meta": {}}


def test_an_error_keeps_its_code_hint_and_details() -> None:
    error = NotFound("There is no fact `x`.", hint="Look.", details={"id": "x"})
    assert failed(error) == {
        "ok": False,
        "error": {
            "code": "MemoryObjectNotFound",
            "message": "There is no fact `x`.",
            "hint": "Look.",
            "details": {"id": "x"},
        },
        "warnings": [],
        "meta": {},
    }


def test_a_fault_of_the_program_says_what_it_is_and_where() -> None:
    try:
        {}["missing"]
    except KeyError as error:
        found = crashed(error)
    assert type(found) is QuireError
    assert found.code == "MemoryInternalError"
    assert found.message.startswith("Quire itself failed (KeyError at test_envelope.py:")
    assert found.message.endswith(": 'missing').")
    assert found.hint
    assert "MEMORY_DEBUG=1" in found.hint


def test_a_problem_says_only_what_is_known_of_it() -> None:
    assert succeeded(None, {}, [Problem(code="A", message="b")])["warnings"] == [{"code": "A", "message": "b"}]


def test_a_verdict_is_a_word_and_beside_it_how_it_is_known() -> None:
    assert verdict_fields(None) == {"verdict": None}
    found = Verdict(verdict="changed", because="queue.ts changed", since="abc")
    assert verdict_fields(found) == {
        "verdict": "changed",
        "checked": {"because": "queue.ts changed", "since": "abc"},
    }


def test_bytes_that_are_no_text_are_shown() -> None:
    assert json_line({"a\udcff": ["b\udc80", {"c": ("d\udcfe", 1)}]}) == (
        '{"a\\\\udcff":["b\\\\udc80",{"c":["d\\\\udcfe",1]}]}'
    )


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_text_becomes_one_line_of_json(value: object) -> None:
    text = json_line(value)
    assert "\n" not in text
    text.encode()
    assert json.loads(text) is not None
