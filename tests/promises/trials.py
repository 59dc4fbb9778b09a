"""One harness for every place: how a prepared folder is put through everything that may happen to a writer.

A trial is a folder that was prepared, what is done in it, and how to judge what is left. The trials of a place are a
script beside this file. It is handed a list of jobs as JSON, each a scenario and what is done to it, and prints a
report of each; so one process explores several scenarios, and what they have in common is prepared once. `work` makes
the script one of many writers or readers, which notes what was acknowledged.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
from crash_faults import (
    CLASSES,
    FOR_GOOD,
    PASSING,
    READING,
    WRITING,
    attach,
    each_way,
    fault_of,
    few_descriptors,
    is_concerned,
    mutate,
    run_apart,
    small_files,
    spread,
)
from crash_space import LATER, NOW, Tree, open_project
from crash_states import state_of
from power_loss import Disk, Entry, Recorder, in_place, put

from quire.files import disk, file_lock

__all__ = [
    "LATER",
    "NOW",
    "Prepared",
    "Report",
    "Trial",
    "Worker",
    "apart",
    "explore",
    "holding",
    "open_project",
    "rows_of",
    "tell",
]

Report = dict[str, Any]
Worker = Callable[[str, int, int], Iterator[dict[str, Any]]]
"""What one of many does in a folder: the folder, which one it is, and for which time."""
MODE = 0o640
"""What every file of a prepared folder is set to: whoever replaces one has to keep it."""


class Prepared(NamedTuple):
    """A folder as a scenario finds it, and the place where it is put for every run."""

    template: str
    space: str

    def restore(self) -> None:
        """Everything as it was prepared."""
        shutil.rmtree(self.space, ignore_errors=True)
        shutil.copytree(self.template, self.space, symlinks=True)


class Trial(Protocol):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    @property
    def prepared(self) -> Prepared: ...
    @property
    def turns(self) -> int:
        """How many commands take turns in looking at what was left, by the number of the call."""

    def act(self) -> object: ...
    def judge(self, number: int, *, cut: bool = False) -> Iterable[str]:
        """Everything that is wrong after a run that ended at this call; `cut` where the disk forgot, too."""

    def refusal(self, said: str, *, for_good: bool) -> Iterable[str]:
        """What is wrong with how an operation ended that the disk refused a call."""

    def lost(self) -> Iterable[str]:
        """What is wrong for the first reader after a run that was acknowledged."""


Begin = Callable[[str, Prepared], Trial]
"""From a scenario's name, and the folder as it is prepared and restored, to its trial: makes an unharmed run."""


class Job(NamedTuple):
    """What a scenario is put through."""

    scenario: str
    ways: str = ""
    """Which ways to fail, with commas between them."""
    most: int = 0
    """How many calls are tried of each way; 0 stands for all of them."""
    power: int = -1
    """At how many calls the power fails; 0 for all, -1 for none."""
    few: int = 3
    """Up to so many effects that were not synced, every selection of them is tried."""
    without: int = -1
    """How many syncs and renames are taken out, each alone; 0 for all, -1 for none."""
    kept: Sequence[str] = ()
    """The lines whose sync is not taken out: what it is for, no power cut can show."""
    mutant: str = ""
    limits: int = 0
    """Too few descriptors, and files that may not grow: every so many of the limits; 0 for none."""
    codes: bool = False
    """Whether each call is refused with a code of every class, and not each with one; the codes of a class take turns.

    The first call of each name is refused with every code.
    """


def explore(script: str, jobs: Iterable[Job], folder: Path, seconds: int = 600) -> dict[str, Report]:
    """Have a script of trials do these jobs in a process of its own; the report of each scenario."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
    line = [sys.executable, path, "explore", json.dumps(list(jobs)), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Report] = json.loads(done.stdout)
    return found


# -- one scenario -------------------------------------------------------------------------------------------------


def try_job(trial: Trial, job: Job) -> Report:
    repair = mutate(job.mutant)
    try:
        report: Report = {"calls": 0, "points": Counter(), "judged": 0, "states": 0, "violations": [], "sites": {}}
        if job.ways:
            crash(trial, job, report)
        if job.limits:
            limit(trial, job.limits, report)
        if job.power >= 0 or job.without >= 0:
            cut_power(trial, job, report)
        return report
    finally:
        repair()


def calls_of(trial: Trial, modules: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The calls that an unharmed run makes in these modules."""
    trial.prepared.restore()
    calls: list[tuple[str, str]] = []

    def note(call: Any) -> Any:
        calls.append((call.name, os.path.relpath(call.path, trial.prepared.space) if call.path else ""))
        return call.do()

    attach(note, modules)
    try:
        trial.act()
    finally:
        attach(None, modules)
    return calls


