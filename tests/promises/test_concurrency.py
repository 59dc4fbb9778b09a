"""Many writers and readers at once: every acknowledged save is there once, nobody sees half of one, nobody hangs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from promised import proves, tally
from quire.files import disk
from quire.project import Project
from quire.verbs.graph.save import save_nodes
from thorough import either

HERE = Path(__file__).parent
NOW = "2026-03-02T11:19:00+00:00"
HOLD = """
import os, sys, time
from quire.files.file_lock import Holder, held
holder = Holder(pid=os.getpid(), operation="save", created_at="2026-03-02T11:19:00+00:00")
with held(sys.argv[1], holder, 5, time.sleep):
    print("held", flush=True)
    sys.stdin.readline()
"""


class Crowd:
    """Processes at work in one memory, and what each of them noted."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = env
        self.processes: list[tuple[subprocess.Popen[bytes], Path]] = []

    def start(self, what: str, root: Path, number: int, times: int) -> None:
        notes = self.folder / f"notes-{len(self.processes)}"
        line = [sys.executable, str(HERE / "saving.py"), what, str(root), str(number), str(times), str(notes)]
        process = subprocess.Popen(line, env=self.env, stderr=subprocess.PIPE)
        self.processes.append((process, notes))

    def finish(self) -> list[dict[str, Any]]:
        """Wait for all of them; the notes of all of them."""
        found: list[dict[str, Any]] = []
        for process, notes in self.processes:
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0, said.decode()[-2000:]
            found += [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
        return found


@pytest.fixture
def crowd(tmp_path: Path, environment: dict[str, str]) -> Iterator[Crowd]:
    env = {**environment, "MEMORY_LOCK_TIMEOUT": "100", "MEMORY_NOW": NOW}
    crowd = Crowd(tmp_path, env)
    yield crowd
    for process, _ in crowd.processes:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def busy(repo: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start a process that holds the memory's lock until it reads a line."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        line = [sys.executable, "-c", HOLD, str(repo / ".memory" / ".lock")]
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def events(repo: Path) -> list[dict[str, Any]]:
    text = (repo / ".memory" / "events.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def feature(title: str, body: str = "B.") -> dict[str, Any]:
    return {"task": "t", "nodes": [{"kind": "feature", "title": title, "body": body}]}


def problems_but_the_map(memory: Any) -> list[Any]:
    data = memory("check", "--json").json["data"]
    return [*data["errors"], *(found for found in data["warnings"] if found["code"] != "ProductMapStale")]


@pytest.mark.proof
@proves("P3.1", "B1", over="graph")
def test_sixteen_writers_lose_nothing_of_each_other(memory: Any, repo: Path, crowd: Crowd) -> None:
    memory.init()
    writers, times = either((6, 10), (16, 200))
    for number in range(writers):
        crowd.start("create", repo, number, times)
    notes = crowd.finish()
    made = [made for note in notes for made in note["created"]]
    assert len(made) == len(set(made)) == writers * times
    assert len(list((repo / ".memory" / "memory").glob("*.json"))) == writers * times + 1
    bodies = Counter(path.read_text(encoding="utf-8") for path in (repo / ".memory" / "memory").glob("*.md"))
    for number in range(writers):
        for turn in range(times):
            assert bodies[f"Made by writer {number}, turn {turn}."] == 1
    logged = Counter(event["id"] for event in events(repo))
    assert set(logged) == {*made, "project.harbor"}
    assert set(logged.values()) == {1}
    assert problems_but_the_map(memory) == []
    tally("P3.1", processes=writers, inputs=writers * times)
    assert memory("status", "--json").data["features_by_stage"]["idea"]["count"] == writers * times
    assert not (repo / ".memory" / ".lock").exists()
    assert list((repo / ".memory" / "recovery").iterdir()) == []


@pytest.mark.proof
@proves("P3.2", over="graph")
def test_updates_of_one_node_form_a_chain(memory: Any, repo: Path, crowd: Crowd) -> None:
    memory.init()
    memory.save({"id": "feature.counter", "title": "v0", "body": "v0 "})
    for number in range(either(4, 16)):
        crowd.start("update", repo, number, either(6, 10))
    notes = crowd.finish()
    assert all(note["updated"] == ["feature.counter"] for note in notes)
    chain = [event for event in events(repo) if event["event"] == "memory.updated"]
    assert Counter(event["payload"]["task"] for event in chain) == Counter(note["task"] for note in notes)
    last = chain[-1]["payload"]["task"]
    found = memory("inspect", "feature.counter", "--json").data["object"]
    assert found["title"] == f"v{last}"
    assert found["body"].startswith(f"v{last} ")
    assert problems_but_the_map(memory) == []


@pytest.mark.proof
@proves("P2.2", "B3", over="graph")
def test_readers_see_whole_nodes_while_writers_write(memory: Any, repo: Path, crowd: Crowd) -> None:
    memory.init()
    memory.save({"id": "feature.counter", "title": "v0", "body": "v0 "})
    for number in range(2):
        crowd.start("update", repo, number, either(14, 60))
        crowd.start("come_and_go", repo, number, either(6, 20))
    for number in range(3):
        crowd.start("look", repo, number, either(8, 40))
    notes = crowd.finish()
    assert sum(note.get("seen", 0) for note in notes) > either(2, 5)
    assert problems_but_the_map(memory) == []


@proves("P2.2", "B3", over="graph")
def test_a_reader_between_two_steps_of_a_writer_sees_one_version(project: Project, monkeypatch: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"id": "feature.counter", "title": "v1", "body": "v1 text"}]})
    seen: list[tuple[str, str, bool]] = []

    def look(operation: str, path: str) -> None:
        monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
        found = project.graph.find_node("feature.counter")
        assert found
        seen.append((found.node.title, found.body, found.hash_holds))
        monkeypatch.setattr(disk, "before", look)

    monkeypatch.setattr(disk, "before", look)
    save_nodes(project, {"task": "t", "nodes": [{"id": "feature.counter", "title": "v2", "body": "v2 text"}]})
    assert set(seen) == {("v1", "v1 text", True), ("v2", "v2 text", True)}


