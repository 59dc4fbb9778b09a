"""Many processes at work in one journal: nothing lost, nothing twice, nothing skipped, and always whole to a reader."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.files.world import World
from quire.project import Project
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add, sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.verb import Arguments
from thorough import either

TRIALS = Path(__file__).parent.parent / "promises" / "journal_trials.py"
ROUNDS = either(1, 5)
TOKEN = re.compile(r"\bq[a-p]{8}q\b")
Notes = list[dict[str, Any]]


class Crowd:
    """Processes at work, and what each of them noted."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.env = folder, env
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, what: str, root: Path, number: int, times: int) -> subprocess.Popen[str]:
        notes = self.folder / f"notes-{len(list(self.folder.glob('notes-*')))}"
        notes.touch()
        line = [sys.executable, str(TRIALS), "work", what, str(root), str(number), str(times), str(notes)]
        process = subprocess.Popen(
            line, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        self.processes.append(process)
        return process

    @property
    def are_at_work(self) -> bool:
        return any(process.poll() is None for process in self.processes)

    def notes(self) -> Notes:
        """What was acknowledged so far; a process may be in the middle of its last line."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("notes-*"))]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def finish(self, *killed: subprocess.Popen[str]) -> Notes:
        for process in self.processes:
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0 or process in killed, said[-2000:]
        self.processes.clear()
        return self.notes()


@pytest.fixture
def crowd(tmp_path: Path, environment: dict[str, str]) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path, {**environment, "MEMORY_LOCK_TIMEOUT": "100"})
    yield crowd
    for process in crowd.processes:
        process.kill()
        process.communicate()


@pytest.fixture
def project(repo: Path, world: World, tmp_path: Path) -> Project:
    """A journal with one source."""
    (repo / "src").mkdir()
    (repo / "AGENTS.md").write_text("# Rules\n\nBe kind.\n", encoding="utf-8")
    project = Project.open(str(repo), world)
    journal_init(project, JournalInit())
    sessions_of(repo).mkdir(parents=True)
    add(project, JournalAdd(source_type="claude-local", path=str(tmp_path / "claude"), name="claude"))
    return project


def sessions_of(root: Path) -> Path:
    return root.parent / "claude" / "projects" / str(root).replace("/", "-").replace("_", "-")


def word(first: str, *seed: object) -> str:
    digits = hashlib.sha256(f"{first}{seed}".encode()).hexdigest()[:8]
    return first + "".join(chr(ord("a") + int(digit, 16)) for digit in digits) + first


class Talk:
    """Sessions that begin and go on while others read them, and how many parts each has."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.parts: Counter[int] = Counter()
        self.chance = random.Random(5)

    def begins(self) -> None:
        """A session of two turns, there at once."""
        number = len(self.parts)
        draft = sessions_of(self.root) / f"s{number:03}.draft"
        draft.write_text(self.part(number), encoding="utf-8")
        draft.replace(draft.with_suffix(".jsonl"))

    def goes_on(self) -> None:
        """Two more turns of some session, in pieces that end in the middle of a line."""
        number = self.chance.randrange(len(self.parts))
        if self.parts[number] < 8:  # so many decisions of one session are surely kept
            data = self.part(number).encode()
            with (sessions_of(self.root) / f"s{number:03}.jsonl").open("ab", buffering=0) as file:
                for place in range(0, len(data), 150):
                    file.write(data[place : place + 150])
                    time.sleep(0.003)

    def part(self, number: int) -> str:
        """What has no word in common with any other part, so that none is taken for it."""
        part = self.parts[number]
        self.parts[number] += 1
        token = word("q", number, part)
        texts = {
            "user": f"Please repair the {token} in the worker.",
            "assistant": f"Decision: adopt {token} over {word('z', token)} for {word('f', token)}.",
        }
        lines = [
            {
                "type": role,
                "cwd": str(self.root),
                "sessionId": f"s{number}",
                "timestamp": f"2026-03-01T10:00:{part:02}.000Z",
                "message": {"role": role, "content": text},
            }
            for role, text in texts.items()
        ]
        return "".join(json.dumps(line) + "\n" for line in lines)

    @property
    def tokens(self) -> Counter[tuple[str, str]]:
        """Every part by its session, once."""
        return Counter(
            (f"s{number:03}", word("q", number, part)) for number, parts in self.parts.items() for part in range(parts)
        )


def events_of(root: Path | str) -> Notes:
    text = Path(root, ".agent-memory/history/events.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def imported_in(events: Notes) -> Notes:
    return [event for event in events if event["kind"] == "imported_session"]


def check(project: Project, talk: Talk) -> Notes:
    """Each part of each session once, each id once, in order; the counts true, and no trace of all that work."""
    events = events_of(project.root)
    ids = [event["id"] for event in events]
    assert ids == [f"evt-{number:06}" for number in range(1, len(events) + 1)]
    told = Counter(
        (event["externalItemId"], token)
        for event in imported_in(events)
        for token in set(TOKEN.findall(json.dumps(event["signals"]["decisions"])))
    )
    assert told == talk.tokens
    state = json.loads(Path(project.root, ".agent-memory/state.json").read_bytes())
    assert state["maintenance"]["historyEventCount"] == len(events)
    assert [one for one in journal_validate(project, JournalValidate()).findings if one["level"] == "fail"] == []
    checkpoints = sorted(path.stem for path in Path(project.root, ".agent-memory/history/checkpoints").iterdir())
    runs = [event for event in events if event["kind"] == "tool_run"]
    assert checkpoints == [f"chk-{number:06}" for number in range(1, len(runs) + 1)]
    left = [path.name for path in Path(project.root).rglob("*") if path.name.endswith((".tmp", ".lock"))]
    assert left == []
    recovery = Path(project.root, ".agent-memory/recovery")
    assert not recovery.exists() or list(recovery.iterdir()) == []
    assert not Path(project.root, ".agent-memory/local/pages-due.json").exists()
    entry = Path(project.root, "AGENTS.md").read_text(encoding="utf-8")
    assert entry.count(f"bundleHash={state['bundleHash']}") == 1
    assert "".join(entry.split()).startswith("#Rules")
    assert entry.endswith("Be kind.\n")
    return events


@pytest.mark.proof
def test_syncs_of_the_same_sessions_at_once_import_each_of_them_once(project: Project, crowd: Crowd) -> None:
    root, talk = Path(project.root), Talk(Path(project.root))
    for _ in range(60):
        talk.begins()
    for number in range(3):
        crowd.start("sync", root, number, 2)
    notes = crowd.finish()
    events = imported_in(check(project, talk))
    assert len(events) == 60
    # What each was told it imported are the events that are there, and nobody was told the same.
    told = Counter(name for note in notes for name in note["events"])
    assert told == Counter(event["id"] for event in events)
    assert sum(note["imported"] for note in notes) == 60
    assert [note["failed"] for note in notes] == [0] * 6
    ledger = json.loads((root / ".agent-memory/local/imports.json").read_bytes())["sources"]["claude"]
    assert set(ledger) == {f"s{number:03}" for number in range(60)}
    assert import_sessions(project).imported == 0


@pytest.mark.proof
@pytest.mark.parametrize("turn", range(ROUNDS))
def test_everybody_at_once_loses_nothing_and_skips_nothing(project: Project, crowd: Crowd, turn: int) -> None:
    root, talk = Path(project.root), Talk(Path(project.root))
    for number in range(2):
        crowd.start("sync", root, number, 5)
        crowd.start("recall", root, number, 6)
    crowd.start("update", root, 0, 4)
    crowd.start("add", root, 0, 5)
    crowd.start("read", root, 0, 6)
    crowd.start("read", root, 1, 6)
    while crowd.are_at_work and len(talk.parts) < 60:
        talk.begins()
        talk.goes_on()
        time.sleep(0.03)
    notes = crowd.finish()
    read = [note for note in notes if note["did"] == "read"]
    assert len(read) == 12
    assert [note for note in read if note["problems"] or note.get("failed")] == []
    imported = sum(note["imported"] for note in notes if note["did"] == "sync")
    imported += import_sessions(project).imported
    assert imported == len(imported_in(events_of(root)))
    assert import_sessions(project).imported == 0
    # Every event was seen by one recall, and by no other; what no recall saw is left for this one.
    left = journal_recall(project, JournalRecall(source="imports"))
    seen = sum(note["seen"] for note in notes if note["did"] == "recall" and note["source"] == "imports")
    assert seen + left.raw_event_count == imported
    assert journal_status(project, JournalStatus()).unrecalled["imports"] == 0
    events = check(project, talk)
    runs = {event["id"] for event in events if event["kind"] == "tool_run"}
    told = [note["event"] for note in notes if note.get("event")]
    told += ["evt-000001", *([left.event] if left.applied else [])]
    assert sorted(told) == sorted(runs)
    names = {source.id for source in sources(project, Arguments()).sources}
    assert names == {"claude"} | {
        note["name"]
        for note in notes
        if note["did"] == "add" and {"did": "remove", "name": note["name"]}.items() not in removals(notes)
    }
    state = json.loads(Path(root, ".agent-memory/state.json").read_bytes())
    assert state["maintenance"]["importSourceCount"] == len(names)


def removals(notes: Notes) -> list[Any]:
    return [{"did": "remove", "name": note["name"]}.items() for note in notes if note["did"] == "remove"]


@pytest.mark.proof
def test_writers_that_are_killed_take_nothing_of_the_others_with_them(project: Project, crowd: Crowd) -> None:
    root, talk, chance = Path(project.root), Talk(Path(project.root)), random.Random(7)
    killed: list[subprocess.Popen[str]] = []
    for number in range(2):
        crowd.start("recall", root, number, 8)
    crowd.start("sync", root, 0, 8)
    crowd.start("read", root, 0, 8)
    while len(killed) < 6:
        victim = crowd.start(chance.choice(["sync", "recall", "update"]), root, 9, 1_000)
        for _ in range(4):
            talk.begins()
            talk.goes_on()
        # Long enough to be in the middle of something, however slow the machine is.
        count = len(crowd.notes())
        deadline = time.monotonic() + 20
        while victim.poll() is None and len(crowd.notes()) == count and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.25 + chance.random() / 5)
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        killed.append(victim)
    notes = crowd.finish(*killed)
    import_sessions(project)
    journal_recall(project, JournalRecall(source="imports"))
    add(project, JournalAdd(source_type="markdown", path=str(root / "src"), name="last"))
    assert [note for note in notes if note["did"] == "read" and (note["problems"] or note.get("failed"))] == []
    events = check(project, talk)
    ids = {event["id"] for event in events}
    assert {note["event"] for note in notes if note.get("event")} <= ids
    assert {name for note in notes if note["did"] == "sync" for name in note["events"]} <= ids
