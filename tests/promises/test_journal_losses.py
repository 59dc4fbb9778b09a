"""Where sessions, events or words of the user could be lost or doubled: each place once, by its own story."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journal_trials import key_of, prune, say

from promised import proves
from quire.files import disk
from quire.files.world import World
from quire.model.errors import NotFound, QuireError, StorageFailed, UnsupportedVersion
from quire.project import Project
from quire.verbs.agents.session_end import journal_run_once
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.restore import JournalRestore, journal_restore
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, journal_validate

pytestmark = proves("P6.4")

JOURNAL = ".agent-memory"
EVENTS, STATE, LEDGER = f"{JOURNAL}/history/events.jsonl", f"{JOURNAL}/state.json", f"{JOURNAL}/local/imports.json"


class Harbor:
    """A journal with one source, and the sessions in it."""

    def __init__(self, root: Path, world: World, sessions: Path) -> None:
        self.root, self.sessions = root, sessions
        self.now = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
        numbers = count()
        self.world = msgspec.structs.replace(
            world, now=lambda: self.now, token=lambda: f"{next(numbers):08x}" * 2, sleep=time.sleep
        )

    @property
    def project(self) -> Project:
        return Project.open(str(self.root), self.world)

    def add(self) -> None:
        self.sessions.mkdir(exist_ok=True)
        add(self.project, JournalAdd(source_type="claude-local", path=str(self.sessions), name="claude"))

    def say(self, number: int, part: int = 0, day: str = "2026-03-01") -> None:
        say(str(self.sessions), str(self.root), number, part, day)

    def sync(self) -> Any:
        return import_sessions(self.project)

    def events(self, *, archived: bool = True) -> list[dict[str, Any]]:
        files = [self.root / EVENTS, *(sorted(self.root.glob(f"{JOURNAL}/archive/*/events.jsonl")) if archived else ())]
        return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    def times(self, number: int, part: int = 0) -> int:
        """In how many imported events a part of a session is told."""
        mark = f"{number}x{part}"
        found = [json.dumps(event) for event in self.events() if event["kind"] == "imported_session"]
        return sum(any(word.strip('.,"').endswith(mark) for word in text.split()) for text in found)

    def state(self) -> dict[str, Any]:
        return json.loads((self.root / STATE).read_bytes())

    def files(self) -> dict[str, bytes]:
        found = [path for path in (self.root / JOURNAL).rglob("*") if path.is_file() and "index" not in path.parts]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in found}

    def faults(self) -> list[str]:
        found = journal_validate(self.project, JournalValidate()).findings
        return [f"{one['code']}: {one['message']}" for one in found if one["level"] == "fail"]


@pytest.fixture
def harbor(repo: Path, world: World, tmp_path: Path) -> Harbor:
    (repo / "AGENTS.md").write_text("# Rules\n\nBe kind.\n", encoding="utf-8")
    (repo / "src").mkdir()
    harbor = Harbor(repo, world, tmp_path / "sessions")
    journal_init(harbor.project, JournalInit())
    harbor.add()
    return harbor


# -- the note of how far sessions were read -----------------------------------------------------------------------


def test_a_journal_that_was_made_anew_imports_the_sessions_again(harbor: Harbor) -> None:
    """Its history begins with nothing: that they were read before says nothing any more."""
    for number in range(3):
        harbor.say(number)
    assert harbor.sync().imported == 3
    journal_init(harbor.project, JournalInit(yes=True))
    harbor.add()
    assert harbor.sync().imported == 3
    assert [harbor.times(number) for number in range(3)] == [1, 1, 1]


def test_sessions_whose_events_git_took_back_are_imported_again(harbor: Harbor) -> None:
    """A checkout of an earlier commit, a reset, another branch: the note of this machine knows nothing of it."""
    before = harbor.files()
    harbor.say(1)
    harbor.say(2)
    assert harbor.sync().imported == 2
    for name in (EVENTS, STATE, f"{JOURNAL}/sources.json"):
        (harbor.root / name).write_bytes(before[name])
    assert harbor.sync().imported == 2
    assert [harbor.times(number) for number in (1, 2)] == [1, 1]
    # And nothing twice when they come back.
    harbor.say(1, part=1)
    assert harbor.sync().imported == 1
    assert [harbor.times(1), harbor.times(1, 1), harbor.times(2)] == [1, 1, 1]


def test_sessions_whose_archived_events_expired_are_not_imported_again(harbor: Harbor) -> None:
    """They left the journal in an orderly way."""
    harbor.say(1, day="2025-01-05")
    harbor.sync()
    journal_recall(harbor.project, JournalRecall())
    assert prune(harbor.project) == 1
    harbor.now += timedelta(days=400)
    prune(harbor.project)
    assert harbor.times(1) == 0
    assert harbor.sync().imported == 0
    harbor.say(1, part=1)
    assert harbor.sync().imported == 1
    assert [harbor.times(1), harbor.times(1, 1)] == [0, 1]


def test_a_session_whose_event_was_removed_on_purpose_can_be_kept_out(harbor: Harbor) -> None:
    """Its line goes, and stands among what has expired: on this machine and on every other one."""
    for number in (1, 2):
        harbor.say(number)
    harbor.sync()
    events = harbor.events()
    (gone,) = [event for event in events if event["externalItemId"] == "s001"]
    kept = "".join(json.dumps(event) + "\n" for event in events if event != gone)
    (harbor.root / EVENTS).write_text(kept, encoding="utf-8")
    journal_validate(harbor.project, JournalValidate(repair=True))
    item = {name: gone[name] for name in ("sourceId", "externalItemId", "contentHash")}
    (harbor.root / JOURNAL / "archive").mkdir(exist_ok=True)
    (harbor.root / JOURNAL / "archive/expired.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    assert harbor.sync().imported == 0
    (harbor.root / LEDGER).unlink()
    assert harbor.sync().imported == 0
    harbor.say(1, part=1)
    assert harbor.sync().imported == 1
    assert [harbor.times(1), harbor.times(1, 1), harbor.times(2)] == [0, 1, 1]
    assert harbor.faults() == []
    # Without that line it comes back.
    (harbor.root / JOURNAL / "archive/expired.jsonl").unlink()
    (harbor.root / EVENTS).write_text(kept, encoding="utf-8")
    harbor.sync()
    assert [harbor.times(1), harbor.times(1, 1), harbor.times(2)] == [1, 1, 1]


@proves("P1.3", "C4", over="journal", found="a sync went on without a file that could not be opened at that moment")
@pytest.mark.parametrize(
    "pattern",
    [
        "*/sessions/*/s003.jsonl",
        f"*/{LEDGER}",
        f"*/{JOURNAL}/archive/expired.jsonl",
        f"*/{JOURNAL}/archive/*/events.jsonl",
        f"*/{JOURNAL}/archive/*/manifest.json",
    ],
)
@pytest.mark.parametrize("way", ["sync", "cycle"])
def test_a_sync_that_cannot_open_a_file_for_a_passing_reason_says_so(
    harbor: Harbor, monkeypatch: pytest.MonkeyPatch, way: str, pattern: str
) -> None:
    """One session has expired, one is archived, one is there; each went on."""
    for number, days in ((1, 400), (2, 0)):
        harbor.say(number, day="2025-01-05")
        harbor.sync()
        journal_recall(harbor.project, JournalRecall())
        prune(harbor.project)
        harbor.now += timedelta(days=days)
    for number in (3, 4):
        harbor.say(number)
    harbor.sync()
    for number in (1, 2, 3):
        harbor.say(number, part=1)
    real, refused = os.open, []

    def open_file(path: Any, *arguments: Any, **options: Any) -> int:
        if fnmatch(os.fspath(path), pattern):
            refused.append(path)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_file)
        if way == "sync":
            with pytest.raises(StorageFailed, match="too many files are open"):
                harbor.sync()
        else:
            run = journal_run_once(harbor.project, settled_seconds=0.0)
            assert run.status == "failed"
            assert "too many files are open" in str(run.run["errors"])
    assert refused
    harbor.sync()
    assert harbor.sync().imported == 0
    assert [harbor.times(number, part) for number in (1, 2, 3) for part in (0, 1)] == [0, 1, 1, 1, 1, 1]
    assert harbor.times(4) == 1


@pytest.mark.proof
def test_a_note_that_grew_too_large_keeps_nobody_from_syncing(harbor: Harbor) -> None:
    harbor.say(1)
    entry = {"stamp": "1794764688501147877.1794764688501147877.481", "offset": 481, "hash": "0" * 64}
    many = {f"{number:08}-0000-4000-8000-000000000000": entry for number in range(50_000)}
    data = json.dumps({"version": 1, "sources": {"claude": many}}).encode()
    assert len(data) > 8 * 1024 * 1024
    (harbor.root / JOURNAL / "local").mkdir(exist_ok=True)
    (harbor.root / LEDGER).write_bytes(data)
    assert harbor.sync().imported == 1
    harbor.say(2)
    assert harbor.sync().imported == 1
    assert [harbor.times(1), harbor.times(2)] == [1, 1]


def test_a_check_finds_no_fault_with_a_note_that_a_sync_can_read(harbor: Harbor) -> None:
    harbor.say(1)
    harbor.sync()
    ledger = json.loads((harbor.root / LEDGER).read_bytes())
    ledger["sources"]["claude"] |= {f"{number:036}": {"stamp": "1.1.1", "hash": "0" * 64} for number in range(70_000)}
    (harbor.root / LEDGER).write_text(json.dumps(ledger), encoding="utf-8")
    assert harbor.sync().warnings == []
    found = journal_validate(harbor.project, JournalValidate()).findings
    assert [one["message"] for one in found if one["code"] == "local:imports"] == []


def test_a_damaged_note_is_kept_aside_as_it_is_told(harbor: Harbor) -> None:
    harbor.say(1)
    harbor.sync()
    (harbor.root / LEDGER).write_bytes(b'{"version": 1, "sources": {')
    harbor.say(2)
    done = harbor.sync()
    assert done.imported == 1
    assert [harbor.times(1), harbor.times(2)] == [1, 1]
    assert (harbor.root / f"{LEDGER}.damaged").read_bytes() == b'{"version": 1, "sources": {'


def test_a_session_that_could_not_be_read_for_a_moment_is_read_the_next_time(harbor: Harbor, monkeypatch: Any) -> None:
    """A disk that fails once, a network that is away, too many open files: none of it is the session's fault."""
    harbor.say(1)
    opened: list[str] = []

    def refused(path: Any, *more: Any, **named: Any) -> int:
        opened.append(str(path))
        if len(opened) > 1:  # once to see what it is, and then to read it
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return os.open(path, *more, **named)

    from quire.capture.transcripts import lines

    class Os:
        open = staticmethod(refused)

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

    monkeypatch.setattr(lines, "os", Os())
    first = harbor.sync()
    assert (first.imported, first.failed) == (0, 1)
    monkeypatch.setattr(lines, "os", os)
    assert harbor.sync().imported == 1
    assert harbor.times(1) == 1


