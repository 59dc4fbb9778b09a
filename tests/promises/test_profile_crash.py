"""Nothing that the profile acknowledged is lost, and no document is left by half, wherever the writer dies.

`profile_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls of the
seam, from the first to the last one; a long run (see `thorough.py`) tries them all.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from profile_trials import SCENARIOS

from thorough import either

HERE = Path(__file__).parent
MOST = either(5, 0)
"""How many calls are tried where a long run tries all of them; 0 stands for those."""
# Fewer calls than this, and a trial found nothing to interrupt: it would prove nothing.
FEWEST = 14
# Whichever calls are tried, it is one of these that would tell.
AT_HOME = ["update at home", "forget at home", "restore at home", "session-start at home"]


def explore(kind: str, scenario: str, way: str, folder: Path, *more: str, most: int = MOST) -> Any:
    line = [sys.executable, str(HERE / "profile_trials.py"), kind, scenario, way, str(folder), str(most), *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(scenario: str, tmp_path: Path) -> None:
    # Between two disks there is one moment that matters, and it must not be passed over.
    most = either(10, 0) if scenario in AT_HOME else MOST
    report = explore("crash", scenario, "kill", tmp_path, most=most)
    assert report["calls"] >= FEWEST
    assert report["points"]["kill"] == (most or report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first remember", "forget", "migrate and remember", "private here"])
def test_a_write_that_reached_the_disk_by_half_is_noticed(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "torn", tmp_path, most=0)
    assert report["points"]["torn"] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first remember", "forget", "session-start", "migrate 1.0", "private home"])
def test_a_disk_that_refuses_any_one_call_gives_an_error_and_the_old_state(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "refuse", tmp_path)
    assert report["points"]["refuse"] == min(MOST or report["calls"], report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize(("scenario", "way"), [("forget", "full"), ("migrate and remember", "readonly")])
def test_a_disk_that_is_full_or_read_only_from_any_call_on_loses_nothing(
    scenario: str, way: str, tmp_path: Path
) -> None:
    report = explore("crash", scenario, way, tmp_path, most=0 if way == "full" else MOST)
    assert report["points"][way] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["forget", "restore at home"])
def test_ctrl_c_at_any_call_leaves_all_or_nothing_and_no_traces(scenario: str, tmp_path: Path) -> None:
    report = explore("crash", scenario, "interrupt", tmp_path, most=either(6, 0))
    assert report["points"]["interrupt"] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["first remember", "forget", "migrate 1.0"])
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(scenario: str, tmp_path: Path) -> None:
    report = explore("power", scenario, "", tmp_path, most=either(10, 0))
    assert report["states"] >= 4
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["update", "restore", "shared from here"])
def test_a_document_that_somebody_else_writes_after_the_death_loses_nothing(scenario: str, tmp_path: Path) -> None:
    """Other programs know nothing of a change that was recorded and waits for our next command."""
    report = explore("overtake", scenario, "kill", tmp_path, most=either(8, 0))
    assert report["points"]["kill"] >= 6
    assert report["violations"] == []


@pytest.mark.parametrize(("scenario", "mutant"), [("update", "in place"), ("forget", "no recovery")])
def test_the_killer_notices_a_writer_that_is(scenario: str, mutant: str, tmp_path: Path) -> None:
    assert explore("crash", scenario, "kill", tmp_path, mutant, most=0)["violations"]


@pytest.mark.parametrize("mutant", ["no file sync", "no folder sync"])
def test_the_power_cut_notices_a_writer_with(mutant: str, tmp_path: Path) -> None:
    assert explore("power", "first remember", mutant, tmp_path, most=0)["violations"]
