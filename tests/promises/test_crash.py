"""Nothing acknowledged is lost and nothing is left by half, wherever the writer dies or the disk refuses: the graph.

`crashing.py` beside this file does the work, in processes of its own. What runs here are some of the calls, from the
first to the last one; a long run (see `thorough.py`) tries them all.
"""

from pathlib import Path

import pytest
from crash_reports import Job, groups, named, one_of_each, power, refused, sites_of, stopped, tried
from crashing import SCENARIOS
from trials import explore

from promised import proves
from thorough import either

SCRIPT = "crashing.py"
# By the case that each stands for: something new, changed, replaced, removed, begun.
BY_CASE = {
    "A1": ["create"],
    "A2": ["change", "small", "first sync", "sync", "confirm"],
    "A3": ["supersede"],
    "A4": ["delete", "reset", "destroy"],
    "A5": ["init", "repair", "force", "begin anew"],
}

REFUSED = ["init", "create", "sync", "change", "reset"]
CUT = ["create", "small", "change", "supersede", "init", "sync"]


@proves("P1.1")
def test_each_scenario_stands_for_a_case() -> None:
    assert sorted(name for names in BY_CASE.values() for name in names) == sorted(SCENARIOS)


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A3", "A4", "A5", over="graph")
@proves("P2.1", "A1", "A2", "A3", "A4", "A5", over="graph")
@pytest.mark.parametrize("names", groups(one_of_each(BY_CASE)), ids=named)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    """The run after it brings the product map up to date, too, where it has a reason to look at it."""
    stopped(SCRIPT, names, tmp_path, most=1, fewest=8)


@pytest.mark.proof
@proves("P1.3", "C1", "C4", over="graph")
@pytest.mark.parametrize("names", groups(either(["create"], REFUSED)), ids=named)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P1.2", "A6", "A7", over="graph")
@proves("P2.1", "A6", over="graph")
@pytest.mark.parametrize("names", groups(either(["small"], CUT)), ids=named)
def test_a_power_cut_at_any_system_call_leaves_all_or_nothing_and_keeps_what_was_acknowledged(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    power(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P1.2", "A6", over="graph")
def test_without_any_one_sync_or_rename_the_power_cut_is_noticed(tmp_path: Path) -> None:
    names = either(["small"], ["small", "create", "supersede", "sync"])
    noticed, unnoticed = sites_of(SCRIPT, names, tmp_path, most=6)
    assert len(noticed) >= either(2, 8)
    assert unnoticed == set()


@pytest.mark.proof
@proves("P2.1", "A6", over="graph")
def test_the_killer_notices_a_writer_that_breaks_the_rules(tmp_path: Path) -> None:
    mutants = ["in place", "no recovery", "appends again", "appends last"]
    jobs = [Job("small", "kill", mutant=mutant) for mutant in either(mutants[:3:2], mutants)]
    for name, report in explore(SCRIPT, jobs, tmp_path).items():
        assert report["violations"], name


@pytest.mark.proof
@proves("P1.3", "C4", over="graph")
@pytest.mark.parametrize("names", groups(either(["change"], ["init", "create", "change"])), ids=named)
def test_too_few_descriptors_and_files_that_may_not_grow_lose_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    for report in tried(SCRIPT, [Job(name, limits=either(5, 1)) for name in names], tmp_path).values():
        assert report["points"]["limits"] >= either(2, 5)
