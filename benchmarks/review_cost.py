"""What a review costs: processor time of `memory review` for 100 and 10,000 changed files over 10,000 records.

Processor time, user and system, of a fresh process with the git processes that it waited for; the least of a few
rounds. Half of the records are anchored, to folders, files, patterns and symbols in turn. The repository is packed, as
a clone is, and Python keeps its compiled modules, as an installed program does.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.check_cost import _spent
from benchmarks.stores import WORDS
from benchmarks.verdict_cost import _FORMS, _git, _make_files
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes

FILES = 20_000
RECORDS = 10_000
CHANGED = (1, 100, 10_000)
FORMATS = ("text", "sarif")
ROUNDS = 3

__all__ = ["run"]


def run() -> dict[str, Any]:
    memory = os.path.join(os.path.dirname(sys.executable), "memory")
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        (Path(folder) / ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")
        env = {**os.environ, "HOME": folder, "MEMORY_HOME": f"{folder}/home"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.update(env)
        root = Path(folder) / "project"
        paths = _make_files(root, FILES)
        _make_records(root, paths)
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "-m", "Memory")
        _git(root, "gc", "-q")
        results: dict[str, Any] = {"files": FILES, "records": RECORDS}
        bare = min(_spent([sys.executable, "-c", "pass"], root, env) for _ in range(2 * ROUNDS))
        results["bare Python, CPU s"] = round(bare, 4)
        for number in CHANGED:
            _change(root, random.Random(number).sample(paths, number))
            for form in FORMATS:
                line = [memory, "review", "HEAD~1..HEAD", "--format", form]
                spent = min(_spent(line, root, env) for _ in range(ROUNDS))
                results[f"{number:,} changed files, {form}, CPU s"] = round(spent, 3)
                results[f"{number:,} changed files, {form}, over bare Python"] = round(spent / bare, 1)
            found = subprocess.run([*line[:-1], "json"], cwd=root, env=env, capture_output=True, text=True, check=False)
            results[f"{number:,} changed files, findings"] = found.stdout.count('"fingerprint"')
    return results


def _change(root: Path, paths: list[str]) -> None:
    for path in paths:
        text = (root / path).read_text()
        (root / path).write_text(text.replace("b * 2", "b * 3", 1) if "b * 2" in text else text + "\nMORE = 1\n")
    _git(root, "commit", "-q", "-a", "-m", f"{len(paths)} files")


def _make_records(root: Path, paths: list[str]) -> None:
    chance = random.Random(6)
    project = Project.open(str(root), real_world())
    init_memory(project, guidance=False)
    for start in range(0, RECORDS, 500):
        nodes = []
        for number in range(start, start + 500):
            words = chance.choices(WORDS, k=60)
            node: dict[str, Any] = {"kind": "gotcha", "title": f"{' '.join(words[:4])} {number}".capitalize()}
            node["body"] = f"{' '.join(words)}.".capitalize()
            if number % 2:
                node["anchors"] = [_FORMS[number // 2 % 4](chance.choice(paths))]
            nodes.append(node)
        save_nodes(project, {"task": "benchmark", "nodes": nodes})