MODULES: dict[str, tuple[Any, ...]] = {
    "kill": WRITING,
    "killed": WRITING,
    "unread": READING,
    "lock": (file_lock,),
}


def crash(trial: Trial, job: Job, report: Report) -> None:
    """Fail the operation at every call, or at some of them, in these ways; each command judges once what is left."""
    known: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
    judged: dict[tuple[str, int], list[str]] = {}
    for turn, way in each_way(job.ways):
        modules = MODULES.get(way, (disk,))
        calls = known.setdefault(modules, known.get(modules) or calls_of(trial, modules))
        if modules is WRITING or modules == (disk,):
            report["calls"] = len(calls)
        concerned = [number for number, (name, _) in enumerate(calls) if is_concerned(way, name)]
        names: set[str] = set()
        for number in spread(concerned, job.most, turn):
            for code in codes_of(job, way, number, is_first=calls[number][0] not in names):
                trial.prepared.restore()
                said, child = run_apart(trial.act, fault_of(way, number, code), modules)
                report["points"][way] += 1
                found = [*ended(trial, way, said)]
                left = state_of(trial.prepared.space, child), number % trial.turns
                if left not in judged:
                    judged[left] = list(trial.judge(number))
                found += judged[left]
                where = f"{way} {os.strerror(code) if way not in FOR_GOOD else ''} at call {number}"
                report["violations"] += [f"{where}, {' '.join(calls[number])}: {text}" for text in found]
                if job.mutant and found:
                    return
            names.add(calls[number][0])
    report["judged"] = len(judged)


def codes_of(job: Job, way: str, number: int, *, is_first: bool) -> Sequence[int]:
    """With which codes a call is failed in a way that has one; in any other way, with one that nobody sees."""
    classes = (PASSING,) if way == "unread" else CLASSES
    every = [code for codes in classes for code in codes]
    if not job.codes or way not in ("refuse", "unread", "lock"):
        return [every[number % len(every)]]
    return every if is_first else [codes[number % len(codes)] for codes in classes]


def ended(trial: Trial, way: str, said: str) -> Iterator[str]:
    """What is wrong with how an operation ended that was failed in this way."""
    if way in ("kill", "killed", "torn"):
        if said != "died":
            yield f"it should have died: {said}"
        return
    if way == "lock" and said.startswith("untyped"):
        yield f"not an error that a person can act on: {said}"
    elif way in ("unread", "lock"):
        # A file that may be left out may be left out; whatever is said to be done has to be there.
        code, _, rest = said.partition("|")
        if code == "untyped" or (code != "done" and not rest.partition("|")[2]):
            yield f"not an error that a person can act on: {said}"
        elif code == "done":
            yield from trial.refusal(said, for_good=False)
    else:
        yield from trial.refusal(said, for_good=way in FOR_GOOD)
        if way == "full" and said != "done" and "full" not in said and "could not be completed" not in said:
            yield f"it does not say that there is no room: {said}"


def limit(trial: Trial, step: int, report: Report) -> None:
    """The same with too few descriptors and with files that may not grow."""
    limits: list[tuple[Callable[[int], None], int]] = [(few_descriptors, free) for free in range(12)]
    limits += [(small_files, size) for size in (0, 1, 60, 200, 500, 900, 2_000, 5_000, 20_000, 100_000)]
    for limited, value in limits[::step]:
        trial.prepared.restore()

        def act(limited: Callable[[int], None] = limited, value: int = value) -> object:
            limited(value)
            return trial.act()

        said, _ = run_apart(act, None)
        report["points"]["limits"] += said != "done"
        found = [*trial.refusal(said, for_good=False), *trial.judge(value)]
        report["violations"] += [f"{limited.__name__}({value}): {text}" for text in found]


# -- the power fails ----------------------------------------------------------------------------------------------


