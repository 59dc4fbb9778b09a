"""What was proposed, accepted or rejected is so as a whole or not at all, wherever the writer dies."""

from pathlib import Path

import pytest
from crash_inbox import SCENARIOS
from crash_reports import SHOWN_ELSEWHERE, groups, named, power, refused, sites_of, stopped

from promised import proves
from thorough import either

SCRIPT = "crash_inbox.py"


@pytest.mark.proof
@proves("P1.1", "A1", "A2", "A4", over="inbox", found="a proposal accepted again after a death made a second note")
@proves("P2.1", "A1", "A2", "A4", over="inbox", found="an entry could not be accepted again after a death")
@pytest.mark.parametrize("names", groups(either(["propose", "accept a fact", "reject"], SCENARIOS)), ids=named)
def test_a_writer_killed_at_any_call_leaves_each_proposal_settled_or_waiting(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    """What is accepted is a record, and no record is made twice of one proposal. To reject one is to remove it."""
    stopped(SCRIPT, names, tmp_path, most=1, fewest=7)


@proves("P1.3", "C1", "C4", over="inbox")
@pytest.mark.parametrize(
    "names", groups(either(["propose"], ["first propose", "propose", "reject", "lift"])), ids=named
)
def test_a_disk_that_refuses_any_call_gives_an_error_and_loses_nothing(names: tuple[str, ...], tmp_path: Path) -> None:
    refused(SCRIPT, names, tmp_path)


@proves("P1.2", "A7", over="inbox")
@pytest.mark.parametrize("names", groups(either(["reject"], SCENARIOS)), ids=named)
def test_a_power_cut_at_any_system_call_keeps_what_was_acknowledged(names: tuple[str, ...], tmp_path: Path) -> None:
    power(SCRIPT, names, tmp_path)


@pytest.mark.proof
@proves("P1.2", "A7", over="inbox")
def test_without_any_one_sync_or_rename_the_power_cut_is_noticed(tmp_path: Path) -> None:
    noticed, unnoticed = sites_of(SCRIPT, either(["first propose"], ["first propose", "reject", "lift"]), tmp_path, 0)
    assert set(SHOWN_ELSEWHERE["inbox"]) <= noticed
    assert unnoticed == set()
