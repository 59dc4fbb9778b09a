"""`memory facts refresh --since DATE`: an old file of facts is taken over, and counts from today."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from commanding import Here, copy_of, fact_line, lines_of

OLD, NEWER, TODAY = "2025-06-01T09:00:00.000Z", "2025-09-01T09:00:00.000Z", "2026-03-02T11:19:00.000Z"
FIXTURE = Path(__file__).parents[2].parent / "shared/fixtures/facts/omegon-history/38_2026-03-18_78ad3cd6.jsonl"


@pytest.fixture
def here(shared_memory: Any, tmp_path: Path) -> Here:
    """Twelve facts that nobody confirmed for half a year or more, one of each kind that needs nothing."""
    found = copy_of(shared_memory, tmp_path)
    aged = [
        fact_line(f"aaaaaaaaaa{number:02}", "Architecture", f"Berth {number} is {word}.", created_at=at)
        for number, (word, at) in enumerate(
            [(word, OLD) for word in ("red", "blue", "long", "deep", "new", "wet")]
            + [(word, NEWER) for word in ("dry", "old", "high", "flat", "safe", "open")]
        )
    ]
    others = [
        fact_line("bbbbbbbbbb01", "Specs", "Berths have numbers.", created_at=OLD),
        fact_line("bbbbbbbbbb02", "Decisions", "Boats pay daily.", created_at=NEWER, status="archived"),
        fact_line("bbbbbbbbbb03", "Decisions", "Fuel is sold.", created_at=OLD, last_reinforced=NEWER, kept="as it is"),
        fact_line("bbbbbbbbbb04", "Decisions", "Elsewhere.", created_at=NEWER, mind="side"),
    ]
    found.write(*aged, *others)
    return found


def stored(here: Here) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in lines_of(here.file)}


def test_the_clock_starts_again(here: Here) -> None:
    before = stored(here)
    run = here.facts("refresh", "--since", "2025-08-01")
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines()[0] == "Refreshed 7 of 14 active facts: they count from today."
    after = stored(here)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {*(f"aaaaaaaaaa{number:02}" for number in range(6, 12)), "bbbbbbbbbb03"}
    for name in changed:
        assert after[name]["last_reinforced"] == TODAY
        assert after[name]["created_at"] == before[name]["created_at"]
        # Nobody has looked at them one by one: they fade no slower than before.
        assert after[name].get("reinforcement_count", 1) == 1
    assert after["bbbbbbbbbb03"]["kept"] == "as it is"
    data = here.facts("refresh", "--since", "2025-01-01", "--json").data
    assert data == {"since": "2025-01-01", "refreshed": 13, "active": 14, "mind": "default", "dry_run": False}


def test_a_dry_run_writes_nothing(here: Here) -> None:
    before = here.file.read_bytes()
    run = here.facts("refresh", "--since", "2025-01-01", "--dry-run")
    assert run.out.splitlines()[0] == "Would refresh 13 of 14 active facts: they count from today."
    assert here.file.read_bytes() == before
    assert here.facts("refresh", "--since", "2026-02-01").out.splitlines()[0].startswith("No active fact was confirmed")
    assert here.file.read_bytes() == before


@pytest.mark.parametrize("date", ["yesterday", "2026-13-01", "", "2027-01-01"])
def test_a_bad_date(here: Here, date: str) -> None:
    before = here.file.read_bytes()
    error = here.facts("refresh", "--since", date, "--json").error
    assert error["details"]["field"] == "since"
    assert "2026-03-02" in error["hint"]
    assert here.file.read_bytes() == before
    assert here.facts("refresh").code == 2


def test_another_mind_is_named(here: Here) -> None:
    assert here.facts("refresh", "--since", "2025-01-01", "--mind", "side", "--json").data["refreshed"] == 1


def test_it_is_offered_where_most_have_faded(here: Here) -> None:
    """Wherever such a file is first met, in a line; and no longer, once it was done."""
    offer = "13 of 14 active facts have faded: they were not confirmed for a long time. `memory facts refresh --since"
    for line in (["facts"], ["facts", "recall", "berth"], ["status"], ["query", "which berth is red?"]):
        run = here(*line)
        assert run.out.count(offer) + run.err.count(offer) == 1, (line, run.out, run.err)
        assert here(*line, "--json").warnings == ["FactsFaded"]
    command = here("status", "--json").json["warnings"][0]["message"].split("`")[1]
    assert here(*command.split()[1:]).code == 0
    for line in (["facts"], ["facts", "recall", "berth"], ["status"], ["query", "which berth is red?"]):
        assert here(*line, "--json").warnings == []


def test_a_few_faded_facts_are_nothing_to_speak_of(here: Here) -> None:
    here.write(*(fact_line(f"cccccccccc{n:02}", "Specs", f"Rule {n}.", created_at=OLD) for n in range(20)))
    assert here("status", "--json").warnings == []
    here.write(*(fact_line(f"cccccccccc{n:02}", "Decisions", f"Rule {n}.", created_at=OLD) for n in range(3)))
    assert here("status", "--json").warnings == []


@pytest.mark.proof
@pytest.mark.skipif(not FIXTURE.exists(), reason="the facts of the original program are not here")
def test_a_real_file_of_the_original_program(here: Here) -> None:
    shutil.copy(FIXTURE, here.file)
    env = {"MEMORY_NOW": "2026-11-16T12:00:00+00:00"}
    (warning,) = here("status", "--json", env=env).json["warnings"]
    assert warning["code"] == "FactsFaded"
    command = warning["message"].split("`")[1]
    before = {line["id"]: line for line in lines_of(here.file) if line["_type"] == "fact"}
    data = here(*command.split()[1:], "--json", env=env).data
    assert data["refreshed"] > 1_500
    after = {line["id"]: line for line in lines_of(here.file) if line["_type"] == "fact"}
    assert set(after) == set(before)
    for key in ("content", "section", "status", "created_at", "content_hash"):
        assert {name: line[key] for name, line in after.items()} == {name: line[key] for name, line in before.items()}
    assert here("facts", "--json", env=env).data["faded"] == 0
    assert here("check", "--json", env=env).data["valid"] is True