@proves("P2.2", over="graph")
def test_a_reader_between_two_steps_of_a_deletion_sees_the_node_or_none(project: Project, monkeypatch: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"id": "feature.counter", "title": "v1", "body": "v1 text"}]})
    seen: list[bool] = []

    def look(operation: str, path: str) -> None:
        seen.append(project.graph.find_node("feature.counter") is not None)

    monkeypatch.setattr(disk, "before", look)
    save_nodes(project, {"task": "t", "delete": [{"id": "feature.counter", "reason": "gone"}]})
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {True, False}


@proves("P3.2", over="graph")
def test_the_map_is_written_under_the_lock(project: Project, monkeypatch: Any) -> None:
    """So that a map which was rendered earlier can never replace a later one."""
    held: list[bool] = []

    def look(operation: str, path: str) -> None:
        if operation == "rename" and path.endswith("AGENTS.md"):
            held.append(os.path.exists(os.path.join(project.graph.folder, ".lock")))

    monkeypatch.setattr(disk, "before", look)
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": "First", "body": "Saved here."}]})
    assert held == [True]


@pytest.mark.proof
@proves("P3.1", "B9", over="graph")
def test_the_command_waits_its_turn(memory: Any, repo: Path) -> None:
    memory.init()
    running = []
    for number in range(8):
        process = memory.start("save", "--stdin", "--json")
        process.stdin.write(json.dumps(feature("Same title", f"Body {number}.")).encode())
        process.stdin.close()
        running.append(process)
    made = []
    for process in running:
        out = process.stdout.read()
        process.stdout.close()
        process.stderr.close()
        assert process.wait(60) == 0, out
        made += json.loads(out)["data"]["memory_created"]
    assert sorted(made) == sorted(["feature.same-title", *(f"feature.same-title-{number}" for number in range(2, 9))])
    assert problems_but_the_map(memory) == []


@pytest.mark.proof
@proves("P3.1", over="graph")
def test_eight_times_init_at_once_makes_one_memory(memory: Any, repo: Path) -> None:
    running = [memory.start("init", "--json") for _ in range(8)]
    for process in running:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, out
    assert [event["event"] for event in events(repo)] == ["memory.created"]
    assert problems_but_the_map(memory) == []
    assert len(memory("projects", "list", "--json").data["projects"]) == 1
    assert (repo / "AGENTS.md").read_text(encoding="utf-8").count("memory:map:start") == 1


@proves("P3.3", over="graph")
def test_a_held_lock_says_who_holds_it_and_for_what(
    memory: Any, busy: Callable[[], subprocess.Popen[str]], repo: Path
) -> None:
    memory.init()
    holder = busy()
    run = memory("save", "--stdin", "--json", stdin=feature("A"), env={"MEMORY_LOCK_TIMEOUT": "0.3"})
    assert run.code == 3
    assert run.error["code"] == "MemoryLockBusy"
    assert f"process {holder.pid}" in run.error["message"]
    assert "`save`" in run.error["message"]
    assert run.error["hint"]
    plain = memory("save", "--stdin", stdin=feature("A"), env={"MEMORY_LOCK_TIMEOUT": "0"})
    assert (plain.code, plain.out) == (3, "")
    assert str(holder.pid) in plain.err
    for line in (["status"], ["inspect", "project.harbor"], ["check"], ["diff"]):
        assert memory(*line, env={"MEMORY_LOCK_TIMEOUT": "0.1"}).code == 0, "readers need no lock"
    assert memory("save", "--stdin", "--dry-run", stdin=feature("A")).code == 0
    holder.communicate("\n")
    assert memory("save", "--stdin", stdin=feature("A")).code == 0


@proves("P3.3", over="graph")
def test_a_writer_that_waits_is_let_in_when_the_holder_ends(
    memory: Any, busy: Callable[[], subprocess.Popen[str]], repo: Path
) -> None:
    memory.init()
    holder = busy()
    with memory.start("save", "--stdin") as process:
        process.stdin.write(json.dumps(feature("A")).encode())
        process.stdin.close()
        time.sleep(0.5)
        assert process.poll() is None
        holder.communicate("\n")
        assert process.wait(20) == 0


