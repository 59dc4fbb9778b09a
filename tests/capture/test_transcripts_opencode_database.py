"""Sessions of opencode since 1.2: rows of a database that the program may be writing at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from transcript_making import PROJECT, found, names, read_all, said, write_document

from quire.capture.session_proposals import find_session
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.lines import Tally
from quire.capture.transcripts.opencode import PIECE_BYTES, records
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.types import FILE_BYTES, SessionFile, Skipped, Turn
from quire.model.errors import StorageFailed

TYPE = "opencode-local"
CREATED = 1772362800000
AT = "2026-03-01T11:00:00.000Z"
TABLES = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL,
    version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL
);
CREATE TABLE part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL
);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""
ASKED = [
    {"type": "text", "text": "Cache the list"},
    {"type": "text", "text": "From the memory of this project: the list is long.", "synthetic": True},
    {"type": "file", "mime": "text/plain", "url": "file:///x", "source": {"type": "file", "path": "src/list.ts"}},
]
ANSWERED = [
    {"type": "step-start", "snapshot": "72ac61e"},
    {"type": "reasoning", "text": "Hm", "time": {"start": 1}},
    {"type": "text", "text": "I look."},
    {
        "type": "tool",
        "callID": "c1",
        "tool": "bash",
        "state": {"status": "error", "input": {"command": "npm test"}, "error": "1 failed", "time": {"start": CREATED}},
    },
    {
        "type": "tool",
        "callID": "c2",
        "tool": "read",
        "state": {"status": "completed", "input": {"filePath": f"{PROJECT}/src/list.ts"}, "output": "export {};"},
    },
    {"type": "step-finish", "reason": "stop"},
]
TURNS = [
    Turn(role="user", text="Cache the list", at=AT, paths=("src/list.ts",)),
    Turn(role="assistant", text="I look.", at=AT),
    Turn(role="assistant", tool="bash", text="npm test", at=AT),
    Turn(role="tool", tool="bash", text="1 failed", at=AT, is_error=True),
    Turn(role="assistant", tool="read", paths=("src/list.ts",), at=AT),
    Turn(role="tool", tool="read", text="export {};", at=AT),
]


class Database:
    """A database of opencode, written as the program does and closed after each change."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "opencode.db"
        self.parts = 0
        self.run("PRAGMA journal_mode=wal")
        self.run(TABLES)

    def run(self, statement: str, *values: Any) -> None:
        connection = apsw.Connection(str(self.path))
        connection.execute(statement, values)
        connection.close()

    def session(self, name: str, folder: str = PROJECT, parent: str | None = None, updated: int = CREATED) -> None:
        values = (name, "p1", parent, folder, "Caching", "1.18.33", CREATED, updated)
        self.run("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)

    def message(self, session: str, name: str, role: str, *parts: Any, at: int = CREATED, **more: Any) -> None:
        data = json.dumps({"role": role, "time": {"created": at}, **more})
        self.run("INSERT INTO message VALUES (?, ?, ?, ?, ?)", name, session, at, at, data)
        for part in parts:
            self.parts += 1
            text = json.dumps(part) if isinstance(part, dict) else part
            values = (f"prt_{self.parts:03}", name, session, at, at, text)
            self.run("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", *values)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(tmp_path)
    made.session("ses_2")
    made.message("ses_2", "msg_001", "user", *ASKED)
    made.message("ses_2", "msg_002", "assistant", *ANSWERED, path={"cwd": PROJECT, "root": PROJECT})
    return made


def passed_over(path: Path) -> list[tuple[str, str]]:
    """Nothing is found at a path; what is said about it."""
    discovery = discover(TYPE, str(path))
    assert list(discovery) == []
    return [(Path(skipped.path).name, skipped.reason) for skipped in discovery.skipped]


# -- what is found and read -------------------------------------------------------------------


def test_a_session_is_found_and_read(database: Database, tmp_path: Path) -> None:
    discovery = discover(TYPE, str(tmp_path), root=PROJECT)
    (session,) = discovery
    assert (session.external_id, session.title) == ("ses_2", "Caching")
    assert (session.path, session.started_at, discovery.skipped) == (str(database.path), AT, [])
    turns, reading = read_all(session, root=PROJECT)
    assert turns == TURNS
    assert (reading.lines, reading.bad_lines, reading.next_offset, reading.title) == (12, 0, 0, "Caching")


def test_the_records_are_those_of_the_files(database: Database, tmp_path: Path) -> None:
    session = {
        "id": "ses_2",
        "directory": PROJECT,
        "title": "Caching",
        "time": {"created": CREATED, "updated": CREATED},
    }
    storage = tmp_path / "older" / "storage"
    path = write_document(storage / "session" / "p1" / "ses_2.json", session)
    number = 0
    for name, role, parts in (("msg_001", "user", ASKED), ("msg_002", "assistant", ANSWERED)):
        about: dict[str, Any] = {"id": name, "sessionID": "ses_2", "role": role, "time": {"created": CREATED}}
        if role == "assistant":
            about["path"] = {"cwd": PROJECT, "root": PROJECT}
        write_document(storage / "message" / "ses_2" / f"{name}.json", about)
        for part in parts:
            number += 1
            names_of = {"id": f"prt_{number:03}", "messageID": name, "sessionID": "ses_2"}
            write_document(storage / "part" / name / f"prt_{number:03}.json", {**part, **names_of})
    old, new, of_old, of_new = found(TYPE, path)[0], found(TYPE, tmp_path)[0], Tally(), Tally()
    assert list(records(new, of_new)) == list(records(old, of_old))
    assert of_new == of_old
    assert read_all(new)[1].content_hash == read_all(old)[1].content_hash


def test_messages_stand_as_they_were_said(database: Database, tmp_path: Path) -> None:
    database.message("ses_2", "msg_000", "user", {"type": "text", "text": "Last"}, at=CREATED + 9)
    database.message("ses_2", "msg_009", "user", {"type": "text", "text": "First"}, at=CREATED - 9)
    texts = [text for role, text in said(read_all(found(TYPE, tmp_path)[0])[0]) if role == "user"]
    assert texts == ["First", "Cache the list", "Last"]


def test_only_the_sessions_of_the_repository_are_found(database: Database, tmp_path: Path) -> None:
    database.session("ses_1", folder=f"{PROJECT}/api")
    database.session("ses_3", folder="/home/dev/orders-old")
    assert names(TYPE, tmp_path, PROJECT) == ["ses_1", "ses_2"]
    assert names(TYPE, database.path) == ["ses_1", "ses_2", "ses_3"]
    assert names(TYPE, database.path, "/home/dev/orders-old") == ["ses_3"]


def test_a_session_of_both_counts_once_and_is_read_from_the_database(database: Database, tmp_path: Path) -> None:
    for name in ("ses_2", "ses_9"):
        write_document(tmp_path / "storage" / "session" / "p1" / f"{name}.json", {"id": name, "directory": PROJECT})
    assert [(one.external_id, Path(one.path).name) for one in found(TYPE, tmp_path, PROJECT)] == [
        ("ses_2", "opencode.db"),
        ("ses_9", "ses_9.json"),
    ]


def test_a_session_that_another_one_started_is_a_subagents(database: Database, tmp_path: Path) -> None:
    database.session("ses_1", parent="ses_2")
    database.message("ses_1", "msg_101", "assistant", {"type": "text", "text": "Done"})
    agent = found(TYPE, tmp_path)[0]
    turns, _ = read_all(agent)
    assert agent.external_id == "ses_1"
    assert [turn.is_subagent for turn in turns] == [True]


def test_the_stamp_changes_with_the_session_and_with_nothing_else(database: Database, tmp_path: Path) -> None:
    def stamp() -> str:
        return next(one.stamp for one in found(TYPE, tmp_path) if one.external_id == "ses_2")

    stamps = [stamp()]
    # The time comes first, in nanoseconds: by it a session that is still written to waits.
    assert stamps[0].partition(".")[0] == f"{CREATED}000000"
    database.session("ses_1")
    database.message("ses_1", "msg_101", "user", {"type": "text", "text": "Elsewhere"}, at=CREATED + 99)
    assert stamp() == stamps[0]
    for change in (
        "UPDATE session SET time_updated = time_updated + 1 WHERE id = 'ses_2'",
        "UPDATE message SET time_updated = time_updated + 5 WHERE id = 'msg_002'",
        "INSERT INTO part VALUES ('prt_900', 'msg_002', 'ses_2', 1, 1, '{}')",
        "INSERT INTO message VALUES ('msg_003', 'ses_2', 1, 1, '{}')",
        "DELETE FROM part WHERE id = 'prt_900'",
    ):
        database.run(change)
        stamps.append(stamp())
    assert len(set(stamps)) == len(stamps)


# -- a program that is running ----------------------------------------------------------------

WRITER = """
import sys
import apsw
database = apsw.Connection(sys.argv[1])
database.pragma("journal_mode", "wal")
database.pragma("wal_autocheckpoint", 0)
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("crash"):
        import os
        os._exit(9)
    database.execute(line)
    print("done", flush=True)
"""


class Running:
    """A program that holds the database open. It is another process: locks count between processes only."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, statement: str) -> None:
        self.say(statement)
        assert self._answer() == "done"

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


@pytest.fixture
def running(database: Database) -> Iterator[Running]:
    program = Running(database.path)
    yield program
    program.end()


def insert_text(text: str, number: int) -> str:
    data = json.dumps({"type": "text", "text": text})
    return f"INSERT INTO part VALUES ('prt_{number}', 'msg_002', 'ses_2', 1, 1, '{data}')"


def beside(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_the_newest_turns_of_a_running_program_are_read(database: Database, running: Running, tmp_path: Path) -> None:
    running.run(insert_text("One more thing.", 901))
    before = beside(tmp_path)
    assert sorted(before) == ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    (session,) = found(TYPE, tmp_path, PROJECT)
    assert read_all(session)[0][-1].text == "One more thing."
    assert beside(tmp_path) == before
    running.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert read_all(session)[0][-1].text == "One more thing."
    running.run(insert_text("And another.", 902))
    assert read_all(session)[0][-1].text == "And another."


def test_a_program_writes_on_while_its_session_is_read(database: Database, running: Running, tmp_path: Path) -> None:
    reading = read(found(TYPE, tmp_path)[0])
    assert next(reading).text == "Cache the list"
    running.run(insert_text("Written meanwhile.", 901))
    running.run("BEGIN EXCLUSIVE")
    running.run("COMMIT")
    running.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert [turn.text for turn in reading][-1] == "Written meanwhile."


def test_what_a_program_that_died_left_in_the_log_is_read(database: Database, running: Running, tmp_path: Path) -> None:
    running.run(insert_text("The last words.", 901))
    running.say("crash")
    running.end()
    before = beside(tmp_path)
    assert len(before) == 3
    assert read_all(found(TYPE, tmp_path)[0])[0][-1].text == "The last words."
    assert beside(tmp_path) == before
    (tmp_path / "opencode.db-shm").unlink()
    assert read_all(found(TYPE, tmp_path)[0])[0][-1].text == "export {};"
    assert sorted(beside(tmp_path)) == ["opencode.db", "opencode.db-wal"]


def test_nothing_is_left_beside_a_database_at_rest(database: Database, tmp_path: Path) -> None:
    before = beside(tmp_path)
    assert len(read_all(found(TYPE, tmp_path)[0])[0]) == len(TURNS)
    assert list(before) == ["opencode.db"]
    assert beside(tmp_path) == before


def test_a_folder_that_cannot_be_written_to_is_read(database: Database, tmp_path: Path) -> None:
    database.path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert len(read_all(found(TYPE, tmp_path)[0])[0]) == len(TURNS)
    finally:
        tmp_path.chmod(0o700)


def test_a_database_that_is_locked_is_passed_over(database: Database, tmp_path: Path) -> None:
    program = Running(database.path)
    try:
        program.run("PRAGMA locking_mode=exclusive")
        program.run(insert_text("Mine alone.", 901))
        # In this mode the program shares no memory, which others may still have left there.
        (tmp_path / "opencode.db-shm").write_bytes(b"\0" * 32768)
        assert passed_over(tmp_path) == [("opencode.db", "it is locked by another program")]
    finally:
        program.end()


# -- databases that are not as they should be -------------------------------------------------


def test_what_is_no_database_of_sessions_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    for data, reason in (
        (b"SQLite format 3\0", "it is not a database"),
        (b"{}" * 4000, "it is not a database"),
        (b"", "its tables are of a version that is not known"),
    ):
        path.write_bytes(data)
        assert passed_over(tmp_path) == [("opencode.db", reason)]


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE part",
        "ALTER TABLE message RENAME TO message_v1",
        "ALTER TABLE session RENAME COLUMN directory TO place",
        "ALTER TABLE part RENAME TO held; CREATE VIEW part AS SELECT * FROM held",
        "DROP TABLE part; CREATE VIRTUAL TABLE part USING fts5(id, message_id, session_id, time_created, data)",
    ],
)
def test_tables_of_another_version_are_passed_over(database: Database, tmp_path: Path, change: str) -> None:
    for statement in change.split("; "):
        database.run(statement)
    assert passed_over(tmp_path) == [("opencode.db", "its tables are of a version that is not known")]


def test_a_damaged_database_is_passed_over_and_its_files_are_read(database: Database, tmp_path: Path) -> None:
    write_document(tmp_path / "storage" / "session" / "p1" / "ses_9.json", {"id": "ses_9", "directory": PROJECT})
    data = database.path.read_bytes()
    database.path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    discovery = discover(TYPE, str(tmp_path))
    assert [one.external_id for one in discovery] == ["ses_9"]
    assert discovery.skipped == [Skipped(str(database.path), "it is damaged")]


@pytest.mark.proof
def test_every_kind_of_damage_is_only_a_reason(database: Database, tmp_path: Path) -> None:
    data = database.path.read_bytes()
    session = found(TYPE, tmp_path)[0]
    ends = 0
    for place in range(0, len(data), 61):
        database.path.write_bytes(data[:place] + b"\xa5" * 40 + data[place + 40 :])
        list(discover(TYPE, str(tmp_path)))
        try:
            read_all(session)
        except StorageFailed:
            ends += 1
    assert ends > 0


def test_only_a_plain_file_of_ordinary_size_is_opened(database: Database, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.db"
    database.path.rename(real)
    database.path.symlink_to(real)
    assert passed_over(tmp_path) == [("opencode.db", "it is a symbolic link")]
    database.path.unlink()
    os.mkfifo(database.path)
    assert passed_over(tmp_path) == [("opencode.db", "it is not a regular file")]
    database.path.unlink()
    real.rename(database.path)
    assert names(TYPE, tmp_path) == ["ses_2"]
    os.truncate(database.path, FILE_BYTES + 1)
    assert passed_over(tmp_path) == [("opencode.db", f"it is larger than {FILE_BYTES:,} bytes")]


def test_a_log_that_is_a_link_is_not_followed(database: Database, running: Running, tmp_path: Path) -> None:
    running.run(insert_text("In the log.", 901))
    running.say("crash")
    running.end()
    log = tmp_path / "opencode.db-wal"
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    assert read_all(found(TYPE, tmp_path)[0])[0][-1].text == "export {};"


def test_rows_that_cannot_be_read_are_counted_and_stop_nothing(database: Database, tmp_path: Path) -> None:
    texts = ("{torn", "[]", b"\xff\xfe", None, "x" * (PIECE_BYTES + 1), {"type": "text", "text": "Still here."})
    database.run("ALTER TABLE part RENAME TO old")
    database.run(
        "CREATE TABLE part (id text PRIMARY KEY, message_id, session_id, time_created, time_updated, data)",
    )
    database.run("INSERT INTO part SELECT * FROM old")
    database.message("ses_2", "msg_003", "assistant", *texts)
    database.run("INSERT INTO message VALUES ('msg_004', 'ses_2', 'late', 'late', x'ff')")
    database.run("INSERT INTO message VALUES ('../../msg', 'ses_2', 1, 1, '{\"role\": \"user\"}')")
    (session,) = found(TYPE, tmp_path)
    turns, reading = read_all(session)
    assert turns[-1].text == "Still here."
    assert reading.bad_lines == 6


def test_rows_of_any_kind_are_taken_for_what_they_are(database: Database, tmp_path: Path) -> None:
    database.run("INSERT INTO session VALUES ('../up', 'p1', NULL, '/x', 't', '1', 1, 1)")
    database.run("INSERT INTO session VALUES ('ses_1', 'p1', 7, x'ff', x'fffe', '1', 'soon', -5)")
    discovery = discover(TYPE, str(tmp_path))
    first, second = discovery
    assert (first.external_id, first.started_at, first.stamp) == ("ses_1", "", "0.0.0")
    assert second.external_id == "ses_2"
    assert discovery.skipped == [Skipped(str(database.path), "a row of it is not about a session")]


def test_a_name_is_a_value_and_no_statement(database: Database) -> None:
    name = "x' OR '1'='1"
    session = SessionFile(source_type=TYPE, external_id=name, path=str(database.path))
    turns, reading = read_all(session)
    assert (turns, reading.bad_lines) == ([], 1)


def test_a_session_whose_database_went_away_is_a_failure_of_the_disk(database: Database, tmp_path: Path) -> None:
    (session,) = found(TYPE, tmp_path)
    database.run("DELETE FROM session")
    database.run("DELETE FROM message")
    assert read_all(session)[0] == []
    database.path.write_bytes(b"no more" * 1000)
    with pytest.raises(StorageFailed, match="it is not a database"):
        read_all(session)
    database.path.unlink()
    with pytest.raises(StorageFailed, match="no such file"):
        read_all(session)


def test_a_place_with_signs_of_an_address_is_a_place(tmp_path: Path) -> None:
    database = Database(tmp_path / "50%3f?mode=rwc#é &x")
    database.session("ses_1")
    assert names(TYPE, database.path.parent) == ["ses_1"]


# -- what a hook names ------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = Database(tmp_path / ".local" / "share" / "opencode")
    for name in ("ses_1", "ses_2"):
        made.session(name)
        made.message(name, f"msg_{name}", "user", {"type": "text", "text": f"This is {name}"})
    made.session("ses_3", folder="/home/dev/other")
    return tmp_path


def find(home: Path, name: str, transcript: object = "") -> SessionFile | None:
    return find_session("opencode", str(transcript), name, root=PROJECT, home=str(home), env={})


def test_a_hook_finds_a_session_by_its_id(home: Path) -> None:
    session = find(home, "ses_2")
    assert session is not None
    assert said(read_all(session)[0]) == [("user", "This is ses_2")]
    assert find(home, "ses_3") is None
    assert find(home, "ses_4") is None
    assert find(home, "") is None


def test_of_a_database_that_a_hook_names_only_the_session_with_the_id_is_taken(home: Path) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    session = find(home, "ses_2", path)
    assert session is not None
    assert session.external_id == "ses_2"
    for name in ("", "ses_3", "ses_4"):
        assert find(home, name, path) is None
    outside = Database(home / "elsewhere")
    outside.session("ses_2")
    assert find(home, "ses_2", outside.path) is None
