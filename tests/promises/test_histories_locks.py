"""Locks over all layers: a holder that is killed, one that is stopped, and a file system that has none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from history_holding import ACTS, CHANGES

from promised import proves, tally
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.remember import RememberEntry, remember_entry
from thorough import either

HERE = Path(__file__).parent
LAYERS = ("graph", "facts", "profile", "journal", "inbox")
FOLDERS = (".memory", ".ai-state", ".agent-memory")
Tree = dict[str, bytes]
Holding = Callable[[str], subprocess.Popen[str]]

# The kernel's answer where a file system knows no locks, for a process of its own.
WITHOUT_LOCKS = """
import errno, fcntl, sys
def refuse(descriptor, operation):
    raise OSError(getattr(errno, sys.argv[3]), "no locks here")
fcntl.flock = refuse
from history_holding import CHANGES
from quire.model.errors import QuireError
from quire.project import Project
try:
    CHANGES[sys.argv[1]](Project.open(sys.argv[2]))
    print("written")
except QuireError as error:
    print(error.code, error.hint, error.message, sep="|")
"""


@pytest.fixture
def everything(repo: Path, world: World) -> Project:
    """A project with all layers."""
    project = Project.open(str(repo), world)
    init_memory(project, layers=("facts", "profile", "journal"))
    remember_entry(project, RememberEntry(category="assistant", key="name", value="Ada"))
    return project


@pytest.fixture
def holding(repo: Path, environment: dict[str, str]) -> Iterator[Holding]:
    """Start a process that stops in the middle of a change."""
    started: list[subprocess.Popen[str]] = []

    def start(layer: str) -> subprocess.Popen[str]:
        line = [sys.executable, str(HERE / "history_holding.py"), layer, str(repo)]
        process = subprocess.Popen(line, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def truth(root: Path) -> Tree:
    """What the layers hold; neither the index nor who holds a lock."""
    found = [path for name in FOLDERS for path in (root / name).rglob("*") if path.is_file()]
    kept = [path for path in found if "index" not in path.parts and not path.name.endswith("lock")]
    return {str(path.relative_to(root)): path.read_bytes() for path in kept}


@pytest.mark.proof(keep=2)
@proves("P3.3", "A9", over="graph facts profile journal")
@pytest.mark.parametrize("layer", LAYERS)
def test_a_killed_holder_keeps_nobody_waiting(layer: str, everything: Project, holding: Holding, world: World) -> None:
    holder = holding(layer)
    holder.kill()
    holder.wait()
    at_once = {**world.env, "MEMORY_LOCK_TIMEOUT": "0"}
    CHANGES[layer](Project.open(everything.root, msgspec.structs.replace(world, env=at_once)))
    assert check_files(everything).errors == []
    tally("P3.3", faults=1, processes=1)


@pytest.mark.proof(keep=2)
@proves("P3.3", "B7", over="graph facts profile journal")
@pytest.mark.parametrize("layer", LAYERS)
def test_a_stopped_holder_is_named_and_readers_go_on(
    layer: str, everything: Project, holding: Holding, memory: Any, repo: Path
) -> None:
    assert memory("status").code == 0
    holder = holding(layer)
    holder.send_signal(signal.SIGSTOP)
    before = truth(repo)
    for line in ACTS[layer]:
        run = memory(*line, "--json", env={"MEMORY_LOCK_TIMEOUT": "0"})
        assert run.code == 3, (line, run.out)
        assert run.error["code"] == "MemoryLockBusy"
        assert f"process {holder.pid}" in run.error["message"]
        assert run.error["hint"]
    for line in (("status",), ("facts", "list"), ("profile", "about-us"), ("journal", "status")):
        assert memory(*line).code == 0, line
    assert truth(repo) == before
    holder.send_signal(signal.SIGCONT)
    holder.communicate("\n", timeout=20)
    assert holder.returncode == 0
    assert memory(*ACTS[layer][0]).code == 0
    tally("P3.3", faults=1, processes=1, inputs=len(ACTS[layer]))


@pytest.mark.proof(keep=2)
@proves("P3.3", "B10", over="graph facts profile journal")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("code", either(["ENOLCK"], ["ENOLCK", "EOPNOTSUPP", "ENOSYS"]))
def test_without_locks_nobody_writes(
    layer: str, code: str, everything: Project, environment: dict[str, str], repo: Path, memory: Any
) -> None:
    """Refused in words, with not a byte changed; questions are answered all the same."""
    before = truth(repo)
    line = [sys.executable, "-c", WITHOUT_LOCKS, layer, str(repo), code]
    env = {**environment, "PYTHONPATH": str(HERE)}
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    said, hint, message = done.stdout.strip().split("|")
    assert said == "MemoryStorageFailed"
    assert "has no locks, so nothing can be written safely" in message
    assert hint
    assert truth(repo) == before
    assert json.loads(memory("status", "--json").out)["ok"]
    tally("P3.3", faults=1, processes=1)
