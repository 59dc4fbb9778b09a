"""Many writers and readers of one file of facts, git among them: every acknowledged change is there once."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
from fact_trials import counted, index_differs

from promised import proves
from quire.files import disk
from quire.files.world import World
from quire.model.errors import Conflict
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.import_ import Import, import_facts
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from thorough import either

HERE = Path(__file__).parent
NOW = "2026-03-02T11:19:00+00:00"
THEIRS = {"_type": "fact", "id": "theirs", "section": "Specs", "content": "Theirs is here.", "status": "active"}
# How many versions each kind of change takes.
CHANGES = {"stored": 1, "reinforced": 1, "unchanged": 0, "archived": 1, "superseded": 2, "connected": 1}


class Crowd:
    """Processes at work in one memory, and what each of them noted."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = env
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, what: str, root: Path, number: int, times: int) -> subprocess.Popen[str]:
        notes = self.folder / f"notes-{len(self.processes)}"
        line = [
            sys.executable,
            str(HERE / "fact_trials.py"),
            "work",
            what,
            str(root),
            str(number),
            str(times),
            str(notes),
        ]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(line, env=self.env, text=True, **pipes)
        self.processes.append(process)
        return process

    def notes(self) -> list[dict[str, Any]]:
        """What was acknowledged so far; a process may be in the middle of its last line."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("notes-*"))]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def finish(self, but: subprocess.Popen[str] | None = None) -> list[dict[str, Any]]:
        """Wait for all of them; one may have been killed."""
        for process in self.processes:
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0 or process is but, said[-2000:]
        return self.notes()


@pytest.fixture
def crowd(tmp_path: Path, environment: dict[str, str]) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path, {**environment, "MEMORY_LOCK_TIMEOUT": "100", "MEMORY_NOW": NOW})
    yield crowd
    for process in crowd.processes:
        process.kill()
        process.communicate()


@pytest.fixture
def project(repo: Path, world: World) -> Project:
    """A project with an empty memory, in this process."""
    project = Project.open(str(repo), counted(world))
    init_memory(project, guidance=False)
    return project


@pytest.fixture
def shared(project: Project) -> Project:
    """A memory with one fact, and a node to connect facts to."""
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": "Shared", "body": "B."}]})
    store(project, Store(section="Architecture", content="The first fact of all."))
    return project


def stored_lines(root: Path | str) -> list[dict[str, Any]]:
    text = Path(root, ".memory", "facts.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def states(notes: list[dict[str, Any]]) -> dict[str, str]:
    """What became of each id, as it was acknowledged."""
    found: dict[str, str] = {}
    for note in notes:
        if note["did"] in ("archived", "superseded"):
            found[note.get("old", note["id"])] = note["did"]
        if note["did"] in ("stored", "connected", "superseded"):
            found.setdefault(note["id"], "active")
    return found


# -- writers and readers ------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.1", "B1", over="facts")
@proves("P2.2", "B3", over="facts")
def test_eight_writers_lose_nothing_of_each_other_while_others_read(shared: Project, crowd: Crowd) -> None:
    root = Path(shared.root)
    writers, times = either((5, 10), (16, 50))
    for number in range(writers):
        crowd.start("tell", root, number, times)
    for number in range(either(1, 2)):
        crowd.start("ask", root, number, either(4, 15))
    notes = crowd.finish()
    assert sum(note.get("seen", 0) for note in notes) > either(3, 100)
    lines = stored_lines(root)
    names = [line["id"] for line in lines]
    assert len(names) == len(set(names))
    expected = states(notes)
    assert {line["id"]: line["status"] for line in lines if line["id"] in expected} == expected
    assert len(lines) == len(expected) + 1
    told = Counter(note["text"] for note in notes if note["did"] == "stored")
    assert len(told) == writers * times * 4 // 5 + times // 5
    assert set(told.values()) == {1}
    changes = [note["did"] for note in notes if note["did"] in CHANGES]
    assert Counter(changes)["reinforced"] == (writers - 1) * times // 5
    versions = [line["version"] for line in lines]
    assert len(set(versions)) == len(versions)
    assert max(versions) == 1 + sum(CHANGES[did] for did in changes)
    assert {line["reinforcement_count"] for line in lines if line.get("content", "").startswith("Everybody")} == {
        writers
    }
    assert check_files(shared).errors == []
    assert index_differs(shared) == []
    assert not (root / ".memory" / ".lock").exists()
    assert list((root / ".memory" / "recovery").iterdir()) == []


@pytest.mark.proof
@proves("P1.1", over="facts")
def test_a_writer_that_is_killed_takes_nothing_of_the_others_with_it(shared: Project, crowd: Crowd) -> None:
    root = Path(shared.root)
    victims = [crowd.start("tell", root, number, 1_000) for number in range(2)]
    for number in range(2, 5):
        crowd.start("tell", root, number, 15)
    for count, victim in enumerate(victims, start=1):
        wait_until(lambda count=count: len(crowd.notes()) > 20 * count)
        victim.kill()
        victim.wait()
    crowd.processes = [process for process in crowd.processes if process not in victims]
    notes = crowd.finish()
    for victim in victims:
        victim.communicate()
    lines = {line["id"]: line["status"] for line in stored_lines(root)}
    # The victims may have gone further than they could note.
    further = {name: lines.get(name) for name, status in states(notes).items() if lines.get(name) != status}
    assert None not in further.values()
    assert len(further) <= 2
    assert len(stored_lines(root)) - len(states(notes)) - 1 <= 2
    assert store(shared, Store(section="Specs", content="Somebody came after.")).action == "stored"
    assert check_files(shared).errors == []
    assert index_differs(shared) == []
    assert not (root / ".memory" / ".lock").exists()
    assert list((root / ".memory" / "recovery").iterdir()) == []


def wait_until(done: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


@proves("P4.2", over="index")
def test_a_fact_that_is_read_in_the_moment_it_is_stored_stands_once_in_the_index(shared: Project) -> None:
    """The reader takes the file in as a whole, just before the writer hands over what it added."""
    path = os.path.join(shared.root, ".memory", "index", "quire.sqlite")
    for turn in range(3):
        busy = apsw.Connection(path)
        busy.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(
            target=partial(store, shared, Store(section="Specs", content=f"Told in turn {turn}."))
        )
        writer.start()
        wait_until(
            lambda turn=turn: any("turn" in line.get("content", "") for line in stored_lines(shared.root)[turn + 1 :])
        )
        # Whoever waits for long looks more and more rarely: the reader, who comes last, is let in first.
        time.sleep(0.35)
        reader = threading.Thread(target=partial(list_facts, Project(shared.root, shared.world), ListFacts()))
        reader.start()
        time.sleep(0.02)
        busy.execute("COMMIT")
        busy.close()
        writer.join()
        reader.join()
        texts = [view.content for view in list_facts(shared, ListFacts()).results]
        assert sorted(texts) == sorted(set(texts))
        assert index_differs(shared) == []


@proves("P3.3", "B7", over="facts")
def test_a_stopped_writer_is_named_and_nobody_hangs(memory: Any, repo: Path, crowd: Crowd, tmp_path: Path) -> None:
    memory.init()
    name = memory("facts", "store", "Specs", "The first fact of all.", "--json").data["fact"]["id"]
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(THEIRS) + "\n", encoding="utf-8")
    holder = crowd.start("hold", repo, 0, 1)
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGSTOP)
    before = (repo / ".memory" / "facts.jsonl").read_bytes()
    for line in (
        ["facts", "store", "Specs", "Another one."],
        ["facts", "supersede", name, "Another one."],
        ["facts", "archive", name],
        ["facts", "import", str(other)],
        ["facts", "normalize", "--write"],
        ["facts", "focus", name],
        ["facts", "session", "s1", "--close"],
        ["note", "later"],
    ):
        run = memory(*line, "--json", env={"MEMORY_LOCK_TIMEOUT": "0"})
        assert run.code == 3, line
        assert run.error["code"] == "MemoryLockBusy"
        assert f"process {holder.pid}" in run.error["message"]
        assert "`store a fact`" in run.error["message"]
        assert run.error["hint"]
    assert "The first fact of all." in memory("facts", "recall", "first fact").out
    assert memory("facts", "store", "Specs", "Another one.", "--dry-run").code == 0
    assert (repo / ".memory" / "facts.jsonl").read_bytes() == before
    holder.send_signal(signal.SIGCONT)
    holder.communicate("\n", timeout=20)
    assert holder.returncode == 0
    assert memory("facts", "store", "Specs", "Another one.").code == 0
    assert [line["content"] for line in stored_lines(repo)] == [
        "The first fact of all.",
        "The holder went on.",
        "Another one.",
    ]


# -- git in between -----------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.2", over="facts")
def test_what_is_stored_after_git_was_here_stays(shared: Project, git: Any, crowd: Crowd) -> None:
    """Checkouts, stashes and merges of the very file that is being written to; git may be refused, we may not."""
    root = Path(shared.root)
    git.commit("memory")
    git("branch", "side")
    git("checkout", "--quiet", "side")
    with open(root / ".memory/facts.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(THEIRS) + "\n")
    git.commit("theirs")
    git("checkout", "--quiet", "main")
    for number in range(3):
        crowd.start("add", root, number, 60)
    steps = [
        ("checkout", "--quiet", "side", "--", ".memory/facts.jsonl"),
        ("stash", "push", "--quiet", "--", ".memory/facts.jsonl"),
        ("commit", "--quiet", "--all", "--message", "more"),
        ("merge", "--quiet", "--no-edit", "side"),
        ("stash", "pop", "--quiet"),
        ("checkout", "--quiet", "main", "--", ".memory/facts.jsonl"),
    ]
    done: Counter[str] = Counter()
    held = 0
    while any(process.poll() is None for process in crowd.processes):
        for step in steps:
            with contextlib.suppress(AssertionError):
                git(*step)
                done[step[0]] += 1
            ended = time.monotonic()
            time.sleep(0.08)
            looked = time.monotonic()
            there = {line.get("content") for line in readable(root)}
            since = {note["text"] for note in crowd.notes() if note["began"] > ended and note["at"] < looked}
            assert since <= there, f"lost after {step}"
            held += len(since)
    assert held
    notes = crowd.finish()
    assert len(notes) == 3 * 60
    # Which of them git grants while others write is a matter of luck, a merge above all.
    assert len(done) >= 2, done
    assert store(shared, Store(section="Specs", content="Somebody came after.")).action == "stored"
    assert "Somebody came after." in {line["content"] for line in stored_lines(root)}
    assert check_files(shared).errors == []


def readable(root: Path) -> list[dict[str, Any]]:
    """The lines that are there in this moment, while git or a writer may be at work."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for line in (root / ".memory/facts.jsonl").read_bytes().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
    return found


