"""What looking after a large memory costs, over bare Python in the same minute: `check`, `status`, `facts store`.

Processor time, user and system, of a fresh process with all that it waited for; the least of a few rounds, bare Python
between them. Stores of nodes have as many relations, and half of the nodes are anchored.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.stores import NOW, WORDS, make_store

NODES = (1_000, 10_000)
FACTS = (6_000, 60_000)
ROUNDS = 3

__all__ = ["run"]


def run() -> dict[str, Any]:
    results: dict[str, Any] = {}
    memory = os.path.join(os.path.dirname(sys.executable), "memory")
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        env = {**os.environ, "HOME": folder, "MEMORY_HOME": f"{folder}/home"}
        os.environ.update(env)
        for size in NODES:
            root = Path(folder) / f"nodes-{size}"
            make_store(root, size, memory)
            results[f"{size:,} nodes"] = _measured(memory, root, env)
        for size in FACTS:
            root = Path(folder) / f"facts-{size}"
            make_store(root, 10, memory)
            _write_facts(root / ".memory/facts.jsonl", size)
            results[f"{size:,} facts"] = _measured(memory, root, env)
    return results


def _measured(memory: str, root: Path, env: Mapping[str, str]) -> dict[str, float]:
    _spent([memory, "status"], root, env)  # the index is made
    bare, found = [], {"check": [], "status": [], "facts store": []}  # type: ignore[var-annotated]
    for number in range(ROUNDS):
        bare.append(_spent([sys.executable, "-c", "pass"], root, env))
        found["check"].append(_spent([memory, "check"], root, env))
        found["status"].append(_spent([memory, "status"], root, env))
        text = f"Round {number}: the ledger is closed in the evening."
        found["facts store"].append(_spent([memory, "facts", "store", "Specs", text], root, env))
    row = {f"{name} over bare Python": round(min(times) / min(bare), 1) for name, times in found.items()}
    return {**row, **{f"{name}, s": round(min(times), 2) for name, times in found.items()}}


def _spent(line: Sequence[str], root: Path, env: Mapping[str, str]) -> float:
    process = subprocess.Popen(line, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, line
    return used.ru_utime + used.ru_stime


def _write_facts(path: Path, number: int) -> None:
    chance = random.Random(number)
    names = [f"{first}{second}" for first in WORDS for second in WORDS]
    with path.open("w", encoding="utf-8") as file:
        for at in range(number):
            text = " ".join(chance.choices(names, k=12)).capitalize() + "."
            file.write(
                f'{{"_type":"fact","id":"f{at:011d}","section":"Specs","content":"{text}","status":"active",'
                f'"created_at":"{NOW}","mind":"default","version":{at + 1}}}\n'
            )
