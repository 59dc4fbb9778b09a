"""Warm queries, saves, rebuilds and the freshness pass at 1,000, 10,000 and 100,000 records, as ratios.

Each figure stands beside a baseline of the same run: a raw FTS5 table over the same text for queries and rebuilds,
a bare walk of the files for freshness, the smallest store for saves. Medians of CPU time where one process does the
work, because the machine may be busy.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from benchmarks.stores import make_records
from quire.files.world import real_world
from quire.index.open_index import open_index, rebuild_index
from quire.index.text_analysis import TOKENIZER
from quire.layers.graph.source import GraphSource
from quire.project import Project
from quire.retrieval.query import Ask, ask
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 60
_RAW_QUERY = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10"

__all__ = ["run"]


def run() -> dict[str, Any]:
    sizes = [size for size in SIZES if size <= int(os.environ.get("QUIRE_BENCH_LARGEST", str(SIZES[-1])))]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        os.environ["MEMORY_HOME"] = str(Path(folder) / "home")
        os.environ["HOME"] = folder
        for size in sizes:
            results[f"{size:,} records"] = _measure(Path(folder) / str(size), size)
    smallest = results[f"{sizes[0]:,} records"]["save, ms"]
    for size in sizes:
        row = results[f"{size:,} records"]
        row["save over save in the smallest store"] = round(row["save, ms"] / smallest, 2)
    return results


def _measure(root: Path, size: int) -> dict[str, Any]:
    root.mkdir()
    project = Project.open(str(root), real_world())
    init_memory(project, guidance=False)
    texts = make_records(root / ".memory", size)
    source = GraphSource(project.graph)
    index_folder = os.path.join(project.graph.folder, "index")
    raw, raw_build = _timed(lambda: _raw_table(root, texts))
    index, build = _timed(lambda: rebuild_index(index_folder, [source]))
    index.close()
    index, fresh = _best(lambda: open_index(index_folder, [source]), 3)
    _, walk = _best(lambda: _walk(root / ".memory"), 3)
    questions = _questions(texts)
    ours, plain = _queries(index, raw, questions)
    index.close()
    saves = [_save(project, number) for number in range(9)]
    size_on_disk = sum(path.stat().st_size for path in (root / ".memory/index").iterdir())
    source_size = sum(path.stat().st_size for path in (root / ".memory/memory").iterdir())
    return {
        "query p50, ms": round(statistics.median(ours) * 1000, 2),
        "query p95, ms": round(sorted(ours)[int(len(ours) * 0.95)] * 1000, 2),
        "raw FTS5 OR p50, ms": round(statistics.median(plain) * 1000, 2),
        "query over raw FTS5 OR": round(statistics.median(ours) / statistics.median(plain), 2),
        "rebuild, s": round(build, 2),
        "rebuild over reading and a bare FTS5 table": round(build / raw_build, 2),
        "freshness pass, ms": round(fresh * 1000, 1),
        "freshness over a bare stat walk": round(fresh / walk, 2),
        "save, ms": round(statistics.median(saves) * 1000, 2),
        "index over source, bytes": round(size_on_disk / source_size, 2),
    }


def _raw_table(root: Path, texts: list[str]) -> apsw.Connection:
    """The baseline of a rebuild: read every file, put the bodies into one plain table."""
    connection = apsw.Connection(str(root / "raw.sqlite"))
    connection.execute(f"CREATE VIRTUAL TABLE raw USING fts5 (body, tokenize = '{TOKENIZER}')")
    bodies = []
    for path in sorted((root / ".memory/memory").iterdir()):
        data = path.read_bytes()
        if path.suffix == ".md":
            bodies.append(data.decode())
    assert len(bodies) >= len(texts)
    with connection:
        connection.executemany("INSERT INTO raw (body) VALUES (?)", ((body,) for body in bodies))
    return connection


def _questions(texts: list[str]) -> list[str]:
    """Six words of a known record each, common ones among them, as people ask."""
    chance = random.Random(7)
    return [" ".join(chance.sample(chance.choice(texts).split(), 6)).lower().replace(".", "") for _ in range(QUESTIONS)]


def _queries(index: Any, raw: apsw.Connection, questions: list[str]) -> tuple[list[float], list[float]]:
    ours, plain = [], []
    for question in questions:
        ours.append(_timed(lambda asked=question: ask(index, Ask(question=asked, budget=2000, limit=10)))[1])
        words = " OR ".join(f'"{word}"' for word in question.split())
        plain.append(_timed(lambda match=words: list(raw.execute(_RAW_QUERY, (match,))))[1])
    return ours[5:], plain[5:]


def _save(project: Project, number: int) -> float:
    intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": f"Measured {number}", "body": "A new trap."}]}
    return _timed(lambda: save_nodes(project, intent))[1]


def _walk(folder: Path) -> int:
    """The least that noticing a change can cost: one look at every file."""
    found = 0
    for name in ("memory", "relations"):
        with os.scandir(folder / name) as entries:
            found += sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    return found


def _best(work: Callable[[], Any], rounds: int) -> tuple[Any, float]:
    times = []
    for _ in range(rounds):
        result, seconds = _timed(work)
        times.append(seconds)
    return result, min(times)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin
