"""No fact, pin or note that was acknowledged is lost, and none is left by half, wherever the writer dies.

`fact_trials.py` beside this file does the work in processes of its own. What runs here are some of the calls, from the
first to the last one; a long run (see `thorough.py`) tries them all.
"""

from pathlib import Path

import pytest
from crash_reports import Job, groups, named, one_of_each, power, refused, sites_of, stopped
from fact_trials import SCENARIOS
from trials import LATER, NOW, explore, open_project

from promised import proves
from quire.verbs.facts.session import NoteSession, record_session
from thorough import either

SCRIPT = "fact_trials.py"
# By the case that each stands for: something new, changed, replaced, removed, begun.
BY_CASE = {
    "A1": ["store", "import", "ingest", "checkpoint", "close", "silent", "note", "connect", "compact"],
    "A2": ["reinforce", "restore", "normalize", "focus", "promote"],
    "A3": ["supersede"],
    "A4": ["archive", "release", "clear"],
    "A5": ["first store", "first note"],
}
REFUSED = ["store", "supersede", "focus", "first note", "first store", "normalize", "compact"]
CUT = ["first store", "store", "supersede", "close", "focus", "first note", "compact", "archive", "promote", "clear"]


@proves("P1.1")
def test_each_scenario_stands_for_a_case() -> None:
    assert sorted(name for names in BY_CASE.values() for name in names) == sorted(SCENARIOS)


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A3", "A4", "A5", over="facts")
@proves("P2.1", "A1", "A2", "A3", "A4", "A5", over="facts")
@pytest.mark.parametrize("names", groups(one_of_each(BY_CASE)), ids=named)
def test_a_writer_killed_at_any_call_leaves_all_or_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    stopped(SCRIPT, names, tmp_path, most=1, fewest=4)


@pytest.mark.proof
@proves("P1.3", "C1", "C4", over="facts")
@pytest.mark.parametrize("names", groups(either(REFUSED[:4], REFUSED)), ids=named)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P1.2", "A6", "A7", over="facts")
@proves("P2.1", "A6", over="facts")
@pytest.mark.parametrize("names", groups(either(["store"], CUT)), ids=named)
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(names: tuple[str, ...], tmp_path: Path) -> None:
    power(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves(
    "P1.2",
    "A6",
    over="facts",
    found="a log that had grown when the power failed kept a line of zeros, and what was saved stood behind it",
)
def test_a_log_that_grew_without_its_bytes_is_completed(tmp_path: Path) -> None:
    power(SCRIPT, ["store"], tmp_path, most=0)


@pytest.mark.proof
@proves("P1.2", "A6", over="facts")
def test_without_any_one_sync_or_rename_the_power_cut_is_noticed(tmp_path: Path) -> None:
    noticed, unnoticed = sites_of(SCRIPT, either(["store", "focus"], [*CUT, "ingest"]), tmp_path, most=0)
    assert len(noticed) >= 4
    assert unnoticed == set()


@pytest.mark.proof
@proves("P2.1", "A6", over="facts")
def test_the_killer_notices_a_writer_that_breaks_the_rules(tmp_path: Path) -> None:
    jobs = [
        Job("supersede", "kill", mutant="in place"),
        Job("store", "torn", mutant="no recovery"),
        Job("store", "killed", mutant="appends again"),
    ]
    for name, report in explore(SCRIPT, jobs, tmp_path).items():
        assert report["violations"], name


@proves("P1.1", "A1", over="facts")
def test_a_session_that_is_closed_again_keeps_what_its_episode_says(tmp_path: Path) -> None:
    """Whoever was not answered tells it again: by then its checkpoint is gone, and the episode knows more."""
    SCENARIOS["close"].prepare(str(tmp_path))
    told = {"title": "retries", "turns": 4, "narrative": "The queue moved.", "close": True}
    _, (first,) = record_session(open_project(str(tmp_path), NOW), NoteSession(session_id="live", **told))
    assert first.files_changed == ("src/a.py",)
    _, (again,) = record_session(
        open_project(str(tmp_path), LATER), NoteSession(session_id="live", turns=4, close=True)
    )
    assert (again.id, again.created_at, again.date) == (first.id, first.created_at, first.date)
    assert again.files_changed == first.files_changed
    assert "The queue moved." in again.narrative
    assert again.title == first.title
