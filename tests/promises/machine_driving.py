"""Drives the machine: steps from a seed, cut down when they fail, told as a script."""

from __future__ import annotations

import time
from random import Random

import machine_acts
import machine_git
import machine_hazards
import machine_inbox
import machine_others
import machine_surroundings
from machine_reading import READS
from machine_records import RULES
from machine_run import Disagreement, Run, Step
from machine_seeing import compare_index

__all__ = ["Failure", "drive", "fail", "plan", "shrink", "story"]

_PARTS = (machine_acts, machine_git, machine_hazards, machine_inbox, machine_others, machine_surroundings)
"""Their rules are known once they are imported."""
COMPARE = 6
"""Every so many steps the index is held against a fresh one."""


class Failure(Exception):
    """Why a run failed, and what had been done by then."""

    def __init__(self, error: BaseException, run: Run) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error
        self.script = list(run.script)


def plan(seed: int, steps: int) -> list[Step]:
    draw = Random(seed)
    names = sorted(RULES)
    weights = [RULES[name][1] for name in names]
    return [(name, draw.randrange(10**9)) for name in draw.choices(names, weights, k=steps)]


def drive(steps: list[Step], *, guided: bool = False, faults: bool = True) -> Run:
    """Do these steps; what was counted. A failure carries the script."""
    run = Run(guided=guided, faults=faults)
    try:
        for number, (name, seed) in enumerate(steps):
            draw = Random(seed)
            deed = RULES[name][0](run, draw)
            if deed is None:
                continue
            run.perform(deed, draw)
            ask(run, draw)
            if number % COMPARE == COMPARE - 1 or number == len(steps) - 1:
                hold_against_fresh(run)
        return run
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Failure(error, run) from error
    finally:
        run.close()


def hold_against_fresh(run: Run) -> None:
    wrong = compare_index(run)
    run.compared += 1
    if wrong:
        raise Disagreement("\n".join(["the index is not that of the files:", *wrong]))


def ask(run: Run, draw: Random) -> None:
    """Two questions, of whatever kind."""
    for name in draw.sample(sorted(READS), 2):
        tree = run.tree()
        try:
            READS[name](run, run.project(draw.randrange(4)), draw)
        except BaseException:
            run.script.append(f"project.{name}(…)")
            raise
        run.compare_trees(tree, (), set(), name)


def fail(steps: list[Step], *, guided: bool = False, faults: bool = True) -> Failure | None:
    try:
        drive(steps, guided=guided, faults=faults)
    except Failure as failure:
        return failure
    return None


def shrink(
    steps: list[Step], failure: Failure, *, guided: bool = False, faults: bool = True, seconds: float = 120.0
) -> tuple[list[Step], Failure]:
    """Leave out what is not needed for the run to fail in the same way."""
    end = time.monotonic() + seconds
    size = max(1, len(steps) // 2)
    while size and time.monotonic() < end:
        place = 0
        while place < len(steps) and time.monotonic() < end:
            fewer = steps[:place] + steps[place + size :]
            found = fail(fewer, guided=guided, faults=faults)
            if found is not None and type(found.error) is type(failure.error):
                steps, failure = fewer, found
            else:
                place += size
        size //= 2
    return steps, failure


def story(failure: Failure) -> str:
    """What a person needs who wants to see it happen: the calls, and what is wrong after the last."""
    lines = ["project = Project.open(…); project.init(layers=('facts', 'profile', 'journal'))", *failure.script]
    return "\n".join([*lines, "", str(failure)])
