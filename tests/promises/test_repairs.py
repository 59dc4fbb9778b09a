"""Repairs under trial: killed at every call, beside writers, over ten thousand leftovers, on stores of others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from installed import Git, Memory
from promised import proves, tally
from thorough import either

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
OLD = 10_000.0
GONE = 99_999_999
NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "building", "tags": ["a", "b"]}


def files(root: Path) -> dict[str, bytes]:
    """Every file but git's, the index, locks and the copies of repairs."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "index", "repairs")]
        for name in names:
            path = Path(folder, name)
            shown = path.relative_to(root).as_posix()
            if not shown.endswith(("local/.gitignore", "lock")):
                found[shown] = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
    return found


@pytest.mark.proof
@proves("P5.6", over="graph facts profile")
@pytest.mark.parametrize(
    ("work", "layers", "most"),
    [
        ("repair", "plain", either(6, 0)),
        ("undo", "plain", either(4, 0)),
        *either([], [("repair", "journal", 0), ("undo", "journal", 0)]),
    ],
)
def test_a_repair_that_is_killed_leaves_each_layer_as_it_was_or_repaired(
    work: str, layers: str, most: int, tmp_path: Path
) -> None:
    line = [sys.executable, str(HERE / "repair_trials.py"), work, str(tmp_path), str(most), layers]
    done = subprocess.run(line, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["violations"] == []
    assert found["tried"] >= min(4, found["calls"])
    assert found["calls"] > 30
    tally("P5.6", faults=found["tried"], processes=found["tried"], states=found["tried"])


@pytest.mark.proof
@proves("P5.6", "A13", over="graph facts profile journal")
def test_ten_thousand_leftovers_stop_nobody_and_are_swept(memory: Memory) -> None:
    memory.init()
    memory("save", "--stdin", stdin=json.dumps({"task": "t", "nodes": [NODE]}))
    memory("facts", "store", "Decisions", "Retries run in the worker.")
    memory("profile", "remember", "tools", "shell", "fish")
    memory("journal", "init")
    sound = files(memory.cwd)
    each = either(250, 2_500)
    for folder in (".memory/memory", ".memory", ".ai-state", ".agent-memory/history"):
        for number in range(each):
            path = memory.cwd / folder / f".quire-{GONE}-{number:08x}.tmp"
            path.write_bytes(b"half")
            os.utime(path, (1_700_000_000, 1_700_000_000))
    assert memory("query", "retry queue", "--json").code == 0
    found = memory("check", "--json")
    named = [problem for problem in found.data["warnings"] if problem["code"] == "LeftoverFiles"]
    assert {problem["path"] for problem in named} == {
        ".memory",
        ".memory/memory",
        ".ai-state",
        ".agent-memory/history",
    }
    assert {problem["fixed_by"] for problem in named} == {"repair"}
    assert found.data["errors"] == []
    done = memory("check", "--repair", "--json")
    assert done.code == 0
    assert [fix["code"] for fix in done.data["fixes"]] == ["LeftoverFiles"] * 4
    assert files(memory.cwd) == sound
    tally("P5.6", inputs=4 * each)


@pytest.mark.proof
@proves("P5.6")
def test_a_repair_and_saves_at_once_lose_nothing(memory: Memory) -> None:
    memory.init()
    memory("save", "--stdin", stdin=json.dumps({"task": "t", "nodes": [NODE]}))
    sidecar = memory.cwd / ".memory/memory/retry-queue.json"
    sidecar.write_text(sidecar.read_text().replace('"a",', '"a",\n    "a",'))
    writers = either(4, 12)
    python = [os.path.join(os.path.dirname(sys.executable), "memory")]
    running = []
    for number in range(writers):
        intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": f"Trap {number}", "body": "Mind it."}]}
        saving = subprocess.Popen(
            [*python, "save", "--stdin"],
            cwd=memory.cwd,
            env=memory.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        assert saving.stdin is not None
        saving.stdin.write(json.dumps(intent).encode())
        saving.stdin.close()
        running.append(saving)
        if number % 2 == 0:
            running.append(
                subprocess.Popen(
                    [*python, "check", "--repair"], cwd=memory.cwd, env=memory.env, stdout=subprocess.DEVNULL
                )
            )
    assert [process.wait(120) for process in running] == [0] * len(running)
    assert json.loads(sidecar.read_text())["tags"] == ["a", "b"]
    after = memory("check", "--json").data
    assert after["errors"] == []
    assert [problem for problem in after["warnings"] if problem["fixed_by"] == "repair"] == []
    for number in range(writers):
        assert memory("inspect", f"gotcha.trap-{number}").code == 0
    assert len(memory("check", "--repairs", "--json").data["repairs"]) == 1
    tally("P5.6", processes=len(running))


# -- stores of other programs -------------------------------------------------------------------


def _graph(folder: Path) -> None:
    shutil.copytree(DATA / "original-store", folder, dirs_exist_ok=True)
    sidecar = next(
        path for path in sorted((folder / ".memory/memory").rglob("*.json")) if '"tags": [' in path.read_text()
    )
    fields = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps({**fields, "tags": [*fields["tags"], *fields["tags"]]}, indent=2) + "\n")


def _profile(folder: Path) -> None:
    document = sorted((DATA / "original-profiles").rglob("*.json"))[0]
    (folder / ".ai-state").mkdir(parents=True)
    shutil.copyfile(document, folder / ".ai-state/memory.json")
    path = folder / ".ai-state" / f".quire-{GONE}-0.tmp"
    path.write_bytes(b"half")
    os.utime(path, (1_700_000_000, 1_700_000_000))


@proves("P5.6", over="graph profile")
@pytest.mark.parametrize("make", [_graph, _profile])
def test_a_store_of_an_original_program_is_repaired_and_put_back(
    make: object, repo: Path, memory: Memory, git: Git
) -> None:
    assert callable(make)
    make(repo)
    git.commit("as it was")
    before = files(repo)
    done = memory("check", "--repair", "--json").data
    assert done["fixes"]
    assert [problem for problem in done["checked"]["warnings"] if problem["fixed_by"] == "repair"] == []
    changed = {path for path in {*before, *files(repo)} if before.get(path) != files(repo).get(path)}
    assert changed == {file["path"] for file in done["files"]}
    assert memory("check", "--repair", "--json").data["fixes"] == []
    assert memory("check", "--undo", "--json").data["name"] == done["name"]
    assert files(repo) == before
    assert git("status", "--porcelain", "--untracked-files=no") == ""