ACTS: dict[str, Callable[[Project, str], object]] = {
    "store": lambda project, _: store(project, Store(section="Specs", content="Mine is new.")),
    "archive": lambda project, name: archive(project, Archive(fact_ids=[name], reason="Mine is new.")),
    "import": lambda project, _: import_facts(
        project, Import(data=json.dumps({**THEIRS, "id": "mine", "content": "Mine is new."}).encode(), source="other")
    ),
}


class Visit(NamedTuple):
    """Git came before this call of a writer, whose file is written by the call with the number `write`."""

    call: int
    write: int
    operation: str
    refused: bool
    project: Project
    path: Path

    def has(self, text: str) -> bool:
        return text in (self.path.read_text(encoding="utf-8") if self.path.exists() else "")


def visits(project: Project, act: str, what: str, monkeypatch: Any) -> Iterator[Visit]:
    """The same change again and again; each time git replaces the file one call later."""
    path = Path(project.root, ".memory", "facts.jsonl")
    name = store(project, Store(section="Specs", content="The first fact of all.")).fact.id
    whole = path.read_bytes()
    line = json.dumps({**THEIRS, "version": 9}).encode() + b"\n"
    brought = {"more": whole + line, "another": line, "none": None}[what]
    for number in range(100):
        path.write_bytes(whole)
        list_facts(project, ListFacts())
        calls: list[str] = []

        def before(operation: str, place: str, number: int = number, calls: list[str] = calls) -> None:
            calls.append(f"{operation} {os.path.basename(place)}")
            if len(calls) == number + 1:
                replace(path, brought)

        monkeypatch.setattr(disk, "before", before)
        refused = False
        try:
            ACTS[act](project, name)
        except Conflict:
            refused = True
        finally:
            monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
        if len(calls) <= number:
            assert number > 10, "a writer that does nothing cannot be disturbed"
            return
        written = [place for place, call in enumerate(calls) if call in ("append facts.jsonl", "rename facts.jsonl")]
        yield Visit(number, written[0] if written else len(calls), calls[number], refused, project, path)


