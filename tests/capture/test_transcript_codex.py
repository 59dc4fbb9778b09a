"""Sessions of Codex: rollouts new, old, archived and compressed; what is written twice is said once."""

from __future__ import annotations

import gzip
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from transcript_making import (
    CODEX_META,
    CODEX_TALK,
    PROJECT,
    codex,
    codex_said,
    found,
    names,
    read_all,
    said,
    session_at,
    turns_of,
    write_lines,
)

from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.types import Turn
from quire.model.errors import StorageFailed

TYPE = "codex-local"
DAY = Path("sessions", "2026", "03", "01")


def rollout(home: Path, name: str, *records: Any, folder: Path = DAY) -> Path:
    return write_lines(home / folder / f"rollout-2026-03-01T11-00-00-{name}.jsonl", records)


def item(**payload: Any) -> dict[str, Any]:
    return codex("response_item", payload)


def test_sessions_and_archived_sessions_are_found_with_their_names(tmp_path: Path) -> None:
    rollout(tmp_path, "a", *CODEX_TALK)
    rollout(tmp_path, "b", codex("session_meta", {**CODEX_META, "id": "old-1"}), folder=Path("archived_sessions"))
    write_lines(
        tmp_path / "session_index.jsonl",
        [
            {"id": CODEX_META["id"], "thread_name": "First name", "updated_at": "2026-03-01T12:00:00Z"},
            b"{broken",
            {"nope": 1},
            {"id": CODEX_META["id"], "thread_name": "Idempotent worker", "updated_at": "2026-03-01T12:30:00Z"},
        ],
    )
    old, new = found(TYPE, tmp_path)
    assert (old.external_id, old.title) == ("old-1", "")
    assert (new.external_id, new.title) == (CODEX_META["id"], "Idempotent worker")
    assert new.started_at == "2026-03-01T11:00:00.000Z"


def test_only_the_sessions_of_the_repository_are_found(tmp_path: Path) -> None:
    rollout(tmp_path, "a", codex("session_meta", {**CODEX_META, "id": "a"}))
    rollout(tmp_path, "b", codex("session_meta", {**CODEX_META, "id": "b", "cwd": "/home/dev/other"}))
    rollout(
        tmp_path, "c", {"id": "c", "timestamp": "2025-05-01T00:00:00Z"}, codex_said("user", f"<cwd>{PROJECT}</cwd>")
    )
    rollout(tmp_path, "d", codex("session_meta", {"id": "d"}), codex("turn_context", {"cwd": "/home/dev/other"}))
    assert names(TYPE, tmp_path, PROJECT) == ["a", "c"]


def test_a_file_without_a_head_is_known_by_its_name(tmp_path: Path) -> None:
    rollout(tmp_path, "0199a3c4-0000-7000-8000-00000000000b", codex_said("user", "Hello"))
    write_lines(tmp_path / "sessions" / "z.jsonl", [b"[]"])
    assert names(TYPE, tmp_path) == ["z", "0199a3c4-0000-7000-8000-00000000000b"]


def test_what_is_written_twice_is_said_once(tmp_path: Path) -> None:
    turns, reading = read_all(session_at(rollout(tmp_path, "a", *CODEX_TALK), TYPE), root=PROJECT)
    at = "2026-03-01T11:00:{:02}.000Z".format
    assert turns == [
        Turn(role="user", text="Make the worker idempotent", at=at(3)),
        Turn(role="assistant", tool="shell", text="rg idempot src", at=at(5)),
        Turn(role="tool", tool="shell", text="nothing found", at=at(6), is_error=True),
        Turn(role="assistant", tool="apply_patch", paths=("src/queue/worker.ts",), at=at(7)),
        Turn(role="tool", tool="apply_patch", text="Success.", at=at(8)),
        Turn(role="assistant", text="Decision: the order id is the key.", at=at(9)),
        Turn(role="system", text="The worker is idempotent now.", at=at(10), is_summary=True),
        Turn(role="user", text="Make the worker idempotent", at=at(11)),
    ]
    assert reading.bad_lines == 0


def test_what_is_written_once_is_said_too(tmp_path: Path) -> None:
    events = [
        codex("event_msg", {"type": "user_message", "message": "Only an event"}),
        codex("event_msg", {"type": "agent_message", "message": "Only an answer"}),
        codex("event_msg", {"type": "error", "message": "Stream closed"}),
    ]
    assert said(turns_of(rollout(tmp_path, "a", *events), TYPE)) == [
        ("user", "Only an event"),
        ("assistant", "Only an answer"),
        ("system", "Stream closed"),
    ]


