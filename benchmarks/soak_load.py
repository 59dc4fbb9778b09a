"""What a large memory costs: every command as a process of its own, the server, the page, beside a tenth of it.

Each figure stands beside one of the same minutes: bare Python, a bare look at every file, a plain FTS5 table of the
same texts, and the same command in a project of a tenth of the size. Both projects take turns. Processor time is that
of the process and of all that it waited for; memory is the most that the process itself held, as the kernel counts it.

Where times must decide nothing, the calls that a command makes in Python are counted in their place: they are the same
on every machine.
"""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks.soak_ground import SHARES, Place, make_place, write_session
from benchmarks.soak_ledger import middle, p95
from benchmarks.soak_page import Page
from benchmarks.soak_servers import Pipe
from quire.index.text_analysis import TOKENIZER
from quire.verbs.ask.answers import answer_question

TENTH = 10
ROUNDS = 3
_ONCE = ("rebuild", "check", "doctor")
"""What takes long at this size is run in one round only."""
QUESTIONS = 40
MEMORY_MOST = 300.0
"""MB that no process may hold more of."""
LINEAR_MOST, SMALL_MOST = 1.6, 1.5
"""What looks at everything may cost so many times ten of the tenth; what does not, so many times the tenth."""
_RAW_QUERY = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10"
_RUN = """
import json, os, resource, sys
from quire.surfaces.cli.main import run
from quire.verbs.ask.answers import answer_question
code = 0
try:
    code = run(sys.argv[2:])
except SystemExit as left:
    code = left.code
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
told = {"cpu": sum(one.ru_utime + one.ru_stime for one in used), "mb": int(held) / 1024, "code": code or 0}
told["calls"] = globals().get("calls", 0)
open(sys.argv[1], "w").write(json.dumps(told))
"""
_COUNTED = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(count)
"""
_SCREENS = ("today", "records?limit=100", "search?q=QUESTION", "graph", "timeline", "health/anchors")

__all__ = ["Cost", "measure_load", "run_command"]


class Cost(msgspec.Struct, frozen=True):
    """What one run took: seconds on the clock and of the processor, MB at most, and calls where they were counted."""

    wall: float
    cpu: float
    mb: float
    calls: int = 0


Costs = dict[str, list[Cost]]


def measure_load(place: Place, records: int, say: Callable[[str], None], *, counted: bool = False) -> dict[str, Any]:
    """All figures, and what is out of bounds; by calls where they are `counted`, in one round, else by time."""
    rounds = 1 if counted else ROUNDS
    tenth = make_place(place.base / "tenth", records // TENTH)
    questions = _questions(place)
    costs: dict[str, Costs] = {"large": {}, "tenth": {}}
    bare: list[Cost] = []
    for turn in range(rounds + 1):
        if turn == 1:  # the first turn brings files into memory and compiles what is not compiled yet
            bare, costs = [], {"large": {}, "tenth": {}}
        bare.append(_bare())
        for name, where in (("tenth", tenth), ("large", place)):
            for what, (arguments, given) in _commands(where, questions, turn).items():
                if what not in _ONCE or turn == 1:
                    costs[name].setdefault(what, []).append(run_command(where, arguments, given, counted=counted))
        say(f"the commands, round {turn} of {rounds}")
    rows = {what: _row(what, costs, bare) for what in costs["large"]}
    index = _index(place, questions)
    say("a bare table of the same texts")
    servers = {name: _server(where, questions) for name, where in (("tenth", tenth), ("large", place))}
    pages = {name: _page(where, questions) for name, where in (("tenth", tenth), ("large", place))}
    say("the server and the page")
    return {
        "records": {layer: int(records * share) for layer, share in SHARES.items()},
        "rounds": rounds,
        "bare Python, ms": _ms(middle([one.wall for one in bare])),
        "commands": rows,
        "beside a bare table and a bare look": index,
        "server, query_memory": servers,
        "page": pages,
        "load average": [round(one, 2) for one in os.getloadavg()],
        "out of bounds": [*_too_much(rows, "calls" if counted else "processor"), *_too_large(servers, pages)],
    }


# -- commands -------------------------------------------------------------------------------------

_SMALL = ("save",)
"""What touches nothing but its own files; all others look at every file's time at least, and some read every file."""


