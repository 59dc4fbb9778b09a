"""What git's merge driver costs for one file, over bare Python in the same minute.

Processor time, user and system, of a fresh process with all that it waited for; the least of a few rounds, bare Python
between them. Each version of a file changes other things than the other: fields of a node, lines of 10,000 facts.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.check_cost import _spent, _write_facts
from benchmarks.cold import _install
from benchmarks.stores import make_store

FACTS = 10_000
CHANGED = 50
ROUNDS = 7
AIMS_MS = {"node": 60, f"{FACTS:,} facts": 1_000}

__all__ = ["run"]


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
        folder = Path(name)
        os.environ.update(HOME=name, MEMORY_HOME=f"{name}/home")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        python, memory = _install(folder / "installed")
        root = folder / "store"
        make_store(root, 10, memory)
        sidecar = next(root.glob(".memory/memory/*.json"))
        data = sidecar.read_text()
        node = [data, data.replace('"active"', '"stale"'), data.replace('"tags": [', '"tags": [\n    "new",')]
        facts = root / ".memory/facts.jsonl"
        _write_facts(facts, FACTS)
        lines = facts.read_text().splitlines()
        ours = [line.replace('"active"', '"archived"') if at < CHANGED else line for at, line in enumerate(lines)]
        tagged = '"tags":["x"],"mind"'
        theirs = [line if at % 200 else line.replace('"mind"', tagged) for at, line in enumerate(lines)]
        versions = ["\n".join(one) + "\n" for one in (lines, ours, theirs)]
        cases = {
            "node": (f".memory/memory/{sidecar.name}", node),
            f"{FACTS:,} facts": (".memory/facts.jsonl", versions),
            "a file of nobody": ("list.txt", ["a\nb\nc\n", "a1\nb\nc\n", "a\nb\nc1\n"]),
        }
        quire = os.path.join(os.path.dirname(memory), "quire")
        found = {case: _measured(python, quire, root, *given) for case, given in cases.items()}
        return {"aims_ms": AIMS_MS, "changed_lines": CHANGED, **found}


def _measured(python: str, quire: str, root: Path, path: str, versions: list[str]) -> dict[str, float]:
    places = [root / f"version-{side}" for side in ("base", "ours", "theirs")]
    bare, spent = [], []
    for _ in range(ROUNDS):
        for place, text in zip(places, versions, strict=True):
            place.write_text(text)
        bare.append(_spent([python, "-c", "pass"], root, os.environ))
        spent.append(_spent([quire, "merge-driver", *map(str, places), "7", path], root, os.environ))
    merged = places[1].read_text()
    assert merged not in versions, "both sides changed something"
    return {"ms": round(min(spent) * 1000), "over bare Python": round(min(spent) / min(bare), 1)}
