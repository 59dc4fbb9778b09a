"""Does a server grow on data that does not change? `python -m benchmarks.growth`, a few minutes.

A server by pipe and one over HTTP are asked the same read-only questions again and again. Every so many calls they
count what they hold: resident memory, objects that the collector knows, blocks of Python's own allocator. In the end
the allocator gives back what it can (`malloc_trim`). A third server is run with `tracemalloc`, and the lines that hold
more in the end than in the middle are named.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mcp_talk import Served, Server
from benchmarks.soak_ground import make_place

RESULTS = Path(__file__).parent / "results"
_REPORT, _TRACE = "QUIRE_GROWTH_REPORT", "QUIRE_GROWTH_TRACE"
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query_memory", {"question": "how long is a berth?"}),
    ("query_memory", {"question": "words of the page"}),
    ("memory_recall", {"query": "berth forty feet"}),
    ("memory_query", {}),
    ("search", {"query": "package manager"}),
    ("status_memory", {}),
    ("check_memory", {}),
    ("diff_memory", {}),
)
_TOP = 12

__all__ = ["main"]


class Counted(Server):
    """Our server, which counts what it holds where it is sent a signal."""

    def __init__(self, folder: Path, env: Mapping[str, str], report: Path, *, trace: bool = False) -> None:
        self._report = report
        env = {**env, _REPORT: str(report), "PYTHONPATH": str(Path(__file__).parent.parent)}
        env |= {_TRACE: "1"} if trace else {}
        super().__init__([sys.executable, "-m", "benchmarks.growth", "serve", "--toolset", "all"], folder, env)

    def count(self, *, trim: bool = False) -> dict[str, Any]:
        before = self._report.stat().st_size if self._report.exists() else 0
        self._process.send_signal(signal.SIGUSR2 if trim else signal.SIGUSR1)
        while not self._report.exists() or self._report.stat().st_size == before:
            time.sleep(0.05)
        found: dict[str, Any] = json.loads(self._report.read_text().splitlines()[-1])
        return found


class CountedOverHttp(Counted, Served):
    """The same over HTTP."""


def main(given: Sequence[str] | None = None) -> int:
    if (sys.argv[1:] if given is None else given)[:1] == ["serve"]:
        return _serve(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--every", type=int, default=500)
    chosen = parser.parse_args(given)
    line = f"python -m benchmarks.growth --calls {chosen.calls} --every {chosen.every}"
    result: dict[str, Any] = {"command": line, "python": platform.python_version(), "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory(prefix="quire-growth-") as folder:
        base = Path(folder).resolve()
        place = make_place(base)
        for name, kind in (("by pipe", Counted), ("over HTTP", CountedOverHttp)):
            result[name] = _run(kind(place.root, place.env, base / name), chosen.calls, chosen.every)
        rows = _run(Counted(place.root, place.env, base / "traced", trace=True), chosen.calls // 2, chosen.calls // 4)
        result["traced"] = [{name: row[name] for name in ("calls", "traced KB", "grown")} for row in rows]
    (RESULTS / "growth.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    return 0


def _run(server: Counted, calls: int, every: int) -> list[dict[str, Any]]:
    rows = []
    with server:
        server.begin()
        for number in range(calls + 1):
            if number % every == 0:
                rows.append({"calls": number, **server.count()})
                print(rows[-1], file=sys.stderr, flush=True)
            tool, arguments = _CALLS[number % len(_CALLS)]
            server.call(tool, arguments)
        rows.append({"calls": calls, **server.count(trim=True)})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


# -- inside the server --------------------------------------------------------------------------


def _serve(arguments: Sequence[str]) -> int:
    from quire.surfaces.mcp import main as serve

    held: list[Any] = []
    if os.environ.get(_TRACE):
        import tracemalloc

        tracemalloc.start(1)
    signal.signal(signal.SIGUSR1, lambda *_: _count(held))
    signal.signal(signal.SIGUSR2, lambda *_: _count(held, trim=True))
    return serve(arguments)


def _count(held: list[Any], *, trim: bool = False) -> None:
    gc.collect()
    if trim:
        ctypes.CDLL(None).malloc_trim(0)
    found: dict[str, Any] = {"trimmed": trim, "resident KB": _resident(), "objects": len(gc.get_objects())}
    found["blocks"] = sys.getallocatedblocks()
    if os.environ.get(_TRACE):
        found |= _traced(held)
    with open(os.environ[_REPORT], "a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")


def _traced(held: list[Any]) -> dict[str, Any]:
    import tracemalloc

    now = tracemalloc.take_snapshot().filter_traces((tracemalloc.Filter(False, tracemalloc.__file__),))
    grown = now.compare_to(held[-1], "lineno") if held else []
    held[:] = [now]
    told = [(item, item.traceback[0]) for item in grown[:_TOP] if item.size_diff > 0]
    return {
        "traced KB": sum(item.size for item in now.statistics("filename")) // 1024,
        "grown": [
            f"{_shown(frame.filename)}:{frame.lineno} {item.size_diff:+,} B in {item.count_diff:+,} blocks"
            for item, frame in told
        ],
    }


def _shown(path: str) -> str:
    """Where a line stands, wherever Python is installed."""
    for part in ("site-packages/", "/src/", f"python{sys.version_info.major}.{sys.version_info.minor}/"):
        path = path.rpartition(part)[2]
    return path


def _resident() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    sys.exit(main())
