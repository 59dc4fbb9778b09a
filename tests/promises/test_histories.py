"""Many processes at work on all layers at once: their histories and what they leave have an explanation.

What is wrong is found by an offline judge (`history_checking.py`), which is tried here by writers that lack a guard.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from history_events import OK, PENDING
from history_running import Ran, run

from promised import proves, tally
from thorough import LONG, either

Team = tuple[Path, dict[str, str]]
CREATES = ("make", "store", "remember", "bring", "suggest")


@pytest.fixture
def team(repo: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Team:
    """A project that is still empty, and the surroundings of those who will work in it; the judge's are the same."""
    for name in ("HOME", "MEMORY_HOME"):
        monkeypatch.setenv(name, environment[name])
    return repo, environment


def sound(ran: Ran, processes: int, clause: str, faults: int = 0) -> None:
    assert ran.code == 0, ran.said
    assert ran.wrong == []
    tally(clause, processes=processes, inputs=len(ran.acts), faults=faults)


long_only = pytest.mark.skipif(not LONG, reason="everyday, one run of all kinds stands for it")


@pytest.mark.proof
@proves("P3.1", "B1", over="graph facts profile journal inbox")
@proves("P2.2", "B3", over="graph facts profile journal")
@proves("P4.2", "B4", over="index")
@pytest.mark.parametrize("seed", either([1], list(range(1, 9))))
def test_whatever_many_do_at_once_has_an_order_that_explains_it(team: Team, seed: int) -> None:
    """Verbs of all layers by chance, creators, readers and rebuilds among them; some processes are killed."""
    kill = seed % 3
    ran = run(
        *team, [*["all"] * 8, *["create"] * 4, *["read"] * 2, *["rebuild"] * 2], either(15, 120), seed=seed, kill=kill
    )
    sound(ran, 16, "P3.1", faults=kill)
    assert len({act.verb for act in ran.acts if act.outcome == OK}) > either(30, 38)
    for verb in CREATES:
        assert ran.done(verb) >= 4 * either(3, 24)
        assert not ran.refused(verb) - Counter({PENDING: kill})


@long_only
@proves("P3.1", "B1", over="graph facts profile journal inbox")
def test_what_sixteen_create_at_once_is_all_there_once(team: Team) -> None:
    ran = run(*team, ["create"] * 16, 200)
    sound(ran, 16, "P3.1")
    assert [ran.done(verb) for verb in CREATES] == [16 * 40] * 5


@long_only
@proves("P3.1", "B1", over="graph")
def test_sixteen_times_two_hundred_saves(team: Team) -> None:
    ran = run(*team, ["save"] * 16, 200)
    sound(ran, 16, "P3.1")
    assert ran.done("make") == 3_200


@pytest.mark.proof
@proves("P3.2", "B2", over="graph")
def test_edits_of_what_was_read_are_a_chain_and_who_lost_was_told(team: Team) -> None:
    processes, times = either(8, 16), either(3, 25)
    ran = run(*team, ["edit"] * processes, times)
    sound(ran, processes, "P3.2")
    refused = ran.refused("edit")
    assert set(refused) == {"MemoryConflictDetected"}
    assert ran.done("edit") >= times
    assert ran.done("edit") + refused.total() == processes * times


@long_only
@proves("P2.2", "B3", over="graph facts profile journal")
def test_readers_beside_writers_see_the_old_or_the_new(team: Team) -> None:
    ran = run(*team, ["change", "change", "create", "create", *["read"] * 8], 300)
    sound(ran, 12, "P2.2")


@long_only
@proves("P4.2", "B4", over="index")
def test_a_rebuild_beside_saves_loses_no_row(team: Team) -> None:
    ran = run(*team, ["rebuild"] * 8, 80)
    sound(ran, 8, "P4.2")
    assert ran.done("rebuild") > 30


@pytest.mark.proof
@proves("P3.1")
@pytest.mark.parametrize(
    ("mutant", "role"), [("no lock", "create"), ("no lock, no digests", "create"), ("no comparison", "edit")]
)
def test_a_writer_that_lacks_a_guard_is_found_out(team: Team, mutant: str, role: str) -> None:
    """Without the lock some are refused for no reason, at least; without a further guard something is lost as well."""
    ran = run(*team, [role] * 8, 10, mutant=mutant)
    assert ran.code == 0, ran.said
    assert ran.done("make", "edit") > 0, "who does nothing cannot be found out"
    found = [text for text in ran.wrong if mutant == "no lock" or " ended with " not in text]
    assert found, ran.wrong
    tally("P3.1", processes=8, inputs=len(ran.acts))
