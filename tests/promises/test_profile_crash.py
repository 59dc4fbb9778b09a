"""Nothing that the profile acknowledged is lost, and no document is left by half, wherever the writer dies.

`profile_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls, from
the first to the last one; a long run (see `thorough.py`) tries them all.
"""

from pathlib import Path

import pytest
from crash_reports import SHOWN_ELSEWHERE, Job, groups, named, power, refused, sites_of, stopped, tried
from profile_trials import SCENARIOS
from trials import explore

from promised import proves
from thorough import either

SCRIPT = "profile_trials.py"
# By the case that each stands for: something new, changed, removed, begun or brought up to date.
BY_CASE = {
    "A1": ["migrate and remember", "session-start", "session-start at home"],
    "A2": ["update", "restore", "supersede", "reflect", "update at home", "restore at home"],
    "A4": ["forget", "forget at home"],
    "A5": ["first remember", "init", "migrate 1.0", "migrate 1.1"],
    "moved": [
        "private here",
        "private home",
        "shared from here",
        "shared from home",
        "home from here",
        "here from home",
    ],
}
# Between two disks there is one moment that matters, and it must not be passed over.
AT_HOME = ["update at home", "forget at home", "restore at home", "session-start at home"]
REFUSED = ["first remember", "forget", "migrate 1.0", "session-start", "private home"]
CUT = ["first remember", "forget", "migrate 1.0", "update", "private home", "forget at home", "restore"]


@proves("P1.1")
def test_each_scenario_stands_for_a_case() -> None:
    assert sorted(name for names in BY_CASE.values() for name in names) == sorted(SCENARIOS)


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A4", "A5", over="profile")
@proves("P2.1", "A1", "A2", "A4", "A5", over="profile")
@pytest.mark.parametrize("names", groups(name for name in SCENARIOS if name not in AT_HOME), ids=named)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    stopped(SCRIPT, names, tmp_path, most=1, fewest=14)


@pytest.mark.proof
@proves("P1.1", "A2", "A4", over="profile")
@proves("P2.1", "A2", "A4", over="profile")
@pytest.mark.parametrize("names", groups(AT_HOME), ids=named)
def test_a_writer_killed_between_two_disks_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    tried(SCRIPT, [Job(name, "kill", either(6, 0)) for name in names], tmp_path)


@pytest.mark.proof
@proves("P1.3", "C1", "C4", over="profile")
@pytest.mark.parametrize("names", groups(either(REFUSED[:3], REFUSED)), ids=named)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves(
    "P1.2",
    "A6",
    "A7",
    over="profile",
    found="the mode of a file that is replaced was set after it was synced, and could be lost with the power",
)
@proves("P2.1", "A6", over="profile")
@pytest.mark.parametrize("names", groups(either(["forget"], CUT)), ids=named)
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(names: tuple[str, ...], tmp_path: Path) -> None:
    power(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P2.1", "A2", over="profile")
@pytest.mark.parametrize("names", groups(["update", "restore", "shared from here"]), ids=named)
def test_a_document_that_somebody_else_writes_after_the_death_loses_nothing(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    """Other programs know nothing of a change that was recorded and waits for our next command."""
    tried(SCRIPT, [Job(f"{name} / overtaken", "kill", either(6, 0)) for name in names], tmp_path)


@pytest.mark.proof
@proves("P1.2", "A6", over="profile")
def test_without_any_one_sync_or_rename_the_power_cut_is_noticed(tmp_path: Path) -> None:
    noticed, unnoticed = sites_of(SCRIPT, either(["forget"], CUT), tmp_path, most=0)
    assert len(noticed) >= 8
    assert set(SHOWN_ELSEWHERE["profile"]) <= noticed
    assert unnoticed == set()


@pytest.mark.proof
@proves("P2.1", "A6", over="profile")
def test_the_killer_notices_a_writer_that_breaks_the_rules(tmp_path: Path) -> None:
    jobs = [Job("update", "kill", mutant="in place"), Job("forget", "kill", mutant="no recovery")]
    for name, report in explore(SCRIPT, jobs, tmp_path).items():
        assert report["violations"], name
