"""What the trials of facts, profile and journal share: a little world, how a writer is failed in it, how that is told.

A trial is a folder that was prepared, what is done in it, and how to judge what is left. It runs as a script. `crash`
takes a scenario, the ways to fail, a folder, how many calls to try (0 for all of them) and perhaps a mutant; `power`
takes what to leave out instead of ways; `work` is one of many writers or readers, and notes what was acknowledged.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import apsw
from crashing import Tree, die_at, interrupt_at, is_concerned, nothing, read_space, refuse_at, spread
from crashing import run as run_apart
from power_loss import Disk, Recorder

from quire.files import World, disk
from quire.project import Project

__all__ = [
    "LATER",
    "NOW",
    "Trial",
    "Worker",
    "apart",
    "calls_of",
    "crash",
    "cut_power",
    "holding",
    "open_project",
    "restore",
    "rows_of",
    "tell",
]

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
LATER = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
CODES = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES)
FOR_GOOD = {"full": errno.ENOSPC, "readonly": errno.EROFS}

Call = tuple[str, str]
Worker = Callable[[str, int, int], Iterator[dict[str, Any]]]
"""What one of many does in a folder: the folder, which one it is, and for which time."""


class Trial(Protocol):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    @property
    def template(self) -> str: ...
    @property
    def space(self) -> str: ...
    def act(self) -> object: ...
    def judge(self, number: int, *, cut: bool = False) -> Iterable[str]:
        """Everything that is wrong after a run that ended at this call; `cut` where the disk forgot, too."""

    def refusal(self, said: str, *, for_good: bool) -> Iterable[str]:
        """What is wrong with how an operation ended that the disk refused a call."""

    def lost(self) -> Iterable[str]:
        """What is wrong for the first reader after a run that was acknowledged."""


# -- the little world in which it happens -------------------------------------------------------------------------


def open_project(space: str, now: datetime = LATER, phase: str = "b") -> Project:
    """A project whose ids are the same in every run: what an unharmed run makes can be compared byte for byte."""
    home, root = os.path.join(space, "home"), os.path.join(space, "harbor")
    env = {"PATH": os.environ["PATH"], "HOME": home, "MEMORY_HOME": f"{home}/registry", "MEMORY_LOCK_TIMEOUT": "5"}
    numbers = iter(range(10**6))

    def token() -> str:
        return f"{phase}{next(numbers):07x}" * 2

    world = World(cwd=root, env=env, now=lambda: now, token=token, sleep=time.sleep, pid=os.getpid())
    return Project.open(root, world)


def restore(trial: Trial) -> None:
    """Everything as it was prepared."""
    shutil.rmtree(trial.space, ignore_errors=True)
    shutil.copytree(trial.template, trial.space, symlinks=True)


def calls_of(trial: Trial) -> list[Call]:
    """The calls that an unharmed run makes. It begins with a copy, too: the index can tell one from the original."""
    restore(trial)
    calls: list[Call] = []
    disk.before = lambda operation, path: calls.append((operation, os.path.relpath(path, trial.space)))
    trial.act()
    disk.before = nothing
    return calls


def rows_of(root: str, queries: dict[str, str]) -> dict[str, list[str]]:
    """What the index answers."""
    connection = apsw.Connection(os.path.join(root, ".memory", "index", "quire.sqlite"))
    try:
        return {name: sorted(map(repr, connection.execute(query))) for name, query in queries.items()}
    finally:
        connection.close()


def apart(found: dict[str, list[str]], fresh: dict[str, list[str]]) -> list[str]:
    """How an index differs from one that is made from nothing."""
    return [
        f"{kind}: {word} {row[:160]}"
        for kind in found
        for word, rows, others in (("too many", found, fresh), ("missing", fresh, found))
        for row in rows[kind]
        if row not in others[kind]
    ]


# -- failing ------------------------------------------------------------------------------------------------------


def crash(trial: Trial, calls: list[Call], ways: str, most: str, mutant: str = "") -> dict[str, Any]:
    """Every call of one scenario, or some of them, failed in each of these ways."""
    violations: list[str] = []
    points: Counter[str] = Counter()
    for turn, way in enumerate(ways.split(",")):
        concerned = [number for number, (operation, _) in enumerate(calls) if is_concerned(way, operation)]
        for number in spread(concerned, int(most), turn):
            restore(trial)
            found = [*fail(trial, way, number), *trial.judge(number)]
            points[way] += 1
            violations += [f"{way} at call {number}, {' '.join(calls[number])}: {text}" for text in found]
            if mutant and violations:
                break
    return {"calls": len(calls), "points": points, "violations": violations}


def fail(trial: Trial, way: str, number: int) -> Iterator[str]:
    """Run the operation and fail it at this call."""
    if way in ("kill", "torn"):
        said = run_apart(trial, die_at(number, torn=way == "torn"))
        if said != "died":
            yield f"it should have died: {said}"
    elif way == "interrupt":
        yield from trial.refusal(run_apart(trial, interrupt_at(number)), for_good=False)
    else:
        assert way in ("refuse", *FOR_GOOD), way
        code = FOR_GOOD.get(way, CODES[number % len(CODES)])
        said = run_apart(trial, refuse_at(number, code, for_good=way in FOR_GOOD))
        yield from trial.refusal(said, for_good=way in FOR_GOOD)


def cut_power(trial: Trial, most: str, mutant: str = "") -> dict[str, Any]:
    """The power fails at every system call, or at some of them, and the disk forgets what was not synced."""
    restore(trial)
    model, recorder = Disk(trial.space), Recorder(mutant)
    disk.os = recorder  # type: ignore[attr-defined]
    trial.act()
    disk.os = os  # type: ignore[attr-defined]
    seen: set[int] = set()
    violations: list[str] = []
    entries = [*recorder.log, None]
    chosen = set(spread(range(len(entries)), int(most)))
    for number, entry in enumerate(entries):
        for tree in model.survivors() if number in chosen else ():
            key = hash((frozenset(tree.items()), entry is None))
            if key in seen:
                continue
            seen.add(key)
            found: list[str] = []
            if entry is None:
                found_again(trial, tree)
                found += trial.lost()
            found_again(trial, tree)
            found += trial.judge(number, cut=True)
            violations += [f"{number} before {entry and entry[:2]}: {text}" for text in found]
            if violations and mutant:
                return {"states": len(seen), "violations": violations}
        if entry:
            model.play(*entry)
    return {"states": len(seen), "violations": violations}


def found_again(trial: Trial, tree: Tree) -> None:
    """The disk as it is found after the power came back."""
    restore(trial)
    for path in [os.path.join(trial.space, name) for name in read_space(trial.space)]:
        if path not in tree:
            os.unlink(path)
    for path, data in tree.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Whoever wrote it is gone, like every other process.
        with open(path.replace(f"/.quire-{os.getpid()}-", "/.quire-99999999-"), "wb") as file:
            file.write(data)


# -- many at once -------------------------------------------------------------------------------------------------


def work(worker: Worker, root: str, number: str, times: str, notes: str) -> None:
    """One of many at work in the same folder; each acknowledgement is noted with the time before and after it."""
    with open(notes, "w", encoding="utf-8") as file:
        for turn in range(int(times)):
            began = time.monotonic()
            for noted in worker(root, int(number), turn):
                file.write(json.dumps({**noted, "turn": turn, "began": began, "at": time.monotonic()}) + "\n")
                file.flush()


def holding() -> None:
    """The next change stops at its first call, the lock held, until a line is read."""

    def before(_operation: str, _path: str) -> None:
        disk.before = nothing
        print("held", flush=True)
        sys.stdin.readline()

    disk.before = before


def tell(kinds: dict[str, Callable[..., dict[str, Any]]], workers: dict[str, Worker]) -> None:
    """Do what the command line asks for; what a trial found is printed as JSON."""
    kind, *words = sys.argv[1:]
    if kind == "work":
        work(workers[words[0]], *words[1:])
    else:
        print(json.dumps(kinds[kind](*words)))
