"""Nothing that the journal acknowledged is lost, and nothing in it is doubled, wherever the writer dies.

`journal_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls, from
the first to the last one, each way to fail at others; a long run (see `thorough.py`) tries them all.
"""

from pathlib import Path

import pytest
from crash_reports import Job, groups, named, power, refused, sites_of, stopped
from journal_trials import SCENARIOS
from trials import explore

from promised import proves
from thorough import either

SCRIPT = "journal_trials.py"
# By the case that each stands for: something new, changed, removed, begun.
BY_CASE = {
    "A1": ["add", "sync", "sync grown", "recall", "recall nothing", "recall one section", "cycle"],
    "A2": ["update", "restore", "restore unsaved", "return", "repair", "rebuild"],
    "A4": ["remove", "prune", "expire"],
    "A5": ["init", "init anew"],
}
REFUSED = ["add", "restore", "init anew", "sync grown", "rebuild", "cycle"]
CUT = ["add", "init", "return", "recall", "update", "remove", "restore", "prune", "sync"]


@proves("P1.1")
def test_each_scenario_stands_for_a_case() -> None:
    assert sorted(name for names in BY_CASE.values() for name in names) == sorted(SCENARIOS)


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A4", "A5", over="journal")
@proves("P2.1", "A1", "A2", "A4", "A5", over="journal")
@pytest.mark.parametrize("names", groups(SCENARIOS), ids=named)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    """Before the call, after it, or with half of what it wrote on the disk."""
    stopped(SCRIPT, names, tmp_path, most=1, fewest=16)


@pytest.mark.proof
@proves("P1.3", "C1", "C4", over="journal")
@pytest.mark.parametrize(
    "names",
    groups(either(REFUSED[:2], REFUSED)),
    ids=named,
)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@proves("P1.2", "A6", "A7", over="journal")
@proves("P2.1", "A6", over="journal")
@pytest.mark.parametrize("names", groups(either(["add"], CUT)), ids=named)
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(names: tuple[str, ...], tmp_path: Path) -> None:
    power(SCRIPT, names, tmp_path, most=4)


@pytest.mark.proof
@proves("P1.2", "A6", over="journal")
def test_without_any_one_sync_or_rename_the_power_cut_is_noticed(tmp_path: Path) -> None:
    noticed, unnoticed = sites_of(SCRIPT, either(["add"], ["add", "recall", "remove", "prune"]), tmp_path, most=0)
    assert len(noticed) >= 3
    assert unnoticed == set()


@pytest.mark.proof
@proves("P2.1", "A6", over="journal")
def test_the_killer_notices_a_writer_that_breaks_the_rules(tmp_path: Path) -> None:
    jobs = [Job("add", "kill", mutant="in place"), Job("remove", "kill", mutant="no recovery")]
    for name, report in explore(SCRIPT, jobs, tmp_path).items():
        assert report["violations"], name
