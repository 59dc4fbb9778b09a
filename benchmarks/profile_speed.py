"""What a profile costs at 100 and 10,000 entries, what a cold command costs, and what six writers at once cost.

The stores take turns within every round, so that a busy machine slows them alike. What counts are ratios: to the small
store, or to the least that writing such a document can cost, done in the same moment to the same bytes. Medians of this
process's CPU time; wall time, which holds the disk's part, stands beside it, as the median and as the best round.

The least is: read the file, decode the JSON, encode it with two spaces, write it to a new file beside it, fsync,
rename, fsync the folder. "json" does that with the standard library, "msgspec" with the codec that this program uses,
"bytes" leaves out the decoding and the encoding.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchmarks.facts_speed import Seconds, _judged, _prose
from quire.files.world import real_world
from quire.layers.profile.entries import time_text
from quire.layers.profile.layout import CATEGORIES, FILE, FOLDER, RELATIONS, SOURCES, USER, VERSION
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.connections import entry_connections
from quire.verbs.profile.options import EntryName
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.verb import Arguments

SIZES = (100, 10_000)
ROUNDS, WARM_UP = 20, 2
FEW, COLD_ROUNDS = 3, 21
"""Rounds of what takes seconds; of whole processes."""
WRITERS, WRITES = 6, 25
NOW = datetime(2026, 3, 18, 23, tzinfo=UTC)
GROWTH_MOST, BARE_MOST = 1.5, 2.0
EARLIER = "QUIRE_BENCH_EARLIER"
"""Names the `src` folder of an earlier version, whose cold questions are then measured in the same minute."""
_WORDS, _ASKED, _KEYWORDS = (18, 36), 8, 3
_DAYS = 200
_RELATION_SHARES = (4, 10, 1, 75, 10)
_ASKING, _TELLING = ("recall", "search", "search, three keywords", "connections"), ("remember, new", "remember, update")
_BARE = ("bare, json", "bare, msgspec", "bare, bytes")

Result = TypeVar("Result")

__all__ = ["Store", "make_document", "measure", "run"]


def run() -> dict[str, Any]:
    warm = measure(SIZES, ROUNDS)
    return {**warm, "cold": measure_cold(COLD_ROUNDS), "many writers": measure_writers(WRITERS, WRITES)}


def measure(sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        stores = [Store(Path(folder) / str(size), size) for size in sizes]
        alone = [Store(Path(folder) / f"{size} alone", size, has_index=False) for size in sizes]
        for number in range(WARM_UP + rounds):
            # What the benchmark itself holds is no garbage: it must not be searched for any in the middle of a round.
            gc.collect()
            gc.freeze()
            for store in stores[:: 1 if number % 2 else -1]:
                store.round(number)
        for number in range(FEW):
            for store in stores:
                store.after_a_foreign_change(number)
            for store in alone:
                store.ask(number)
                store.tell(number)
        gc.unfreeze()
        return _figures(stores, alone, rounds)


class Store:
    """A project with a profile, and the times of what was done in it."""

    def __init__(self, root: Path, size: int, *, has_index: bool = True) -> None:
        self.size = size
        self.root = root
        self.file = root / FOLDER / FILE
        self.times: dict[str, list[Seconds]] = {}
        self._env = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "MEMORY_HOME": str(root.parent / "home")}
        self._chance = random.Random(size)
        document = make_document(size, str(size))
        self._texts = [held["value"] for entries in document["memories"].values() for held in entries.values()]
        self._keys = list(document["memories"][USER])
        self._tags = _tags(size)
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        if has_index:
            init_memory(self._project(), guidance=False, layers=("profile",))
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        self.bytes = self.file.stat().st_size

    def _project(self) -> Project:
        """As one call of an agent has it: nothing is remembered from the call before."""
        moment = NOW + timedelta(minutes=sum(map(len, self.times.values())))
        world = msgspec.structs.replace(real_world(str(self.root)), env=self._env, now=lambda: moment)
        return Project(str(self.root), world)

    def _timed(self, name: str, work: Callable[[], Result]) -> Result:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        spent = Seconds(time.process_time() - cpu, time.perf_counter() - wall)
        self.times.setdefault(name, []).append(spent)
        return result

    def round(self, number: int) -> None:
        self.ask(number)
        target = self.file.with_name("bare.json")
        for name, encoded in zip(_BARE, (self._by_json, self._by_msgspec, self.file.read_bytes), strict=True):
            self._timed(name, functools.partial(_write_durably, target, encoded))
        self.tell(number)
        project = self._project()
        assert self._timed("session-start", partial(start_session, project, Arguments())).counted

    def ask(self, number: int) -> None:
        key, project = self._chance.choice(self._keys), self._project()
        assert (
            self._timed("recall", lambda: recall_entries(project, RecallEntries(category=USER, key=key))).results[0].key
            == key
        )
        question, project = self._question(_ASKED), self._project()
        assert self._timed("search", lambda: search_entries(project, SearchEntries(query=question))).results
        few, project = self._question(_KEYWORDS, 5), self._project()
        self._timed("search, three keywords", lambda: search_entries(project, SearchEntries(query=few)))
        key, project = self._keys[number % len(self._keys)], self._project()
        assert (
            self._timed("connections", lambda: entry_connections(project, EntryName(category=USER, key=key))).entry.key
            == key
        )

    def tell(self, number: int) -> None:
        told, project = _prose(self._chance, _WORDS), self._project()
        tags = self._chance.sample(self._tags, 3)
        given = RememberEntry(category="tools", key=f"told-{number}", value=told, tags=tags)
        work = lambda: remember_entry(project, given)  # noqa: E731
        assert self._timed("remember, new", work).action == "ADD"
        key, changed, other = self._chance.choice(self._keys), _prose(self._chance, _WORDS), self._project()
        work = lambda: remember_entry(other, RememberEntry(category=USER, key=key, value=changed, importance=6))  # noqa: E731
        assert self._timed("remember, update", work).action == "UPDATE"

    def after_a_foreign_change(self, number: int) -> None:
        """Another program wrote: nothing that the index knows of the document can be trusted."""
        document = json.loads(self.file.read_bytes())
        entry = _entry(random.Random(number), "learnings", [], self._tags)
        document["memories"]["learnings"][f"foreign-{number}"] = entry
        self.file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        project = self._project()
        self._timed(
            "first recall after a foreign change",
            lambda: recall_entries(project, RecallEntries(category=USER, key=self._keys[0])),
        )

    def _question(self, words: int, least: int = 1) -> str:
        """Words of a known entry, as people ask: common ones among them, unless they must have a certain length."""
        known = [
            word for word in self._chance.choice(self._texts).lower().replace(".", "").split() if len(word) >= least
        ]
        return " ".join(self._chance.sample(known, min(words, len(known))))

    def _by_json(self) -> bytes:
        return (json.dumps(json.loads(self.file.read_bytes()), indent=2, ensure_ascii=False) + "\n").encode()

    def _by_msgspec(self) -> bytes:
        held = msgspec.json.decode(self.file.read_bytes())
        return msgspec.json.format(msgspec.json.encode(held), indent=2) + b"\n"


def make_document(number: int, seed: str) -> dict[str, Any]:
    """Entries of about 700 bytes as they are written, over all categories, each with tags and some with links."""
    chance = random.Random(seed)
    memories: dict[str, dict[str, Any]] = {name: {} for name in CATEGORIES}
    tags, names = _tags(number), list[str]()
    for at in range(number):
        category = CATEGORIES[at % len(CATEGORIES)]
        key = f"{'-'.join(_prose(chance, (2, 3)).lower().rstrip('.').split())}-{at}"
        memories[category][key] = _entry(chance, category, names, tags)
        names.append(f"{category}.{key}")
    return {"schema_version": VERSION, "session_count": 40, "memories": memories}


def _entry(chance: random.Random, category: str, names: list[str], tags: list[str]) -> dict[str, Any]:
    made = time_text(NOW - timedelta(days=chance.random() * _DAYS))
    targets = chance.sample(names, min(len(names), chance.choice((0, 1, 1, 2))))
    return {
        "value": _prose(chance, _WORDS),
        "created_at": made,
        "updated_at": made,
        "tags": sorted(chance.sample(tags, 3)),
        "confidence": None if category == USER else round(chance.random(), 2),
        "importance": chance.randint(1, 10),
        "source": {"type": chance.choice(SOURCES), "detail": None},
        "access_count": 0,
        "last_accessed": None,
        "status": "archived" if chance.random() < 0.1 else "active",
        "links": [{"target": name, "relation": chance.choices(RELATIONS, _RELATION_SHARES)[0]} for name in targets],
    }


def _tags(number: int) -> list[str]:
    return [f"tag-{at}" for at in range(max(20, number // 20))]


def _write_durably(path: Path, encoded: Callable[[], bytes]) -> None:
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(encoded())
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


# -- cold commands ----------------------------------------------------------------------------


def measure_cold(rounds: int) -> dict[str, Any]:
    """Whole processes with this interpreter: a recall, and what the layer costs a question that is not for it."""
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        base = Path(folder)
        stores = {size: Store(base / str(size), size) for size in SIZES}
        env = _env(folder)
        memory = [sys.executable, "-c", "from quire.surfaces.cli.main import run; import sys; run(sys.argv[1:])"]
        question = [*memory, "query", "why are webhook retries limited for guests?"]
        plain, beside = _graph_stores(base / "now", env, memory)
        commands: dict[str, tuple[list[str], Path, dict[str, str]]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], base, env),
            "memory query": (question, plain, env),
            "memory query, a profile of 100 entries beside it": (question, beside, env),
        }
        for size, store in stores.items():
            recall = [*memory, "profile", "recall", USER, store._keys[0]]
            commands[f"memory profile recall, {size:,} entries"] = (recall, store.root, env)
        if os.environ.get(EARLIER):
            earlier = {**env, "PYTHONPATH": os.environ[EARLIER]}
            plain, beside = _graph_stores(base / "earlier", earlier, memory)
            commands["memory query, earlier version"] = (question, plain, earlier)
            commands["memory query, earlier version, an .ai-state folder beside it"] = (question, beside, earlier)
        return _alternated(commands, rounds)


def _env(folder: str) -> dict[str, str]:
    """Of processes that find everything compiled from their second run on."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(folder, "compiled")}
    return {**os.environ, **compiled, "HOME": folder, "MEMORY_HOME": os.path.join(folder, "home")}


