"""What a journal costs: importing sessions, asking it, its cold commands at 100 to 10,000 events, one huge transcript.

Everything is set against something done in the same minutes: an import against reading and decoding the same files line
by line, a question against a raw FTS5 OR of the same words over the same texts, a cold command against bare Python.
Medians of CPU time, user and system, with that of the processes that were started; wall time stands beside it.

The cold commands stand beside what the original program was measured at, with stores of the same sizes: one event of
its own, all others imported from sessions of two lines. Its figures are from another, busier machine.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import apsw
import msgspec

from benchmarks.facts_speed import Seconds, _judged
from benchmarks.journal_sessions import grow, make_events, make_sessions, make_short_sessions, make_transcript
from benchmarks.profile_speed import _children, _env, _ms
from quire.capture.signals.extraction import extract
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.read_session import read
from quire.files.world import real_world
from quire.index.open_index import open_index
from quire.index.search import Filter
from quire.index.text_analysis import TOKENIZER, question_words
from quire.layers.journal.events import encode_event
from quire.layers.journal.layout import EVENTS, FOLDER
from quire.layers.journal.store import open_journal
from quire.project import Project
from quire.retrieval.journal.answer import answer_journal
from quire.verbs.ask.answers import answer_question
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.inspect import journal_inspect
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add

SESSIONS, CHANGED, STAGED, SYNC_ROUNDS = 1_000, 10, 100, 3
SIZES = (100, 1_000, 10_000)
COLD_ROUNDS, BARE_ROUNDS, SLOW_SECONDS = 5, 15, 1.5
"""A cold case that has taken longer than this is not run more than three times."""
EVENTS_ASKED, QUESTIONS, ASK_ROUNDS, WARM_UP = 10_000, 40, 3, 4
TRANSCRIPT_BYTES = 300_000_000
RAW_MOST, MEMORY_MOST = 1.0, 150
_RAW = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 8"
_ASKED_WORDS = (2, 6)
_UNKNOWN = "zeppelin quokka marzipan"
_AGENT = "from quire.surfaces.cli import journal_main; import sys; sys.argv[0] = 'agent-memory'; journal_main()"
ORIGINAL: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "help": ((388, 364, 346), (824, 735, 691), 72),
    "query, not answered": ((434, 539, 573), (952, 1_191, 1_423), 101),
    "query, answered": ((499, 475, 545), (1_040, 1_097, 1_341), 101),
    "status, nothing unrecalled": ((412, 381, 426), (874, 778, 813), 107),
    "status, 10 unrecalled": ((374, 351, 440), (793, 718, 875), 107),
    "status, all unrecalled": ((440, 689, 12_051), (833, 1_371, 29_812), 137),
    "validate": ((407, 451, 554), (773, 886, 1_151), 122),
    "recall, nothing to do": ((392, 415, 578), (797, 849, 1_252), 108),
    "recall, 10 unrecalled": ((574, 574, 973), (1_136, 1_400, 2_090), 139),
    "recall, 10 unrecalled, diffs shown": ((620, 480, 914), (1_496, 904, 2_634), 146),
    "recall, all unrecalled": ((564, 687, 12_631), (1_101, 1_607, 30_456), 178),
    "sync, nothing new": ((396, 864, 5_808), (788, 2_243, 13_361), 142),
    "sync, 1 new": ((542, 797, 5_541), (1_147, 1_545, 11_995), 149),
    "sync, 10 new": ((637, 1_008, 5_631), (1_307, 1_902, 11_533), 151),
}
"""Of the original program: CPU and wall, ms, at each size; the most it held at 10,000, MiB. Where it asked a model, a
script gave a fixed answer."""

Result = TypeVar("Result")
Times = dict[str, list[Seconds]]

__all__ = ["run"]


def run() -> dict[str, Any]:
    begin, load = time.perf_counter(), os.getloadavg()
    sync = measure_sync(SESSIONS, SYNC_ROUNDS)
    asked = measure_questions(EVENTS_ASKED, QUESTIONS)
    cold = measure_cold(SIZES)
    huge = measure_transcript(TRANSCRIPT_BYTES)
    over = asked["over a raw FTS5 OR, p50"]
    return {
        "load average before and after": [load, os.getloadavg()],
        "seconds": round(time.perf_counter() - begin),
        "sync": sync,
        "questions": asked,
        "cold": cold,
        "one transcript": huge,
        "targets": {
            "retrieval of journal_query over a raw FTS5 OR": _judged(over["answer_journal, index open"], RAW_MOST),
            "peak memory of a sync of one huge transcript, MiB": _judged(huge["peak memory, MiB"], MEMORY_MOST),
        },
    }


class Ground:
    """A git repository with a journal, and a home folder with the sessions of agents."""

    def __init__(self, base: Path) -> None:
        self.base, self.root, self.home = base, base / "project", base / "home"
        # Whoever is started finds everything compiled from the second time on.
        compiled = {name: value for name, value in _env(str(base.parent)).items() if name.startswith("PYTHON")}
        named = {"PATH": os.environ["PATH"], "HOME": str(self.home), "MEMORY_HOME": str(base / "registry")}
        self.env = {**compiled, **named}
        self.home.mkdir(parents=True)

    def begin(self) -> None:
        """A new repository, where nothing was imported."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        (self.root / "README.md").write_text("# Harbour\n\nBerths, seasons and invoices of a marina.\n")
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        journal_init(self.project(), JournalInit())
        for kind in ("claude", "codex"):
            if (self.home / f".{kind}").exists():
                add(self.project(), JournalAdd(source_type=f"{kind}-local", path=str(self.home / f".{kind}")))

    def project(self) -> Project:
        """As one call of an agent has it: nothing is remembered from the call before."""
        return Project(str(self.root), msgspec.structs.replace(real_world(str(self.root)), env=self.env))


