"""`memory check --repair`, `--undo` and `--repairs` through the installed command; `memory doctor` beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from installed import Memory
from promised import proves

NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "building", "tags": ["a", "b"]}
SIDECAR = ".memory/memory/retry-queue.json"
NAME = "0001-20260302T111900Z"


@pytest.fixture
def broken(memory: Memory) -> Path:
    """A tag twice, which a repair fixes, and a body that somebody edited, which it does not."""
    memory.init()
    memory("save", "--stdin", stdin=json.dumps({"task": "t", "nodes": [NODE]}))
    path = memory.cwd / SIDECAR
    path.write_text(path.read_text().replace('"a",', '"a",\n    "a",'))
    body = path.with_suffix(".md")
    body.write_text(body.read_text() + "\nMine.\n")
    return path


@proves("P5.6", over="graph")
def test_what_a_person_sees(memory: Memory, broken: Path) -> None:
    before = broken.read_bytes()
    found = memory("check")
    assert found.code == 0
    assert found.out.endswith("\n`memory check --repair` repairs 1 of them; 1 needs your decision.\n")
    shown = memory("check", "--repair", "--dry-run")
    assert shown.out.splitlines() == [
        "A repair would fix 1 fault:",
        f"  {SIDECAR}: `tags` holds each entry once. [SchemaUniqueItems]",
        "",
        f"changed  {SIDECAR}",
        *shown.out.splitlines()[4:-2],
        "",
        "Nothing was changed. `memory check --repair` makes these changes.",
    ]
    assert '  -    "a",' in shown.out
    assert broken.read_bytes() == before
    done = memory("check", "--repair")
    assert done.code == 0
    assert done.out.splitlines()[:6] == [
        "Repaired 1 fault:",
        f"  {SIDECAR}: `tags` holds each entry once. [SchemaUniqueItems]",
        "",
        f"Copies of the files before the repair: .memory/local/repairs/{NAME}/memory.tar",
        f"To undo: memory check --undo {NAME}",
        "",
    ]
    assert "The memory is sound: 2 files, 0 errors, 1 warning." in done.out
    assert json.loads(broken.read_text())["tags"] == ["a", "b"]
    assert memory("check", "--repair").out.startswith("Nothing to repair.\n")
    assert memory("check", "--repairs").out == (
        f"{NAME}  1 fault repaired, 1 file\n    .memory/local/repairs/{NAME}/memory.tar\n"
    )
    # Earlier versions named the steps `mends`.
    manifest = memory.cwd / f".memory/local/repairs/{NAME}/memory.json"
    manifest.write_text(manifest.read_text().replace('"fixes"', '"mends"'))
    undone = memory("check", "--undo")
    assert undone.out == f"Undid the repair {NAME}: 1 file as before.\n  {SIDECAR}\n"
    assert broken.read_bytes() == before
    assert memory("check", "--repairs").out == "There is no repair to undo.\n"


@proves("P5.6", over="graph")
def test_what_a_program_sees(memory: Memory, broken: Path) -> None:
    before = broken.read_bytes()
    found = memory("check", "--json").data
    assert {(one["code"], one["fixed_by"]) for one in found["warnings"]} == {
        ("SchemaUniqueItems", "repair"),
        ("ObjectContentHashMismatch", "person"),
    }
    shown = memory("check", "--repair", "--dry-run", "--json").data
    assert (shown["name"], shown["dry_run"]) == (None, True)
    assert [file["action"] for file in shown["files"]] == ["changed"]
    assert '-    "a",' in shown["files"][0]["diff"]
    done = memory("check", "--repair", "--json").data
    assert done["name"] == NAME
    assert done["fixes"] == [
        {
            "code": "SchemaUniqueItems",
            "path": SIDECAR,
            "message": "`tags` holds each entry once.",
            "line": None,
            "field": "/tags",
        }
    ]
    assert done["checked"]["valid"] is True
    (kept,) = memory("check", "--repairs", "--json").data["repairs"]
    assert (kept["name"], kept["files"], kept["changed_since"]) == (NAME, 1, [])
    broken.write_bytes(broken.read_bytes() + b"\n")
    refused = memory("check", "--undo", "--json")
    assert (refused.code, refused.error["code"]) == (1, "MemoryConflictDetected")
    assert refused.error["details"]["paths"] == [SIDECAR]
    broken.write_bytes(broken.read_bytes()[:-1])
    assert memory("check", "--undo", "1", "--json").data == {"name": NAME, "files": [SIDECAR]}
    assert broken.read_bytes() == before


@pytest.mark.parametrize(
    "line", [("--repair", "--undo"), ("--repair", "--repairs"), ("--dry-run",), ("--undo", "--dry-run")]
)
def test_options_that_do_not_go_together(line: tuple[str, ...], memory: Memory) -> None:
    memory.init()
    assert memory("check", *line).code == 2


def test_there_is_nothing_to_take_back(memory: Memory) -> None:
    memory.init()
    assert memory("check", "--undo", "--json").error["code"] == "MemoryObjectNotFound"
    assert memory("check", "--undo", "nine", "--json").code == 1


@proves("P5.6", over="graph")
def test_the_doctor_says_who_repairs_what_and_repairs_it(memory: Memory, broken: Path) -> None:
    before = broken.read_bytes()
    findings = memory("doctor", "--json").data["findings"]
    (check,) = [one for one in findings if one["name"] == "check"]
    assert check["state"] == "warning"
    assert check["fixable"] is True
    assert check["hint"] == (
        "--fix repairs 1 of them, as `memory check --repair` does; nothing is lost. "
        "1 needs your decision: `memory check` shows where, and what to do."
    )
    (page,) = [one for one in findings if (one["section"], one["name"]) == ("program", "page")]
    assert page["state"] in ("ok", "note")
    done = memory("doctor", "--fix", "--json").data
    (fixed,) = [one for one in done["fixed"] if one["name"] == "check"]
    assert fixed["message"] == f"Repaired 1 fault in the memory's files. `memory check --undo {NAME}` undoes it."
    (check,) = [one for one in done["findings"] if one["name"] == "check"]
    assert check["fixable"] is False
    assert memory("check", "--undo").code == 0
    assert broken.read_bytes() == before
