"""Cold commands as multiples of bare Python, and the cost of a save as the store grows.

Every run is a fresh process; the bare interpreter and the commands take turns in the same minutes, so that a
busy machine slows them alike. Medians of wall time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.stores import make_store

SIZES = (100, 1_000, 10_000)
ROUNDS = 15

__all__ = ["run"]


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        python, memory = _install(Path(folder) / "installed")
        os.environ["MEMORY_HOME"] = str(Path(folder) / "home")
        os.environ["HOME"] = folder
        # An installed package is compiled; a source checkout under this variable would not be.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        roots = {size: Path(folder) / f"store-{size}" for size in SIZES}
        for size, root in roots.items():
            make_store(root, size, memory)
        return _measure(python, memory, roots)


def _install(folder: Path) -> tuple[str, str]:
    """Quire as a user installs it: compiled, and without the tools of its developers, which slow every start."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *quiet, str(Path(__file__).parents[1])], check=True, capture_output=True)
    return python, str(folder / "bin" / "memory")


def _measure(python: str, memory: str, roots: dict[int, Path]) -> dict[str, Any]:
    times: dict[str, list[float]] = {}
    for size, root in roots.items():  # the first save builds the index; the ones measured extend it
        _save(memory, root, f"Warm up {size}", [])
        _timed([memory, "status"], root, [])
    for turn in range(ROUNDS):
        _timed([python, "-c", "pass"], None, times.setdefault("python -c pass", []))
        _timed([memory, "--version"], None, times.setdefault("memory --version", []))
        for size, root in roots.items():
            node = next((root / ".memory" / "memory").glob("*-4.json")).stem
            _timed([memory, "inspect", f"question.{node}"], root, times.setdefault(f"memory inspect, {size} nodes", []))
            _timed([memory, "status"], root, times.setdefault(f"memory status, {size} nodes", []))
            _timed(_question(memory), root, times.setdefault(f"memory query, {size} nodes", []))
            _save(memory, root, f"Round {turn} of {size}", times.setdefault(f"memory save, {size} nodes", []))
    medians = {name: statistics.median(found) for name, found in times.items()}
    bare = medians["python -c pass"]
    return {
        "rounds": ROUNDS,
        "milliseconds": {name: round(value * 1000, 1) for name, value in medians.items()},
        "times bare python": {name: round(value / bare, 2) for name, value in medians.items()},
        "peak memory, MB": {
            f"memory query, {size} nodes": _peak_memory(python, _question(memory)[1:], root)
            for size, root in roots.items()
        },
        "save at 10,000 over save at 100": round(
            medians[f"memory save, {SIZES[-1]} nodes"] / medians[f"memory save, {SIZES[0]} nodes"], 2
        ),
    }


def _question(memory: str) -> list[str]:
    return [memory, "query", "why are webhook retries limited for guests?"]


def _peak_memory(python: str, arguments: list[str], folder: Path) -> float | None:
    """The most that the process held at once, as the kernel counts it for the program alone; only Linux says."""
    if not Path("/proc/self/status").exists():
        return None
    code = f"from quire.surfaces.cli.main import run; run({arguments!r}); print(open('/proc/self/status').read())"
    done = subprocess.run([python, "-c", code], cwd=folder, check=True, capture_output=True, text=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024, 1)


def _save(memory: str, root: Path, title: str, times: list[float]) -> None:
    intent = f'{{"task": "benchmark", "nodes": [{{"kind": "gotcha", "title": "{title}", "body": "Measured."}}]}}'
    _timed([memory, "save", "--stdin"], root, times, intent.encode())


def _timed(command: list[str], folder: Path | None, times: list[float], data: bytes = b"") -> None:
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, input=data, check=True, capture_output=True)
    times.append(time.perf_counter() - begin)
