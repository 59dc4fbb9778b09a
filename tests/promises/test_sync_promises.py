"""sync and confirm keep the promises too: killed, refused, locked out or crowded, they leave the old or the new."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import test_disk
from crash_space import differing, open_project, read_space
from crashing import SCENARIOS

from promised import proves

unshare = test_disk.unshare
mounted = test_disk.mounted

CODE = "def send(message):\n    return message\n\n\ndef give_up(message):\n    return None\n"
HOLD = """
import os, sys, time
from quire.files.file_lock import Holder, held
holder = Holder(pid=os.getpid(), operation="save", created_at="2026-03-02T11:19:00+00:00")
with held(sys.argv[1], holder, 5, time.sleep):
    print("held", flush=True)
    sys.stdin.readline()
"""


# -- what it writes -----------------------------------------------------------------------


@proves("P1.1", "A2", over="graph")
@pytest.mark.parametrize("scenario", ["first sync", "sync"])
def test_a_sync_writes_the_marker_and_the_map_and_nothing_else(scenario: str, tmp_path: Path) -> None:
    """What the trials of `crashing.py` rest on: old and new differ in the marker and the map alone."""
    space = str(tmp_path / "space")
    os.makedirs(space)
    SCENARIOS[scenario].prepare(space)
    before = read_space(space)
    SCENARIOS[scenario].act(open_project(space))
    assert differing(before, read_space(space)) == ["harbor/.memory/sync-state.json", "harbor/AGENTS.md"]


# -- the lock -----------------------------------------------------------------------------


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text(CODE)
    git.commit("code")
    memory.init()
    memory.save({"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": ["src/"]})
    git.commit("memory")
    assert memory("sync").code == 0
    (repo / "src/queue.py").write_text(CODE.replace("None", "message"))
    git.commit("change")
    return memory


@pytest.fixture
def holder(repo: Path, shop: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the memory's lock until it reads a line."""
    line = [sys.executable, "-c", HOLD, str(repo / ".memory/.lock")]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def kept(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in found.items() if not name.endswith((".lock", "ballast"))}


@proves("P3.3", "B7", over="graph")
@pytest.mark.parametrize("line", [["sync"], ["confirm", "feature.retry-queue"]])
def test_a_held_lock_says_who_holds_it_and_changes_nothing(
    shop: Any, repo: Path, holder: subprocess.Popen[str], tree: Any, line: list[str]
) -> None:
    before = kept(tree(repo))
    run = shop(*line, "--json", env={"MEMORY_LOCK_TIMEOUT": "0.2"})
    assert run.code == 3
    assert run.error["code"] == "MemoryLockBusy"
    assert f"process {holder.pid}" in run.error["message"]
    assert run.error["hint"]
    assert kept(tree(repo)) == before
    plain = shop(*line, env={"MEMORY_LOCK_TIMEOUT": "0"})
    assert (plain.code, plain.out) == (3, "")
    assert str(holder.pid) in plain.err


@proves("P2.2", "B3", over="graph")
def test_what_only_reads_needs_no_lock(shop: Any, repo: Path, holder: subprocess.Popen[str]) -> None:
    for line in (
        ["sync", "--dry-run"],
        ["confirm", "feature.retry-queue", "--dry-run"],
        ["brief", "src/queue.py"],
        ["brief", "--diff", "HEAD~1"],
        ["why", "src/queue.py:1"],
        ["status"],
    ):
        assert shop(*line).code == 0, line


@proves("P3.3")
def test_a_sync_waits_for_its_turn(shop: Any, repo: Path, holder: subprocess.Popen[str]) -> None:
    with shop.start("sync", "--json") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        holder.communicate("\n")
        out, _ = process.communicate(timeout=20)
    assert json.loads(out)["data"]["marker_advanced"] is True


@pytest.mark.proof
@proves("P3.1")
def test_syncs_confirms_and_saves_at_once_do_each_other_no_harm(shop: Any, repo: Path, git: Any) -> None:
    running = [shop.start(*line, "--json") for line in [["sync"], ["confirm", "feature.retry-queue"]] * 4]
    for number in range(4):
        process = shop.start("save", "--stdin", "--json")
        node = {"kind": "gotcha", "title": f"Trap {number}", "body": "B.", "anchors": ["src/"]}
        process.stdin.write(json.dumps({"task": "t", "nodes": [node]}).encode())
        process.stdin.close()
        process.stdin = None
        running.append(process)
    for process in running:
        out, said = process.communicate(timeout=60)
        assert process.returncode == 0, (out, said)
    marker = json.loads((repo / ".memory/sync-state.json").read_text())
    assert marker["last_sync_commit"] == git("rev-parse", "HEAD").strip()
    assert shop("sync", "--json").data["changed"] == []
    data = shop("check", "--json").data
    assert data["errors"] == data["warnings"] == []
    assert len(list((repo / ".memory/memory").glob("trap-*.json"))) == 4


# -- the disk -----------------------------------------------------------------------------


@pytest.mark.proof
@proves("P1.3", "C2", over="graph")
def test_on_a_read_only_disk_everything_that_reads_goes_on(
    shop: Any, repo: Path, mounted: Callable[[str], Any], tree: Any
) -> None:
    before = tree(repo, generated=True)
    read_only = mounted(test_disk.READ_ONLY)
    data = read_only.memory("sync", "--dry-run", "--json").data
    assert [node["id"] for node in data["changed"]] == ["feature.retry-queue"]
    for line in (["brief", "--diff", "HEAD~1"], ["why", "src/queue.py:1"], ["status"], ["sync", "--dry-run", "--all"]):
        assert read_only.memory(*line).code == 0, line
    assert read_only.memory("sync", "--dry-run", "--check").code == 1
    for line in (["sync"], ["confirm", "feature.retry-queue"]):
        run = read_only.memory(*line, "--json")
        assert run.code == 1, line
        assert run.error["code"] == "MemoryStorageFailed"
        assert "read-only" in run.error["message"]
        assert run.error["hint"]
    assert tree(repo, generated=True) == before


@pytest.mark.proof
@proves("P1.3", "C1", over="graph")
def test_on_a_full_disk_the_marker_is_the_old_one_or_the_new_one(
    shop: Any, repo: Path, git: Any, mounted: Callable[[str], Any], tree: Any
) -> None:
    shutil.rmtree(repo / ".git/hooks")
    head = git("rev-parse", "HEAD").strip()
    small = mounted(test_disk.SMALL)
    marker = small.repo / ".memory/sync-state.json"
    refused = 0
    for free in (0, 4, 8, 16):
        test_disk.fill(small.repo, free * 1024)
        before = kept(tree(small.repo))
        run = small.memory("sync", "--json")
        assert json.loads(marker.read_text())["version"] == 1
        if run.code:
            refused += 1
            assert "disk is full" in run.error["message"]
            assert kept(tree(small.repo)) == before
        else:
            assert json.loads(marker.read_text())["last_sync_commit"] == head
        assert small.memory("sync", "--dry-run").code == 0
        assert not list(small.repo.rglob("*.tmp"))
        assert not (small.repo / ".memory/.lock").exists()
    assert refused >= 1
    test_disk.fill(small.repo, 1024 * 1024)
    assert small.memory("sync").code == 0
    assert small.memory("confirm", "feature.retry-queue").code == 0
    assert small.memory("check", "--json").data["errors"] == []
