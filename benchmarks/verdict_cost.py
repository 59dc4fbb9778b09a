"""What verdicts cost: a sync of a large repository over what git itself needs, and a question with and without them.

The sync is a fresh process of the installed command on 50,000 files and 1,000 anchored nodes; the two git commands that
tell the same of the files alone take turns with it. Questions are put to one open project, in turns with verdicts and
with a stand-in that says nothing. Medians of wall time, because git's processes are a part of the cost.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cold import _install
from benchmarks.stores import vocabulary
from quire.anchors.path_match import Files
from quire.files.world import real_world
from quire.model.records import Record
from quire.model.verdicts import Verdict
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes

FILES = 50_000
NODES = 1_000
CHANGED = 500
ROUNDS = 9
QUESTIONS = 80
_PER_FOLDER = 100
_BASELINE = (["git", "diff", "--name-status", "HEAD"], ["git", "ls-files"])

__all__ = ["run"]


def run() -> dict[str, Any]:
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
            folder = Path(name)
            _, memory = _install(folder / "installed")
            os.environ["MEMORY_HOME"] = str(folder / "home")
            os.environ["HOME"] = name
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            (folder / ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")
            return {
                f"sync, {FILES:,} files, {NODES:,} anchored nodes": _syncs(folder / "large", memory),
                f"warm query, {NODES:,} anchored nodes": _queries(folder / "small"),
            }
    finally:
        os.environ.clear()
        os.environ.update(before)


# -- a sync ----------------------------------------------------------------------------------------------------


def _syncs(root: Path, memory: str) -> dict[str, Any]:
    paths = _make_files(root, FILES)
    _make_nodes(root, paths)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Memory")
    command = [memory, "sync", "--dry-run", "--json"]
    subprocess.run([memory, "sync", "--json"], cwd=root, check=True, capture_output=True)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "--allow-empty", "-m", "Synced")
    figures = {"nothing changed": _turns(root, command)}
    for path in random.Random(4).sample(paths, CHANGED):
        with (root / path).open("a") as file:
            file.write("\n\ndef added():\n    return 0\n")
    figures[f"{CHANGED} files changed, not committed"] = _turns(root, command)
    _git(root, "commit", "-q", "-a", "-m", "Changes")
    figures[f"{CHANGED} files changed, committed"] = _turns(root, command)

    def change() -> None:
        with (root / paths[0]).open("a") as file:
            file.write("# more\n")

    figures["the same, and each time one more edit"] = _turns(root, command, change)
    figures["1,000 anchors matched against 50,000 paths, ms"] = _matching(paths)
    return figures


def _matching(paths: list[str]) -> float:
    """The anchors of the nodes, a quarter of them patterns, each looked up once in a list of all paths."""
    chance = random.Random(6)
    anchors = [_FORMS[number % 4](chance.choice(paths)).partition("#")[0] for number in range(NODES)]
    begin = time.perf_counter()
    files = Files(sorted(paths))
    found = sum(len(files.at(anchor)) for anchor in anchors)
    assert found
    return round((time.perf_counter() - begin) * 1000, 1)


def _turns(root: Path, command: list[str], between: Callable[[], None] | None = None) -> dict[str, Any]:
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS + 2):
        if between is not None:
            between()
        git = sum(_seconds(line, root) for line in _BASELINE)
        sync = _seconds(command, root)
        # The first two turns warm the caches.
        if turn > 1:
            ours.append(sync)
            theirs.append(git)
    return {
        "memory sync --dry-run, ms": round(statistics.median(ours) * 1000, 1),
        "git diff + git ls-files, ms": round(statistics.median(theirs) * 1000, 1),
        "ratio": round(statistics.median(ours) / statistics.median(theirs), 2),
        "rounds": ROUNDS,
    }


def _seconds(command: list[str], root: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return time.perf_counter() - begin


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def _make_files(root: Path, number: int) -> list[str]:
    root.mkdir()
    _git(root, "init", "-q", ".")
    (root / ".gitignore").write_text(".memory/index/\n.memory/recovery/\n")
    paths = []
    for at in range(number):
        folder = f"src/part{at // (10 * _PER_FOLDER):02}/group{at // _PER_FOLDER:03}"
        if at % _PER_FOLDER == 0:
            (root / folder).mkdir(parents=True)
        path = f"{folder}/module{at:05}.py"
        text = f"LIMIT = {at}\n\n\ndef work{at}(a):\n    b = a + {at}\n    c = b * 2\n    return c - LIMIT\n"
        (root / path).write_text(text)
        paths.append(path)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Everything")
    return paths


_FORMS: Sequence[Callable[[str], str]] = (
    lambda path: path.rpartition("/")[0] + "/",
    lambda path: path,
    lambda path: f"{path.rpartition('/')[0]}/*{path[-5]}.py",
    lambda path: f"{path}#work{int(path[-8:-3])}",
)


def _make_nodes(root: Path, paths: list[str], anchors_each: int = 1) -> list[str]:
    """Nodes tied to folders, files, patterns and symbols in turn, saved through the product; their bodies."""
    chance = random.Random(6)
    words = vocabulary()
    weights = [1 / (rank + 3) for rank in range(len(words))]
    project = Project.open(str(root), real_world())
    init_memory(project, guidance=False)
    nodes = []
    for number in range(NODES):
        anchors = [_FORMS[(number + more) % 4](chance.choice(paths)) for more in range(anchors_each)]
        title = " ".join(chance.choices(words, weights, k=4)).capitalize() + f" {number}"
        body = " ".join(chance.choices(words, weights, k=80)).capitalize() + "."
        nodes.append({"kind": "gotcha", "title": title, "body": body, "anchors": anchors})
    for start in range(0, NODES, 200):
        save_nodes(project, {"task": "benchmark", "nodes": nodes[start : start + 200]})
    return [str(node["body"]) for node in nodes]


# -- a question ------------------------------------------------------------------------------------------------


def _queries(root: Path) -> dict[str, Any]:
    paths = _make_files(root, 2_000)
    bodies = _make_nodes(root, paths, anchors_each=3)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Memory")
    project = Project.open(str(root), real_world())
    chance = random.Random(7)
    questions = [" ".join(chance.sample(chance.choice(bodies).split(), 6)).lower() for _ in range(QUESTIONS)]
    first = [_asked(project, question) for question in questions]
    figures = {"first time asked": _beside(project, questions, first)}
    figures["asked again"] = _beside(project, questions, None)
    for path in chance.sample(paths, 100):
        with (root / path).open("a") as file:
            file.write("\n\ndef added():\n    return 0\n")
    for question in questions:
        _asked(project, question)
    figures["asked again, 100 of 2,000 files changed"] = _beside(project, questions, None)
    return figures


def _beside(project: Project, questions: list[str], taken: list[float] | None) -> dict[str, Any]:
    """Each question with verdicts and without, in turns; with them only where that was not timed before."""
    ours = list(taken or [])
    plain: list[float] = []
    real = Verdicts.__call__
    for question in questions:
        if not taken:
            ours.append(_asked(project, question))
        Verdicts.__call__ = _nothing  # type: ignore[method-assign]
        try:
            plain.append(_asked(project, question))
        finally:
            Verdicts.__call__ = real  # type: ignore[method-assign]
    with_them, without = statistics.median(ours), statistics.median(plain)
    return {
        "with verdicts, ms": round(with_them * 1000, 2),
        "without, ms": round(without * 1000, 2),
        "more, %": round((with_them / without - 1) * 100, 1),
        "questions": len(ours),
    }


def _nothing(_self: Verdicts, records: Sequence[Record]) -> dict[str, Verdict]:
    return {record.ref: Verdict(verdict="unverifiable") for record in records}


def _asked(project: Project, question: str) -> float:
    begin = time.perf_counter()
    answer_question(project, question)
    return time.perf_counter() - begin