def _commands(place: Place, questions: Sequence[str], turn: int) -> dict[str, tuple[list[str], Any]]:
    word = f"Lighthouse {turn}"
    node = {"kind": "gotcha", "title": word, "body": "It turns to the left."}
    asked = questions[turn % len(questions)]
    folder = place.agent / "transcripts"
    write_session(folder, place.root, f"load{turn}", ("Paint the mole.", "DECISION: Paint the mole in src/part1.py."))
    return {
        "rebuild": (["rebuild"], None),
        "query": (["query", asked], None),
        "facts recall": (["facts", "recall", asked], None),
        "profile search": (["profile", "search", asked], None),
        "journal query": (["journal", "query", asked], None),
        "status": (["status"], None),
        "sync": (["sync"], None),
        "check": (["check"], None),
        "doctor": (["doctor"], None),
        "save": (["save", "--stdin"], {"task": "load", "nodes": [node]}),
        "facts store": (["facts", "store", "Specs", f"{word} burns gas."], None),
        "profile remember": (["profile", "remember", "tools", f"lamp-{turn}", f"{word} burns oil.", "--force"], None),
        "journal sync": (["journal", "sync", "agent"], None),
    }


def run_command(place: Place, arguments: Sequence[str], given: Any = None, *, counted: bool = False) -> Cost:
    """One command in a fresh process, and what it took."""
    told = place.base / "told.json"
    data = b"" if given is None else json.dumps(given).encode()
    line = [sys.executable, "-c", (_COUNTED if counted else "") + _RUN, str(told), *arguments, "--json"]
    begin = time.perf_counter()
    done = subprocess.run(line, cwd=place.root, env=place.env, input=data, capture_output=True, check=False)
    wall = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr[-600:]!r}")
    found = json.loads(told.read_bytes())
    if found["code"] not in (0, 1) or not done.stdout.startswith(b"{"):
        raise RuntimeError(f"{arguments}: {done.stdout[:600]!r}")
    return Cost(wall, found["cpu"], found["mb"], found["calls"])


def _bare() -> Cost:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return Cost(time.perf_counter() - begin, 0.0, 0.0)


def _row(what: str, costs: dict[str, Costs], bare: Sequence[Cost]) -> dict[str, Any]:
    large, tenth = (
        [middle([getattr(one, by) for one in costs[name][what]]) for by in ("wall", "cpu", "mb", "calls")]
        for name in costs
    )
    counted = {"calls": large[3], "calls, over a tenth": round(large[3] / tenth[3], 2)} if tenth[3] else {}
    return {
        **counted,
        "wall, ms": _ms(large[0]),
        "processor, ms": _ms(large[1]),
        "MB at most": round(large[2], 1),
        "a tenth: wall, ms": _ms(tenth[0]),
        "a tenth: processor, ms": _ms(tenth[1]),
        "a tenth: MB at most": round(tenth[2], 1),
        "processor, over a tenth": round(large[1] / tenth[1], 2),
        "wall, times bare Python": round(large[0] / middle([one.wall for one in bare]), 1),
    }


def _too_much(rows: dict[str, dict[str, Any]], by: str) -> list[str]:
    found = []
    for what, row in rows.items():
        if row["MB at most"] > MEMORY_MOST:
            found.append(f"`memory {what}` holds {row['MB at most']} MB")
        most = SMALL_MOST if what in _SMALL else LINEAR_MOST * TENTH
        times = row[f"{by}, over a tenth"]
        if times > most:
            found.append(f"`memory {what}` takes {times} times the {by} that a tenth takes")
    return found


# -- beside what can be done at least -------------------------------------------------------------


def _questions(place: Place) -> list[str]:
    """Six words of a known node each, common ones among them, as people ask."""
    chance = random.Random(7)
    names = sorted(os.listdir(place.root / ".memory/memory"))
    bodies = [name for name in names if name.startswith("n") and name.endswith(".md")]
    found = []
    for name in chance.sample(bodies, QUESTIONS):
        words = (place.root / ".memory/memory" / name).read_text().lower().rstrip(".").split()
        found.append(" ".join(chance.sample(words, 6)))
    return found


