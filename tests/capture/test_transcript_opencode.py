"""Sessions of opencode: a session, its messages and their parts, each in a file of its own."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from transcript_making import PROJECT, found, names, read_all, said, write_document

from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.types import Turn
from quire.model.errors import StorageFailed

TYPE = "opencode-local"
CREATED = 1772362800000
AT = "2026-03-01T11:00:00.000Z"


class Storage:
    """opencode's storage, written as the program does."""

    def __init__(self, top: Path) -> None:
        self.top = top / "storage"
        self.parts = 0

    def session(self, name: str, **more: Any) -> Path:
        about = {
            "id": name,
            "version": "1.1.0",
            "projectID": "p1",
            "directory": PROJECT,
            "title": "Caching",
            "time": {"created": CREATED, "updated": CREATED},
            **more,
        }
        return write_document(self.top / "session" / "p1" / f"{name}.json", about)

    def message(self, session: str, name: str, role: str, *parts: dict[str, Any], **more: Any) -> None:
        about = {"id": name, "sessionID": session, "role": role, "time": {"created": CREATED}, **more}
        write_document(self.top / "message" / session / f"{name}.json", about)
        for part in parts:
            self.parts += 1
            write_document(self.top / "part" / name / f"prt_{self.parts:03}.json", {"messageID": name, **part})


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    made = Storage(tmp_path)
    made.session("ses_1")
    made.message(
        "ses_1",
        "msg_001",
        "user",
        {"type": "text", "text": "Cache the list"},
        {"type": "text", "text": "Called the Read tool", "synthetic": True},
        {"type": "file", "mime": "text/plain", "url": "file:///x", "source": {"type": "file", "path": "src/list.ts"}},
    )
    made.message(
        "ses_1",
        "msg_002",
        "assistant",
        {"type": "step-start"},
        {"type": "reasoning", "text": "Hm", "time": {"start": 1}},
        {"type": "text", "text": "I look."},
        {
            "type": "tool",
            "callID": "c1",
            "tool": "bash",
            "state": {
                "status": "error",
                "input": {"command": "npm test"},
                "error": "1 failed",
                "time": {"start": CREATED},
            },
        },
        {
            "type": "tool",
            "callID": "c2",
            "tool": "read",
            "state": {"status": "completed", "input": {"filePath": f"{PROJECT}/src/list.ts"}, "output": "export {};"},
        },
        {"type": "tool", "callID": "c3", "tool": "read", "state": {"status": "running", "input": {}}},
        path={"cwd": PROJECT, "root": PROJECT},
    )
    made.message("ses_1", "msg_003", "assistant", {"type": "text", "text": "All of it"}, summary=True)
    made.message("ses_1", "msg_004", "assistant", error={"name": "APIError", "data": {"message": "Overloaded"}})
    return made


def test_a_session_is_found_and_read(storage: Storage, tmp_path: Path) -> None:
    (session,) = found(TYPE, tmp_path, PROJECT)
    assert (session.external_id, session.title) == ("ses_1", "Caching")
    assert session.started_at == AT
    turns, reading = read_all(session, root=PROJECT)
    assert turns == [
        Turn(role="user", text="Cache the list", at=AT, paths=("src/list.ts",)),
        Turn(role="assistant", text="I look.", at=AT),
        Turn(role="assistant", tool="bash", text="npm test", at=AT),
        Turn(role="tool", tool="bash", text="1 failed", at=AT, is_error=True),
        Turn(role="assistant", tool="read", paths=("src/list.ts",), at=AT),
        Turn(role="tool", tool="read", text="export {};", at=AT),
        Turn(role="assistant", tool="read", at=AT),
        Turn(role="system", text="All of it", at=AT, is_summary=True),
        Turn(role="system", text="Overloaded", at=AT, is_error=True),
    ]
    assert (reading.bad_lines, reading.next_offset) == (0, 0)


def test_only_the_sessions_of_the_repository_are_found(storage: Storage, tmp_path: Path) -> None:
    storage.session("ses_2", directory="/home/dev/other")
    storage.session("ses_3", directory=f"{PROJECT}/api")
    assert names(TYPE, tmp_path, PROJECT) == ["ses_1", "ses_3"]
    assert names(TYPE, storage.top) == ["ses_1", "ses_2", "ses_3"]


def test_a_session_that_another_one_started_is_a_subagents(storage: Storage, tmp_path: Path) -> None:
    storage.session("ses_2", parentID="ses_1")
    storage.message("ses_2", "msg_101", "assistant", {"type": "text", "text": "Done"})
    agent = found(TYPE, tmp_path)[1]
    turns, _ = read_all(agent)
    assert [turn.is_subagent for turn in turns] == [True]


def test_a_new_message_changes_the_stamp(storage: Storage, tmp_path: Path) -> None:
    before = found(TYPE, tmp_path)[0].stamp
    storage.message("ses_1", "msg_005", "user", {"type": "text", "text": "More"})
    assert found(TYPE, tmp_path)[0].stamp != before


def test_damaged_files_are_counted_and_stop_nothing(storage: Storage, tmp_path: Path) -> None:
    folder = storage.top / "message" / "ses_1"
    (folder / "msg_0015.json").write_text("{torn")
    (folder / "msg_0016.json").write_text("[]")
    os.mkfifo(folder / "msg_0017.json")
    (storage.top / "part" / "msg_002" / "prt_0035.json").write_bytes(b"\xff")
    turns, reading = read_all(found(TYPE, tmp_path)[0])
    assert said(turns)[:2] == [("user", "Cache the list"), ("assistant", "I look.")]
    assert reading.bad_lines == 4


def test_names_that_lead_elsewhere_are_not_followed(storage: Storage, tmp_path: Path) -> None:
    storage.session("ses_2", id="../../../etc")
    (storage.top / "part" / "msg_003").rename(tmp_path / "elsewhere")
    (storage.top / "part" / "msg_003").symlink_to(tmp_path / "elsewhere")
    discovery = discover(TYPE, str(tmp_path))
    (session,) = discovery
    assert [skipped.reason for skipped in discovery.skipped] == ["it is not about a session"]
    assert "All of it" not in str(read_all(session)[0])


def test_one_file_about_a_session_is_a_source_too(storage: Storage) -> None:
    path = storage.top / "session" / "p1" / "ses_1.json"
    (session,) = found(TYPE, path)
    assert len(read_all(session)[0]) == 9


@pytest.mark.parametrize(
    ("call", "refused"),
    [
        ("open", "session/p1/ses_1.json"),
        ("open", "message/ses_1/msg_001.json"),
        ("open", "part/msg_001/prt_001.json"),
        ("listdir", "message/ses_1"),
        ("listdir", "part/msg_001"),
    ],
)
def test_what_is_refused_for_a_passing_reason_is_no_end_of_a_session(
    call: str, refused: str, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left out, it would count as not there, and nobody would look again."""
    real = getattr(os, call)

    def refusing(where: Any, *arguments: Any, **options: Any) -> Any:
        if os.fspath(where) == str(storage.top / refused):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), where)
        return real(where, *arguments, **options)

    monkeypatch.setattr(os, call, refusing)
    with pytest.raises(StorageFailed, match="too many files are open"):
        [list(read_all(session)) for session in discover(TYPE, str(tmp_path))]
