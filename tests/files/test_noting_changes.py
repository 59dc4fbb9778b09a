"""What is written is noted, exactly and only while somebody asks for it, and the notes take it back."""

import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files.digests import sha256
from quire.files.durable_write import write_file
from quire.files.transaction import Append, FileUpdate, apply_changes
from quire.files.undo_recorder import (
    MOST,
    RecordedChange,
    UndoRecorder,
    is_as_left,
    put_back,
    put_lines_back,
    record_changes,
)
from quire.model.errors import Conflict


def transact(folder: Path, *changes: FileUpdate, appends: tuple[Append, ...] = (), name: str = "feed") -> None:
    apply_changes(str(folder), list(changes), list(appends), name)


def test_a_transaction_is_noted_with_the_bytes_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "gone").write_bytes(b"gone")
    (tmp_path / "log").write_bytes(b"one\n")
    with record_changes() as notes:
        transact(
            tmp_path,
            FileUpdate(path="deep/new", data=b"new", planned=None),
            FileUpdate(path="old", data=b"newer", planned=sha256(b"old")),
            FileUpdate(path="gone", data=None, planned=sha256(b"gone")),
            appends=(Append(path="log", data=b"two\n", size=4),),
        )
    assert [(item.path, item.before, item.after, item.start) for item in notes.changes] == [
        ("deep/new", None, b"new", 0),
        ("old", b"old", b"newer", 0),
        ("gone", b"gone", None, 0),
        ("log", b"", b"two\n", 4),
    ]
    assert {item.folder for item in notes.changes} == {str(tmp_path)}
    assert [item.place for item in notes.changes][:1] == [str(tmp_path / "deep" / "new")]


def test_a_single_file_is_noted_where_it_really_lies(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"before")
    (tmp_path / "link").symlink_to("real")
    with record_changes() as notes:
        write_file(str(tmp_path / "link"), b"after", "feed")
        write_file(str(tmp_path / "new"), b"", "feed")
    assert [(item.path, item.before, item.after) for item in notes.changes] == [
        ("real", b"before", b"after"),
        ("new", None, b""),
    ]


def test_nothing_is_noted_outside_nor_of_other_threads_nor_of_what_was_refused(tmp_path: Path) -> None:
    with record_changes() as notes:
        other = threading.Thread(target=write_file, args=(str(tmp_path / "theirs"), b"x", "feed"))
        other.start()
        other.join()
        with pytest.raises(Conflict):
            transact(tmp_path, FileUpdate(path="a", data=b"x", planned=sha256(b"other")))
        with pytest.raises(Conflict):
            write_file(str(tmp_path / "theirs"), b"y", "feed", b"not this")
    write_file(str(tmp_path / "later"), b"x", "feed")
    assert notes.changes == ()
    assert not notes.is_lost


def test_several_writes_of_one_file_are_one_change(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\n")
    with record_changes() as notes:
        transact(tmp_path, appends=(Append(path="log.jsonl", data=b"two\n", size=4),), name="a")
        transact(tmp_path, FileUpdate(path="log.jsonl", data=b"ONE\ntwo\n", planned=sha256(b"one\ntwo\n")), name="b")
        transact(tmp_path, appends=(Append(path="log.jsonl", data=b"three\n", size=8),), name="c")
        write_file(str(tmp_path / "same"), b"x", "feed")
        transact(tmp_path, FileUpdate(path="same", data=None, planned=sha256(b"x")), name="d")
    (change,) = notes.changes
    assert (change.before, change.after) == (b"one\n", b"ONE\ntwo\nthree\n")
    assert put_back(change, path.read_bytes()) == b"one\n"


def test_what_was_removed_on_the_way_is_noted_too(tmp_path: Path) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "kept").write_bytes(b"kept")
    (folder / "gone").write_bytes(b"gone")
    (tmp_path / "old").write_bytes(b"old")
    with record_changes([str(folder)]) as notes:
        write_file(str(tmp_path / "brief"), b"x", "feed")
        write_file(str(tmp_path / "old"), b"newer", "feed")
        for name in ("brief", "old", "watched/gone"):
            (tmp_path / name).unlink()
    assert {(item.path, item.before, item.after) for item in notes.changes} == {
        ("old", b"old", None),
        ("gone", b"gone", None),
    }


def test_a_change_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    with record_changes() as notes:
        write_file(str(tmp_path / "small"), b"x", "feed")
        write_file(str(tmp_path / "large"), b"x" * (MOST + 1), "feed")
    assert notes.is_lost
    assert notes.changes == ()
    assert (tmp_path / "large").stat().st_size == MOST + 1


def test_of_a_large_file_only_what_differs_is_kept(tmp_path: Path) -> None:
    lines = [b"line %d of a long file\n" % number for number in range(600_000)]
    path = tmp_path / "facts.jsonl"
    before = b"".join(lines)
    path.write_bytes(before)
    lines[300_000] = b"another\n"
    with record_changes() as notes:
        transact(tmp_path, FileUpdate(path="facts.jsonl", data=b"".join(lines), planned=sha256(before)))
    assert len(before) > MOST
    (change,) = notes.changes
    assert (change.before, change.after) == (b"line 300000 of a long file\n", b"another\n")
    assert put_back(change, path.read_bytes()) == before


BLOCK = b"a line that is long enough to count\n" * 2_000
PIECE = st.sampled_from([b"one\n", b"two\n", b"three\n", b"no end", b"", BLOCK])


@given(st.lists(PIECE, max_size=6), st.lists(PIECE, max_size=6))
def test_whatever_was_written_is_put_back_exactly(old: list[bytes], new: list[bytes]) -> None:

    before, after = b"".join(old), b"".join(new)
    notes = UndoRecorder()
    notes.replaced("/nowhere", "file", before, after)
    assert len(notes.changes) == (before != after)
    for change in notes.changes:
        assert is_as_left(change, after)
        assert not is_as_left(change, after + b"more")
        assert put_back(change, after) == before


def noted(before: bytes | None, after: bytes | None, **more: object) -> RecordedChange:
    digest = sha256(after) if after is not None else ""
    made = RecordedChange(folder="/nowhere", path="facts.jsonl", before=before, after=after, digest=digest)
    return msgspec.structs.replace(made, **more)


@pytest.mark.parametrize(
    ("before", "after", "now", "expected"),
    [
        (b"a\n", b"A\n", b"new\nA\nb\n", b"new\na\nb\n"),
        (b"a\nb\nc\n", b"A\nb\nc\nd\n", b"A\nb\nother\nc\nd\nmore\n", b"a\nb\nother\nc\nmore\n"),
        (b"", b"x\n", b"y\nx\nz\n", b"y\nz\n"),
        (None, b"x\n", b"x\nz\n", b"z\n"),
        (b"a\ngone\nb\n", b"a\nb\n", b"a\nb\nc\n", b"a\ngone\nb\nc\n"),
        (b"gone\nb\n", b"b\n", b"b\nc\n", b"gone\nb\nc\n"),
        (b"a\ngone\n", b"a\n", b"A\nc", b"A\nc\ngone\n"),
    ],
)
def test_lines_are_put_back_among_those_of_others(
    before: bytes | None, after: bytes, now: bytes, expected: bytes
) -> None:
    assert put_lines_back(noted(before, after), now) == expected


@pytest.mark.parametrize("now", [b"b\n", b"A\nA\n", b"A changed\n", b"", None])
def test_lines_that_are_not_there_once_are_not_put_back(now: bytes | None) -> None:
    with pytest.raises(Conflict, match="changed since"):
        put_lines_back(noted(b"a\n", b"A\n"), now)