def test_a_session_whose_first_line_is_being_written_is_no_failure(harbor: Harbor) -> None:
    harbor.say(1)
    (path,) = harbor.sessions.rglob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:60])
    done = harbor.sync()
    assert (done.imported, done.failed) == (0, 0)
    path.write_bytes(whole)
    assert harbor.sync().imported == 1
    assert harbor.times(1) == 1


# -- sessions that change -----------------------------------------------------------------------------------------


def test_a_session_that_was_written_anew_with_lines_of_the_same_lengths_is_read_anew(harbor: Harbor) -> None:
    harbor.say(1)
    harbor.sync()
    (path,) = harbor.sessions.rglob("*.jsonl")
    text = path.read_text(encoding="utf-8").replace("1x0", "1x7")
    path.write_text(text, encoding="utf-8")
    harbor.say(1, part=8)
    assert harbor.sync().imported == 1
    assert [harbor.times(1, part) for part in (0, 7, 8)] == [1, 1, 1]


def test_a_second_file_of_the_same_name_takes_nothing_from_the_first(harbor: Harbor) -> None:
    """The one that comes first in order has the name for itself; here it is the later one."""
    harbor.say(1)
    harbor.sync()
    (path,) = harbor.sessions.rglob("*.jsonl")
    twin = path.parent / "a" / path.name
    twin.parent.mkdir()
    shutil.move(path, path.parent / "keep.jsonl")
    (path.parent / "b").mkdir()
    shutil.move(path.parent / "keep.jsonl", path.parent / "b" / path.name)
    first = (path.parent / "b" / path.name).read_text(encoding="utf-8")
    twin.write_text(first.replace("1x0", "1x5") + first.replace("1x0", "1x6"), encoding="utf-8")
    harbor.sync()
    harbor.sync()
    assert [harbor.times(1, part) for part in (0, 5, 6)] == [1, 1, 1]


