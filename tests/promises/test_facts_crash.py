"""No fact, pin or note that was acknowledged is lost, and none is left by half, wherever the writer dies.

`fact_trials.py` beside this file does the work in processes of its own. What runs here is every n-th call of the seam,
counted from the last one; `FACT_TRIALS_STRIDE=1` runs them all.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fact_trials import LATER, NOW, SCENARIOS, open_project

HERE = Path(__file__).parent
STRIDE = os.environ.get("FACT_TRIALS_STRIDE", "7")
# The fewest calls that a scenario must have: a trial that found nothing to interrupt would prove nothing.
FEWEST = {
    "first store": 20,
    "checkpoint": 4,
    "note": 4,
    "first note": 6,
    "focus": 8,
    "release": 8,
    "clear": 8,
    "compact": 8,
}
USUAL = 14
REWRITING = ["reinforce", "supersede", "archive", "normalize"]


def explore(kind: str, scenario: str, way: str, folder: Path, *more: str, stride: str = STRIDE) -> Any:
    line = [sys.executable, str(HERE / "fact_trials.py"), kind, scenario, way, str(folder), stride, *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "kill", tmp_path)
    assert report["calls"] >= FEWEST.get(scenario, USUAL)
    assert report["points"] >= report["calls"] // int(STRIDE)
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", "supersede", "close", "promote", "first note"])
def test_a_write_that_reached_the_disk_by_half_is_noticed(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "torn", tmp_path, stride="1")
    assert report["points"] >= 2
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", *REWRITING, "focus", "close", "first note", "compact"])
def test_a_disk_that_refuses_any_one_call_gives_an_error_and_the_old_state(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "refuse", tmp_path)
    assert report["points"] >= 2
    assert report["violations"] == []


@pytest.mark.parametrize("way", ["full", "readonly"])
@pytest.mark.parametrize("scenario", ["store", "supersede"])
def test_a_disk_that_is_full_or_read_only_from_any_call_on_loses_nothing(
    scenario: str, way: str, tmp_path: Path
) -> None:
    report = explore("crash", scenario, way, tmp_path, stride="1" if way == "full" else STRIDE)
    assert report["points"] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["store", "supersede", "clear"])
def test_ctrl_c_at_any_call_leaves_all_or_nothing_and_no_traces(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "interrupt", tmp_path)
    assert report["points"] >= 2
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", "supersede", "close", "focus", "first note", "compact"])
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(scenario: str, tmp_path: Path) -> None:
    report = explore("power", scenario, "", tmp_path, stride="1" if STRIDE == "1" else "2")
    assert report["states"] >= 4
    assert report["violations"] == []


@pytest.mark.parametrize(
    ("scenario", "way", "mutant"), [("supersede", "kill", "in place"), ("store", "torn", "no recovery")]
)
def test_the_killer_notices_a_writer_that_is(scenario: str, way: str, mutant: str, tmp_path: Path) -> None:
    assert explore("crash", scenario, way, tmp_path, mutant, stride="1")["violations"]


@pytest.mark.parametrize("mutant", ["no file sync", "no folder sync"])
def test_the_power_cut_notices_a_writer_with(mutant: str, tmp_path: Path) -> None:
    assert explore("power", "reinforce", mutant, tmp_path, stride="1")["violations"]


def test_a_session_that_is_closed_again_keeps_what_its_episode_says(tmp_path: Path) -> None:
    """Whoever was not answered tells it again: by then its checkpoint is gone, and the episode knows more."""
    SCENARIOS["close"].prepare(str(tmp_path))
    told = {"title": "retries", "turns": 4, "narrative": "The queue moved.", "close": True}
    _, (first,) = open_project(str(tmp_path), NOW).memory_session("live", **told)
    assert first.files_changed == ("src/a.py",)
    _, (again,) = open_project(str(tmp_path), LATER).memory_session("live", turns=4, close=True)
    assert (again.id, again.created_at, again.date) == (first.id, first.created_at, first.date)
    assert again.files_changed == first.files_changed
    assert "The queue moved." in again.narrative
    assert again.title == first.title
