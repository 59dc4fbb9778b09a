"""The files of a client are as they were or wired, wherever the writer dies; they come back byte for byte."""

from pathlib import Path

import pytest
from crash_reports import groups, named, power, refused, stopped
from crash_wiring import SCENARIOS

from promised import proves
from thorough import either

SCRIPT = "crash_wiring.py"


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A4", over="wiring")
@proves(
    "P2.1",
    "A1",
    "A2",
    "A4",
    over="wiring",
    found="an instruction file without a final newline did not come back exactly after a death between two writes",
)
@pytest.mark.parametrize("names", groups(either(["first integrate", "integrate", "remove"], SCENARIOS)), ids=named)
def test_a_writer_killed_at_any_call_leaves_each_file_old_or_new_and_the_way_back(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    stopped(SCRIPT, names, tmp_path, most=2, fewest=14)


@pytest.mark.proof
@proves("P1.3", "C1", "C4", over="wiring")
@pytest.mark.parametrize("names", groups(either(["integrate"], ["integrate", "remove"])), ids=named)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P1.2", "A7", over="wiring")
@pytest.mark.parametrize("names", groups(either(["integrate"], SCENARIOS)), ids=named)
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(names: tuple[str, ...], tmp_path: Path) -> None:
    power(SCRIPT, names, tmp_path)