def test_what_another_sync_imported_of_a_growing_session_is_not_imported_again(harbor: Harbor) -> None:
    """We read its first part; it grows, and somebody else imports both parts; then we write."""
    harbor.say(1)
    inner: list[Any] = []

    def meanwhile(*_: object) -> None:
        if not inner:
            harbor.say(1, part=1)
            inner.append(harbor.sync())

    import_sessions(harbor.project, progress=meanwhile)
    assert inner[0].imported == 1
    assert [harbor.times(1, part) for part in (0, 1)] == [1, 1]
    # The note stands where the one who read more left it.
    harbor.say(1, part=2)
    harbor.sync()
    assert [harbor.times(1, part) for part in (0, 1, 2)] == [1, 1, 1]


def test_what_was_imported_and_archived_while_we_read_is_not_imported_again(harbor: Harbor) -> None:
    """A session may be old when it is imported: a recall, a round of retention, and it is out of the history."""
    harbor.say(1, day="2025-01-05")
    inner: list[Any] = []

    def meanwhile(*_: object) -> None:
        if not inner:
            inner.append(harbor.sync())
            journal_recall(harbor.project, JournalRecall())
            assert prune(harbor.project) == 1

    done = import_sessions(harbor.project, progress=meanwhile)
    assert (inner[0].imported, done.imported) == (1, 0)
    assert harbor.times(1) == 1


