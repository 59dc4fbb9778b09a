"""What tests ask of the trials: some calls of many scenarios on an ordinary day, all of them in a long run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trials import Job, Report, explore

from promised import tally
from thorough import either

__all__ = ["REFUSALS", "SHOWN_ELSEWHERE", "Job", "groups", "named", "power", "refused", "sites_of", "stopped", "tried"]

REFUSALS = "refuse,half,full,readonly,interrupt,unread,lock"
REDUNDANT = {
    "sync: access._moved 2": (
        "It makes lines last that were added earlier without waiting for the disk; a trial begins with a disk on which "
        "everything lasts."
    ),
    "sync: local_files.remove_local 2": (
        "What it removes does no harm when it is back: pages that are due are written again, and a session that is "
        "closed once more keeps what its episode says."
    ),
    "sync: transaction._sweep 1": (
        "What it keeps from coming back is a decision that was carried out. To carry it out again does no harm, unless "
        "a later change that is no transaction brought the same bytes back to a place that was to be emptied."
    ),
}
"""Syncs whose lack no power cut can show here, and why they stay."""
SHOWN_ELSEWHERE = {
    "profile": (
        "sync: transaction._apply 1",
        "rename: transaction._apply 2",
        "sync: transaction._apply 3",
        "sync: transaction._apply 4",
        "sync: transaction._finish 2",
    ),
    "inbox": (
        "sync: durable_write.ensure_folder 1",
        "rename: durable_write.write_file 1",
        "sync: durable_write.write_file 2",
    ),
}
"""Lines that every place uses, and where a test shows that they are needed: not every change can tell."""
WITHOUT_LOCK = ("compact",)
"""What writes only files of its own."""
SECONDS = either(300, 7_200)
CLAUSES = {"kill": "P1.1", "killed": "P1.1", "torn": "P2.1", "interrupt": "P1.4"}


def groups(names: Iterable[str]) -> list[tuple[str, ...]]:
    """All of them in one process, where only some calls are tried; else each in one of its own."""
    return either([tuple(names)], [(name,) for name in names])


def one_of_each(by_case: Mapping[str, Sequence[str]]) -> list[str]:
    """The first scenario of each case; all of them in a long run."""
    return [name for names in by_case.values() for name in either(names[:1], names)]


def named(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else "all"


def tried(script: str, jobs: Sequence[Job], folder: Path, clause: str = "P1.2") -> dict[str, Report]:
    """Do these jobs, count what was done, and hold the trials to it that nothing was wrong."""
    reports = explore(script, jobs, folder, SECONDS)
    for report in reports.values():
        points: Counter[str] = Counter(report["points"])
        for way, number in points.items():
            tally(CLAUSES.get(way, "P1.3"), faults=number, processes=number)
        if report["states"]:
            tally(clause, states=report["states"])
    wrong = [f"{name}: {text}" for name, report in reports.items() for text in report["violations"]]
    assert not wrong, "\n".join(wrong[:20])
    return reports


def stopped(script: str, names: Sequence[str], folder: Path, most: int, fewest: int) -> None:
    """A writer is killed before a call, after one, and in the middle of a write."""
    reports = tried(script, [Job(name, "kill,killed,torn", either(most, 0)) for name in names], folder)
    for name in names:
        # A trial that found nothing to interrupt would prove nothing.
        assert reports[name]["calls"] >= fewest, name
        assert reports[name]["points"]["kill"] >= min(most, fewest), name
        assert reports[name]["points"]["killed"] >= min(most, fewest), name


def refused(script: str, names: Sequence[str], folder: Path, most: int = 1, ways: str = REFUSALS) -> None:
    """The disk refuses a call once or from then on, or Ctrl-C comes.

    In a long run each call is refused with a code of every class (see `CLASSES`), the codes of a class by turns, and
    the first call of each name with every code.
    """
    jobs = [Job(name, ways, either(most, 0), codes=either(False, True)) for name in names]
    for name, report in tried(script, jobs, folder).items():
        tried_ways = [way for way in ways.split(",") if way != "lock" or name not in WITHOUT_LOCK]
        assert all(report["points"].get(way, 0) >= 1 for way in tried_ways), (name, report["points"])


def power(script: str, names: Sequence[str], folder: Path, most: int = 6) -> None:
    """The power fails, and the disk forgets what was not synced."""
    jobs = [Job(name, power=either(most, 0), few=either(3, 6)) for name in names]
    for name, report in tried(script, jobs, folder).items():
        assert report["states"] >= 4, name


def sites_of(script: str, names: Sequence[str], folder: Path, most: int) -> tuple[set[str], set[str]]:
    """The lines of ours that sync or rename: those whose lack was noticed, and those whose lack nobody can explain."""
    jobs = [Job(name, power=0, without=either(most, 0), kept=tuple(REDUNDANT)) for name in names]
    reports = tried(script, jobs, folder)
    noticed = {site for report in reports.values() for site, caught in report["sites"].items() if caught}
    shown = {site for sites in SHOWN_ELSEWHERE.values() for site in sites}
    return noticed, {site for report in reports.values() for site in report["sites"]} - noticed - shown
