"""Nothing that the journal acknowledged is lost, and nothing in it is doubled, wherever the writer dies.

`journal_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls of the
seam, from the first to the last one, each way to fail at others; a long run (see `thorough.py`) tries them all.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from journal_trials import SCENARIOS

from thorough import either

HERE = Path(__file__).parent
MOST = either(3, 0)
"""How many calls are tried where a long run tries all of them; 0 stands for those."""
# Fewer calls than this, and a trial found nothing to interrupt: it would prove nothing.
FEWEST = 16


def explore(kind: str, scenario: str, way: str, folder: Path, *more: str, most: int = MOST) -> Any:
    line = [sys.executable, str(HERE / "journal_trials.py"), kind, scenario, way, str(folder), str(most), *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(scenario: str, tmp_path: Path) -> None:
    """Before the call, or with half of what it wrote on the disk."""
    report = explore("crash", scenario, "kill,torn", tmp_path)
    assert report["calls"] >= FEWEST
    assert report["points"]["kill"] == (MOST or report["calls"])
    assert report["points"]["torn"] >= 1
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["init anew", "sync grown", "restore", "rebuild", "cycle"])
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(scenario: str, tmp_path: Path) -> None:
    """One call, and Ctrl-C at one; full from a call on, and read-only from a call on."""
    report = explore("crash", scenario, "refuse,full,readonly,interrupt", tmp_path)
    assert report["points"]["refuse"] >= 1
    assert report["points"]["readonly"] >= 1
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["init", "sync", "update", "return"])
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(scenario: str, tmp_path: Path) -> None:
    report = explore("power", scenario, "", tmp_path, most=either(5, 0))
    assert report["states"] >= 4
    assert report["violations"] == []


@pytest.mark.parametrize(("scenario", "mutant"), [("recall", "in place"), ("prune", "no recovery")])
def test_the_killer_notices_a_writer_that_is(scenario: str, mutant: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "kill", tmp_path, mutant, most=12)
    assert report["violations"]


@pytest.mark.parametrize("mutant", ["no file sync", "no folder sync"])
def test_the_power_cut_notices_a_writer_with(mutant: str, tmp_path: Path) -> None:
    report = explore("power", "add", mutant, tmp_path, most=0)
    assert report["violations"]