def _graph_stores(base: Path, env: dict[str, str], memory: list[str]) -> tuple[Path, Path]:
    """Two projects with the same twenty nodes; beside the second one's there is a profile."""
    nodes = [{"kind": "gotcha", "title": f"Trap {at}", "body": _prose(random.Random(at), (40, 80))} for at in range(20)]
    intent = json.dumps({"task": "benchmark", "nodes": nodes}).encode()
    roots = base / "plain", base / "beside"
    for root in roots:
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for command in (["init"], ["save", "--stdin"]):
            subprocess.run([*memory, *command], cwd=root, env=env, input=intent, check=True, capture_output=True)
    (roots[1] / FOLDER).mkdir()
    (roots[1] / FOLDER / FILE).write_text(json.dumps(make_document(100, "beside"), indent=2) + "\n")
    return roots


def _alternated(commands: dict[str, tuple[list[str], Path, dict[str, str]]], rounds: int) -> dict[str, Any]:
    times: dict[str, list[Seconds]] = {name: [] for name in commands}
    for number in range(rounds + WARM_UP):
        # By turns forwards and backwards, so that nobody always comes after the same.
        for name, (command, folder, env) in list(commands.items())[:: 1 if number % 2 else -1]:
            cpu, wall = _children(), time.perf_counter()
            subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
            spent = Seconds(_children() - cpu, time.perf_counter() - wall)
            times[name] += [spent] if number >= WARM_UP else []
    taken = {
        "CPU, median": {name: statistics.median(one.cpu for one in found) for name, found in times.items()},
        "wall, best": {name: min(one.wall for one in found) for name, found in times.items()},
    }
    results: dict[str, Any] = {"rounds": rounds}
    for said, found in taken.items():
        bare = found["python -c pass"]
        results[f"{said}, ms"] = {name: _ms(seconds) for name, seconds in found.items()}
        results[f"{said}, times bare python"] = {name: round(seconds / bare, 2) for name, seconds in found.items()}
    return results


