"""Nothing acknowledged is lost and nothing is left by half, wherever the writer dies or the disk refuses.

`crashing.py` and `power_loss.py` beside this file do the work, each in a process of its own. What runs here are some
of the calls, from the first to the last one; a long run (see `thorough.py`) tries them all.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from thorough import either

HERE = Path(__file__).parent
# The fewest points that a scenario must have: a test that found nothing to interrupt would prove nothing.
FEWEST = {"init": 60, "create": 30, "change": 50, "repair": 20, "reset": 35, "destroy": 30, "force": 20, "small": 25}


MOST = either(16, 0)
"""How many calls are tried where a long run tries all of them; 0 stands for those."""


def explore(script: str, *arguments: str, folder: Path, most: int = MOST) -> Any:
    line = [sys.executable, str(HERE / script), *arguments[:2], str(folder), str(most), *arguments[2:]]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", ["init", "create", "change", "repair", "reset", "destroy", "force"])
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(scenario: str, tmp_path: Path) -> None:
    report = explore("crashing.py", scenario, "kill", folder=tmp_path)
    assert report["calls"] >= FEWEST[scenario]
    assert report["points"] == (MOST or report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["init", "create", "change", "reset"])
def test_a_write_that_reached_the_disk_by_half_is_noticed(scenario: str, tmp_path: Path) -> None:
    report = explore("crashing.py", scenario, "torn", folder=tmp_path)
    assert report["points"] >= 3
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["init", "create", "change", "repair", "reset", "destroy"])
def test_a_disk_that_refuses_any_one_call_gives_an_error_and_the_old_state(scenario: str, tmp_path: Path) -> None:
    report = explore("crashing.py", scenario, "refuse", folder=tmp_path)
    assert report["calls"] >= FEWEST[scenario]
    assert report["points"] == (MOST or report["calls"])
    assert report["violations"] == []


@pytest.mark.parametrize("way", ["full", "readonly"])
@pytest.mark.parametrize("scenario", ["init", "change"])
def test_a_disk_that_is_full_or_read_only_from_any_call_on_loses_nothing(
    scenario: str, way: str, tmp_path: Path
) -> None:
    report = explore("crashing.py", scenario, way, folder=tmp_path)
    assert report["points"] >= 10
    assert report["violations"] == []


@pytest.mark.parametrize("scenario", ["create", "reset"])
def test_ctrl_c_at_any_call_leaves_all_or_nothing_and_no_traces(scenario: str, tmp_path: Path) -> None:
    report = explore("crashing.py", scenario, "interrupt", folder=tmp_path)
    assert report["calls"] >= FEWEST[scenario]
    assert report["points"] == (MOST or report["calls"])
    assert report["violations"] == []


def test_a_memory_begun_after_a_killed_reset_is_the_old_one_or_a_new_one(tmp_path: Path) -> None:
    report = explore("crashing.py", "begin anew", "kill", folder=tmp_path)
    assert report["calls"] >= FEWEST["reset"]
    assert report["points"] == (MOST or report["calls"])
    assert report["violations"] == []


def test_the_run_after_a_crash_brings_the_product_map_up_to_date_too(tmp_path: Path) -> None:
    assert explore("crashing.py", "small", "kill", folder=tmp_path)["stale_maps"] == []


@pytest.mark.parametrize("scenario", ["create", "small"])
def test_a_power_cut_at_any_system_call_leaves_all_or_nothing_and_keeps_what_was_acknowledged(
    scenario: str, tmp_path: Path
) -> None:
    report = explore("power_loss.py", scenario, "", folder=tmp_path)
    assert report["states"] >= either(20, 30)
    assert report["violations"] == []


@pytest.mark.parametrize("mutant", ["in place", "no recovery", "events last"])
def test_the_killer_notices_a_writer_without(mutant: str, tmp_path: Path) -> None:
    assert explore("crashing.py", "small", "kill", mutant, folder=tmp_path)["violations"]


@pytest.mark.parametrize("mutant", ["no file sync", "no folder sync"])
def test_the_power_cut_notices_a_writer_with(mutant: str, tmp_path: Path) -> None:
    assert explore("power_loss.py", "small", mutant, folder=tmp_path)["violations"]


@pytest.mark.skipif(not os.path.exists("/proc/self/syscall"), reason="needs a look at what a process waits for")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_the_command_and_blocks_nobody(memory: Any, sent: signal.Signals, code: int) -> None:
    memory.init()
    # Whoever runs the tests in the background has them ignore Ctrl-C, and that is inherited.
    with memory.start("save", "--stdin", preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL)) as process:
        waiting_for_input(process.pid)
        process.send_signal(sent)
        assert process.wait(10) == code
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
    began = time.monotonic()
    memory.save({"kind": "feature", "title": "Next", "body": "Not blocked."})
    assert time.monotonic() - began < 2


def waiting_for_input(pid: int) -> None:
    """Until the process reads from its standard input."""
    read = (os.uname().machine == "x86_64" and "0 0x0 ") or ("63 0x0 ")
    for _ in range(500):
        if Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").startswith(read):
            return
        time.sleep(0.02)
    pytest.fail("the command never asked for its input")
