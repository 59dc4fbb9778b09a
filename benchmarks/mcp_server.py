"""What the MCP server costs: its list of tools, its start, its answers and its memory, beside another memory server.

Everything is a process of its own that is spoken to over its pipes, as clients do. All of them take turns within every
round, so that a busy machine slows them alike; the bare interpreters take part, and what counts are ratios. Medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.cold import _install
from benchmarks.mcp_peers import Peer, Question, Store, fetch_official, look_for_originals, make_stores, node
from benchmarks.mcp_talk import Server, Spent, bare
from benchmarks.tokens import _real_counts
from quire.model.tokens import count_tokens

SIZES = (100, 10_000)
ROUNDS = 15
QUESTIONS = 60
PAUSES = 15
PAUSE_SECONDS = 2.2
"""Agents think between two questions: longer than a running server relies on what it saw of the files."""
TOOLSETS = ("core", "graph", "facts", "profile", "journal", "all")
OURS, OURS_LATE, OTHER, BARE = "memory-mcp", "memory-mcp --sdk-first", "server-memory", "bare loop over FTS5"
PYTHON, NODE = "python -c pass", "node -e 0"
LIST_MOST = 8_000
"""How many characters the tools that are shown by default may take."""

Times = dict[str, list[Spent]]

__all__ = ["measure", "run"]


def run() -> dict[str, Any]:
    most = int(os.environ.get("QUIRE_BENCH_LARGEST", str(SIZES[-1])))
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
            folder = Path(name)
            # npm finds its settings in the user's home folder: it is done before that is another one.
            other, absent = fetch_official(folder / "npm"), look_for_originals()
            python, _ = _install(folder / "installed")
            os.environ["HOME"], os.environ["MEMORY_HOME"] = name, str(folder / "home")
            # An installed package is compiled; a source checkout under this variable would not be.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            sizes = [size for size in SIZES if size <= most]
            result = measure(folder, Path(python).parent, other, sizes, ROUNDS, QUESTIONS)
            return {**result, "not to be had": absent | ({OTHER: other} if isinstance(other, str) else {})}
    finally:
        os.environ.clear()
        os.environ.update(before)


def measure(
    folder: Path,
    programs: Path,
    other: tuple[str, ...] | str,
    sizes: Sequence[int],
    rounds: int,
    questions: int,
) -> dict[str, Any]:
    """All figures. `programs` holds our commands and their interpreter; `other` starts the official server."""
    stores = {size: make_stores(folder, size, str(programs / "memory"), questions) for size in sizes}
    ours = str(programs / "memory-mcp")
    there = other if isinstance(other, tuple) else None
    largest = stores[sizes[-1]]
    starting = {PYTHON: [str(programs / "python"), "-c", "pass"], **({NODE: [there[0], "-e", "0"]} if there else {})}
    lists = _lists(ours, there, largest)
    cold, warm, paused = {}, {}, {}
    for size, store in stores.items():
        least = (str(programs / "python"), str(Path(__file__).with_name("mcp_bare.py")), str(store.table))
        askers = _askers(ours, there, least)
        cold[f"{size:,} records"] = _cold(starting, _starters(ours, there, least), store, rounds)
        warm[f"{size:,} records"] = _warm(askers, store, store.questions)
        if store is largest:
            few = {name: askers[name] for name in _PAUSED if name in askers}
            paused = _warm(few, store, store.questions[:PAUSES], PAUSE_SECONDS)
    return {
        "rounds": rounds,
        "questions": questions,
        "tools/list": lists,
        "cold": cold,
        "warm": warm,
        f"{sizes[-1]:,} records, each question {PAUSE_SECONDS} s after the last": paused,
        "targets": {
            "characters of the default list": {
                "found": lists["core"]["characters"],
                "at most": LIST_MOST,
                "met": lists["core"]["characters"] <= LIST_MOST,
            }
        },
        **({"node": _version(there[0])} if there else {}),
    }


def _starters(ours: str, other: tuple[str, ...] | None, bare_loop: tuple[str, ...]) -> dict[str, Peer]:
    question = {"layers": ["graph"]}
    found = {
        BARE: Peer(bare_loop, "search", "query"),
        OURS: Peer((ours,), "query_memory", "question", question),
        OURS_LATE: Peer((ours, "--sdk-first"), "query_memory", "question", question),
    }
    return {**found, **({OTHER: Peer(other, "search_nodes", "query", rarest=True)} if other else {})}


def _askers(ours: str, other: tuple[str, ...] | None, bare_loop: tuple[str, ...]) -> dict[str, Peer]:
    found = {
        BARE: Peer(bare_loop, "search", "query"),
        _GRAPH: Peer((ours,), "query_memory", "question", {"layers": ["graph"]}),
        "query_memory, the graph, one rare word": Peer(
            (ours,), "query_memory", "question", {"layers": ["graph"]}, rarest=True
        ),
        "query_memory, the graph, over HTTP": Peer(
            (ours,), "query_memory", "question", {"layers": ["graph"]}, http=True
        ),
        "query_memory, all layers": Peer((ours,), "query_memory", "question"),
        _FACTS: Peer((ours,), "memory_recall", "query"),
    }
    if other:
        found[f"{OTHER}: search_nodes, the words as they stand"] = Peer(other, "search_nodes", "query")
        found[_ONE_WORD] = Peer(other, "search_nodes", "query", rarest=True)
    return found


_GRAPH, _FACTS = "query_memory, the graph", "memory_recall, the facts"
_ONE_WORD = f"{OTHER}: search_nodes, one rare word"
_PAUSED = (BARE, _GRAPH, _FACTS, _ONE_WORD)


def _version(program: str) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


# -- what every session pays ------------------------------------------------------------------


def _lists(ours: str, other: tuple[str, ...] | None, store: Store) -> dict[str, Any]:
    lines = {name: (ours, "--toolset", name) for name in TOOLSETS} | ({OTHER: other} if other else {})
    shown, said = {}, {}
    for name, line in lines.items():
        with Peer(line, "", "").start(store) as server:
            said[name] = server.begin().get("instructions", "")
            shown[name] = server.ask("tools/list")["tools"]
    texts = {name: msgspec.json.encode({"tools": tools}).decode() for name, tools in shown.items()}
    real = dict(zip(texts, _real_counts(list(texts.values())), strict=True)) if other and node() else {}
    return {
        name: {
            "tools": len(shown[name]),
            "characters": len(text),
            "tokens, our counter": count_tokens(text),
            **({"tokens, o200k": real[name][0]} if real else {}),
            "characters of instructions": len(said[name]),
        }
        for name, text in texts.items()
    }


# -- from nothing to an answer ----------------------------------------------------------------


def _cold(starting: Mapping[str, list[str]], peers: Mapping[str, Peer], store: Store, rounds: int) -> dict[str, Any]:
    times, useful, held = Times(), Times(), {}
    for turn in range(rounds + 1):
        if turn == 1:  # the first turn brings the files into memory, and compiles what is not compiled yet
            times, useful = {}, {}
        for name, line in starting.items():
            times.setdefault(name, []).append(bare(line, os.environ))
        for name, peer in peers.items():
            with peer.start(store) as server:
                server.begin()
                times.setdefault(name, []).append(server.spent())
                server.ask("tools/list")
                server.call(peer.tool, peer.arguments(store.questions[turn % len(store.questions)]))
                useful.setdefault(name, []).append(server.spent())
                held[name] = server.held()
    return {
        "until the first answer": _started(times, times),
        "until the first useful answer": _started(useful, times),
        "memory, MB": held,
    }


def _started(times: Times, with_bare: Times) -> dict[str, Any]:
    bare_python = {clock: _median(with_bare[PYTHON], clock) for clock in ("wall", "cpu")}
    return {
        name: {
            "wall, ms": _ms(_median(found, "wall")),
            "CPU, ms": _ms(_median(found, "cpu")),
            "wall, times bare python": round(_median(found, "wall") / bare_python["wall"], 2),
            "CPU, times bare python": round(_median(found, "cpu") / bare_python["cpu"], 2),
        }
        for name, found in times.items()
    }


# -- answers of a server that runs ------------------------------------------------------------


def _warm(peers: Mapping[str, Peer], store: Store, questions: Sequence[Question], pause: float = 0.0) -> dict[str, Any]:
    """Each has a process of its own; all are asked the same in the same moment, after a pause where there is one."""
    servers = {name: peer.start(store) for name, peer in peers.items()}
    times: dict[str, list[Spent]] = {name: [] for name in peers}
    pings: dict[str, list[float]] = {name: [] for name in peers}
    sizes: dict[str, list[int]] = {name: [] for name in peers}
    found = dict.fromkeys(peers, 0)
    try:
        for name, peer in peers.items():
            servers[name].begin()
            for question in store.questions[:3]:
                servers[name].call(peer.tool, peer.arguments(question))
            servers[name].settle()
        for question in questions:
            time.sleep(pause)
            for name, peer in peers.items():
                server, arguments = servers[name], peer.arguments(question)
                pings[name].append(_timed(server, server.ask, "ping")[0].wall)
                spent, result = _timed(server, server.call, peer.tool, arguments)
                times[name].append(spent)
                sizes[name].append(len(result["content"][0]["text"]))
                found[name] += _anything(result)
        held = {name: server.held() for name, server in servers.items()}
    finally:
        for server in servers.values():
            server.end()
    bases = {"the bare loop": BARE, "the other server, one rare word": _ONE_WORD}
    return {
        name: {
            **_percentiles(times[name]),
            **{
                f"p50, over {said}": round(_median(times[name], "wall") / _median(times[base], "wall"), 3)
                for said, base in bases.items()
                if base in times
            },
            "ping p50, ms": _ms(statistics.median(pings[name])),
            "answered": found[name],
            "characters of an answer, median": int(statistics.median(sizes[name])),
            "memory, MB": held[name],
        }
        for name in peers
    }


def _timed(server: Server, ask: Callable[..., dict[str, Any]], *given: Any) -> tuple[Spent, dict[str, Any]]:
    begin = server.spent()
    result = ask(*given)
    end = server.spent()
    return Spent(end.wall - begin.wall, end.cpu - begin.cpu), result


def _anything(result: Mapping[str, Any]) -> bool:
    structured = result["structuredContent"]
    return bool(structured.get("data", {}).get("results") or structured.get("entities"))


def _percentiles(times: list[Spent]) -> dict[str, float]:
    ordered = sorted(spent.wall for spent in times)
    return {
        "p50, ms": _ms(statistics.median(ordered)),
        "p95, ms": _ms(ordered[int(len(ordered) * 0.95)]),
        "CPU, ms": _ms(statistics.fmean(spent.cpu for spent in times)),
    }


def _median(times: Sequence[Spent], clock: str) -> float:
    return statistics.median(getattr(spent, clock) for spent in times)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
