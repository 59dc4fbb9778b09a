"""What facts cost at 1,000, 10,000 and 100,000 of them: storing, recalling, changing, reading the file anew.

The stores take turns within every round, so that a busy machine slows them alike. What counts are ratios: to the
smallest store, or to a bare FTS5 table of the same texts asked in the same moment. Medians of this process's CPU time;
wall time, which holds the disk's part, stands beside it.
"""

from __future__ import annotations

import functools
import gc
import itertools
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import apsw
import msgspec

from benchmarks.stores import vocabulary
from quire.files.world import real_world
from quire.index.open_index import open_index
from quire.index.text_analysis import TOKENIZER
from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import FILE, FOLDER, SECTIONS
from quire.layers.facts.lines import encode_record
from quire.layers.facts.types import Episode, Fact
from quire.model.times import time_text
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.store import Store as StoreFact
from quire.verbs.facts.store import store as store_fact
from quire.verbs.facts.supersede import Supersede, supersede

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 40
CHANGES_EVERY = 2
"""What rewrites the file is done in every second round only."""
WARM_UP = 2
NOW = datetime(2026, 3, 18, 23, tzinfo=UTC)
STORE_MOST, RECALL_MOST = 1.5, 1.0
_WORDS, _EPISODE_WORDS = (15, 40), (60, 100)
_FACTS_PER_EPISODE = 26
_DAYS = 40
_ASKED = 8
_END_BYTES = 64 * 1024
_SOURCES = ("extraction", "lifecycle", "tool-call", "manual")
_RAW_QUERY = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10"
_CHANGES = ("store", "archive", "supersede")
_OPENED = "first open after a foreign change"

Result = TypeVar("Result")

__all__ = ["Store", "Watched", "make_lines", "measure", "run"]


class Seconds(msgspec.Struct, frozen=True):
    cpu: float
    wall: float


class Appended(msgspec.Struct, frozen=True):
    """What one store did to the disk."""

    line: int
    """Bytes that the file has more."""
    written: int | None
    """Bytes that the process wrote anywhere; only Linux says."""
    grown: bool
    """Whether the file is the one it was, with one line more at its end."""


def run() -> dict[str, Any]:
    most = int(os.environ.get("QUIRE_BENCH_LARGEST", str(SIZES[-1])))
    return measure([size for size in SIZES if size <= most], ROUNDS)


