"""A memory after a merge of hundreds of commits: commands and hooks, cold and warm, beside bare Python.

The repository is made here: modules of functions and classes, a memory whose nodes are anchored to symbols of them, and
a branch of commits that change, format and move on around these symbols, which is then merged. *Cold* is without the
index, as in a fresh clone. Every run is a fresh process; bare Python takes turns with it, so that a busy machine slows
both alike. Processor time is that of the process and of all that it waited for.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cold import _install
from benchmarks.hooks import BARE, Spent

MODULES = 5
DEFINITIONS = 60
ANCHORS = 20
COMMITS = 200
ROUNDS = 5
AIMS = {"memory status, cold": 1_000, "memory status, warm": 150}
"""Milliseconds of processor time."""

__all__ = ["run"]


def run() -> dict[str, Any]:
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
            folder = Path(name)
            python, memory = _install(folder / "installed")
            os.environ.update(MEMORY_HOME=str(folder / "home"), HOME=name)
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            (folder / ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")
            root = folder / "merged"
            verdicts = _make(root, memory)
            return {**verdicts, **_measure(python, memory, root)}
    finally:
        os.environ.clear()
        os.environ.update(before)


# -- a repository ----------------------------------------------------------------------------------------------


def _make(root: Path, memory: str) -> dict[str, Any]:
    """The repository after the merge; what was made, and what is said of it."""
    chance = random.Random(11)
    modules = {f"src/part{number}.py": _definitions(number, chance) for number in range(MODULES)}
    root.mkdir()
    _git(root, "init", "-q", "-b", "main", ".")
    _write(root, modules)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Everything")
    _git(root, "switch", "-q", "-c", "work")
    _run(memory, root, "init", "--no-guidance")
    named = [(path, name) for path, found in modules.items() for name in found]
    anchors = [f"{path}#{name}" for path, name in chance.sample(named, ANCHORS)]
    nodes = [
        {"kind": "gotcha", "title": f"Trap {place} in {anchor}", "body": f"Mind {anchor}.", "anchors": [anchor]}
        for place, anchor in enumerate(anchors)
    ]
    _run(memory, root, "save", "--stdin", stdin=json.dumps({"task": "benchmark", "nodes": nodes}))
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Memory")
    _git(root, "switch", "-q", "main")
    for step in _changes(modules, [tuple(anchor.split("#")) for anchor in anchors], chance):
        _write(root, modules)
        _git(root, "commit", "-q", "-a", "-m", step)
    _git(root, "switch", "-q", "work")
    _git(root, "merge", "-q", "--no-edit", "main")
    said = json.loads(_run(memory, root, "status", "--json"))["data"]["verdicts"]
    return {
        "repository": f"{MODULES} modules, {MODULES * DEFINITIONS} definitions, {COMMITS} commits merged",
        "lines": sum(text.count("\n") for found in modules.values() for text in found.values()),
        "nodes by verdict": {name: number for name, number in said.items() if number},
    }


def _definitions(module: int, chance: random.Random) -> dict[str, str]:
    """Functions and classes by their names."""
    found = {}
    for number in range(DEFINITIONS):
        name = f"work_{module}_{number}"
        found[name] = f"def {name}(a, b=None):\n" + _body(chance, 4)
        if number % 4 == 0:
            name = f"Part{module}x{number}"
            methods = (f"    def method_{at}(self, a, b):\n{_body(chance, 8)}" for at in range(6))
            found[name] = f"class {name}:\n    limit = {number}\n\n" + "\n".join(methods)
    return found


def _body(chance: random.Random, indent: int) -> str:
    lines = [f"c = [a, b, {chance.randrange(1_000)}]", "for one in c:", "    if one:", "        c = c[1:] or [a]"]
    lines += [f"d{at} = len(c) * {chance.randrange(100)} + sum(map(int, c or [{at}]))" for at in range(12)]
    return "".join(f"{' ' * indent}{line}\n" for line in [*lines, "return c"])


def _changes(
    modules: dict[str, dict[str, str]], anchored: list[tuple[str, ...]], chance: random.Random
) -> Iterator[str]:
    """Most commits change something beside the anchors, some change what is anchored, some only format."""
    for number in range(COMMITS):
        path, name = chance.choice(anchored) if number % 6 == 0 else _any(modules, chance)
        if number % 50 == 49:
            for found in modules.values():
                found.update({one: text.replace("c[1:] or [a]", "(c[1:] or [a])") for one, text in found.items()})
            yield f"Format {number}"
        else:
            text = modules[path][name]
            modules[path][name] = text.replace(f"d{number % 12} = ", f"d{number % 12} = {number} + ", 1)
            yield f"Change {number}"


def _any(modules: dict[str, dict[str, str]], chance: random.Random) -> tuple[str, str]:
    path = chance.choice(list(modules))
    return path, chance.choice(list(modules[path]))


def _write(root: Path, modules: dict[str, dict[str, str]]) -> None:
    (root / "src").mkdir(exist_ok=True)
    for path, found in modules.items():
        text = "\n\n".join(found.values())
        if not (root / path).exists() or (root / path).read_text() != text:
            (root / path).write_text(text)


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def _run(memory: str, root: Path, *words: str, stdin: str = "") -> str:
    done = subprocess.run([memory, *words], cwd=root, input=stdin, check=True, capture_output=True, text=True)
    return done.stdout


# -- measuring -------------------------------------------------------------------------------------------------


def _measure(python: str, memory: str, root: Path) -> dict[str, Any]:
    spent = Spent()
    silent: dict[str, int] = {}
    for turn in range(-1, ROUNDS):
        took = Spent() if turn < 0 else spent  # the first round compiles modules
        for name, line, fields in _tasks(memory, root):
            for state in ("cold", "warm"):
                if state == "cold":
                    shutil.rmtree(root / ".memory" / "index", ignore_errors=True)
                # A session is told a thing once: every run is of another one.
                given = {"cwd": str(root), "session_id": f"{state} {turn}", **fields} if fields else None
                took.add(BARE, [python, "-c", "pass"], root)
                said = took.add(f"{name}, {state}", line, root, json.dumps(given).encode())
                silent[f"{name}, {state}"] = silent.get(f"{name}, {state}", 0) + (not said)
    cpu = {name: statistics.median(found) for name, found in spent.cpu.items()}
    wall = {name: max(found) for name, found in spent.wall.items()}
    return {
        "rounds": ROUNDS,
        "processor time, ms (medians)": {name: round(found, 1) for name, found in cpu.items()},
        "processor time, times bare python": {name: round(found / cpu[BARE], 1) for name, found in cpu.items()},
        "longest wall time, ms": {name: round(found) for name, found in wall.items()},
        "runs without an answer": {name: number for name, number in silent.items() if number},
        "aims, ms of processor time": AIMS,
    }


def _tasks(memory: str, root: Path) -> list[tuple[str, list[str], dict[str, Any]]]:
    hook = [str(Path(memory).with_name("quire")), "hook", "claude"]
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(root / "src/part0.py")}}
    return [
        ("memory status", [memory, "status"], {}),
        ("memory sync --dry-run", [memory, "sync", "--dry-run"], {}),
        ("memory brief", [memory, "brief", "src/part0.py"], {}),
        ("hook session-start", [*hook, "session-start"], {"source": "startup"}),
        ("hook before-edit", [*hook, "before-edit"], edit),
    ]