class Cutter:
    """The power fails at calls of one recorded run; a disk is judged once."""

    def __init__(self, trial: Trial, few: int) -> None:
        self.trial, self.few = trial, few
        trial.prepared.restore()
        self.model = Disk(trial.prepared.space)
        recorder = Recorder()
        attach(recorder, (disk,))
        try:
            trial.act()
        finally:
            attach(None, (disk,))
        self.log = recorder.log
        self.seen: dict[int, list[str]] = {}

    def states(self, model: Disk, number: int, entry: Entry | None) -> Iterator[str]:
        """What is wrong with the disks that may be found if the power fails before this call."""
        for chosen in model.choices(self.few):
            tree, bare = model.tree(chosen)
            key = hash((frozenset(tree.items()), tuple(bare), entry is None))
            if key in self.seen:
                yield from self.seen[key]
                continue
            found = [f"`{os.path.relpath(path, self.trial.prepared.space)}` lost its mode" for path in bare]
            if entry is None:
                self.lay(tree)
                found += self.trial.lost()
            self.lay(tree)
            found += self.trial.judge(number, cut=True)
            self.seen[key] = [f"{number} before {entry and entry[:2]}: {text}" for text in found]
            yield from self.seen[key]

    def lay(self, tree: Tree) -> None:
        self.trial.prepared.restore()
        put(tree, self.trial.prepared.space)

    def play(self, entries: list[Entry], model: Disk, since: int = 0, until: int | None = None) -> Iterator[str]:
        """Play entries from here on, the power failing before each of them and after the last."""
        for number, entry in enumerate([*entries, None][since:until], since):
            yield from self.states(model, number, entry)
            if entry:
                model.play(entry)


def cut_power(trial: Trial, job: Job, report: Report) -> None:
    cutter = Cutter(trial, job.few)
    entries: list[Entry | None] = [*cutter.log, None]
    chosen = set(spread(range(len(entries)), max(job.power, 0)))
    model = cutter.model.copy()
    if job.power >= 0:
        for number, entry in enumerate(entries):
            if number in chosen:
                report["violations"] += cutter.states(model, number, entry)
            if entry:
                model.play(entry)
        report["states"] = len(cutter.seen)
    if job.without >= 0:
        report["sites"] = without_each(cutter, job.without, job.kept)
        report["states"] = len(cutter.seen)


def without_each(cutter: Cutter, most: int, kept: Sequence[str]) -> dict[str, bool]:
    """For each line of ours that syncs or renames, whether a run without it was caught in a violation."""
    sites: dict[str, bool] = {}
    numbers = [number for number, entry in enumerate(cutter.log) if entry.name in ("sync", "rename")]
    for number in spread(numbers, most):
        entry = cutter.log[number]
        site = f"{entry.name}: {entry.site}"
        if sites.get(site) or site in kept:
            continue
        model = cutter.model.copy()
        for earlier in cutter.log[:number]:
            model.play(earlier)
        instead = [] if entry.name == "sync" else in_place(entry, model)
        log = [*cutter.log[:number], *instead, *cutter.log[number + 1 :]]
        until = number + len(instead) if instead else guarded(log, number, entry)
        sites[site] = any(True for _ in cutter.play(log, model, number, until))
    return sites


def guarded(log: list[Entry], number: int, entry: Entry) -> int | None:
    """Until where a sync that is missing could be missed: to the next one of the same thing."""
    for later in range(number, len(log)):
        if log[later].name == "sync" and log[later].path == entry.path:
            return later + 1
    return None


# -- what trials look at ------------------------------------------------------------------------------------------


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
        disk.before = lambda _operation, _path: None
        print("held", flush=True)
        sys.stdin.readline()

    disk.before = before


# -- the command line ---------------------------------------------------------------------------------------------


def tell(begin: Begin, prepares: dict[str, Callable[[str], None]], workers: dict[str, Worker] | None = None) -> None:
    """Do what the command line asks for; what the trials found is printed as JSON."""
    kind, *words = sys.argv[1:]
    if kind == "work":
        work((workers or {})[words[0]], *words[1:])
        return
    jobs, folder = [Job(*fields) for fields in json.loads(words[0])], words[1]
    grounds: dict[Any, Prepared] = {}
    reports: dict[str, Report] = {}
    for job in jobs:
        prepare = prepares[job.scenario.partition(" / ")[0]]
        if prepare not in grounds:
            grounds[prepare] = make_ground(prepare, os.path.join(folder, str(len(grounds))))
        trial = begin(job.scenario, grounds[prepare])
        name = job.scenario if not job.mutant else f"{job.scenario} + {job.mutant}"
        reports[name] = try_job(trial, job)
    print(json.dumps(reports))


def make_ground(prepare: Callable[[str], None], folder: str) -> Prepared:
    """Prepared where it will run, because the registry and the archives speak of paths."""
    template, space = os.path.join(folder, "template"), os.path.join(folder, "space")
    os.makedirs(space)
    prepare(space)
    shutil.move(space, template)
    for place, folders, files in os.walk(template):
        folders[:] = [name for name in folders if name not in (".git", "index")]
        for name in files:
            os.chmod(os.path.join(place, name), MODE)
    return Prepared(template, space)
