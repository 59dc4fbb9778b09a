"""Hostile sessions: read in bounded memory, read on after what is no line, and never in a circle."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promised import proves, tally
from quire.capture.session_proposals import propose_session
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.original_hash import original_content_hashes
from quire.capture.transcripts.read_session import SessionReader, read
from quire.capture.transcripts.types import SessionFile, Turn
from quire.model.errors import QuireError
from thorough import either

MIB = 1024 * 1024
LINE = either(12, 64) * MIB
"""Longer than a line that is read: 8 MiB."""
ROOM = 3 * 8 * MIB + 4 * MIB
"""What a reading may hold at once: the longest line that is read, decoded, and what is made of it."""
ROOT, HOME, NOW = "/w", "/home/x", "2026-03-02T11:19:00Z"


def claude(text: Any, number: int, **more: Any) -> bytes:
    fields = {"type": "user", "cwd": "/w", "sessionId": "s", "uuid": f"u{number}", "parentUuid": f"u{number - 1}"}
    return json.dumps({**fields, "message": {"role": "user", "content": text}, **more}).encode() + b"\n"


def codex(text: Any, number: int, **_more: Any) -> bytes:
    payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], "id": number}
    return json.dumps({"type": "response_item", "payload": payload}).encode() + b"\n"


LINES = {"claude-local": claude, "codex-local": codex}


def session(path: Path, kind: str) -> SessionFile:
    return SessionFile(source_type=kind, external_id=path.stem, path=str(path))


def read_all(path: Path, kind: str) -> tuple[list[Turn], SessionReader]:
    reading = read(session(path, kind), root=ROOT, home=HOME)
    return list(reading), reading


@pytest.fixture
def bounded() -> Iterator[None]:
    """No more memory than this, however long a line is."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < ROOM
    finally:
        tracemalloc.stop()


@pytest.mark.proof(keep=4)
@proves("P5.3", "D16", over="journal inbox")
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize(
    "filling", [b"x", b"[", b'"a",', b"\x00", b"\xff"], ids=["text", "deep", "list", "zeros", "bytes"]
)
def test_a_line_without_end_is_passed_over_in_bounded_memory(tmp_path: Path, kind: str, filling: bytes) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(LINES[kind]("Decision: use Redis because it keeps jobs.", 1))
        file.write(b'{"type": "user", "message": ')
        for _ in range(LINE // MIB):
            file.write((filling * MIB)[:MIB])
        file.write(b"\n" + LINES[kind]("Second.", 2))
    turns, reading = read_all(path, kind)
    assert [turn.text for turn in turns] == ["Decision: use Redis because it keeps jobs.", "Second."]
    assert reading.bad_lines == 1
    assert original_content_hashes(session(path, kind), most_bytes=2 * MIB) is not None
    proposed = propose_session(session(path, kind), client="claude", root=ROOT, home=HOME, now=NOW)
    assert any("Redis" in proposal.text for proposal in proposed.proposals)
    assert [found.external_id for found in discover(kind, str(path))] == ["s"]
    tally("P5.3", inputs=1)


@proves("P5.3", "D16", over="journal inbox")
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("kind", LINES)
def test_a_file_that_is_one_line_ends(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        for _ in range(LINE // MIB):
            file.write(b"{" * MIB)
    assert read_all(path, kind)[0] == []
    tally("P5.3", inputs=1)


@proves("P5.3", "D16", over="journal inbox")
@pytest.mark.parametrize(
    "links",
    [[(0, 0)], [(0, 1), (1, 0)], [(number, (number + 1) % 2_000) for number in range(2_000)], [(0, 7), (7, 0), (7, 7)]],
    ids=["itself", "two", "a ring", "twice"],
)
def test_circles_of_parents_are_read_once_from_top_to_bottom(tmp_path: Path, links: list[tuple[int, int]]) -> None:
    path = tmp_path / "s.jsonl"
    said = [f"Turn {number}." for number in range(len(links))]
    lines = [
        claude(text, 0, uuid=f"u{own}", parentUuid=f"u{parent}", logicalParentUuid=f"u{own}", leafUuid=f"u{parent}")
        for text, (own, parent) in zip(said, links, strict=True)
    ]
    path.write_bytes(b"".join(lines))
    turns, reading = read_all(path, "claude-local")
    assert [turn.text for turn in turns] == said
    assert reading.bad_lines == 0
    propose_session(session(path, "claude-local"), client="claude", root=ROOT, home=HOME, now=NOW)
    tally("P5.3", inputs=1)


BAD = {
    "utf-16": "Größe".encode("utf-16") + b"\n",
    "utf-32": "Größe".encode("utf-32") + b"\n",
    "latin-1": b'{"type": "user", "message": {"role": "user", "content": "Gr\xf6\xdfe"}}\n',
    "half": b'{"type": "user", "message": {"role": "user", "content": "\\ud83d"}}\n',
    "a mark": b"\xef\xbb\xbf\xef\xbb\xbf{}\n",
    "cut": b'{"type": "user", "message": {"role": "us\n',
    "no object": b'[1, "two", null]\n"text"\n42\n',
    "not a number": b'{"type": NaN, "message": Infinity}\n',
    "zeros": b"\x00" * 100 + b"\n",
    "blanks": b" \t \r\n\n\n\x0b\x0c\n",
    "deep": b'{"a":' * 3_000 + b"1" + b"}" * 3_000 + b"\n",
    "a conflict": b"<<<<<<< HEAD\n=======\n>>>>>>> side\n",
}


@proves("P5.3", "D16", over="journal inbox")
@proves("P5.1", "D16", over="journal inbox")
@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_lines_of_any_encoding_stop_nobody(tmp_path: Path, kind: str, bad: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINES[kind]("First.", 1) + bad + LINES[kind]("Last.", 2) + bad[:-1])
    turns, _ = read_all(path, kind)
    assert turns[0].text == "First."
    assert "Last." in [turn.text for turn in turns]
    for turn in turns:
        turn.text.encode()
    tally("P5.1", inputs=1)


@proves("P5.3", "D16", over="journal")
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("kind", ["gemini-local", "opencode-local"])
@pytest.mark.parametrize("filling", [b"[", b'{"a":', b" ", b'"\\ud800'], ids=["deep", "objects", "blanks", "half"])
def test_a_document_that_is_none_is_refused_or_empty(tmp_path: Path, kind: str, filling: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(b'{"sessionId": "s", "messages": ' + filling * (4 * MIB // len(filling)))
    try:
        turns, _ = read_all(path, kind)
    except QuireError:
        turns = []
    assert turns == []
    tally("P5.3", inputs=1)
