"""Sessions of the Gemini CLI: logs of which only what holds at their end is read, documents, saved conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transcript_making import (
    PROJECT,
    found,
    names,
    read_all,
    said,
    session_at,
    turns_of,
    write_document,
    write_lines,
)

from quire.capture.transcripts import gemini
from quire.capture.transcripts.types import Turn
from quire.files.digests import hex_digest

TYPE = "gemini-local"
HASH = hex_digest(PROJECT)
META = {
    "sessionId": "5a6b7c8d-0000-4000-8000-000000000001",
    "projectHash": HASH,
    "startTime": "2026-03-01T12:00:00.000Z",
    "lastUpdated": "2026-03-01T12:00:00.000Z",
    "kind": "main",
}


def message(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": "2026-03-01T12:00:01.000Z", "type": kind, "content": content, **more}


def tool_call(name: str, tool: str, status: str, text: str, **args: Any) -> dict[str, Any]:
    response = {"error": text} if status == "error" else {"output": text}
    return {
        "id": name,
        "name": tool,
        "args": args,
        "status": status,
        "timestamp": "2026-03-01T12:00:02.000Z",
        "result": [{"functionResponse": {"id": name, "name": tool, "response": response}}],
    }


ASKED = message("m1", "user", [{"text": "Cache the list"}])
CALLED = message(
    "m2",
    "gemini",
    "I look.",
    toolCalls=[
        tool_call("c1", "read_file", "success", "export {};", file_path=f"{PROJECT}/src/cache.ts"),
        tool_call("c2", "run_shell_command", "error", "Exit 1", command="npm test"),
    ],
    thoughts=[{"subject": "Plan", "description": "Think"}],
)
TURNS = [
    Turn(role="user", text="Cache the list", at="2026-03-01T12:00:01.000Z"),
    Turn(role="assistant", text="I look.", at="2026-03-01T12:00:01.000Z"),
    Turn(role="assistant", tool="read_file", paths=("src/cache.ts",), at="2026-03-01T12:00:02.000Z"),
    Turn(role="tool", tool="read_file", text="export {};", at="2026-03-01T12:00:02.000Z"),
    Turn(role="assistant", tool="run_shell_command", text="npm test", at="2026-03-01T12:00:02.000Z"),
    Turn(role="tool", tool="run_shell_command", text="Exit 1", at="2026-03-01T12:00:02.000Z", is_error=True),
]


def chat(tmp_path: Path, *records: Any, name: str = "session-2026-03-01T12-00-5a6b7c8d.jsonl") -> Path:
    return write_lines(tmp_path / "tmp" / "orders" / "chats" / name, records)


def test_a_message_that_is_written_again_is_read_once(tmp_path: Path) -> None:
    begun = message("m2", "gemini", "I look.", toolCalls=[])
    path = chat(tmp_path, META, ASKED, {"$set": {"lastUpdated": "x"}}, begun, {"$set": {"summary": "Caching"}}, CALLED)
    turns, reading = read_all(session_at(path, TYPE), root=PROJECT)
    assert turns == TURNS
    assert (reading.title, reading.lines, reading.bad_lines) == ("Caching", 6, 0)
    assert reading.next_offset == 0


def test_what_the_user_went_back_from_was_not_said(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        META,
        ASKED,
        message("m2", "gemini", "Wrong way"),
        message("m3", "user", "No!"),
        {"$rewindTo": "m2"},
        message("m4", "user", "Another way"),
    )
    assert said(turns_of(path, TYPE)) == [("user", "Cache the list"), ("user", "Another way")]
    path = chat(tmp_path, META, ASKED, {"$rewindTo": "unknown"}, message("m4", "user", "Anew"))
    assert said(turns_of(path, TYPE)) == [("user", "Anew")]


def test_messages_that_are_all_replaced_are_read_in_their_new_form(tmp_path: Path) -> None:
    summary = message("s1", "user", [{"text": "<state_snapshot>All of it</state_snapshot>"}])
    path = chat(tmp_path, META, ASKED, CALLED, {"$set": {"messages": [summary]}}, message("m9", "gemini", "On we go"))
    turns, _ = read_all(session_at(path, TYPE))
    assert said(turns) == [
        ("system", "<state_snapshot>All of it</state_snapshot>"),
        ("assistant", "On we go"),
    ]
    assert turns[0].is_summary


def test_bad_lines_are_counted_and_stop_nothing(tmp_path: Path) -> None:
    path = chat(tmp_path, META, b"{torn", ASKED, b"[]", b"")
    path.write_bytes(path.read_bytes() + b'{"id": "m9", "ty')
    turns, reading = read_all(session_at(path, TYPE))
    assert said(turns) == [("user", "Cache the list")]
    assert (reading.lines, reading.bad_lines, reading.torn) == (5, 3, True)


def test_more_messages_than_may_be_held_end_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini, "MESSAGES_MOST", 2)
    path = chat(tmp_path, META, *(message(f"m{number}", "user", f"Text {number}") for number in range(5)))
    assert said(turns_of(path, TYPE)) == [("user", "Text 0"), ("user", "Text 1")]


def test_a_document_of_an_older_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tmp" / HASH / "chats" / "session-2025-12-01T12-00-5a6b7c8d.json"
    write_document(path, {**META, "messages": [ASKED, CALLED, "no message"], "summary": "Caching"})
    (session,) = found(TYPE, tmp_path, PROJECT)
    assert (session.external_id, session.started_at) == (META["sessionId"], "2026-03-01T12:00:00.000Z")
    turns, reading = read_all(session, root=PROJECT)
    assert turns == TURNS
    assert reading.title == "Caching"


def test_a_torn_document_has_no_turns_and_says_so(tmp_path: Path) -> None:
    path = write_document(tmp_path / "session-x.json", {**META, "messages": [ASKED]})
    path.write_bytes(path.read_bytes()[:-10])
    turns, reading = read_all(session_at(path, TYPE))
    assert turns == []
    assert (reading.lines, reading.bad_lines) == (1, 1)


def test_the_projects_of_other_repositories_are_left_alone(tmp_path: Path) -> None:
    other = {**META, "projectHash": hex_digest("/home/dev/other")}
    for folder, meta, owner in (
        ("orders", {**META, "sessionId": "slug"}, PROJECT),
        ("sub", {**META, "sessionId": "below", "projectHash": "unknown"}, f"{PROJECT}/api"),
        ("other", {**other, "sessionId": "other"}, "/home/dev/other"),
        ("lost", {**META, "sessionId": "ownerless"}, ""),
        ("liar", {**other, "sessionId": "liar"}, ""),
        (HASH, {**META, "sessionId": "hash"}, ""),
        (hex_digest("/home/dev/other"), {**other, "sessionId": "other-hash"}, ""),
    ):
        write_lines(tmp_path / "tmp" / folder / "chats" / "session-a.jsonl", [meta])
        if owner:
            (tmp_path / "tmp" / folder / ".project_root").write_text(owner)
    assert sorted(names(TYPE, tmp_path, PROJECT)) == ["below", "hash", "ownerless", "slug"]
    assert len(names(TYPE, tmp_path)) == 7


def test_a_document_that_became_lines_is_not_read_twice(tmp_path: Path) -> None:
    path = chat(tmp_path, META, ASKED)
    write_document(path.with_suffix(".json"), {**META, "messages": [ASKED]})
    assert [session.path for session in found(TYPE, tmp_path)] == [str(path)]


def test_a_subagents_chat_is_known_by_what_it_says(tmp_path: Path) -> None:
    chat(tmp_path, META, ASKED)
    chat(tmp_path, {**META, "sessionId": "sub-1", "kind": "subagent"}, ASKED, name="parent-9/sub-1.jsonl")
    main, agent = found(TYPE, tmp_path)
    assert (main.external_id, agent.external_id) == (META["sessionId"], "sub-1")
    turns, _ = read_all(agent)
    assert [turn.is_subagent for turn in turns] == [True]


CONTENTS = [
    {"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up the context for our chat."}]},
    {"role": "user", "parts": [{"text": "Cache the list"}]},
    {"role": "model", "parts": [{"text": "Hm", "thought": True}, {"text": "I look."}]},
    {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"absolute_path": "/srv/a.ts"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "export {};"}}}]},
]


@pytest.mark.parametrize(
    "value", [CONTENTS, {"history": CONTENTS}, {"clientHistory": CONTENTS, "history": [{"id": 1}]}]
)
def test_saved_conversations_are_read(value: Any, tmp_path: Path) -> None:
    path = write_document(tmp_path / "tmp" / "orders" / "checkpoint-before-cache.json", value)
    (session,) = found(TYPE, tmp_path)
    assert (session.external_id, session.path) == ("checkpoint-before-cache", str(path))
    turns, _ = read_all(session)
    assert said(turns) == [
        ("user", "Cache the list"),
        ("assistant", "I look."),
        ("assistant", ""),
        ("tool", "export {};"),
    ]
    assert turns[2].paths == ("…/a.ts",)
    assert turns[3].tool == "read_file"


def test_points_to_restore_count_where_no_chat_was_recorded(tmp_path: Path) -> None:
    write_document(tmp_path / "tmp" / "orders" / "checkpoints" / "a-write_file.json", {"clientHistory": CONTENTS})
    assert names(TYPE, tmp_path) == ["a-write_file"]
    chat(tmp_path, META, ASKED)
    assert names(TYPE, tmp_path) == [META["sessionId"]]


def test_one_project_one_folder_of_chats_and_one_file_are_sources_too(tmp_path: Path) -> None:
    path = chat(tmp_path, META, ASKED)
    for place in (tmp_path / "tmp", path.parent.parent, path.parent, path):
        assert names(TYPE, place) == [META["sessionId"]], place


def test_what_the_program_tells_is_told_by_the_system(tmp_path: Path) -> None:
    path = chat(tmp_path, META, message("i", "info", "Update available"), message("e", "error", "Quota exceeded"))
    assert [(turn.role, turn.is_error) for turn in turns_of(path, TYPE)] == [("system", False), ("system", True)]


def test_a_prompt_is_shown_as_it_was_typed(tmp_path: Path) -> None:
    typed = message(
        "m1", "user", [{"text": "Look at @a.ts\n--- content ---"}], displayContent=[{"text": "Look at @a.ts"}]
    )
    assert said(turns_of(chat(tmp_path, META, typed), TYPE)) == [("user", "Look at @a.ts")]
