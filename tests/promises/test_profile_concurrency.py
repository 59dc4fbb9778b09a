"""Many writers and readers of one profile, other programs and git among them: nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from profile_trials import index_differs, topic
from test_facts_concurrency import Crowd, wait_until

from promised import proves
from quire.files import disk
from quire.files.world import World
from quire.layers.profile import store
from quire.model.errors import Conflict
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry
from quire.verbs.profile.session_start import start_session
from quire.verbs.verb import Arguments
from thorough import either

HERE = Path(__file__).parent
NOW = "2026-03-02T11:19:00+00:00"
DOCUMENT, LOCK = ".ai-state/memory.json", ".ai-state/memory.lock"
WRITERS, TIMES = either((4, 10), (6, 25))
FIRST = {"one": "The first entry is about lighthouses.", "two": "The first of its kind is a submarine."}


class Writers(Crowd):
    """Processes at work in one profile, and what each of them noted."""

    def start(self, what: str, root: Path, number: int, times: int) -> subprocess.Popen[str]:
        notes = self.folder / f"notes-{len(self.processes)}"
        line = [sys.executable, str(HERE / "profile_trials.py"), "work", what, str(root), str(number), str(times)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([*line, str(notes)], env=self.env, text=True, **pipes)
        self.processes.append(process)
        return process

    @property
    def are_at_work(self) -> bool:
        return any(process.poll() is None for process in self.processes)


@pytest.fixture
def crowd(tmp_path: Path, environment: dict[str, str]) -> Iterator[Writers]:
    crowd = Writers(tmp_path, {**environment, "MEMORY_LOCK_TIMEOUT": "100", "MEMORY_NOW": NOW})
    yield crowd
    for process in crowd.processes:
        process.kill()
        process.communicate()


@pytest.fixture(params=["alone", "with a memory"])
def anywhere(request: Any, repo: Path, world: World) -> Project:
    """A profile with two entries: where there is nothing else, and beside a memory with an index."""
    return begun(repo, world, with_memory=request.param != "alone")


@pytest.fixture
def project(repo: Path, world: World) -> Project:
    return begun(repo, world, with_memory=True)


def begun(repo: Path, world: World, *, with_memory: bool) -> Project:
    project = Project.open(str(repo), world)
    if with_memory:
        init_memory(project, guidance=False)
    for key, value in FIRST.items():
        remember_entry(project, RememberEntry(category="tools", key=key, value=value))
    remember_entry(project, RememberEntry(category="assistant", key="name", value="Ada"))
    return project


def entries(root: Path | str, category: str = "learnings", path: str = DOCUMENT) -> dict[str, dict[str, Any]]:
    return json.loads(Path(root, path).read_bytes())["memories"].get(category, {})


def tidy(root: Path | str) -> None:
    """No trace of all that work: no transaction, no temporary file, a lock that is there and empty."""
    state = Path(root, ".ai-state")
    assert list((state / "recovery").iterdir()) == []
    assert [path.name for path in state.rglob("*") if path.name.endswith(".tmp")] == []
    assert (state / "memory.lock").read_bytes() == b""
    assert not (state / "local" / "access-folding.jsonl").exists()


# -- writers and readers ------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.1", "B1", over="profile")
def test_six_writers_lose_nothing_of_each_other(anywhere: Project, crowd: Writers) -> None:
    for number in range(WRITERS):
        crowd.start("add", Path(anywhere.root), number, TIMES)
    notes = crowd.finish()
    assert Counter(note["did"] for note in notes) == {"ADD": WRITERS * TIMES}
    stored = entries(anywhere.root)
    assert {key: fields["value"] for key, fields in stored.items()} == {note["name"]: note["text"] for note in notes}
    assert len(stored) == WRITERS * TIMES
    assert check_files(anywhere).errors == []
    assert index_differs(anywhere) == []
    tidy(anywhere.root)


@pytest.mark.proof
@proves("P3.1", over="profile")
def test_what_all_of_them_say_at_once_is_remembered_once(anywhere: Project, crowd: Writers) -> None:
    for number in range(WRITERS):
        crowd.start("repeat", Path(anywhere.root), number, TIMES)
    notes = crowd.finish()
    assert Counter(note["did"] for note in notes) == {"ADD": TIMES, "candidates": (WRITERS - 1) * TIMES}
    stored = entries(anywhere.root)
    assert sorted(fields["value"] for fields in stored.values()) == sorted(map(topic, range(TIMES)))
    assert set(stored) == {note["name"] for note in notes if note["did"] == "ADD"}


@pytest.mark.proof
@proves("P2.2", "B3", over="profile")
def test_every_reading_is_counted_once_while_others_write(anywhere: Project, crowd: Writers) -> None:
    for number in range(3):
        crowd.start("recall", Path(anywhere.root), number, TIMES)
    for number in range(3):
        crowd.start("add", Path(anywhere.root), number, either(5, 12))
    notes = crowd.finish()
    readings = Counter(note["name"] for note in notes if note["did"] == "recall")
    assert readings["tools.one"] > 3 * TIMES
    sessions = [note["count"] for note in notes if note["did"] == "session"]
    assert len(sessions) == 3 * -(-TIMES // 7)
    # What is told and what is stored are the same sum, whatever waits beside the document.
    told = {
        view.id: view.access_count
        for view in recall_entries(anywhere, RecallEntries(category="tools"), note=False).results
    }
    assert told == dict(readings)
    # What was gathered while the last lines were being folded in waits for the session after that.
    assert start_session(anywhere, Arguments()).session_count == len(sessions) + 1
    assert start_session(anywhere, Arguments()).session_count == len(sessions) + 2
    stored = {f"tools.{key}": fields["access_count"] for key, fields in entries(anywhere.root, "tools").items()}
    assert stored == dict(readings)
    assert len(entries(anywhere.root)) == 3 * either(5, 12)
    assert not Path(anywhere.root, ".ai-state/local/access.jsonl").exists()
    assert index_differs(anywhere) == []
    tidy(anywhere.root)


@pytest.mark.proof
@proves("P1.1", over="profile")
def test_a_writer_that_is_killed_takes_nothing_of_the_others_with_it(project: Project, crowd: Writers) -> None:
    root = Path(project.root)
    victims = [crowd.start("add", root, number, 1_000) for number in range(2)]
    for number in range(2, 5):
        crowd.start("add", root, number, 12)
    for count, victim in enumerate(victims, start=1):
        wait_until(lambda count=count: len(crowd.notes()) > 15 * count)
        victim.kill()
        victim.wait()
    crowd.processes = [process for process in crowd.processes if process not in victims]
    notes = crowd.finish()
    for victim in victims:
        victim.communicate()
    stored = {key: fields["value"] for key, fields in entries(root).items()}
    noted = {note["name"]: note["text"] for note in notes}
    assert {key: stored.get(key) for key in noted} == noted
    # The victims may have gone further than they could note.
    assert len(stored) - len(noted) <= 2
    assert (
        remember_entry(project, RememberEntry(category="learnings", key="after", value="Somebody came after.")).action
        == "ADD"
    )
    assert check_files(project).errors == []
    assert index_differs(project) == []
    tidy(root)


@pytest.mark.proof
@proves("P4.2", over="index")
def test_an_index_that_vanishes_all_the_time_costs_nobody_an_entry(project: Project, crowd: Writers) -> None:
    root = Path(project.root)
    for number in range(3):
        crowd.start("repeat", root, number, 25)
    crowd.start("recall", root, 9, 8)
    gone = 0
    while crowd.are_at_work:
        with contextlib.suppress(FileNotFoundError):
            if gone % 3:
                shutil.rmtree(root / ".memory/index", ignore_errors=True)
            else:
                (root / ".memory/index/quire.sqlite").unlink()
        gone += 1
        time.sleep(0.003)
    notes = crowd.finish()
    assert gone > 50
    assert Counter(note["did"] for note in notes if "text" in note) == {"ADD": 25, "candidates": 50}
    assert sorted(fields["value"] for fields in entries(root).values()) == sorted(map(topic, range(25)))
    assert check_files(project).errors == []
    assert index_differs(project) == []


# -- private and shared -------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.1", over="profile")
def test_entries_that_are_remembered_while_others_move_them_are_all_there(project: Project, crowd: Writers) -> None:
    root = Path(project.root)
    for number in range(3):
        crowd.start("user", root, number, 10)
    crowd.start("move", root, 0, 7)
    notes = crowd.finish()
    assert Counter(note["did"] for note in notes) == {"ADD": 30, "moved": 7}
    told = {
        view.key: view.value for view in recall_entries(project, RecallEntries(category="user"), note=False).results
    }
    assert told == {note["name"]: note["text"] for note in notes if note["did"] == "ADD"}
    assert check_files(project).errors == []
    assert index_differs(project) == []


@pytest.mark.proof
@proves("P3.1", over="profile")
def test_projects_that_share_the_users_home_lose_nothing_and_repeat_nothing(
    project: Project, world: World, crowd: Writers, tmp_path: Path
) -> None:
    other = Project(str(tmp_path / "second"), world)
    os.mkdir(other.root)
    for one in (project, other):
        keep_private(one, KeepPrivate(place="home", apply=True))
    for number in range(4):
        crowd.start("user", Path((project, other)[number % 2].root), number, 8)
        crowd.start("repeat user", Path((project, other)[number % 2].root), number + 4, 8)
    notes = crowd.finish()
    # One of the first four says what the other four say.
    added = {note["name"]: note["text"] for note in notes if note["did"] == "ADD"}
    assert len(added) == 4 * 8
    assert sorted(added.values()) == sorted({note["text"] for note in notes})
    for one in (project, other):
        assert {
            view.key: view.value for view in recall_entries(one, RecallEntries(category="user"), note=False).results
        } == added
    assert entries(project.root, "user") == {}
    assert index_differs(project) == []


@pytest.mark.proof(keep=1)
@proves("P3.1", over="profile")
@pytest.mark.parametrize(
    "words",
    [["remember", "user", "editor", "Helix, dark."], ["private", "home", "--yes"], ["session-start"]],
)
def test_whoever_waited_while_the_entries_were_moved_finds_them_where_they_are_now(
    memory: Any, project: Project, crowd: Writers, repo: Path, words: list[str]
) -> None:
    remember_entry(project, RememberEntry(category="user", key="timezone", value="Europe/Madrid"))
    mover = crowd.start("keep here", repo, 0, 1)
    assert mover.stdout
    assert mover.stdout.readline() == "held\n"
    waiting = memory.start("profile", *words)
    time.sleep(1.0)
    assert mover.stdin
    mover.stdin.write("\n")
    mover.stdin.flush()
    _, said = waiting.communicate(timeout=40)
    assert waiting.returncode == 0, said.decode()
    told = {
        view.key: view.private for view in recall_entries(project, RecallEntries(category="user"), note=False).results
    }
    assert told == {"timezone": True, **({"editor": True} if "editor" in words else {})}
    assert entries(repo, "user") == {}


# -- other programs -----------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.1", over="profile")
def test_another_program_that_takes_the_kernels_lock_loses_nothing_and_takes_nothing(
    project: Project, crowd: Writers
) -> None:
    root = Path(project.root)
    inode = (root / LOCK).stat().st_ino
    for number in range(2):
        crowd.start("other", root, number, 60)
    for number in range(3):
        crowd.start("add", root, number, 20)
    notes = crowd.finish()
    assert Counter(note["did"] for note in notes) == {"other": 120, "ADD": 60}
    assert set(entries(root)) == {note["name"] for note in notes}
    assert entries(root, "tools")["one"]["access_count"] == 120
    assert (root / LOCK).stat().st_ino == inode
    assert check_files(project).errors == []
    assert index_differs(project) == []
    tidy(root)


@proves("P3.3", "B7", over="profile")
def test_a_stopped_writer_is_named_and_nobody_hangs(memory: Any, project: Project, crowd: Writers, repo: Path) -> None:
    holder = crowd.start("hold", repo, 0, 1)
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGSTOP)
    before = (repo / DOCUMENT).read_bytes()
    for line in (
        ["remember", "learnings", "another", "Another one."],
        ["forget", "tools", "one"],
        ["link", "tools.one", "tools.two", "elaborates"],
        ["session-start"],
        ["private", "here", "--yes"],
        ["reflect", "--apply", "all"],
    ):
        run = memory("profile", *line, "--json", env={"MEMORY_LOCK_TIMEOUT": "0"})
        assert run.code == 3, line
        assert run.error["code"] == "MemoryLockBusy"
        assert f"process {holder.pid}" in run.error["message"]
        assert "`remember`" in run.error["message"]
        assert run.error["hint"]
    assert FIRST["one"] in memory("profile", "recall", "tools", "one").out
    assert memory("profile", "search", "lighthouses").code == 0
    assert memory("profile", "remember", "learnings", "another", "Another one.", "--dry-run").code == 0
    assert (repo / DOCUMENT).read_bytes() == before
    holder.send_signal(signal.SIGCONT)
    holder.communicate("\n", timeout=20)
    assert holder.returncode == 0
    assert memory("profile", "remember", "learnings", "another", "Another one.").code == 0
    assert set(entries(repo)) == {"holder", "another"}
    assert {key: fields["access_count"] for key, fields in entries(repo, "tools").items()} == {"one": 2, "two": 0}


@proves("P3.3", over="profile")
def test_another_program_that_holds_the_lock_is_waited_for_and_then_named(memory: Any, project: Project) -> None:
    path = Path(project.root, LOCK)
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = memory("profile", "remember", "learnings", "one", "One.", "--json", env={"MEMORY_LOCK_TIMEOUT": "0.2"})
        assert run.code == 3
        assert run.error["code"] == "MemoryLockBusy"
        assert "another process" in run.error["message"]
        waiting = memory.start("profile", "remember", "learnings", "one", "One.")
        time.sleep(0.5)
        assert waiting.poll() is None
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waiting.wait(timeout=20) == 0
        waiting.communicate()
    assert set(entries(project.root)) == {"one"}


# -- git in between -----------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P3.2", over="profile")
def test_what_is_remembered_after_git_was_here_stays(project: Project, git: Any, crowd: Writers) -> None:
    """Checkouts, stashes and merges of the very file that is being written to; git may be refused, we may not."""
    root = Path(project.root)
    git.commit("memory")
    git("checkout", "--quiet", "-b", "side")
    remember_entry(project, RememberEntry(category="user", key="theirs", value="Theirs is here."))
    git.commit("theirs")
    git("checkout", "--quiet", "main")
    for number in range(3):
        crowd.start("add", root, number, 40)
    steps = [
        ("checkout", "--quiet", "side", "--", DOCUMENT),
        ("stash", "push", "--quiet", "--", DOCUMENT),
        ("commit", "--quiet", "--all", "--message", "more"),
        ("merge", "--quiet", "--no-edit", "-X", "ours", "side"),
        ("stash", "pop", "--quiet"),
        ("checkout", "--quiet", "main", "--", DOCUMENT),
    ]
    done: Counter[str] = Counter()
    held = 0
    while crowd.are_at_work:
        for step in steps:
            with contextlib.suppress(AssertionError):
                git(*step)
                done[step[0]] += 1
            if step[:2] == ("stash", "pop"):
                with contextlib.suppress(AssertionError):  # what conflicts would stop every writer, as it should
                    git("checkout", "--quiet", "--ours", "--", DOCUMENT)
            ended = time.monotonic()
            time.sleep(0.08)
            looked = time.monotonic()
            there = readable(root)
            since = {note["name"] for note in crowd.notes() if note["began"] > ended and note["at"] < looked}
            assert since <= there, f"lost after {step}"
            held += len(since)
    assert held
    crowd.finish()
    assert len(done) >= 2, done
    assert (
        remember_entry(project, RememberEntry(category="learnings", key="after", value="Somebody came after.")).action
        == "ADD"
    )
    assert "after" in entries(root)
    assert index_differs(project) == []


def readable(root: Path) -> set[str]:
    """The keys that are there in this moment, while git or a writer may be at work."""
    for _ in range(50):
        with contextlib.suppress(FileNotFoundError, ValueError):
            return set(entries(root))
        time.sleep(0.002)
    return set()


ACTS: dict[str, Callable[[Project], object]] = {
    "remember": lambda project: remember_entry(
        project, RememberEntry(category="learnings", key="mine", value="Mine is new.")
    ),
    "session-start": lambda project: start_session(project, Arguments()),
    "forget": lambda project: forget_entry(project, ForgetEntry(category="tools", key="two")),
}


def is_done(act: str, document: dict[str, Any]) -> bool:
    return {
        "remember": "mine" in document["memories"]["learnings"],
        "session-start": document["session_count"] > 0,
        "forget": "two" not in document["memories"]["tools"],
    }[act]


@pytest.mark.proof(keep=2)
@proves("P3.2", over="profile")
@pytest.mark.parametrize("readings", ["no readings", "readings"])
@pytest.mark.parametrize("act", ACTS)
def test_a_checkout_between_any_two_calls_of_a_writer_is_not_undone(
    project: Project, act: str, readings: str, monkeypatch: Any
) -> None:
    """The same change again and again; each time git replaces the document one call later."""
    path = Path(project.root, DOCUMENT)
    whole = path.read_bytes()
    theirs = json.loads(whole)
    theirs["memories"]["user"]["theirs"] = {"value": "Theirs is here.", "created_at": NOW, "updated_at": NOW}
    local = Path(project.root, ".ai-state/local")
    wrong = []
    for number in range(200):
        replace(path, whole)
        for name in ("access.jsonl", "access-folding.jsonl", "forgotten.jsonl"):
            (local / name).unlink(missing_ok=True)
        recall_entries(project, RecallEntries(category="tools", key="one"), note=readings == "readings")
        calls: list[str] = []

        def before(operation: str, place: str, number: int = number, calls: list[str] = calls) -> None:
            calls.append(f"{operation} {os.path.basename(place)}")
            if len(calls) == number + 1:
                replace(path, json.dumps(theirs, indent=2).encode() + b"\n")

        monkeypatch.setattr(disk, "before", before)
        refused = False
        try:
            ACTS[act](project)
        except Conflict:
            refused = True
        finally:
            monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
        if len(calls) <= number:
            break
        found = json.loads(path.read_bytes())
        written = [place for place, call in enumerate(calls) if call == "rename memory.json"]
        # Between the last look and the renames themselves nobody can be kept out.
        if "theirs" not in found["memories"]["user"] and not calls[number].startswith("rename memory."):
            wrong.append(f"{number}, {calls[number]}: what git brought is gone")
        if number <= (written or [len(calls)])[0] and not refused and not is_done(act, found):
            wrong.append(f"{number}, {calls[number]}: acknowledged after git was here, and gone")
        wrong += [f"{number}, {calls[number]}: {text}" for text in index_differs(project)[:1]]
    assert number > 10, "a writer that does nothing cannot be disturbed"
    assert wrong == []


def replace(path: Path, data: bytes) -> None:
    """As git does it: the name is another file afterwards."""
    path.with_suffix(".git").write_bytes(data)
    path.with_suffix(".git").replace(path)


@proves("P4.2", over="index")
def test_a_document_replaced_while_it_is_read_is_not_taken_for_the_one_in_the_index(
    project: Project, monkeypatch: Any
) -> None:
    """Its look is noted, and then it is read: git may come in between."""
    path = Path(project.root, DOCUMENT)
    read = store.read_documents
    wrong = []
    for number in range(4):
        turns = iter(range(100))

        def reading(*given: Any, number: int = number, turns: Iterator[int] = turns, **more: Any) -> Any:
            if next(turns) == number:
                document = json.loads(path.read_bytes())
                document["memories"]["user"][f"theirs_{number}"] = {"value": "Theirs.", "created_at": NOW}
                replace(path, json.dumps(document, indent=2).encode() + b"\n")
            return read(*given, **more)

        monkeypatch.setattr(store, "read_documents", reading)
        remember_entry(project, RememberEntry(category="learnings", key=f"mine_{number}", value=topic(number)))
        monkeypatch.setattr(store, "read_documents", read)
        wrong += [f"{number}: {text}" for text in index_differs(project)[:1]]
    assert wrong == []