def _index(place: Place, questions: Sequence[str]) -> dict[str, Any]:
    """In this process: questions to the whole engine, to a bare table, and a bare look at every file."""
    texts = [path.read_text() for path in (place.root / ".memory/memory").glob("*.md")]
    texts += [json.loads(line).get("content", "") for line in (place.root / ".memory/facts.jsonl").open()]
    raw = apsw.Connection(":memory:")
    raw.execute(f"CREATE VIRTUAL TABLE raw USING fts5 (body, tokenize = '{TOKENIZER}')")
    _, built = _cpu(lambda: raw.executemany("INSERT INTO raw (body) VALUES (?)", ((text,) for text in texts)))
    _, looked = _cpu(lambda: _look(place.root))
    ours, least = [], []
    for asked in questions:
        ours.append(_cpu(functools.partial(_asked, place, asked))[1])
        words = " OR ".join(f'"{word}"' for word in asked.split())
        least.append(_cpu(functools.partial(_matched, raw, words))[1])
    raw.close()
    return {
        "texts": len(texts),
        "bare table made, s": round(built, 2),
        "bare look at every file, ms": _ms(looked),
        "question p50, ms": _ms(middle(ours)),
        "question p95, ms": _ms(p95(ours)),
        "bare table p50, ms": _ms(middle(least)),
        "question p50, over a bare look and a bare table": round(middle(ours) / (looked + middle(least)), 2),
        "index, MB": round(sum(path.stat().st_size for path in (place.root / ".memory/index").iterdir()) / 1e6, 1),
    }


def _asked(place: Place, question: str) -> None:
    """As one call of an agent has it: nothing is remembered from the call before."""
    answer_question(place.project(), question)


def _matched(raw: apsw.Connection, words: str) -> None:
    list(raw.execute(_RAW_QUERY, (words,)))


def _look(root: Path) -> int:
    found = 0
    for name in ("memory", "relations"):
        folder = root / ".memory" / name
        if folder.is_dir():
            with os.scandir(folder) as entries:
                found += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    return found


def _cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


# -- what lives long ------------------------------------------------------------------------------


def _server(place: Place, questions: Sequence[str]) -> dict[str, Any]:
    server = Pipe(place, place.base / "load-pipe.log")
    begin = time.perf_counter()
    server.begin()
    server.call("query_memory", {"question": questions[0]})
    first, times = time.perf_counter() - begin, []
    for asked in questions:
        begin = time.perf_counter()
        server.call("query_memory", {"question": asked})
        times.append(time.perf_counter() - begin)
    held = server.held()
    server.finish()
    return {"first, ms": _ms(first), "p50, ms": _ms(middle(times)), "p95, ms": _ms(p95(times)), "MB": held}


def _page(place: Place, questions: Sequence[str]) -> dict[str, Any]:
    """Each screen's answer when it is asked for first, and once more."""
    page = Page(place, place.base / "load-page.log")
    found: dict[str, Any] = {}
    for screen in _SCREENS:
        path = page.about(screen.replace("QUESTION", questions[0].replace(" ", "+")))
        times = []
        for _ in range(2):
            begin = time.perf_counter()
            page.ask(path)
            times.append(_ms(time.perf_counter() - begin))
        found[screen.partition("?")[0]] = times
    lines = Path(f"/proc/{page.pid}/status").read_text().splitlines()
    told = dict(line.split(":", 1) for line in lines)
    page.finish()
    held = {
        said: round(int(told[name].split()[0]) / 1024, 1) for name, said in (("VmRSS", "now"), ("VmHWM", "at most"))
    }
    return {"first and second answer, ms": found, "MB": held}


def _too_large(servers: dict[str, Any], pages: dict[str, Any]) -> list[str]:
    held = {"the server": servers["large"]["MB"], "the page": pages["large"]["MB"]}
    return [f"{name} holds {one['at most']} MB" for name, one in held.items() if one.get("at most", 0) > MEMORY_MOST]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