@proves("P3.3", "A9", over="graph")
def test_a_killed_holder_blocks_nobody(memory: Any, busy: Callable[[], subprocess.Popen[str]], repo: Path) -> None:
    memory.init()
    holder = busy()
    holder.kill()
    holder.wait()
    assert (repo / ".memory" / ".lock").exists()
    assert memory("save", "--stdin", stdin=feature("A"), env={"MEMORY_LOCK_TIMEOUT": "0"}).code == 0
    assert not (repo / ".memory" / ".lock").exists()


@proves("P3.3", "B7", over="graph")
def test_a_stopped_holder_gives_busy_and_nothing_hangs(
    memory: Any, busy: Callable[[], subprocess.Popen[str]], repo: Path
) -> None:
    memory.init()
    holder = busy()
    holder.send_signal(signal.SIGSTOP)
    run = memory("save", "--stdin", "--json", stdin=feature("A"), env={"MEMORY_LOCK_TIMEOUT": "0.3"})
    assert run.code == 3
    assert str(holder.pid) in run.error["message"]
    assert memory("reset", "--yes", env={"MEMORY_LOCK_TIMEOUT": "0.1"}).code == 3
    assert memory("status").code == 0


@proves("P3.3", over="graph")
@pytest.mark.parametrize(
    ("age", "alive", "code"),
    [
        ("2026-03-02T11:18:00+00:00", True, 3),
        ("2026-03-02T12:18:30+01:00", True, 3),
        ("2026-03-02T10:10:00+00:00", True, 0),
        ("2026-03-02T11:18:00+00:00", False, 0),
    ],
)
def test_a_lock_file_of_the_original_program_counts_while_its_process_lives_and_is_young(
    memory: Any, repo: Path, age: str, alive: bool, code: int
) -> None:
    memory.init()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        if not alive:
            process.kill()
            process.wait()
        lock = repo / ".memory" / ".lock"
        text = json.dumps({"created_at": age, "operation": "save", "pid": process.pid})
        lock.write_text(text, encoding="utf-8")
        run = memory("save", "--stdin", "--json", stdin=feature("A"), env={"MEMORY_LOCK_TIMEOUT": "0.1"})
        assert run.code == code, run.out
        if code:
            assert str(process.pid) in run.error["message"]
            assert ".lock" in run.error["hint"]
            assert lock.read_text(encoding="utf-8") == text
        else:
            assert not lock.exists()
        process.kill()


@proves("P3.1", "B5", over="graph")
def test_two_worktrees_of_one_repository_save_at_once_and_merge(
    memory: Any, repo: Path, git: Any, tmp_path: Path, crowd: Crowd
) -> None:
    memory.init()
    git.commit()
    other = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", other)
    crowd.start("create", repo, 1, 8)
    crowd.start("create", other, 2, 8)
    crowd.finish()
    for folder in (repo, other):
        data = memory("check", "--json", cwd=folder).data
        assert data["errors"] == []
        assert len(list((folder / ".memory" / "memory").glob("*.json"))) == 9
    # Titles that both branches used collide in git, as they should; the others must merge by themselves.
    for folder in (repo, other):
        for path in (folder / ".memory" / "memory").glob("shared-*"):
            path.unlink()
        (folder / "AGENTS.md").write_text("the map is written again\n", encoding="utf-8")
        git("add", "--all", cwd=folder)
        git("commit", "--quiet", "-m", "saves", cwd=folder)
    git("merge", "--quiet", "side")
    assert len(list((repo / ".memory" / "memory").glob("*.json"))) == 1 + 6 + 6
    assert memory("check", "--json").data["errors"] == []
    assert len(events(repo)) == 1 + 8 + 8


@proves("P3.3", "B8", over="graph")
def test_git_at_work_does_not_stop_a_save(memory: Any, repo: Path, git: Any) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "A", "body": "B."})
    git.commit()
    (repo / ".git" / "index.lock").write_bytes(b"")
    (repo / ".memory" / "memory" / "a.md").write_text("Edited by hand.", encoding="utf-8")
    saved = memory.save({"id": "feature.a", "body": "Saved."})
    assert saved["memory_updated"] == ["feature.a"]
    assert saved["recovery_files"][0]["path"] == ".memory/memory/a.md"


@pytest.mark.proof
@proves("P4.2", "B4", over="index")
def test_an_index_that_vanishes_between_saves_is_made_again(memory: Any, repo: Path, crowd: Crowd) -> None:
    memory.init()
    for number in range(3):
        crowd.start("create", repo, number, 10)
    while any(process.poll() is None for process, _ in crowd.processes):
        for path in (repo / ".memory" / "index").glob("*"):
            path.unlink(missing_ok=True)
        time.sleep(0.05)
    crowd.finish()
    assert memory("status", "--json").data["features_by_stage"]["idea"]["count"] == 30
    assert problems_but_the_map(memory) == []