def replace(path: Path, data: bytes | None) -> None:
    """As git does it: the name is another file afterwards."""
    if data is None:
        path.unlink(missing_ok=True)
        return
    path.with_suffix(".git").write_bytes(data)
    path.with_suffix(".git").replace(path)


@pytest.mark.proof(keep=2)
@proves("P3.2", over="facts")
@pytest.mark.parametrize(
    ("act", "what"),
    [("store", "more"), ("store", "another"), ("store", "none"), ("archive", "more"), ("import", "more")],
)
def test_a_checkout_between_any_two_calls_of_a_writer_is_not_undone(
    project: Project, act: str, what: str, monkeypatch: Any
) -> None:
    wrong = []
    for visit in visits(project, act, what, monkeypatch):
        # Between the last look and the rename itself nobody can be kept out.
        if what != "none" and not visit.has("Theirs is here.") and visit.operation != "rename facts.jsonl":
            wrong.append(f"{visit.call}, {visit.operation}: what git brought is gone")
        if visit.call <= visit.write and not visit.refused and not visit.has("Mine is new."):
            wrong.append(f"{visit.call}, {visit.operation}: acknowledged after git was here, and gone")
    assert wrong == []


@proves("P4.2", over="index")
@pytest.mark.parametrize(("act", "what"), [("store", "more"), ("store", "none"), ("archive", "another")])
def test_after_a_checkout_between_any_two_calls_of_a_writer_the_index_knows_what_the_file_says(
    project: Project, act: str, what: str, monkeypatch: Any
) -> None:
    wrong = []
    for visit in visits(project, act, what, monkeypatch):
        if visit.call % 2 == 0:
            wrong += [f"{visit.call}, {visit.operation}: {text}" for text in index_differs(visit.project)[:1]]
    assert wrong == []
