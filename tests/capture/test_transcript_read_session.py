"""Reading a transcript: in bounded memory, from any offset, past anything that is no record."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript_making import (
    CLAUDE_TALK,
    CODEX_TALK,
    PROJECT,
    answers,
    claude,
    codex,
    read_all,
    said,
    session_at,
    turns_of,
    uses,
    write_document,
    write_lines,
)

from cases import each
from quire.capture.transcripts import lines, read_session
from quire.capture.transcripts.lenient_json import moment
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.types import LINE_BYTES, SessionFile, Turn
from quire.model.errors import StorageFailed
from thorough import examples

TALKS = {"claude-local": CLAUDE_TALK, "codex-local": CODEX_TALK}
EACH = pytest.mark.parametrize("source_type", TALKS)


def user(text: str) -> dict[str, Any]:
    return {"type": "user", "content": text}


# -- lines that are none ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        b"{not json",
        b"[1, 2]",
        b'"text"',
        b"7",
        b"null",
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"\x00\x01\x02",
        b"\xff\xfe\xfd",
        b'{"type": "user", "content": "torn',
    ],
    ids=lambda bad: bad[:12].decode("latin-1"),
)
def test_a_line_that_holds_no_record_is_skipped_and_counted(bad: bytes, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [user("One"), bad, user("Two")])
    turns, found = read_all(session_at(path))
    assert said(turns) == [("user", "One"), ("user", "Two")]
    assert (found.lines, found.bad_lines, found.torn) == (3, 1, False)
    assert found.next_offset == path.stat().st_size


def test_blank_lines_line_ends_of_windows_and_a_byte_order_mark_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"type":"user","content":"One"}\r\n\r\n \t\r\n{"type":"user","content":"Two"}\r\n')
    turns, found = read_all(session_at(path))
    assert said(turns) == [("user", "One"), ("user", "Two")]
    assert (found.lines, found.bad_lines) == (2, 0)


def test_bytes_that_are_no_text_are_replaced_and_half_characters_shown(tmp_path: Path) -> None:
    lines = [b'{"type":"user","content":"a \xff b"}', b'{"type":"user","content":"a \\ud83d b"}']
    path = write_lines(tmp_path / "s.jsonl", lines)
    assert said(turns_of(path)) == [("user", "a \ufffd b"), ("user", "a \\u{D83D} b")]


def test_what_javascript_writes_beyond_the_standard_is_read(tmp_path: Path) -> None:
    lines = [b'{"type":"user","content":"One","n":NaN}', b'{"type":"user","content":"Two","n":1e999}']
    assert said(turns_of(write_lines(tmp_path / "s.jsonl", lines))) == [("user", "One"), ("user", "Two")]


def test_a_line_that_is_too_long_is_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(b'{"type":"user","content":"One"}\n')
        file.write(b'{"type":"user","content":"' + b"x" * LINE_BYTES + b'"}\n')
        file.write(b'{"type":"user","content":"Two"}\n')
    turns, found = read_all(session_at(path))
    assert said(turns) == [("user", "One"), ("user", "Two")]
    assert (found.lines, found.bad_lines, found.long_lines) == (3, 1, 1)
    assert found.next_offset == path.stat().st_size


PIECES = st.sampled_from([b"\n", b"a", b"bb", b"\r", b"\xef\xbb\xbf", b"x" * 9])


@given(data=st.lists(PIECES, max_size=60), most=st.integers(1, 12))
def test_lines_are_what_splitting_gives(data: list[bytes], most: int) -> None:
    whole = b"".join(data)
    found = list(lines.lines_of(io.BytesIO(whole), most=most))
    assert [line.start for line in found[:1]] in ([], [0])
    assert all(after.start == before.end for before, after in itertools.pairwise(found))
    assert sum(line.end - line.start for line in found) == len(whole)
    for line in found:
        part = whole[line.start : line.end].removesuffix(b"\n")
        expected = part.removeprefix(b"\xef\xbb\xbf") if line.start == 0 else part
        assert line.data == (None if len(part) > most else expected)


NAMES = """
type message content role payload text id name input arguments call_id output timestamp cwd isMeta attachment prompt
tool_name tool_input tool_output display project action command metadata exit_code source subagent parts functionCall
functionResponse response toolCalls status args result state time summary title error data path
"""
KINDS = """
user assistant system attachment tool_use tool_result response_item event_msg compacted session_meta message summary
function_call function_call_output custom_tool_call local_shell_call gemini info turn_context
"""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.proof
@given(value=VALUES, kind=st.sampled_from(KINDS.split()))
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_of_any_type_anywhere_are_no_error(value: Any, kind: str, tmp_path: Path) -> None:
    record = {**value, "type": kind} if isinstance(value, dict) else {"type": kind, "message": value, "payload": value}
    if isinstance(record.get("payload"), dict):
        record["payload"] = {"type": kind, **record["payload"]}
    path = write_lines(tmp_path / "s.jsonl", [json.dumps(record).encode("utf-8", "surrogatepass")])
    for source_type in ("claude-local", "codex-local", "gemini-local"):
        for turn in turns_of(path, source_type, root=PROJECT, home="/home/dev"):
            assert turn.role in ("user", "assistant", "tool", "system")
            assert isinstance(turn.text, str)
            assert isinstance(turn.at, str)


# -- torn files, and going on -----------------------------------------------------------------


def short(record: dict[str, Any]) -> dict[str, Any]:
    """A line with only what matters here, so that there are fewer bytes to cut at."""
    return {name: record[name] for name in ("type", "message", "payload", "isCompactSummary") if name in record}


@EACH
def test_a_file_cut_at_any_byte_gives_the_beginning_of_its_turns(source_type: str, tmp_path: Path) -> None:
    talk = [short(record) for record in TALKS[source_type][-10:-1]]
    path = write_lines(tmp_path / "s.jsonl", talk)
    data = path.read_bytes()
    whole = turns_of(path, source_type, root=PROJECT)
    assert len(whole) >= 4
    for size in range(len(data)):
        path.write_bytes(data[:size])
        turns, found = read_all(session_at(path, source_type), root=PROJECT)
        assert turns == whole[: len(turns)], size
        assert found.next_offset <= size
        assert found.torn == (found.next_offset < size)


def test_a_document_cut_at_any_byte_is_no_error(tmp_path: Path) -> None:
    chat = b'{"sessionId":"s","projectHash":"h"}\n{"id":"m1","type":"user","content":"Hi"}\n{"$rewindTo":"m1"}\n'
    document = b'{"sessionId":"s","messages":[{"id":"m1","type":"user","content":[{"text":"Hi"}]}]}'
    export = "# T\n_Exported_\n\n---\n\n**User**\n\nHé\n\n---\n\n**Cursor**\n\n```\nx\n```\n".encode()
    cases = (("gemini-local", "a.jsonl", chat), ("gemini-local", "a.json", document), ("markdown", "a.md", export))
    for source_type, name, data in (*cases, ("cursor-export", "a.md", export)):
        path = tmp_path / name
        path.write_bytes(data)
        whole = turns_of(path, source_type)
        for size in range(len(data)):
            path.write_bytes(data[:size])
            turns = turns_of(path, source_type)
            if source_type != "gemini-local" and len(whole) == len(turns) == 2:
                assert turns[0] == whole[0]
                assert whole[1].text.startswith(turns[1].text)


@EACH
def test_going_on_after_any_cut_gives_what_one_pass_gives(source_type: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", TALKS[source_type])
    data = path.read_bytes()
    whole, once = read_all(session_at(path, source_type), root=PROJECT)
    # Every byte near the end of a line, and a sample of the others.
    cuts = {size for size in range(len(data)) if b"\n" in data[max(0, size - 2) : size + 2] or size % 97 == 0}
    for size in sorted(cuts):
        path.write_bytes(data[:size])
        first, begun = read_all(session_at(path, source_type), root=PROJECT)
        path.write_bytes(data)
        rest, done = read_all(
            session_at(path, source_type), begun.next_offset, root=PROJECT, content_hash=begun.content_hash
        )
        assert first + rest == whole, size
        assert (done.content_hash, done.next_offset) == (once.content_hash, once.next_offset)
        assert not done.restarted


@EACH
def test_a_reading_that_is_given_up_is_gone_on_with(source_type: str, tmp_path: Path) -> None:
    session = session_at(write_lines(tmp_path / "s.jsonl", TALKS[source_type]), source_type)
    whole, once = read_all(session, root=PROJECT)
    for count in range(1, len(whole)):
        begun = read(session, root=PROJECT)
        first = [next(begun) for _ in range(count)]
        rest, done = read_all(session, begun.next_offset, root=PROJECT, content_hash=begun.content_hash)
        assert first + rest == whole
        assert done.content_hash == once.content_hash


def test_a_line_with_several_turns_is_done_with_its_last_one(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    session = session_at(write_lines(tmp_path / "s.jsonl", [claude("assistant", blocks)]))
    begun = read(session)
    assert next(begun).text == "I look."
    assert (begun.next_offset, begun.content_hash) == (0, "")
    assert next(begun).tool == "Read"
    assert begun.next_offset == os.path.getsize(session.path)


def test_an_answer_after_the_offset_finds_its_call_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_session, "WINDOW_BYTES", 20_000)
    filler = [claude("user", "x" * 1_000, 1) for _ in range(200)]
    talk = [claude("user", "Begin"), *filler, uses("t1", "Bash", 2, command="memory query cache")]
    path = write_lines(tmp_path / "s.jsonl", talk)
    offset = path.stat().st_size
    write_lines(path, [*talk, answers("t1", "Own words", 3), uses("t2", "Read", 4, file_path="src/a.ts")])
    turns, _ = read_all(session_at(path), offset, root=PROJECT)
    assert turns == [Turn(role="assistant", tool="Read", paths=("src/a.ts",), at="2026-03-01T10:00:04.000Z")]


def test_where_a_session_runs_is_known_after_any_offset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_session, "WINDOW_BYTES", 2_000)
    meta = codex("session_meta", {"id": "x", "cwd": f"{PROJECT}/api", "source": {"subagent": "review"}})
    talk = [meta, *(codex("event_msg", {"type": "token_count", "info": "x" * 500}) for _ in range(50))]
    path = write_lines(tmp_path / "s.jsonl", talk)
    offset = path.stat().st_size
    call = {"type": "function_call", "name": "read", "arguments": '{"path": "main.ts"}', "call_id": "c"}
    write_lines(path, [*talk, codex("response_item", call)])
    ((turn,), _) = read_all(session_at(path, "codex-local"), offset, root=PROJECT)
    assert (turn.paths, turn.is_subagent) == (("api/main.ts",), True)


@pytest.mark.parametrize("offset", [1, 7, 10_000_000])
def test_an_offset_that_fits_no_line_means_that_the_file_is_another_one(offset: int, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", CLAUDE_TALK)
    whole, once = read_all(session_at(path))
    turns, found = read_all(session_at(path), offset, content_hash="0" * 64)
    assert (turns, found.content_hash, found.restarted) == (whole, once.content_hash, True)


def test_nothing_new_is_nothing(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", CLAUDE_TALK)
    _, once = read_all(session_at(path))
    turns, again = read_all(session_at(path), once.next_offset, content_hash=once.content_hash)
    assert (turns, again.lines, again.turns) == ([], 0, 0)
    assert (again.content_hash, again.next_offset) == (once.content_hash, once.next_offset)


def test_a_file_that_vanished_is_said_in_words(tmp_path: Path) -> None:
    session = SessionFile(source_type="claude-local", external_id="x", path=str(tmp_path / "gone.jsonl"))
    with pytest.raises(StorageFailed, match="read the session"):
        list(read(session))


# -- what is told of a reading ----------------------------------------------------------------


def test_the_hash_tells_what_was_said_not_where_it_lies(tmp_path: Path) -> None:
    one = write_lines(tmp_path / "a.jsonl", CLAUDE_TALK)
    two = write_lines(tmp_path / "b" / "c.jsonl", [b"{torn", *CLAUDE_TALK, b""])
    other = write_lines(tmp_path / "d.jsonl", [*CLAUDE_TALK, claude("user", "One more", 13)])
    hashes = [read_all(session_at(path))[1].content_hash for path in (one, two, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(hashes[0]) == 64
    assert read_all(session_at(write_lines(tmp_path / "e.jsonl", [])))[1].content_hash == ""


@each(
    ("written", "told"),
    [
        ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00+02:00", "2026-03-01T10:00:00+02:00"),
        (1772359200000, "2026-03-01T10:00:00.000Z"),
        (1772359200123.0, "2026-03-01T10:00:00.123Z"),
        ("1772359200000", "2026-03-01T10:00:00.000Z"),
        (1772359200, "2026-03-01T10:00:00.000Z"),
        (1772359200000000, "2026-03-01T10:00:00.000Z"),
        (1772359200000000000, "2026-03-01T10:00:00.000Z"),
        ("2026-03-01 10:00:00", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("0001-01-01T00:00+14:00", ""),
        ("yesterday", ""),
        ("2026-03-01T10:00:00.000Z" + " " * 50, ""),
        ("", ""),
        (0, ""),
        (-1772359200000, ""),
        (True, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (10**30, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_times_are_told_in_one_way(written: Any, told: str) -> None:
    assert moment(written) == told


@given(st.integers() | st.floats() | st.text(max_size=45))
def test_no_time_is_an_error(value: Any) -> None:
    assert isinstance(moment(value), str)


# -- size -------------------------------------------------------------------------------------


def big_talk(size: int) -> Iterator[bytes]:
    """A long session: talk, calls, answers of tools, a picture now and then."""
    code = "".join(
        f"def handler_{number}(request):\n    return compute(request, {number})\n\n" for number in range(200)
    )
    written = number = 0
    while written < size:
        number += 1
        step = number % 4
        if step == 0:
            record = claude("user", f"Please look at part {number} of the order list again.", 1)
        elif step == 1:
            record = claude(
                "assistant", [{"type": "text", "text": f"Decision {number}: " + "we keep it simple. " * 30}], 2
            )
        elif step == 2:
            record = uses(f"toolu_{number}", "Read", 3, file_path=f"{PROJECT}/src/m{number % 50}.py")
        else:
            record = answers(f"toolu_{number - 1}", code[: 1_000 * (number % 17)], 4)
        if number % 400 == 0:
            record["message"]["content"] = [{"type": "image", "source": {"data": "A" * 1_000_000}}]
        line = json.dumps(record).encode() + b"\n"
        written += len(line)
        yield line


@pytest.mark.proof
def test_memory_does_not_grow_with_the_transcript(tmp_path: Path) -> None:
    peaks = []
    for size in (3_000_000, 12_000_000):
        path = tmp_path / f"{size}.jsonl"
        with path.open("wb") as file:
            file.writelines(big_talk(size))
        tracemalloc.start()
        count = sum(1 for _ in read(session_at(path), root=PROJECT))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count > 400
    assert peaks[1] < peaks[0] + 2_000_000
    assert peaks[1] < 16_000_000


@pytest.mark.skipif(
    "QUIRE_LARGE" not in os.environ or not os.path.exists("/proc/self/status"),
    reason="writes 200 MB and needs a look at what a process takes; set QUIRE_LARGE=1 to run it",
)
def test_a_very_large_transcript_takes_no_more_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.writelines(big_talk(200_000_000))
    code = (
        "import sys\nfrom quire.capture.transcripts.read_session import read\n"
        "from quire.capture.transcripts.types import SessionFile\n"
        "session = SessionFile(source_type='claude-local', external_id='x', path=sys.argv[1])\n"
        "count = sum(1 for _ in read(session))\n"
        "print(count, *(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    count, most_kilobytes = map(int, done.stdout.split())
    assert count > 20_000
    assert most_kilobytes < 80_000


@pytest.mark.proof
def test_what_open_calls_hold_is_bounded(tmp_path: Path) -> None:
    calls = [uses(f"t{number}", "Bash", command="echo " + "x" * 100_000) for number in range(300)]
    path = write_lines(tmp_path / "s.jsonl", calls)
    tracemalloc.start()
    assert sum(1 for _ in read(session_at(path))) == 300
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000


def test_documents_are_read_up_to_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quire.capture.transcripts import gemini

    path = write_document(tmp_path / "session-x.json", {"messages": [{"type": "user", "content": "Hello"}]})
    assert len(turns_of(path, "gemini-local")) == 1
    monkeypatch.setattr(gemini, "WHOLE_BYTES", 10)
    with pytest.raises(StorageFailed, match="larger than"):
        turns_of(path, "gemini-local")