def test_the_oldest_files_have_items_alone(tmp_path: Path) -> None:
    path = rollout(
        tmp_path,
        "a",
        {"id": "0193", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls","-l"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "Exit code: 2\nOutput:\nls: no"},
        {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
    )
    turns = turns_of(path, TYPE)
    assert said(turns) == [
        ("user", "Hello"),
        ("assistant", "ls -l"),
        ("tool", "Exit code: 2\nOutput:\nls: no"),
        ("assistant", "Hi"),
    ]
    assert turns[2].is_error


def test_the_answers_of_tools_are_told_in_every_form(tmp_path: Path) -> None:
    calls = []
    outputs: list[tuple[Any, str, bool]] = [
        ("plain", "plain", False),
        ([{"type": "input_text", "text": "listed"}, {"type": "input_image", "image_url": "data:"}], "listed", False),
        ({"content": "held", "success": False}, "held", True),
        ("Process exited with code 0\nfine", "Process exited with code 0\nfine", False),
        ('{"output": "inner", "metadata": {"exit_code": 0}}', "inner", False),
        ('{"not": "ours"}', '{"not": "ours"}', False),
        ("{torn", "{torn", False),
    ]
    for number, (output, _, _) in enumerate(outputs):
        calls.append(item(type="function_call", name="exec_command", arguments='{"cmd": "x"}', call_id=f"c{number}"))
        calls.append(item(type="function_call_output", call_id=f"c{number}", output=output))
    turns = [turn for turn in turns_of(rollout(tmp_path, "a", *calls), TYPE) if turn.role == "tool"]
    assert [(turn.text, turn.is_error) for turn in turns] == [(text, failed) for _, text, failed in outputs]


def test_a_session_that_another_one_started_is_a_subagents(tmp_path: Path) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "parent-1", "depth": 1}}}
    rollout(tmp_path, "a", codex("session_meta", {**CODEX_META, "source": spawn}), codex_said("assistant", "Yes"))
    (session,) = found(TYPE, tmp_path)
    turns, _ = read_all(session)
    assert [turn.is_subagent for turn in turns] == [True]


def test_searches_and_local_shells_are_calls(tmp_path: Path) -> None:
    path = rollout(
        tmp_path,
        "a",
        item(type="web_search_call", status="completed", action={"type": "search", "query": "zstd frames"}),
        item(type="local_shell_call", call_id="c1", action={"type": "exec", "command": ["ls"]}),
    )
    assert [(turn.tool, turn.text) for turn in turns_of(path, TYPE)] == [
        ("web_search", "zstd frames"),
        ("local_shell", "ls"),
    ]


# -- compressed -------------------------------------------------------------------------------


def pack(path: Path) -> Path:
    """The packed form that the stand-in below can read."""
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    return packed


@pytest.fixture
def unpacker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the library that unpacks zstd, which is not installed with the tests."""
    library = types.ModuleType("zstandard")
    library.ZstdDecompressor = lambda: types.SimpleNamespace(  # type: ignore[attr-defined]
        stream_reader=lambda file, read_across_frames: gzip.GzipFile(fileobj=file)
    )
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", library)


def test_a_compressed_session_that_nothing_can_unpack_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    packed = pack(rollout(tmp_path, "a", *CODEX_TALK))
    discovery = discover(TYPE, str(tmp_path))
    assert list(discovery) == []
    ((path, reason),) = [(skipped.path, skipped.reason) for skipped in discovery.skipped]
    assert path == str(packed)
    assert reason == "it is compressed, and no reader of zstd is installed"
    with pytest.raises(StorageFailed):
        turns_of(packed, TYPE)


@pytest.mark.usefixtures("unpacker")
def test_a_compressed_session_is_read_and_gone_on_with(tmp_path: Path) -> None:
    path = rollout(tmp_path, "a", *CODEX_TALK)
    whole, plain = read_all(session_at(path, TYPE), root=PROJECT)
    packed = pack(path)
    (session,) = found(TYPE, tmp_path, PROJECT)
    assert (session.path, session.external_id) == (str(packed), CODEX_META["id"])
    turns, reading = read_all(session, root=PROJECT)
    assert turns == whole
    assert (reading.next_offset, reading.content_hash) == (plain.next_offset, plain.content_hash)
    begun = read(session, root=PROJECT)
    first = next(begun)
    rest, _ = read_all(session, begun.next_offset, root=PROJECT, content_hash=begun.content_hash)
    assert [first, *rest] == whole


@pytest.mark.usefixtures("unpacker")
def test_a_damaged_compressed_session_ends_where_it_is_damaged(tmp_path: Path) -> None:
    packed = pack(rollout(tmp_path, "a", *CODEX_TALK))
    whole = turns_of(packed, TYPE)
    packed.write_bytes(packed.read_bytes()[:-40])
    turns = turns_of(packed, TYPE)
    assert turns == whole[: len(turns)]


@pytest.mark.usefixtures("unpacker")
def test_of_two_forms_of_one_session_the_plain_one_is_taken(tmp_path: Path) -> None:
    path = rollout(tmp_path, "a", *CODEX_TALK)
    data = path.read_bytes()
    pack(path)
    path.write_bytes(data)
    assert [session.path for session in found(TYPE, tmp_path)] == [str(path)]


def test_arguments_that_are_no_json_are_a_script(tmp_path: Path) -> None:
    call = item(type="custom_tool_call", name="exec", input="const r = await tools.exec({cmd: 'ls'})", call_id="c1")
    assert turns_of(rollout(tmp_path, "a", call), TYPE)[0].text == "const r = await tools.exec({cmd: 'ls'})"