def test_a_disk_that_is_full_for_a_moment_makes_no_count_wrong(harbor: Harbor, monkeypatch: Any) -> None:
    for number in range(8):
        harbor.say(number)
    ticks = count()
    harbor.world = msgspec.structs.replace(harbor.world, now=lambda: harbor.now + timedelta(seconds=2 * next(ticks)))
    refused: list[str] = []

    def before(operation: str, path: str) -> None:
        if operation == "append" and path.endswith("events.jsonl") and not refused:
            refused.append(path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(disk, "before", before)
    done = harbor.sync()
    monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
    assert refused
    assert done.failed >= 1
    there = [event["id"] for event in harbor.events() if event["kind"] == "imported_session"]
    assert done.imported == len(there)
    assert sorted(done.sources[0].events) == sorted(there)
    assert done.imported + harbor.sync().imported == 8
    assert [harbor.times(number) for number in range(8)] == [1] * 8


# -- merges -------------------------------------------------------------------------------------------------------


def theirs(number: int, name: str) -> dict[str, Any]:
    """An event as another clone wrote it."""
    signals = {"decisions": [f"{name} stays"], "gotchas": [], "nextStepHints": [], "keyPaths": []}
    return {
        "id": f"evt-{number:06}",
        "kind": "imported_session",
        "sourceId": "theirs",
        "externalItemId": name,
        "createdAt": "2026-03-01T10:00:00.000Z",
        "contentHash": name * 4,
        "summary": f"Asked: repair {name}.",
        "signals": {**signals, "validationObservations": []},
        "sourceRef": "theirs",
    }


@proves("P6.3", "E2", over="journal")
@pytest.mark.parametrize("is_in_front", [False, True])
def test_an_event_that_a_merge_brought_waits_to_be_recalled_wherever_it_stands(
    harbor: Harbor, is_in_front: bool
) -> None:
    """Which side a merge, or a rebase, writes first says nothing about who has seen what."""
    harbor.say(1)
    harbor.sync()
    journal_recall(harbor.project, JournalRecall())
    assert journal_status(harbor.project, JournalStatus()).unrecalled["all"] == 0
    path = harbor.root / EVENTS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    new = json.dumps(theirs(2, "lantern")) + "\n"
    path.write_text("".join([lines[0], new, *lines[1:]] if is_in_front else [*lines, new]), encoding="utf-8")
    assert harbor.faults() != []
    journal_validate(harbor.project, JournalValidate(repair=True))
    assert harbor.faults() == []
    events = harbor.events()
    assert len({event["id"] for event in events}) == len(events) == len(lines) + 1
    assert journal_recall(harbor.project, JournalRecall(source="imports", dry_run=True)).raw_event_count >= 1
    journal_recall(harbor.project, JournalRecall())
    assert "lantern" in json.dumps(harbor.state()["bundle"])
    # The checkpoint still names the event that tells of it.
    latest = harbor.state()["maintenance"]["latestCheckpointId"]
    for name in ("chk-000002", latest):
        told = json.loads((harbor.root / JOURNAL / f"history/checkpoints/{name}.json").read_bytes())["eventId"]
        assert [event["kind"] for event in harbor.events() if event["id"] == told] == ["tool_run"]


@proves("P6.3", "D14", over="journal")
def test_an_event_that_has_the_id_of_an_archived_one_gets_another(harbor: Harbor) -> None:
    """They went on from before our last import; what we imported then is in the archive now."""
    for number in (1, 2):
        harbor.say(number, day="2025-01-05")
    harbor.sync()
    journal_recall(harbor.project, JournalRecall())
    assert prune(harbor.project) == 2
    path = harbor.root / EVENTS
    path.write_text(path.read_text(encoding="utf-8") + json.dumps(theirs(2, "lantern")) + "\n", encoding="utf-8")
    journal_validate(harbor.project, JournalValidate(repair=True))
    events = harbor.events()
    assert len({event["id"] for event in events}) == len(events)
    assert journal_status(harbor.project, JournalStatus()).unrecalled["imports"] == 1
    assert harbor.faults() == []
    batch = next(iter((harbor.root / JOURNAL / "archive").iterdir())).name
    journal_restore(harbor.project, JournalRestore(name=batch))
    assert Counter(map(key_of, events)) == Counter(map(key_of, harbor.events()))
    assert harbor.faults() == []


# -- restoring ----------------------------------------------------------------------------------------------------


def test_a_state_made_from_a_checkpoint_gives_no_id_twice(harbor: Harbor) -> None:
    """What only the lost state and the archive knew is still taken."""
    for number in (1, 2):
        harbor.say(number, day="2025-01-05")
    harbor.sync()
    journal_recall(harbor.project, JournalRecall())
    harbor.now += timedelta(days=100)
    prune(harbor.project)
    archived = {event["id"] for event in harbor.events()} - {event["id"] for event in harbor.events(archived=False)}
    assert archived
    (harbor.root / STATE).write_bytes(b"{")
    journal_restore(harbor.project, JournalRestore(name="chk-000001"))
    harbor.say(3)
    harbor.sync()
    new = {event["id"] for event in harbor.events(archived=False)}
    assert not new & archived
    assert harbor.faults() == []


def test_a_restore_of_what_is_not_there_writes_nothing(harbor: Harbor) -> None:
    state = harbor.state()
    state["bundle"]["currentFocus"]["summary"] = "Somebody said something else."
    (harbor.root / STATE).write_text(json.dumps(state), encoding="utf-8")
    before = harbor.files()
    with pytest.raises(NotFound):
        journal_restore(harbor.project, JournalRestore(name="chk-000009"))
    assert harbor.files() == before


def test_a_state_that_somebody_else_repaired_meanwhile_is_not_undone(harbor: Harbor) -> None:
    """Two people make the state from a checkpoint; the second had looked before the first wrote."""
    harbor.say(1)
    whole = (harbor.root / STATE).read_bytes()
    (harbor.root / STATE).write_bytes(b"{")
    turns: list[int] = []
    calm = harbor.world

    def now() -> datetime:
        # The time is asked for after the history was read, and before the lock is taken.
        if not turns:
            turns.append(1)
            (harbor.root / STATE).write_bytes(whole)
            import_sessions(Project.open(str(harbor.root), calm))
        return harbor.now

    world = msgspec.structs.replace(calm, now=now)
    # A refusal is as good as a success, if nothing is wrong afterwards.
    with contextlib.suppress(QuireError):
        journal_restore(Project.open(str(harbor.root), world), JournalRestore(name="chk-000001"))
    assert turns
    assert harbor.times(1) == 1
    assert harbor.state()["maintenance"]["historyEventCount"] == len(harbor.events())
    assert harbor.faults() == []


# -- readers ------------------------------------------------------------------------------------------------------


def test_a_check_that_somebody_writes_in_the_middle_of_finds_nothing_wrong(harbor: Harbor, monkeypatch: Any) -> None:
    """Before each file that a check opens once: a source is added and removed, sessions arrive, a recall is made."""
    from quire.files import paths

    ours, number, opens, wrong = harbor.project, 0, 1, []
    while number < opens:
        opened: list[str] = []

        class Os:
            def __getattr__(self, name: str) -> Any:
                return getattr(os, name)

            def open(self, path: Any, *more: Any, number: int = number, opened: Any = opened, **named: Any) -> int:
                opened.append(str(path))
                if len(opened) == number + 1:
                    monkeypatch.setattr(paths, "os", os)
                    harbor.say(number)
                    added = JournalAdd(source_type="markdown", path=str(harbor.root / "src"), name=f"more-{number}")
                    add(harbor.project, added)
                    harbor.sync()
                    journal_recall(harbor.project, JournalRecall())
                    monkeypatch.setattr(paths, "os", self)
                return os.open(path, *more, **named)

        monkeypatch.setattr(paths, "os", Os())
        found = journal_validate(ours, JournalValidate()).findings
        monkeypatch.setattr(paths, "os", os)
        wrong += [f"{number}, {opened[number]}: {one['message']}" for one in found if one["level"] == "fail"]
        opens = min(len(opened), 12)
        number += 1
    assert opens > 8
    assert harbor.faults() == []
    assert wrong == []


def test_a_question_to_a_damaged_state_is_answered_from_the_history_with_a_warning(harbor: Harbor) -> None:
    harbor.say(1)
    harbor.sync()
    (harbor.root / STATE).write_bytes(b'{"schemaVersion": 2, "bundle": {')
    found = journal_query(harbor.project, JournalQuery(question="what was decided about mailer1x0?"))
    assert found.sufficient
    assert "mailer1x0" in found.answer
    assert [(one.path, one.hint) for one in found.warnings] == [
        (STATE, "`memory journal validate` says what is wrong."),
    ]


def test_a_question_to_a_state_of_another_version_is_refused(harbor: Harbor) -> None:
    """What another program means by it nobody here knows."""
    harbor.say(1)
    harbor.sync()
    (harbor.root / STATE).write_text(json.dumps({**harbor.state(), "schemaVersion": 3}), encoding="utf-8")
    before = harbor.files()
    with pytest.raises(UnsupportedVersion):
        journal_query(harbor.project, JournalQuery(question="what was decided about mailer1x0?"))
    assert harbor.files() == before


# -- what the user writes -----------------------------------------------------------------------------------------


def test_what_the_user_saves_while_the_pages_are_written_is_kept(harbor: Harbor, monkeypatch: Any) -> None:
    """At every call of a recall once: an editor saves the file with the entry block."""
    harbor.say(1)
    harbor.sync()
    copy = harbor.root.parent / "copy"
    shutil.copytree(harbor.root, copy, symlinks=True)
    lost, number, calls = [], 0, 1
    while number < calls:
        shutil.rmtree(harbor.root)
        shutil.copytree(copy, harbor.root, symlinks=True)
        entry, seen = harbor.root / "AGENTS.md", []

        def before(operation: str, path: str, number: int = number, entry: Path = entry, seen: Any = seen) -> None:
            seen.append(f"{operation} {os.path.relpath(path, harbor.root)}")
            if len(seen) == number + 1:
                entry.write_text(entry.read_text(encoding="utf-8") + "\nSaved just now.\n", encoding="utf-8")

        monkeypatch.setattr(disk, "before", before)
        journal_recall(harbor.project, JournalRecall())
        monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
        calls = len(seen)
        # Between the last look and the rename nobody can be kept out.
        is_late = seen[number] == "rename AGENTS.md" if number < calls else False
        if "Saved just now." not in entry.read_text(encoding="utf-8") and not is_late:
            lost.append(seen[number])
        number += 3
    assert calls > 40
    assert lost == []
