"""What the original program imported is known again, even if it has grown since."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_making import CODEX_META, found, read_all, session_at, write_lines

from quire.capture.transcripts.original_hash import original_content_hashes
from quire.capture.transcripts.types import SessionFile

REAL = (Path(__file__).parents[3] / "shared" / "fixtures" / "journal").resolve()
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the files of the original program are not here")
UNITS = 16_000
NAMED = {"id": CODEX_META["id"], "thread_name": "Warm  cache", "updated_at": "2026-03-01T12:30:00Z"}


def hashed(payload: str) -> str:
    """The hash of a text, worked out without what is tested."""
    return hashlib.sha256(json.dumps({"payload": payload}, indent=2, ensure_ascii=False).encode()).hexdigest()


def text_record(text: str) -> dict[str, str]:
    return {"b": text}


def shown(*texts: str) -> str:
    """What such records come to, without the snippets."""
    return "\n".join(f'{{\n "b": {json.dumps(text, ensure_ascii=False)}\n}}' for text in texts)


def hashes(path: Path, source_type: str = "claude-local", **given: int) -> dict[str, int]:
    return original_content_hashes(session_at(path, source_type), **given)


def codex_home(folder: Path, *index: Any) -> Path:
    """A home of Codex with one session of one record; the index is written where there is something in it."""
    if index:
        write_lines(folder / "session_index.jsonl", index)
    record = {"payload": {"id": CODEX_META["id"]}}
    return write_lines(folder / "sessions" / "2026" / "03" / "01" / "rollout-a.jsonl", [record])


CODEX_TEXT = f'{{\n "payload": {{\n "id": "{CODEX_META["id"]}"\n }}\n}}\n\nTEXT_SNIPPETS:\n{CODEX_META["id"]}'


# -- the text that is hashed ------------------------------------------------------------------


def test_the_records_come_first_then_their_texts_once_each_in_the_order_of_the_file(tmp_path: Path) -> None:
    line = b'{"z": ["one", " two "], "B": {"10": "ten", "9": "nine"}, "a": 1.0, "n": null, "again": "one"}'
    path = write_lines(tmp_path / "s.jsonl", [line])
    payload = (
        '{\n "a": 1,\n "again": "one",\n "B": {\n "9": "nine",\n "10": "ten"\n },\n "n": null,\n'
        ' "z": [\n "one",\n " two "\n ]\n}\n\nTEXT_SNIPPETS:\none\ntwo\nnine\nten'
    )
    assert hashes(path) == {hashed(payload): len(line) + 1}


def test_spaces_are_one_and_none_at_the_ends_of_lines(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [text_record("a \t b  \r\n\n  c\xa0\n\nd\ufeff")])
    payload = '{\n "b": "a \\t b \\r\\n\\n c\xa0\\n\\nd\ufeff"\n}\n\nTEXT_SNIPPETS:\na b\n\n c\n\nd'
    assert list(hashes(path)) == [hashed(payload)]


def test_only_the_first_texts_are_named(tmp_path: Path) -> None:
    texts = [f"t{number}" for number in range(40)]
    path = write_lines(tmp_path / "s.jsonl", [texts])
    records = "[\n" + ",\n".join(f' "{text}"' for text in texts) + "\n]"
    assert list(hashes(path)) == [hashed(f"{records}\n\nTEXT_SNIPPETS:\n" + "\n".join(texts[:32]))]


def test_blank_lines_marks_and_bytes_that_are_no_text_are_taken_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"b": "x\xff\xfe"}\r\n\r\n  \n"two"')
    first = '{\n "b": "x\ufffd\ufffd"\n}'
    assert hashes(path) == {
        hashed(f"{first}\n\nTEXT_SNIPPETS:\nx\ufffd\ufffd"): 17,
        hashed(f'{first}\n"two"\n\nTEXT_SNIPPETS:\nx\ufffd\ufffd\ntwo'): path.stat().st_size,
    }


def test_a_long_text_is_cut_even_through_a_character(tmp_path: Path) -> None:
    begin = '{\n "b": "'
    text = "x" * (UNITS - len(begin) - 1) + "😀 and more"
    path = write_lines(tmp_path / "s.jsonl", [text_record(text), text_record("later")])
    # As JSON, half of the character is an escape: it is put in by hand, as Python has no such text.
    whole = json.dumps({"payload": begin + text[: UNITS - len(begin) - 1] + "HALF...[truncated]"}, indent=2)
    digest = hashlib.sha256(whole.replace("HALF", "\\ud83d").encode()).hexdigest()
    assert hashes(path) == {digest: len(json.dumps(text_record(text))) + 1}


@pytest.mark.parametrize(("key", "length", "is_cut"), [("bb", UNITS, False), ("bbb", UNITS + 1, True)])
def test_a_text_is_cut_only_where_it_is_too_long(key: str, length: int, is_cut: bool, tmp_path: Path) -> None:
    text = "x" * 7985
    payload = f'{{\n "{key}": "{text}"\n}}\n\nTEXT_SNIPPETS:\n{text}'
    assert len(payload) == length
    path = write_lines(tmp_path / "s.jsonl", [{key: text}])
    assert list(hashes(path)) == [hashed(payload[:UNITS] + "...[truncated]" if is_cut else payload)]


# -- sessions that grew -----------------------------------------------------------------------


def test_every_beginning_is_known_and_where_it_ends(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", map(text_record, "abc"))
    length = len(json.dumps(text_record("a"))) + 1
    assert hashes(path) == {
        hashed(shown(*"abc"[:count]) + "\n\nTEXT_SNIPPETS:\n" + "\n".join("abc"[:count])): length * count
        for count in (1, 2, 3)
    }


def test_what_was_added_behind_the_cut_can_be_read_on_from_there(tmp_path: Path) -> None:
    head = {"type": "user", "message": {"role": "user", "content": "x" * UNITS}}
    path = write_lines(tmp_path / "s.jsonl", [head])
    before = hashes(path)
    write_lines(path, [head, {"type": "user", "message": {"role": "user", "content": "Added."}}])
    assert hashes(path) == before
    (offset,) = before.values()
    assert [turn.text for turn in read_all(session_at(path), offset)[0]] == ["Added."]


def test_of_very_many_records_the_first_beginnings_and_the_whole_are_known(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", ["a"] * 700)
    ends = list(hashes(path).values())
    assert ends == [4 * count for count in (*range(1, 501), 700)]


def test_a_line_that_is_no_json_ends_what_is_known(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [text_record("a"), b'{"b": "torn', text_record("c")])
    assert hashes(path) == {hashed(shown("a") + "\n\nTEXT_SNIPPETS:\na"): 11}


def test_not_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", map(text_record, "abc"))
    assert list(hashes(path, most_bytes=22).values()) == [11, 22]
    assert list(hashes(path, most_bytes=21).values()) == [11]
    assert hashes(path, most_bytes=10) == {}


# -- Codex ------------------------------------------------------------------------------------


def test_the_name_of_a_thread_counts_and_so_does_the_time_without_one(tmp_path: Path) -> None:
    extra = "\n\nEXTRA:\nTHREAD_NAME: Warm cache\nUPDATED_AT: 2026-03-01T12:30:00Z"
    path = codex_home(tmp_path / "named", b"{broken", {"nope": 1}, {"id": "other", "thread_name": "Other"}, NAMED)
    assert set(hashes(path, "codex-local")) == {hashed(CODEX_TEXT), hashed(CODEX_TEXT + extra)}
    assert set(hashes(codex_home(tmp_path / "bare"), "codex-local")) == {hashed(CODEX_TEXT)}
    # The same file is no session of Codex for a source of the other type.
    assert set(hashes(path)) == {hashed(CODEX_TEXT)}


def test_earlier_names_of_a_thread_are_tried_too(tmp_path: Path) -> None:
    path = codex_home(tmp_path, {"id": NAMED["id"], "thread_name": "First"}, {**NAMED, "thread_name": "Second"})
    assert hashed(f"{CODEX_TEXT}\n\nEXTRA:\nTHREAD_NAME: First") in hashes(path, "codex-local")
    # A new name is seen at once.
    index = tmp_path / "session_index.jsonl"
    write_lines(index, [{"id": NAMED["id"], "thread_name": "Third one"}])
    assert hashed(f"{CODEX_TEXT}\n\nEXTRA:\nTHREAD_NAME: Third one") in hashes(path, "codex-local")


def test_without_an_id_a_thread_is_known_by_its_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "session_index.jsonl", [{"id": "plain", "thread_name": "Named"}])
    path = write_lines(tmp_path / "archived_sessions" / "plain.jsonl", [text_record("a")])
    extra = "\n\nEXTRA:\nTHREAD_NAME: Named"
    assert hashed(f"{shown('a')}\n\nTEXT_SNIPPETS:\na{extra}") in hashes(path, "codex-local")


# -- bad files --------------------------------------------------------------------------------


def test_what_cannot_be_read_has_no_hash(tmp_path: Path) -> None:
    def of(path: str, source_type: str = "claude-local") -> dict[str, int]:
        return original_content_hashes(SessionFile(source_type=source_type, external_id="x", path=path))

    good = write_lines(tmp_path / "good.jsonl", [text_record("a")])
    (tmp_path / "link.jsonl").symlink_to(good)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "empty.jsonl").write_bytes(b"\n\n")
    write_lines(tmp_path / "numbers.jsonl", [1, {"a": 2}, [True, None]])
    write_lines(tmp_path / "deep.jsonl", [b"[" * 100_000 + b"]" * 100_000])
    for name in ("none", "link", "pipe", "empty", "numbers", "deep", "nul\0"):
        assert of(str(tmp_path / f"{name}.jsonl")) == {}, name
        assert of(str(tmp_path / "sessions" / f"{name}.jsonl"), "codex-local") == {}, name
    assert of(str(tmp_path)) == {}
    assert len(of(str(good))) == 1
    assert of(str(good), "gemini-local") == {}


@given(st.binary(max_size=300))
def test_no_bytes_are_too_bad(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(data)
    for source_type in ("claude-local", "codex-local"):
        assert all(0 < end <= len(data) for end in hashes(path, source_type).values())


@pytest.mark.parametrize(
    "data",
    [
        b'"a"\n' * 2_000_000,
        b'"a' + b" " * 4_000_000 + b'b"\n' + b'{"a": "b"}\n' * 3_000,
        b'{"type": "user", "message": {"content": "hello"}}\n' * 100_000,
    ],
    ids=["short", "spaces", "long"],
)
def test_a_large_file_costs_little(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    assert hashes(path)
    # What reads all of it, or tidies the same text for every beginning, takes a minute.


# -- what the original program recorded -------------------------------------------------------


@needs_real
def test_recorded_discoveries_have_the_hashes_they_had() -> None:
    recorded = json.loads((REAL / "_vectors" / "import-discover.json").read_text())
    checked = failed = 0
    for name, items in recorded.items():
        fixture, source_type, place = name.split(" ", 2)
        sessions = {session.path: session for session in found(source_type, REAL / fixture / place)}
        for item in items:
            known = original_content_hashes(sessions[str(REAL / item["sourceRef"].removeprefix("/repos/"))])
            if "failureMessage" in item:
                assert item["contentHash"] not in known
                failed += 1
            else:
                assert item["contentHash"] in known, item["sourceRef"]
                checked += 1
    assert (checked, failed) == (25, 4)


def imported_events() -> dict[tuple[str, str], set[str]]:
    """Of each fixture the sessions that were imported, by their files; each with all the hashes it had."""
    events: dict[tuple[str, str], set[str]] = defaultdict(set)
    for log in REAL.glob("*/**/.agent-memory/**/events.jsonl"):
        for line in log.read_bytes().splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("kind") == "imported_session":
                fixture = log.relative_to(REAL).parts[0]
                events[fixture, event["sourceRef"]].add(event["contentHash"])
    return events


@needs_real
def test_recorded_events_are_known_by_their_files() -> None:
    events = imported_events()
    grown: dict[str, list[int]] = {}
    for (fixture, ref), recorded in events.items():
        path = Path(os.path.normpath(REAL / fixture / "repo" / ref))
        known = hashes(path, "codex-local" if "codex" in ref else "claude-local")
        assert recorded <= known.keys(), ref
        ends = sorted(known[digest] for digest in recorded)
        if ends != [path.stat().st_size]:
            grown[path.stem] = ends
    assert (len(events), sum(map(len, events.values()))) == (30, 31)
    # One was imported twice, the second time longer; of the other, all that was ever seen is its beginning.
    assert grown == {"13-growing": [109, 221], "12-long": [16090]}