def measure(sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        stores = [Store(Path(folder), size) for size in sizes]
        for store in stores:
            for _ in range(max(1, min(5, 20_000 // store.size))):
                store.build_raw()
                store.rebuild()
                store.reopen()
        for store in stores:
            store.note_sizes()
        for number in range(WARM_UP + rounds):
            # What the benchmark itself holds is no garbage: it must not be searched for any in the middle of a round.
            gc.collect()
            gc.freeze()
            for store in stores:
                store.round(number)
        gc.unfreeze()
        return _figures(stores, rounds)


class Store:
    """A project with a file of facts, a bare table of the same texts, and the times of what was done in it."""

    def __init__(self, folder: Path, size: int) -> None:
        self.size = size
        self.root = folder / str(size)
        self.file = self.root / FOLDER / FILE
        self.times: dict[str, list[Seconds]] = {}
        self.appends: list[Appended] = []
        self.bytes: dict[str, int] = {}
        self._env = {"PATH": os.environ["PATH"], "HOME": str(folder), "MEMORY_HOME": str(folder / "home")}
        self.root.mkdir()
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        init_memory(self._project(), guidance=False, layers=("facts",))
        made = list(make_lines(size, str(size)))
        self.file.write_bytes(b"".join(encode_record(line) + b"\n" for line in made))
        facts = [line for line in made if isinstance(line, Fact)]
        self.texts = [fact.content for fact in facts]
        self._left = [(fact.id, fact.content) for fact in facts if fact.is_active]
        random.Random(size).shuffle(self._left)

    def _project(self) -> Project:
        """As one call of an agent has it: nothing is remembered from the call before."""
        world = msgspec.structs.replace(real_world(str(self.root)), env=self._env, now=lambda: NOW)
        return Project(str(self.root), world)

    def _timed(self, name: str, work: Callable[[], Result]) -> Result:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        spent = Seconds(time.process_time() - cpu, time.perf_counter() - wall)
        self.times.setdefault(name, []).append(spent)
        return result

    # -- the index as a whole -----------------------------------------------------------------

    def build_raw(self) -> None:
        """The least that an index of these texts can cost: the file read, every text put into one table."""
        path = self.root / "raw.sqlite"
        path.unlink(missing_ok=True)
        self.raw = self._timed("bare table", lambda: self._raw_table(path))

    def _raw_table(self, path: Path) -> apsw.Connection:
        connection = apsw.Connection(str(path))
        connection.execute(f"CREATE VIRTUAL TABLE raw USING fts5 (body, tokenize = '{TOKENIZER}')")
        held = map(msgspec.json.decode, self.file.read_bytes().splitlines())
        texts = [(line["content"],) for line in held if line["_type"] == "fact"]
        with connection:
            connection.executemany("INSERT INTO raw (body) VALUES (?)", texts)
        return connection

    def rebuild(self) -> None:
        self._timed("rebuild", lambda: rebuild(self._project(), Rebuild()))

    def reopen(self) -> None:
        """Another program added a line: nothing that the index knows of the file can be trusted."""
        line = encode_record(next(make_lines(1, f"foreign {self.size} {len(self.times.get(_OPENED, ()))}")))
        with self.file.open("ab") as file:
            file.write(line + b"\n")
        folder = str(self.root / FOLDER / "index")
        for name in (_OPENED, "open, nothing changed"):
            self._timed(name, functools.partial(open_index, folder, self._project().sources())).close()

    def note_sizes(self) -> None:
        index = sum(path.stat().st_size for path in (self.root / FOLDER / "index").iterdir())
        self.bytes = {"file": self.file.stat().st_size, "index": index}

    # -- one thing at a time ------------------------------------------------------------------

    def round(self, number: int) -> None:
        self._store(number)
        self._recall(number)
        asked, project = self._question(number, "section"), self._project()
        self._timed("recall, one section", lambda: find_facts(project, Recall(query=asked, section="Decisions")))
        asked, project = self._question(number, "context"), self._project()
        self._timed("context", lambda: context(project, ShowContext(prompt=asked)))
        if number % CHANGES_EVERY == 0:
            (gone, _), (old, text) = self._left.pop(), self._left.pop()
            project = self._project()
            self._timed("archive", lambda: archive(project, Archive(fact_ids=gone, reason="measured")))
            project = self._project()
            self._timed(
                "supersede",
                lambda: supersede(project, Supersede(fact_id=old, content=f"{text} Otherwise since {number}.")),
            )

    def _store(self, number: int) -> None:
        new = next(make_lines(1, f"new {self.size} {number}"))
        assert isinstance(new, Fact)
        project, watched, written = self._project(), Watched(self.file), _bytes_written()
        stored = self._timed(
            "store",
            lambda: store_fact(project, StoreFact(section="Decisions", content=new.content, source="tool-call")),
        )
        written = None if written is None else (_bytes_written() or 0) - written
        assert stored.action == "stored"
        self.appends.append(Appended(watched.added(), written, watched.has_one_line_more()))

    def _recall(self, number: int) -> None:
        """Both are asked the same in the same moment, by turns one or the other first."""
        question, project = self._question(number, "recall"), self._project()
        match = " OR ".join(f'"{word}"' for word in question.split())
        turns: list[Callable[[], Any]] = [
            lambda: self._timed("recall", lambda: find_facts(project, Recall(query=question))),
            lambda: self._timed("raw FTS5 OR", lambda: list(self.raw.execute(_RAW_QUERY, (match,)))),
        ]
        for turn in turns if number % 2 else reversed(turns):
            turn()

    def _question(self, number: int, about: str) -> str:
        """Words of a known fact, common ones among them, as people ask."""
        chance = random.Random(f"{about} {self.size} {number}")
        words = chance.choice(self.texts).lower().replace(".", "").split()
        return " ".join(chance.sample(words, _ASKED))


class Watched:
    """A file as it was, to see what a store did to it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        found = file.stat()
        self._size, self._inode = found.st_size, found.st_ino
        self._end = self._last_bytes(found.st_size)

    def added(self) -> int:
        return self._file.stat().st_size - self._size

    def has_one_line_more(self) -> bool:
        """Whether it is the same file, its end as it was, with one line behind it."""
        line = self._last_bytes(self._size + self.added()).splitlines(keepends=True)[-1]
        same = self._file.stat().st_ino == self._inode and self._last_bytes(self._size) == self._end
        return same and len(line) == self.added() and line.endswith(b"\n")

    def _last_bytes(self, end: int) -> bytes:
        with self._file.open("rb") as file:
            file.seek(max(0, end - _END_BYTES))
            return file.read(min(end, _END_BYTES))


def make_lines(number: int, seed: str) -> Iterator[Fact | Episode]:
    """Facts of fifteen to forty words, as unevenly spread as those of prose; one in ten is put away. And episodes."""
    chance = random.Random(seed)
    for at in range(number):
        text = _prose(chance, _WORDS)
        made = time_text(NOW - timedelta(days=chance.random() * _DAYS))
        away = at % 10 == 9
        yield Fact(
            id=f"{chance.getrandbits(48):012x}",
            section=SECTIONS[at % len(SECTIONS)],
            content=text,
            status="archived" if away else "active",
            created_at=made,
            source=chance.choice(_SOURCES),
            content_hash=content_hash(text),
            version=at + 1,
            reinforcement_count=chance.choice((1, 1, 1, 2, 3)),
            archived_at=made if away else None,
        )
        if at % _FACTS_PER_EPISODE == _FACTS_PER_EPISODE - 1:
            name = f"{chance.getrandbits(48):012x}"
            story = _prose(chance, _EPISODE_WORDS)
            yield Episode(id=name, title=story[:60], narrative=story, date=made[:10], created_at=made)


def _prose(chance: random.Random, words: tuple[int, int]) -> str:
    known, weights = _weighed_words()
    return " ".join(chance.choices(known, cum_weights=weights, k=chance.randint(*words))).capitalize() + "."


@functools.cache
def _weighed_words() -> tuple[list[str], list[float]]:
    words = vocabulary()
    return words, list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))


def _bytes_written() -> int | None:
    try:
        counts = Path("/proc/self/io").read_text()
    except OSError:
        return None
    return int(next(line for line in counts.splitlines() if line.startswith("wchar")).split()[1])


# -- figures ----------------------------------------------------------------------------------


def _figures(stores: list[Store], rounds: int) -> dict[str, Any]:
    smallest, largest = stores[0], stores[-1]
    results: dict[str, Any] = {"rounds": rounds}
    for store in stores:
        results[f"{store.size:,} facts"] = _row(store, smallest)
    store_ratio, recall_ratio = _ratio(largest, smallest, "store"), _over(largest, "recall", "raw FTS5 OR")
    results["targets"] = {
        f"store at {largest.size:,} over {smallest.size:,}": _judged(store_ratio, STORE_MOST),
        f"recall over raw FTS5 OR at {largest.size:,}": _judged(recall_ratio, RECALL_MOST),
        "every store appended one line": all(one.grown for store in stores for one in store.appends),
    }
    return results


def _row(store: Store, smallest: Store) -> dict[str, Any]:
    recalls = sorted(_spent(store, "recall"))
    written = [one.written for one in store.appends[WARM_UP:] if one.written is not None]
    return {
        "CPU, ms": {name: round(_median(store, name) * 1000, 2) for name in store.times},
        "wall, ms": {name: round(_median(store, name, "wall") * 1000, 2) for name in store.times},
        "recall p95, CPU, ms": round(recalls[int(len(recalls) * 0.95)] * 1000, 2),
        "over the smallest store": {name: _ratio(store, smallest, name) for name in (*_CHANGES, "recall", "context")},
        "over the smallest store, wall": {name: _ratio(store, smallest, name, "wall") for name in _CHANGES},
        "recall over raw FTS5 OR": _over(store, "recall", "raw FTS5 OR"),
        "rebuild over reading and a bare FTS5 table": _over(store, "rebuild", "bare table"),
        f"{_OPENED}, over a rebuild": _over(store, _OPENED, "rebuild"),
        "bytes": {
            **store.bytes,
            "appended by a store": int(statistics.median(one.line for one in store.appends)),
            "written by a store, index and recovery too": int(statistics.median(written)) if written else None,
        },
        "index over file, bytes": round(store.bytes["index"] / store.bytes["file"], 2),
        "stores that did more than append": sum(not one.grown for one in store.appends),
    }


def _spent(store: Store, name: str, clock: str = "cpu") -> list[float]:
    """The times that count: without the first rounds, where a round is what they were taken in."""
    times = [getattr(spent, clock) for spent in store.times[name]]
    return times[WARM_UP:] if len(times) > 5 else times


def _median(store: Store, name: str, clock: str = "cpu") -> float:
    return statistics.median(_spent(store, name, clock))


def _ratio(store: Store, smallest: Store, name: str, clock: str = "cpu") -> float:
    return round(_median(store, name, clock) / _median(smallest, name, clock), 2)


def _over(store: Store, name: str, baseline: str) -> float:
    return round(_median(store, name) / _median(store, baseline), 2)


def _judged(found: float, most: float) -> dict[str, Any]:
    return {"found": found, "at most": most, "met": found <= most}