def _children() -> float:
    """CPU time of all processes that were started and have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


# -- many writers -----------------------------------------------------------------------------

_WRITER = """
import sys
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
root, writer, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
for at in range(number):
    project = Project(root, real_world(root))
    said = f"What {writer} learned as number {at} of all."
    given = RememberEntry(category="learnings", key=f"{writer}-{at}", value=said, force=True)
    done = remember_entry(project, given)
    assert done.action == "ADD", done
    recall_entries(project, RecallEntries(category="user", key=sys.argv[4]))
"""


def measure_writers(writers: int, writes: int) -> dict[str, Any]:
    """Processes that remember something and recall one and the same entry by turns; and one that does it all."""
    at_once, one, lost = list[float](), list[float](), Counter[str]()
    for _ in range(FEW):
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
            together, alone = Store(Path(folder) / "together", 100), Store(Path(folder) / "alone", 100)
            for store in (together, alone):
                _written(store, [("first", 1)], _env(folder))
            names = [f"writer-{at}" for at in range(writers)]
            at_once.append(_written(together, [(name, writes) for name in names], _env(folder)))
            one.append(_written(alone, [("writer", writers * writes)], _env(folder)))
            lost.update(_lost(together, [f"{name}-{at}" for name in names for at in range(writes)]))
    return {
        "writers": writers,
        "writes of each": writes,
        "wall, s": [round(taken, 2) for taken in at_once],
        "one writer with as many writes, wall, s": [round(taken, 2) for taken in one],
        "together over alone, best": round(min(at_once) / min(one), 2),
        **lost,
    }


def _written(store: Store, writers: list[tuple[str, int]], env: dict[str, str]) -> float:
    begin = time.perf_counter()
    started = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(store.root), name, str(number), store._keys[0]], env=env)
        for name, number in writers
    ]
    codes = [process.wait() for process in started]
    assert not any(codes), codes
    return time.perf_counter() - begin


def _lost(store: Store, expected: list[str]) -> dict[str, int]:
    """What is not there, of entries and of readings, when those that were noted are counted."""
    start_session(store._project(), Arguments())
    document = json.loads(store.file.read_bytes())["memories"]
    return {
        "entries lost": len(set(expected) - set(document["learnings"])),
        "readings lost": len(expected) + 1 - document[USER][store._keys[0]]["access_count"],
    }


# -- figures ----------------------------------------------------------------------------------


def _figures(stores: list[Store], alone: list[Store], rounds: int) -> dict[str, Any]:
    smallest, largest = stores[0], stores[-1]
    results: dict[str, Any] = {"rounds": rounds}
    for store in stores:
        results[f"{store.size:,} entries"] = _row(store)
    for store in alone:
        results[f"{store.size:,} entries, no index on the disk"] = _row(store)
    grown = {name: _ratio(largest, name, smallest, name) for name in (*_ASKING, *_TELLING, "session-start")}
    results["largest over smallest"] = grown
    results["largest over smallest, best wall"] = {n: _ratio(largest, n, smallest, n, "wall", best=True) for n in grown}
    results["remember at the largest over"] = {
        f"{name}, {said}": {bare: _ratio(largest, name, largest, bare, clock, best=best) for bare in _BARE}
        for name in _TELLING
        for clock, best, said in (("cpu", False, "CPU"), ("wall", False, "wall"), ("wall", True, "best wall"))
    }
    over = {f"{name} over {bare}": _ratio(largest, name, largest, bare) for name in _TELLING for bare in _BARE[:2]}
    results["targets"] = {
        **{f"{name}, largest over smallest": _judged(grown[name], GROWTH_MOST) for name in _ASKING[:3]},
        **{name: _judged(found, BARE_MOST) for name, found in over.items()},
    }
    return results


def _row(store: Store) -> dict[str, Any]:
    return {
        "bytes": store.bytes,
        "bytes of an entry": round(store.bytes / store.size),
        "CPU, ms": {name: _ms(statistics.median(_spent(store, name, "cpu"))) for name in store.times},
        "wall, ms": {name: _ms(statistics.median(_spent(store, name, "wall"))) for name in store.times},
        "wall, ms, best": {name: _ms(min(_spent(store, name, "wall"))) for name in store.times},
    }


def _spent(store: Store, name: str, clock: str) -> list[float]:
    """The times that count: without the first rounds, where a round is what they were taken in."""
    times = [getattr(spent, clock) for spent in store.times[name]]
    return times[WARM_UP:] if len(times) > FEW else times


def _ratio(store: Store, name: str, other: Store, baseline: str, clock: str = "cpu", *, best: bool = False) -> float:
    taken = min if best else statistics.median
    return round(taken(_spent(store, name, clock)) / taken(_spent(other, baseline, clock)), 2)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
