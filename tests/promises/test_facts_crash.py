"""No fact, pin or note that was acknowledged is lost, and none is left by half, wherever the writer dies.

`fact_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls of the
seam, from the first to the last one; a long run (see `thorough.py`) tries them all.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fact_trials import SCENARIOS
from trials import LATER, NOW, open_project

from thorough import either

HERE = Path(__file__).parent
MOST = either(5, 0)
"""How many calls are tried where a long run tries all of them; 0 stands for those."""
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


def explore(kind: str, scenario: str, way: str, folder: Path, *more: str, most: int = MOST) -> Any:
    line = [sys.executable, str(HERE / "fact_trials.py"), kind, scenario, way, str(folder), str(most), *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "kill", tmp_path)
    assert report["calls"] >= FEWEST.get(scenario, USUAL)
    assert report["points"]["kill"] == min(MOST or report["calls"], report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", "supersede", "close", "promote", "first note"])
def test_a_write_that_reached_the_disk_by_half_is_noticed(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "torn", tmp_path, most=0)
    assert report["points"]["torn"] >= 2
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", *REWRITING, "focus", "close", "first note", "compact"])
def test_a_disk_that_refuses_any_one_call_gives_an_error_and_the_old_state(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "refuse", tmp_path)
    assert report["points"]["refuse"] == min(MOST or report["calls"], report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("way", ["full", "readonly"])
@pytest.mark.parametrize("scenario", ["store", "supersede"])
def test_a_disk_that_is_full_or_read_only_from_any_call_on_loses_nothing(
    scenario: str, way: str, tmp_path: Path
) -> None:
    report = explore("crash", scenario, way, tmp_path, most=0 if way == "full" else MOST)
    assert report["points"][way] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["store", "supersede", "clear"])
def test_ctrl_c_at_any_call_leaves_all_or_nothing_and_no_traces(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "interrupt", tmp_path)
    assert report["points"]["interrupt"] == min(MOST or report["calls"], report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first store", "store", "supersede", "close", "focus", "first note", "compact"])
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(scenario: str, tmp_path: Path) -> None:
    report = explore("power", scenario, "", tmp_path, most=either(12, 0))
    assert report["states"] >= 4
    assert report["violations"] == []


@pytest.mark.parametrize(
    ("scenario", "way", "mutant"), [("supersede", "kill", "in place"), ("store", "torn", "no recovery")]
)
def test_the_killer_notices_a_writer_that_is(scenario: str, way: str, mutant: str, tmp_path: Path) -> None:
    assert explore("crash", scenario, way, tmp_path, mutant, most=0)["violations"]


@pytest.mark.parametrize("mutant", ["no file sync", "no folder sync"])
def test_the_power_cut_notices_a_writer_with(mutant: str, tmp_path: Path) -> None:
    assert explore("power", "reinforce", mutant, tmp_path, most=0)["violations"]


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
