"""What a change took out and put in takes the change back exactly, and holds nothing that it did not touch."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quire.files.byte_edits import ByteEdit, find_edits, undo_edits

PIECES = st.sampled_from(
    [
        b"a",
        b"a,",
        b"\n",
        b"\r\n",
        b"  ",
        b"{",
        b"}",
        b"},\n",
        "ü".encode(),
        "ö".encode(),
        b"\xff",
        b"\xc3",
        b"same line\n",
    ]
)
BYTES = st.lists(PIECES, max_size=25).map(b"".join) | st.binary(max_size=30)


@given(BYTES, BYTES)
@example(b"", b"")
@example("ü".encode(), "ö".encode())
@example(b"\xc3\xbc", b"\xc3")
@example(b"a\nb\na\n", b"b\na\nb\n")
def test_a_change_is_taken_back_exactly(before: bytes, after: bytes) -> None:
    found = find_edits(before, after)
    assert undo_edits(after, found) == before
    assert (found == ()) == (before == after)
    written = msgspec.json.encode(found)
    assert undo_edits(after, msgspec.json.decode(written, type=tuple[ByteEdit, ...])) == before


@given(st.lists(PIECES, max_size=20), st.data())
def test_what_was_only_added_takes_nothing_out(pieces: list[bytes], data: st.DataObject) -> None:
    before = b"".join(piece + b"\n" for piece in pieces)
    at = data.draw(st.integers(0, len(pieces)))
    added = [*pieces[:at], b"new one", b"new two", *pieces[at:]]
    found = find_edits(before, b"".join(piece + b"\n" for piece in added))
    assert [(splice.removed, splice.inserted) for splice in found] == [("", "new one\nnew two\n")]


def test_a_secret_beside_the_change_is_not_in_it() -> None:
    before = b'{\n  "a": {\n    "token": "secret-1" // secret-2\n  }\n}\n'
    after = (
        b'{\n  "a": {\n    "token": "secret-1", // secret-2\n'
        b'    "quire": {\n      "command": "memory-mcp"\n    }\n  },\n'
        b'  "hooks": [\n' + b"".join(b'    "%d",\n' % number for number in range(100)) + b"  ]\n}\n"
    )
    found = find_edits(before, after)
    assert "secret" not in repr(found)
    assert [splice.removed for splice in found] == [""] * len(found)
    assert undo_edits(after, found) == before


def test_one_word_is_one_word() -> None:
    assert find_edits(b'x = "old value" # c\n', b'x = "new value" # c\n') == (
        ByteEdit(at=5, removed="old", inserted="new"),
    )
    assert find_edits("ä = ü\n".encode(), "ä = ö\n".encode()) == (ByteEdit(at=5, removed="ü", inserted="ö"),)


def test_places_are_counted_in_bytes_of_the_new_file() -> None:
    before, after = "ä\nb\nc\n".encode(), "ä\nnew\nb\nc!\n".encode()
    assert find_edits(before, after) == (
        ByteEdit(at=3, removed="", inserted="new\n"),
        ByteEdit(at=10, removed="", inserted="!"),
    )


def test_bytes_that_are_no_text_are_kept() -> None:
    before, after = b"a\n\xff\xfe\nb\n", b"a\nb\n"
    assert find_edits(before, after) == (ByteEdit(at=2, removed="//4K", inserted="", form="base64"),)
    assert msgspec.json.encode(find_edits(b"b", b"a")) == b'[{"at":0,"removed":"b","inserted":"a"}]'


@pytest.mark.parametrize(
    "after",
    [b"{}\n", b"", b'{\n  "q": 2\n}\n', b'{\n\n  "q": 1\n}\n'],
)
def test_another_file_is_not_taken_back(after: bytes) -> None:
    found = find_edits(b"{\n}\n", b'{\n  "q": 1\n}\n')
    with pytest.raises(ValueError):
        undo_edits(after, found)


def test_places_out_of_order_or_behind_the_end_are_refused() -> None:
    twice = (ByteEdit(at=1, removed="", inserted="b"), ByteEdit(at=0, removed="x", inserted="a"))
    with pytest.raises(ValueError):
        undo_edits(b"ab", twice)
    with pytest.raises(ValueError):
        undo_edits(b"ab", [ByteEdit(at=3, removed="x", inserted="")])
    with pytest.raises(ValueError):
        undo_edits(b"ab", [ByteEdit(at=-1, removed="x", inserted="b")])
    with pytest.raises(ValueError):
        undo_edits(b"ab", [ByteEdit(at=0, removed="*", inserted="", form="base64")])


def _megabyte() -> bytes:
    return b"".join(b'  "k%d": {\n    "a": 1\n  },\n' % number for number in range(36_000))


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize(
    "name", ["ends", "all lines", "all commas", "turned around", "one line", "nothing left", "alike"]
)
def test_a_megabyte_takes_no_time(name: str) -> None:
    before = _megabyte()
    after = {
        "ends": b"{\n" + before[:500_000] + b"new\n" + before[500_000:] + b"}\n",
        "all lines": before.replace(b"1", b"2"),
        "all commas": before.replace(b",", b""),
        "turned around": b"".join(before.splitlines(keepends=True)[::-1]),
        "one line": before.replace(b"\n", b" "),
        "nothing left": b"",
        "alike": b"}\n" * 400_000,
    }[name]
    found = find_edits(before, after)
    assert undo_edits(after, found) == before
    assert len(found) == 3 or name != "ends"
