"""What hooks cost the agents that run them: the processor's time of every event as a multiple of bare Python.

Every run is a fresh process, as a client starts it. The bare interpreter and the hooks take turns in the same minutes,
so that a busy machine slows them alike. Processor time is that of the process and of all that it waited for; the wall
time says how long a client is held up. `memory query` stands beside them: it answers a question, and starts no second
process to guard itself.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.cold import _install
from benchmarks.stores import make_store

SIZES = (10, 1_000, 10_000)
ROUNDS = 15
BARE = "python -c pass"
QUESTION = "why are webhook retries limited for guests?"
EVENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "session-start": ("session-start", {"source": "startup"}),
    "after-compaction": ("session-start", {"source": "compact"}),
    "prompt": ("prompt", {"prompt": QUESTION}),
    "prompt of agreement": ("prompt", {"prompt": "ok, go on"}),
    "before-edit": ("before-edit", {"tool_name": "Edit", "tool_input": {"file_path": "src/part-1/main.py"}}),
    "before-compaction": ("before-compaction", {"trigger": "auto"}),
    "turn-end": ("turn-end", {}),
    "session-end": ("session-end", {"reason": "exit"}),
}
BESIDE = {
    "loading the command line": "import quire.surfaces.cli.main",
    "a second process": "import os\npid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)",
    "a look at every file": "import os\nfor top, _, names in os.walk('.memory'):\n"
    "    for name in names: os.stat(os.path.join(top, name))",
}
"""Parts of what a hook does, each alone in an interpreter: what it costs is not guessed."""

__all__ = ["run"]


class Spent:
    """Processor and wall time of runs, in milliseconds, by what was run."""

    def __init__(self) -> None:
        self.cpu: dict[str, list[float]] = {}
        self.wall: dict[str, list[float]] = {}

    def add(
        self, name: str, line: list[str], folder: Path, data: bytes = b"", env: dict[str, str] | None = None
    ) -> bytes:
        """Run a program to its end, note what it took, and give what it said."""
        begin = time.perf_counter()
        process = subprocess.Popen(line, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(data)
        process.stdin.close()
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        assert process.returncode == 0, line
        self.cpu.setdefault(name, []).append((used.ru_utime + used.ru_stime) * 1000)
        self.wall.setdefault(name, []).append(wall * 1000)
        return said


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        python, memory = _install(Path(folder) / "installed")
        os.environ["MEMORY_HOME"] = str(Path(folder) / "home")
        os.environ["HOME"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        roots = {f"{size:,} records": Path(folder) / f"store-{size}" for size in SIZES}
        for size, root in zip(SIZES, roots.values(), strict=True):
            make_store(root, size, memory)
        fresh = {name: _fresh_clone(memory, root) for name, root in roots.items()}
        bare = Path(folder) / "no-memory"
        bare.mkdir()
        roots = {"no memory": bare, **roots}
        return {**_measure(python, memory, roots), "first session start of a fresh clone": fresh}


def _hook(memory: str, root: Path, event: str, session: str) -> tuple[list[str], bytes]:
    verb, fields = EVENTS[event]
    given = {"session_id": session, "cwd": str(root), "transcript_path": str(root / "session.jsonl"), **fields}
    return [str(Path(memory).with_name("quire")), "hook", "claude", verb], json.dumps(given).encode()


def _fresh_clone(memory: str, root: Path) -> dict[str, Any]:
    """The index has to be made first: how long that takes when nobody cuts it short, and how often a hook is cut."""
    took = Spent()
    index = root / ".memory" / "index"
    shutil.rmtree(index, ignore_errors=True)
    line, data = _hook(memory, root, "session-start", "without a limit")
    took.add("whole", line, root, data, {**os.environ, "MEMORY_HOOK_SECONDS": "60"})
    shutil.rmtree(index, ignore_errors=True)
    starts = 0
    said = b""
    while not said and starts < 5:
        starts += 1
        line, data = _hook(memory, root, "session-start", f"fresh {starts}")
        said = took.add("start", line, root, data)
    return {
        "seconds without a limit": round(took.wall["whole"][0] / 1000, 2),
        "starts until one is answered": starts if said else None,
    }


def _measure(python: str, memory: str, roots: dict[str, Path]) -> dict[str, Any]:
    spent = Spent()
    answered: set[str] = set()
    for turn in range(-1, ROUNDS):
        took = Spent() if turn < 0 else spent  # the first round makes what is kept: the index, compiled modules
        for name, root in roots.items():
            took.add(BARE, [python, "-c", "pass"], root)
            for part, code in BESIDE.items():
                took.add(f"{part}, {name}", [python, "-c", code], root)
            for event in EVENTS:
                # Nobody waits to be read: the process that reads sessions is not what is measured.
                (root / ".memory/local/ended.jsonl").unlink(missing_ok=True)
                line, data = _hook(memory, root, event, f"{event} {turn}")
                if took.add(f"hook {event}, {name}", line, root, data):
                    answered.add(f"hook {event}, {name}")
            if name != "no memory":
                took.add(f"memory query, {name}", [memory, "query", QUESTION], root)
    median = {name: statistics.median(found) for name, found in spent.cpu.items()}
    least = {name: min(found) for name, found in spent.cpu.items()}
    return {
        "rounds": ROUNDS,
        "processor time, times bare python (medians)": _times(median),
        "processor time, times bare python (minima)": _times(least),
        "processor time, ms (medians)": {name: round(value, 1) for name, value in median.items()},
        "wall time, ms (medians)": {name: round(statistics.median(found), 1) for name, found in spent.wall.items()},
        "hooks that handed something over": sorted(answered),
        "load of the machine": [round(value, 2) for value in os.getloadavg()],
    }


def _times(found: dict[str, float]) -> dict[str, float]:
    return {name: round(value / found[BARE], 2) for name, value in found.items()}
