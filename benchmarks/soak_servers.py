"""Those who take part in a soak, and the two servers for agents that some of them talk to."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, Any

from benchmarks.mcp_talk import Served, Server
from benchmarks.soak_ground import Place
from benchmarks.soak_ledger import Ledger

LAYERS = ("graph", "facts", "profile", "journal")
_END_SECONDS = 10.0

__all__ = ["LAYERS", "Actor", "Pipe", "Speaker", "Wire", "close", "ended"]


class Actor(threading.Thread):
    """Somebody who does one thing after another until it is over. What fails is noted, and the next thing done."""

    pause = 0.1

    def __init__(self, name: str, place: Place, ledger: Ledger, over: threading.Event, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.place, self.ledger, self.over = place, ledger, over
        self.chance = random.Random(f"{name} {seed}")

    def run(self) -> None:
        number = 0
        while not self.over.is_set():
            try:
                self.turn(number)
            except Exception as error:
                if not self.over.is_set():
                    self.ledger.fail(f"{self.name}: {type(error).__name__}: {error}")
            number += 1
            self.over.wait(self.chance.uniform(0.0, 2 * self.pause))

    def turn(self, number: int) -> None:
        raise NotImplementedError


# -- servers for agents -------------------------------------------------------------------------


class Pipe(Server):
    """`memory-mcp` over its pipes; what it says aside is kept."""

    def __init__(self, place: Place, aside: Path) -> None:
        self.aside = aside
        self._stderr = aside.open("wb")  # type: ignore[assignment]
        super().__init__([place.program("memory-mcp"), "--toolset", "all"], place.root, place.env)

    @property
    def pid(self) -> int:
        return self._process.pid

    def finish(self) -> str:
        """Let it end by itself; what was wrong with that."""
        stdin = self._process.stdin
        assert stdin is not None
        begin = time.monotonic()
        stdin.close()
        code = ended(self._process)
        took = time.monotonic() - begin
        close(self._process.stdout)
        said = self.aside.read_bytes()
        return "" if code == 0 and not said else f"ended with {code} after {took:.1f} s and said {said[:300]!r}"


class Wire(Served):
    """`memory-mcp --http`."""

    def __init__(self, place: Place) -> None:
        super().__init__([place.program("memory-mcp"), "--toolset", "all"], place.root, place.env)

    @property
    def pid(self) -> int:
        return self._process.pid

    def finish(self) -> str:
        self._connection.close()
        self._process.send_signal(signal.SIGTERM)
        code = ended(self._process)
        pipe = self._process.stderr
        said = pipe.read() if pipe is not None else b""
        for one in (self._process.stdin, self._process.stdout, pipe):
            close(one)
        return "" if code in (0, -signal.SIGTERM) and not said else f"ended with {code} and said {said[:300]!r}"


def ended(process: subprocess.Popen[bytes]) -> int | None:
    """How a process ended that was asked to; none where it had to be killed."""
    try:
        return process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def close(pipe: IO[bytes] | None) -> None:
    """Be done with a pipe of a process that is gone."""
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


class Speaker(Actor):
    """An agent at a server: it tells, asks what anybody told a moment ago, and looks around."""

    def __init__(self, server: Server, *given: Any) -> None:
        super().__init__(*given)
        self.server = server

    def turn(self, number: int) -> None:
        way = number % 8
        if way in (0, 3, 5):
            self._tell(("graph", "facts", "profile")[(0, 3, 5).index(way)])
        elif way == 7:
            self._look_around(number // 8)
        else:
            self._ask(number)

    def _call(self, tool: str, **arguments: Any) -> Any:
        with self.ledger.timed(f"{self.name}: {tool}"):
            found = self.server.call(tool, arguments)
        self.ledger.count(f"{self.name}, calls")
        return found["structuredContent"]["data"]

    def _tell(self, layer: str) -> None:
        word = self.ledger.word(layer)
        if layer == "graph":
            kind = self.chance.choice(("gotcha", "decision", "question"))
            file = f"src/part{self.chance.randrange(10)}.py"
            node = {"kind": kind, "title": f"Berth {word}", "body": f"What {word} says.", "anchors": [file]}
            self._call("save_memory", task="soak", nodes=[node])
        elif layer == "facts":
            self._call("memory_store", section="Decisions", content=f"The {word} crane lifts {len(word)} tons.")
        else:
            value = f"Whoever sees {word} rings the bell."
            self._call("remember", category="learnings", key=word, value=value, force=True)
        self.ledger.keep(word, self.name)

    def _ask(self, number: int) -> None:
        known = self.ledger.last(8, LAYERS)
        if not known:
            return
        told = self.chance.choice(known)
        if told.layer == "facts" and number % 2:
            found = self._call("memory_recall", query=told.word)
        else:
            found = self._call("query_memory", question=told.word, layers=[told.layer])
        if told.word not in json.dumps(found) and told.word not in self.ledger.replaced:
            self.ledger.fail(f"{self.name}: {told.word}, which {told.by} told to {told.layer}, is not found")

    def _look_around(self, number: int) -> None:
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("status_memory", {}),
            ("brief_memory", {"files": ["src/part1.py"]}),
            ("sync_memory", {"dry_run": True}),
            ("journal_query", {"question": "what changed lately?"}),
            ("about_us", {}),
            ("check_memory", {}),
            ("memory_query", {"limit": 5}),
            ("why_memory", {"place": "src/part1.py"}),
        )
        tool, arguments = calls[number % len(calls)]
        self._call(tool, **arguments)