@contextlib.contextmanager
def _ground() -> Iterator[Ground]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        yield Ground(Path(folder) / "ground")


def _timed(times: Times, name: str, work: Callable[[], Result]) -> Result:
    cpu, wall = _cpu(), time.perf_counter()
    result = work()
    times.setdefault(name, []).append(Seconds(_cpu() - cpu, time.perf_counter() - wall))
    return result


def _cpu() -> float:
    """CPU time of this process and of those that it started and that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) + _children()


def _median(found: Iterable[Seconds], clock: str) -> float:
    return statistics.median(one.cpu if clock == "cpu" else one.wall for one in found)


def _rows(times: Times) -> dict[str, Any]:
    return {
        said: {name: _ms(_median(found, clock)) for name, found in times.items()}
        for clock, said in (("cpu", "CPU, ms"), ("wall", "wall, ms"))
    }


# -- importing ----------------------------------------------------------------------------------


def measure_sync(sessions: int, rounds: int) -> dict[str, Any]:
    """Into a new repository each round: everything, nothing, a few new ones, a few that grew."""
    times: Times = {}
    with _ground() as ground:
        files = make_sessions(ground.home, ground.root, sessions, "sync")
        sizes = {path: path.stat().st_size for path in files}
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        grown = files[:: len(files) // CHANGED][:CHANGED]
        for number in range(rounds):
            gc.collect()
            gc.freeze()
            _timed(times, "reading and decoding", functools.partial(_decode, files))
            _timed(times, "looking at every file", functools.partial(_walk, ground.home))
            ground.begin()
            _sync(times, "first", ground, sessions)
            _timed(
                times,
                "index made, by the first question after it",
                lambda: journal_inspect(ground.project(), "bundle:project"),
            )
            _sync(times, "nothing new", ground, 0)
            new = make_sessions(ground.home, ground.root, CHANGED, f"new {number}")
            _timed(times, f"reading and decoding {CHANGED} new", functools.partial(_decode, new))
            _sync(times, f"{CHANGED} new", ground, CHANGED)
            for path in grown:
                grow(path, ground.root, f"grown {number}")
            _sync(times, f"{CHANGED} grown", ground, CHANGED)
            for path in new:
                path.unlink()
            for path in grown:
                os.truncate(path, sizes[path])
        gc.unfreeze()
        _stages(times, ground)
        history = ground.root / FOLDER / EVENTS
        return _sync_figures(times, rounds, sum(sizes.values()), lines, len(files), history.stat().st_size)


def _sync(times: Times, name: str, ground: Ground, imported: int) -> None:
    project = ground.project()
    done = _timed(times, name, lambda: import_sessions(project))
    assert (done.imported, done.failed) == (imported, 0), done


def _decode(files: Sequence[Path]) -> None:
    for path in files:
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)


def _walk(top: Path) -> None:
    for folder, _, names in os.walk(top):
        for name in names:
            os.stat(os.path.join(folder, name))


def _stages(times: Times, ground: Ground) -> None:
    """What an import of a few sessions of Claude Code consists of: each stage with those before it."""
    root, home = str(ground.root), str(ground.home)
    found = list(discover("claude-local", str(ground.home / ".claude"), root=root))[:STAGED]
    own = [Path(session.path) for session in found]

    def turns() -> None:
        for session in found:
            for _ in read(session, root=root, home=home):
                pass

    def signals() -> None:
        for session in found:
            extract(read(session, root=root, home=home), root=root)

    _timed(times, "stage: decoded", functools.partial(_decode, own))
    _timed(times, "stage: turns read, secrets taken out", turns)
    _timed(times, "stage: and signals found", signals)


def _sync_figures(times: Times, rounds: int, size: int, lines: int, sessions: int, history: int) -> dict[str, Any]:
    def over(name: str, baseline: str) -> dict[str, float]:
        return {
            said: round(_median(times[name], clock) / _median(times[baseline], clock), 2)
            for clock, said in (("cpu", "CPU"), ("wall", "wall"))
        }

    decoding = "reading and decoding"
    return {
        "rounds": rounds,
        "sessions": sessions,
        "MB": round(size / 1e6, 1),
        "lines": lines,
        "bytes of the history": history,
        **_rows(times),
        "first, over reading and decoding": over("first", decoding),
        "nothing new, over reading and decoding": over("nothing new", decoding),
        "nothing new, over looking at every file": over("nothing new", "looking at every file"),
        f"{CHANGED} new, over nothing new": over(f"{CHANGED} new", "nothing new"),
        f"{CHANGED} new, over reading and decoding all": over(f"{CHANGED} new", decoding),
        f"{CHANGED} grown, over reading and decoding all": over(f"{CHANGED} grown", decoding),
        "stages over decoding": {
            name: over(name, "stage: decoded")["CPU"] for name in times if name.startswith("stage: ")
        },
    }


# -- asking -------------------------------------------------------------------------------------


def measure_questions(events: int, questions: int) -> dict[str, Any]:
    """Warm, in one process; all ways take turns with every question."""
    with _ground() as ground:
        ground.begin()
        file = ground.root / FOLDER / EVENTS
        with file.open("ab") as history:
            history.writelines(encode_event(event) + b"\n" for event in make_events(events - 1, "asked"))
        built: Times = {}
        _timed(built, "index made", lambda: journal_inspect(ground.project(), "bundle:project"))
        folder = ground.project().index_folder()
        with contextlib.closing(open_index(folder, ground.project().sources())) as index:
            records = index.page(Filter(layers=("journal",)), limit=events + 1_000)
            raw = apsw.Connection(str(ground.base / "raw.sqlite"))
            texts = [(f"{record.title}\n{record.text}",) for record in records]
            _timed(built, "bare table", lambda: _raw_table(raw, texts))
            asked = list(_questions([record.text for record in records if record.kind == "event"], questions))
            ways = _ways(ground, index, raw)
            times = {name: [list[Seconds]() for _ in asked] for name in ways}
            for number in range(WARM_UP):
                for work in ways.values():
                    work(asked[number])
            gc.collect()
            gc.freeze()
            for number in range(ASK_ROUNDS):
                for at, question in enumerate(asked):
                    for name, work in list(ways.items())[:: 1 if number % 2 else -1]:
                        one: Times = {}
                        _timed(one, name, functools.partial(work, question))
                        times[name][at] += one[name]
            gc.unfreeze()
            answered = sum(answer_journal(index, text, now=real_world().now()).sufficient for text in asked)
        return {
            "events": events,
            "questions": questions,
            "answered": answered,
            **_asked_figures(times),
            "index made, over a bare table": round(built["index made"][0].cpu / built["bare table"][0].cpu, 2),
            "where journal_query spends its time": _spent_where(ground, asked),
        }


def _raw_table(raw: apsw.Connection, texts: list[tuple[str]]) -> None:
    raw.execute(f"CREATE VIRTUAL TABLE raw USING fts5 (body, tokenize = '{TOKENIZER}')")
    with raw:
        raw.executemany("INSERT INTO raw (body) VALUES (?)", texts)


def _questions(texts: list[str], number: int) -> Iterator[str]:
    """Two to six words of a known event, common ones among them, as people ask."""
    chance = random.Random("questions")
    for _ in range(number):
        lines = [line.partition(": ")[2] or line for line in chance.choice(texts).split("\n")]
        words = [word for word in " ".join(lines).replace("`", "").split() if word.isalpha()]
        yield " ".join(chance.sample(words, chance.randint(*_ASKED_WORDS)))


def _ways(ground: Ground, index: Any, raw: apsw.Connection) -> dict[str, Callable[[str], Any]]:
    def either(words: Iterable[str]) -> list[Any]:
        return list(raw.execute(_RAW, (" OR ".join(f'"{word}"' for word in words),)))

    now = real_world().now()
    return {
        "Project.journal_query": lambda text: journal_query(ground.project(), JournalQuery(question=text)),
        "Project.query, the journal alone": lambda text: answer_question(ground.project(), text, layers=("journal",)),
        "answer_journal, index open": lambda text: answer_journal(index, text, now=now),
        "reading the journal": lambda _: open_journal(str(ground.root)),
        "opening the index": lambda _: ground.project().with_index(lambda _: None),
        "raw FTS5 OR": lambda text: either(text.split()),
        "raw FTS5 OR, without stop words": lambda text: either(question_words(text) or text.split()),
    }


def _asked_figures(times: dict[str, list[list[Seconds]]]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for clock, said in (("cpu", "CPU"), ("wall", "wall")):
        each = {name: sorted(_median(found, clock) for found in rows) for name, rows in times.items()}
        results[f"{said} p50, ms"] = {name: _ms(statistics.median(found)) for name, found in each.items()}
        results[f"{said} p95, ms"] = {name: _ms(found[int(len(found) * 0.95)]) for name, found in each.items()}
    for point in ("p50", "p95"):
        found = results[f"CPU {point}, ms"]
        for baseline in ("raw FTS5 OR", "raw FTS5 OR, without stop words"):
            over = {name: round(taken / found[baseline], 2) for name, taken in found.items() if name != baseline}
            results[f"over a {baseline}, {point}"] = over
    return results


def _spent_where(ground: Ground, asked: list[str]) -> dict[str, float]:
    """Milliseconds of a question below each of our functions that takes a tenth of it or more; a profiler slows it."""
    import cProfile
    import pstats

    with cProfile.Profile() as profile:
        for question in asked:
            journal_query(ground.project(), JournalQuery(question=question))
    stats: Any = pstats.Stats(profile)
    total = stats.total_tt / len(asked)
    found = {
        f"{Path(file).parent.name}/{Path(file).name}:{name}": taken / len(asked)
        for (file, _, name), (_, _, _, taken, _) in stats.stats.items()
        if "quire" in file or "execute" in name
    }
    return {"all": _ms(total), **{n: _ms(t) for n, t in sorted(found.items(), key=lambda x: -x[1]) if t >= total / 10}}


# -- cold commands --------------------------------------------------------------------------------


class Stage(Ground):
    """A store of some size in three states: everything waits to be recalled, ten events do, nothing does."""

    def __init__(self, base: Path, size: int) -> None:
        super().__init__(base)
        self.size = size
        self.times: Times = {}
        make_short_sessions(self.home, range(size - 1))
        self.begin()
        self.made: Times = {}
        assert _timed(self.made, "import", lambda: import_sessions(self.project())).imported == size - 1
        self._keep("all")
        journal_recall(self.project(), JournalRecall())
        self.command("automate", "run-once")
        assert len(open_journal(str(self.root)).history.events) >= size
        self._keep("none")
        with self._new(10):
            import_sessions(self.project())
        self._keep("ten")

    def _keep(self, state: str) -> None:
        shutil.copytree(self.root, self.base / state, symlinks=True)

    @contextlib.contextmanager
    def _new(self, number: int) -> Iterator[None]:
        fresh = range(self.size, self.size + number)
        make_short_sessions(self.home, fresh)
        yield
        for at in fresh:
            (self.home / ".claude" / "transcripts" / f"s{at:05}.jsonl").unlink()

    def be(self, state: str) -> None:
        """In a state as it was kept. Where questions follow, the index knows the copied files."""
        name, _, asks = state.partition(", ")
        shutil.rmtree(self.root)
        shutil.copytree(self.base / name, self.root, symlinks=True)
        if asks == "asked":
            self.command("query", _UNKNOWN)

    def command(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> None:
        command = [str(Path(sys.executable).with_name("agent-memory")), *arguments]
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode in codes, (command, done.stdout, done.stderr)

    def round(self) -> None:
        before = ""
        for name, (state, new, arguments, codes) in _CASES.items():
            if state != before or new or "--yes" in arguments:
                self.be(state)
            before = state
            self.case(name, new, arguments, codes)

    def case(self, name: str, new: int, arguments: Sequence[str], codes: tuple[int, ...]) -> None:
        """Once, unless it is slow and has had its turns."""
        spent = self.times.get(name, [])
        if len(spent) >= 3 and sum(one.wall for one in spent) > SLOW_SECONDS:
            return
        with self._new(new):
            _timed(self.times, name, lambda: self.command(*arguments, codes=codes))

    def peak(self, arguments: Sequence[str], new: int = 0) -> float | None:
        with self._new(new):
            return _peak_memory(arguments, self.root, self.env)


_CASES: dict[str, tuple[str, int, tuple[str, ...], tuple[int, ...]]] = {
    "help": ("none, asked", 0, ("--help",), (0,)),
    "query, not answered": ("none, asked", 0, ("query", _UNKNOWN), (0,)),
    "query, answered": ("none, asked", 0, ("query", "webhook", "retry", "limit"), (0,)),
    "status, nothing unrecalled": ("none, asked", 0, ("status",), (0,)),
    "validate": ("none, asked", 0, ("validate",), (0, 1)),
    "automate run-once, nothing to do": ("none, asked", 0, ("automate", "run-once"), (0,)),
    "recall, nothing to do": ("none, asked", 0, ("recall",), (0,)),
    "sync, nothing new": ("none, asked", 0, ("sync", "--all"), (0,)),
    "sync, 1 new": ("none", 1, ("sync", "--all"), (0,)),
    "sync, 10 new": ("none", 10, ("sync", "--all"), (0,)),
    "status, 10 unrecalled": ("ten", 0, ("status",), (0,)),
    "recall, 10 unrecalled": ("ten", 0, ("recall", "--yes"), (0,)),
    "recall, 10 unrecalled, diffs shown": ("ten", 0, ("recall", "--yes", "--show-diff"), (0,)),
    "status, all unrecalled": ("all", 0, ("status",), (0,)),
    "query, the first after everything was imported": ("all", 0, ("query", "webhook", "retry", "limit"), (0,)),
    "recall, all unrecalled": ("all", 0, ("recall", "--yes"), (0,)),
}
"""In which state, how many sessions are new, the command, how it may end. What leaves a state as it is stands together;
each of the others gets its state made anew."""


def measure_cold(sizes: Sequence[int]) -> dict[str, Any]:
    """Whole processes: the installed command in the developers' environment, compiled from its second run on."""
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        stages = [Stage(Path(folder) / str(size), size) for size in sizes]
        bare: Times = {}
        for _ in range(BARE_ROUNDS):
            _timed(bare, "python -c pass", lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
        # What is needed by any of them is compiled then.
        stages[0].round()
        stages[0].times.clear()
        for number in range(COLD_ROUNDS):
            for stage in stages[:: 1 if number % 2 else -1]:
                stage.round()
            for _ in range(BARE_ROUNDS):
                _timed(bare, "python -c pass", lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
        return _cold_figures(stages, bare["python -c pass"])


def _cold_figures(stages: list[Stage], bare: list[Seconds]) -> dict[str, Any]:
    results: dict[str, Any] = {
        "rounds": COLD_ROUNDS,
        "python -c pass, ms": {"CPU": _ms(_median(bare, "cpu")), "wall": _ms(_median(bare, "wall"))},
        "about the original's figures": "another machine, with other jobs running: only large ratios mean anything",
    }
    for at, stage in enumerate(stages):
        rows = {}
        for name, found in stage.times.items():
            cpu, wall = _median(found, "cpu"), _median(found, "wall")
            row = {"CPU, ms": _ms(cpu), "wall, ms": _ms(wall)}
            row["CPU, times bare python"] = round(cpu / _median(bare, "cpu"), 2)
            if name in ORIGINAL:
                known_cpu, known_wall, _ = ORIGINAL[name]
                row |= {"original, CPU, ms": known_cpu[at], "original, wall, ms": known_wall[at]}
                row["CPU, over the original"] = round(cpu * 1000 / known_cpu[at], 3)
            rows[name] = row
        taken = stage.made["import"][0]
        results[f"{stage.size:,} events"] = {
            "import of all, in one process, s": {"CPU": round(taken.cpu, 2), "wall": round(taken.wall, 2)},
            **rows,
        }
    results[f"peak memory at {stages[-1].size:,} events, MiB"] = _peaks(stages[-1])
    return results


def _peaks(stage: Stage) -> dict[str, Any]:
    found = {}
    for name, (state, new, arguments, _) in _CASES.items():
        stage.be(state)
        known = {"original": ORIGINAL[name][2]} if name in ORIGINAL else {}
        found[name] = {"found": stage.peak(arguments, new), **known}
    return found


def _peak_memory(arguments: Sequence[str], folder: Path, env: dict[str, str]) -> float | None:
    """The most that the process held at once, as the kernel counts it for the program alone; only Linux says."""
    if not Path("/proc/self/status").exists():
        return None
    code = f"import atexit\natexit.register(lambda: print(open('/proc/self/status').read()))\n{_AGENT}"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("VmHWM")), None)
    assert "Traceback" not in done.stderr, done.stderr
    assert line, done.stdout
    return round(int(line.split()[1]) / 1024, 1)


# -- one huge transcript ----------------------------------------------------------------------------


def measure_transcript(size: int) -> dict[str, Any]:
    with _ground() as ground:
        path = ground.home / "session.jsonl"
        lines = make_transcript(path, ground.root, size)
        ground.begin()
        add(ground.project(), JournalAdd(source_type="claude-local", path=str(path)))
        times: Times = {}
        _timed(times, "reading and decoding", lambda: _decode([path]))
        peak = _timed(times, "sync", lambda: _peak_memory(("sync", "--all"), ground.root, ground.env))
        events = open_journal(str(ground.root)).history.events
        assert [event.kind for event in events][-1] == "imported_session", events
        return {
            "MB": round(path.stat().st_size / 1e6, 1),
            "lines": lines,
            "peak memory, MiB": peak,
            **_rows(times),
            "over reading and decoding": round(times["sync"][0].cpu / times["reading and decoding"][0].cpu, 2),
        }
