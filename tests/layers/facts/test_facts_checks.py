"""What `memory check` says of a file of facts, whoever wrote it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from quire.layers.facts.checks import check_facts


def fact(name: str, **more: Any) -> str:
    fields = {"id": name, "section": "Decisions", "content": f"About {name}.", "created_at": "2026-03-02T11:19:00.000Z"}
    return json.dumps({"_type": "fact", **fields, **more})


@pytest.fixture
def facts(repo: Path) -> Path:
    path = repo / ".memory" / "facts.jsonl"
    path.parent.mkdir(exist_ok=True)
    return path


def codes(path: Path) -> list[tuple[str, str, int | None]]:
    found = check_facts(str(path.parents[1]))
    assert {problem.path for problem in found} <= {".memory/facts.jsonl"}
    return [(problem.code, problem.severity, problem.line) for problem in found]


def test_without_a_file_there_is_nothing_to_say(repo: Path) -> None:
    assert check_facts(str(repo)) == []


def test_a_sound_file_has_no_faults(facts: Path) -> None:
    facts.write_text(fact("a") + "\n" + fact("b", status="archived", version=3) + "\n")
    assert codes(facts) == []


def test_bad_lines_are_named_by_their_number_and_stop_no_others(facts: Path) -> None:
    facts.write_text("\n".join([fact("a"), "{oops", "[]", fact("b", section="Nowhere"), '{"_type":"poem"}', fact("c")]))
    assert codes(facts) == [
        ("JsonInvalid", "error", 2),
        ("NotAnObject", "error", 3),
        ("SectionUnknown", "warning", 4),
        ("TypeUnknown", "error", 5),
    ]


def test_what_a_merge_left_undecided_is_said(facts: Path) -> None:
    lines = [
        fact("a", content="One way.", version=2),
        fact("a", content="Another way.", version=2),
        fact("old", status="superseded", version=4),
        fact("new", supersedes="old", version=5),
        fact("newer", supersedes="old", version=5),
        json.dumps({"_type": "edge", "id": "e", "source_id": "a", "target_id": "gone", "relation": "enables"}),
        "<<<<<<< ours",
    ]
    facts.write_text("\n".join(lines) + "\n")
    assert [(code, severity) for code, severity, _ in codes(facts)] == [
        ("ConflictMarker", "warning"),
        ("FactConflict", "warning"),
        ("FactContradiction", "warning"),
        ("ConnectionParked", "warning"),
    ]
    said = [problem.message for problem in check_facts(str(facts.parents[1]))]
    assert "new, newer" in said[2]
    assert "`gone`" in said[3]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_plain_file_is_not_read(facts: Path, kind: str) -> None:
    if kind == "link":
        facts.symlink_to("/etc/passwd")
    elif kind == "folder":
        facts.mkdir()
    else:
        os.mkfifo(facts)
    assert codes(facts) == [("CanonicalFileUnsafe", "error", None)]


def test_check_reports_them_with_the_rest(memory: Any, repo: Path) -> None:
    memory.init()
    path = repo / ".memory" / "facts.jsonl"
    path.write_text(fact("a") + "\n")
    assert memory("check", "--json").data == {
        **memory("check", "--json").data,
        "valid": True,
        "errors": [],
    }
    before = path.read_bytes() + b"{oops\n"
    path.write_bytes(before)
    run = memory("check", "--json")
    assert run.code == 1
    (error,) = run.data["errors"]
    assert (error["code"], error["path"], error["line"]) == ("JsonInvalid", ".memory/facts.jsonl", 2)
    assert path.read_bytes() == before
