"""`make soak`: everything that Quire runs, at once, for minutes, in one project of all four layers.

Two servers for agents (by pipe and by HTTP), a page that may write and one that listens, hooks of every client,
commands in all layers, and commits. Every write that is acknowledged holds a word of its own. Those words are looked
for in the files once a minute, and in the files and by questions in the end. Processes that live are looked at each
second.

`--records` fills the project first and measures what a large memory costs (`soak_load.py`); the soak follows on it.
The exit code is 1 if anything was wrong. With `--no-clock` times are told and decide nothing: a machine that others
use, too, is slow now and then. What a large memory costs is then judged by calls, which are counted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.soak_check import check_all, check_files
from benchmarks.soak_ground import Place, make_place
from benchmarks.soak_hands import BARE, Bare, Commands, Commits, Hooks
from benchmarks.soak_ledger import Ledger
from benchmarks.soak_page import Listener, Page, PageUser
from benchmarks.soak_servers import Actor, Pipe, Speaker, Wire
from benchmarks.soak_watch import Limits, Watch, judge, sizes

RESULTS = Path(__file__).parent / "results"
HOOK_MOST, SLOWER_MOST, LATENCY_SAMPLES = 25.0, 4.0, 30
"""Hooks, p95, over bare Python's p95; the last minute over the first, beyond what bare Python slowed down by; and how
often a thing must have been done to be judged."""
_JOIN_SECONDS = 90.0
_MANY = 300
"""With fewer writes, as in four quiet minutes, processes still load modules and fill caches: then only what grows by a
quarter is told."""
_PROGRESS_SECONDS, _CHECK_SECONDS = 5.0, 60.0

__all__ = ["main", "soak"]


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Everything at once, for minutes.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--records", type=int, default=0, help="fill the project with so many first, and measure it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where the project is made; a temporary folder by default")
    parser.add_argument("--result", help="where the result is written")
    parser.add_argument("--no-clock", action="store_true", help="times decide nothing; calls are counted")
    chosen = parser.parse_args(given)
    line = f"python -m benchmarks.soak --minutes {chosen.minutes:g} --records {chosen.records} --seed {chosen.seed}"
    line += " --no-clock" if chosen.no_clock else ""
    result: dict[str, Any] = {"command": line, "python": platform.python_version(), "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory(prefix="quire-soak-", dir=chosen.folder) as folder:
        base = Path(folder).resolve()
        begin = time.monotonic()
        place = make_place(base, chosen.records)
        _say(f"the project is made, {time.monotonic() - begin:.0f} s")
        if chosen.records:
            from benchmarks.soak_load import measure_load

            result["load"] = measure_load(place, chosen.records, _say, counted=chosen.no_clock)
        result |= soak(place, chosen.minutes * 60, chosen.seed)
    wrong = [*result["wrong"], *result.get("load", {}).get("out of bounds", ())]
    wrong += [] if chosen.no_clock else result["slow"]
    result["verdict"] = "sound" if not wrong else f"{len(wrong)} wrong"
    file = Path(chosen.result or RESULTS / ("load.json" if chosen.records else "soak.json"))
    file.write_text(json.dumps(result, indent=2) + "\n")
    for one in wrong:
        _say(one)
    _say(f"{result['verdict']}; see {file}")
    return 1 if wrong else 0


def soak(place: Place, seconds: float, seed: int = 1) -> dict[str, Any]:
    """Let everybody do their work for so long; what was found."""
    ledger, over = Ledger(seed), threading.Event()
    wrong: list[str] = []
    with _servers(place, ledger) as (pipe, wire, page):
        watch = Watch({"server by pipe": pipe.pid, "server by HTTP": wire.pid, "page": page.pid})
        shared = (place, ledger, over, seed)
        actors: list[Actor] = [
            Speaker(pipe, "server by pipe", *shared),
            Speaker(wire, "server by HTTP", *shared),
            PageUser(page, "page", *shared),
            Listener(page, "listener", *shared),
            Commands("commands 1", *shared),
            Commands("commands 2", *shared),
            Hooks("hooks 1", *shared),
            Hooks("hooks 2", *shared),
            Commits("commits", *shared),
            Bare(BARE, *shared),
        ]
        ledger.begin()
        watch.start()
        for actor in actors:
            actor.start()
        checks, before = _wait(place, ledger, seconds, wrong)
        over.set()
        wrong += [f"{actor.name} is stuck" for actor in actors if not _joined(actor)]
        watch.stop()
        wrong += [f"{name} is gone" for name in sorted(watch.gone)]
    _say("everybody has gone; looking at what is there")
    try:
        checked, missing = check_all(place, ledger)
    except Exception as error:
        checked, missing = {}, [f"it cannot be looked at: {type(error).__name__}: {error}"]
    kept, too_large = sizes(place.root)
    log = place.root / ".memory/local/hooks.log"
    if log.exists() and log.stat().st_size:
        wrong.append(f"hooks failed: {log.read_text()[:400]}")
    processes, grown = {}, []
    limits = Limits() if len(ledger.told) >= _MANY else Limits(ratio=1.25)
    for name, samples in watch.samples.items():
        processes[name], more = judge(samples, limits, len(ledger.told))
        grown += [f"{name}: {one}" for one in more]
    latencies = ledger.latencies()
    return {
        "seconds": round(seconds),
        "load average": [round(one, 2) for one in os.getloadavg()],
        "counts": dict(sorted(ledger.counts.items())),
        "checkpoints": checks,
        "checked in the end": checked,
        "processes": processes,
        "sizes in the middle": before,
        "sizes in the end": kept,
        "latencies": latencies,
        "hooks, p95 over bare Python's p95": _hooks_over_bare(latencies),
        "wrong": [*wrong, *ledger.wrong, *missing, *too_large, *grown],
        "slow": _slower(latencies),
    }


@contextlib.contextmanager
def _servers(place: Place, ledger: Ledger) -> Iterator[tuple[Pipe, Wire, Page]]:
    """The three that live long, ended as their clients end them."""
    pipe = Pipe(place, place.base / "pipe.log")
    wire = Wire(place)
    page = Page(place, place.base / "page.log")
    try:
        pipe.begin()
        wire.begin()
        yield pipe, wire, page
    finally:
        for name, server in (("server by pipe", pipe), ("server by HTTP", wire), ("page", page)):
            said = server.finish()
            if said:
                ledger.fail(f"{name} {said}")


def _wait(place: Place, ledger: Ledger, seconds: float, wrong: list[str]) -> tuple[int, dict[str, Any]]:
    """Say how it goes every few seconds, and look at the files every minute, until the time is over."""
    said, checked, checks = 0.0, 0.0, 0
    before: dict[str, Any] = {}
    while ledger.now < seconds:
        time.sleep(min(0.5, max(0.0, seconds - ledger.now)))
        if ledger.now - said >= _PROGRESS_SECONDS:
            said = ledger.now
            counts = ledger.counts
            acknowledged = sum(number for name, number in counts.items() if name.startswith("acknowledged"))
            hooks, bad = counts["hooks"], counts["went wrong"]
            _say(f"{said:5.0f} of {seconds:.0f} s: {acknowledged} writes, {hooks} hooks, {bad} wrong")
        if not before and ledger.now > seconds / 2:
            before, _ = sizes(place.root)
        if ledger.now - checked >= min(_CHECK_SECONDS, seconds / 3):
            checked, checks = ledger.now, checks + 1
            wrong += [f"checkpoint {checks}: {one}" for one in check_files(place, ledger)]
    return checks, before


def _joined(actor: Actor) -> bool:
    """Whether somebody is done; who only listens is let go with the page."""
    if isinstance(actor, Listener):
        return True
    actor.join(_JOIN_SECONDS)
    return not actor.is_alive()


def _hooks_over_bare(latencies: dict[str, dict[str, float]]) -> dict[str, float]:
    bare = latencies.get(BARE, {}).get("p95, ms", 0.0) or 1.0
    return {name: round(one["p95, ms"] / bare, 2) for name, one in latencies.items() if name.startswith("hook")}


def _slower(latencies: dict[str, dict[str, float]]) -> list[str]:
    """Hooks that hold clients up, and what became slower though bare Python did not."""
    wrong = [
        f"{name} is slow: p95 {times} times bare Python's"
        for name, times in _hooks_over_bare(latencies).items()
        if times > HOOK_MOST
    ]
    bare = latencies.get(BARE)
    if not bare or not bare["first, median, ms"] or bare["number"] < LATENCY_SAMPLES:
        return wrong
    machine = max(bare["last, median, ms"] / bare["first, median, ms"], 1.0)
    for name, one in latencies.items():
        if one["number"] >= LATENCY_SAMPLES and one["first, median, ms"] and one["last, median, ms"]:
            times = one["last, median, ms"] / one["first, median, ms"] / machine
            if times > SLOWER_MOST:
                wrong.append(f"{name} takes {times:.1f} times as long in the end as in the beginning")
    return wrong


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    # Whoever is asked to end takes the servers and the project along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
