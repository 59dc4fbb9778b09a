"""Readings of entries: gathered without a lock, folded into the document once, whatever dies when."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files import disk
from quire.files.digests import sha256
from quire.files.local_files import held_in_place
from quire.files.transaction import FileUpdate, apply_changes, finish_interrupted
from quire.layers.profile.access import (
    LINE_BYTES,
    PENDING_BYTES,
    GatheredReadings,
    Readings,
    note_reading,
    pending_readings,
    take_readings,
)
from quire.model.errors import Conflict
from quire.model.records import Problem

NOW = "2026-02-09T14:00:00Z"
LATER = "2026-02-09T15:30:00Z"
MAIL, STYLE = "user.email", "assistant.response_style"
LINE = b'{"at":"2026-02-09T14:00:00Z","names":["user.email"]}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a profile: a document that says how often entries were read, as far as these tests need one."""
    (tmp_path / ".ai-state").mkdir()
    (tmp_path / ".ai-state" / "memory.json").write_text("{}")
    return tmp_path


def gathered(root: Path, name: str = "access.jsonl") -> Path:
    path = root / ".ai-state" / "local" / name
    if not path.parent.exists():
        path.parent.mkdir()
        (path.parent / ".gitignore").write_text("*\n")
    return path


def line(*names: str, at: str = NOW, **more: Any) -> str:
    return json.dumps({"at": at, "names": names, **more}, separators=(",", ":")) + "\n"


def problems_of(root: Path) -> list[Problem]:
    problems: list[Problem] = []
    pending_readings(str(root), problems)
    return problems


def counted(root: Path) -> dict[str, int]:
    """What the document says."""
    found: dict[str, int] = json.loads((root / ".ai-state" / "memory.json").read_bytes())
    return found


def plan(root: Path, taken: GatheredReadings) -> list[FileUpdate]:
    """The changes of a writer that does nothing but fold readings in."""
    data = (root / ".ai-state" / "memory.json").read_bytes()
    counts = json.loads(data)
    for name, number in taken.readings.counts.items():
        counts[name] = counts.get(name, 0) + number
    document = FileUpdate(path="memory.json", data=json.dumps(counts).encode(), planned=sha256(data))
    return [document, *([taken.change] if taken.change else [])]


def apply(root: Path, changes: list[FileUpdate], name: str = "feed") -> None:
    here = root / ".ai-state"
    apply_changes(str(here), changes, [], name)


def fold(root: Path, name: str = "feed") -> GatheredReadings:
    taken = take_readings(str(root))
    apply(root, plan(root, taken), name)
    return taken


# -- noting ---------------------------------------------------------------------------------


def test_without_a_profile_nothing_is_made(tmp_path: Path) -> None:
    assert not note_reading(str(tmp_path), [MAIL], NOW, "t")
    assert pending_readings(str(tmp_path)) == Readings({}, {})
    assert take_readings(str(tmp_path)) == GatheredReadings(Readings({}, {}), None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_profile_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".ai-state").write_text("mine")
    assert not note_reading(str(tmp_path), [MAIL], NOW, "t")
    assert take_readings(str(tmp_path)) == GatheredReadings()
    assert (tmp_path / ".ai-state").read_text() == "mine"


def test_a_reading_is_one_line(root: Path) -> None:
    assert note_reading(str(root), [STYLE, MAIL], NOW, "t")
    assert note_reading(str(root), ["learnings.größe"], LATER, "t")
    assert gathered(root).read_text() == line(STYLE, MAIL) + line("learnings.größe", at=LATER).replace(
        "\\u00f6", "ö"
    ).replace("\\u00df", "ß")
    assert sorted(os.listdir(root / ".ai-state" / "local")) == [".gitignore", "access.jsonl"]
    assert (root / ".ai-state" / "local" / ".gitignore").read_text() == "*\n"


def test_the_document_is_not_touched_by_reading(root: Path) -> None:
    before = os.stat(root / ".ai-state" / "memory.json")
    for _ in range(5):
        assert note_reading(str(root), [MAIL], NOW, "t")
    after = os.stat(root / ".ai-state" / "memory.json")
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert pending_readings(str(root)).counts == {MAIL: 5}


def test_an_entry_counts_once_in_each_reading(root: Path) -> None:
    assert note_reading(str(root), [MAIL, STYLE, MAIL], NOW, "t")
    assert note_reading(str(root), iter([MAIL]), LATER, "t")
    gathered(root).write_bytes(gathered(root).read_bytes() + line(STYLE, STYLE).encode())
    assert pending_readings(str(root)) == Readings({MAIL: 2, STYLE: 2}, {MAIL: LATER, STYLE: NOW})


def test_the_latest_instant_holds_in_whatever_order_and_zone(root: Path) -> None:
    gathered(root).write_text(
        line("a.a", at=LATER)
        + line("a.a", at=NOW)
        + line("a.b", at="2026-02-09T16:00:00+02:00")
        + line("a.b", at="2026-02-09T13:59:59.900Z")
        + line("a.c", at="2026-02-09T14:00:00.123456Z")
        + line("a.d", at="2026-02-09")
    )
    found = pending_readings(str(root))
    assert found.last == {"a.a": LATER, "a.b": NOW, "a.c": NOW, "a.d": "2026-02-09T00:00:00Z"}
    assert found.counts == {"a.a": 2, "a.b": 2, "a.c": 1, "a.d": 1}
    assert problems_of(root) == []


def test_a_time_is_noted_as_documents_have_it(root: Path) -> None:
    assert note_reading(str(root), [MAIL], "2026-02-09T15:00:00.987654+01:00", "t")
    assert gathered(root).read_text() == line(MAIL)


def test_noting_nothing_touches_nothing(root: Path) -> None:
    assert note_reading(str(root), [], NOW, "t")
    assert os.listdir(root / ".ai-state") == ["memory.json"]


@pytest.mark.parametrize("at", ["yesterday", "", "\ud800", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_what_is_no_time_is_not_noted(root: Path, at: str) -> None:
    assert not note_reading(str(root), [MAIL], at, "t")
    assert os.listdir(root / ".ai-state") == ["memory.json"]


def test_names_that_are_no_text_are_not_noted(root: Path) -> None:
    assert not note_reading(str(root), ["user.\ud800", ""], NOW, "t")
    assert os.listdir(root / ".ai-state") == ["memory.json"]
    assert note_reading(str(root), ["user.\ud800", MAIL, "\udfff"], NOW, "t")
    assert gathered(root).read_bytes() == LINE


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(st.lists(NAMES))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / ".ai-state").mkdir()
    assert note_reading(str(root), names, NOW, "t")
    assert pending_readings(str(root)) == Readings(dict.fromkeys(names, 1), dict.fromkeys(names, NOW))
    assert problems_of(root) == []


@pytest.mark.parametrize("size", [1, 30, 20_000])
def test_long_lines_are_split_and_every_name_counts_once(root: Path, size: int) -> None:
    count = 2 * LINE_BYTES // size if size > 1 else 60_000
    names = [f"user.{number:0{size}}" for number in range(count)]
    assert note_reading(str(root), names, NOW, "t")
    found = gathered(root).read_bytes().splitlines(keepends=True)
    assert len(found) > 1
    assert max(map(len, found)) < LINE_BYTES
    assert min(map(len, found[:-1])) > LINE_BYTES - size - 100
    assert pending_readings(str(root)).counts == dict.fromkeys(names, 1)


def test_each_line_is_one_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    made: list[int] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: made.append(len(data)) or write(descriptor, data))
    assert note_reading(str(root), [f"user.{number}" for number in range(9_000)], NOW, "t")
    monkeypatch.undo()
    assert made == [len(one) for one in gathered(root).read_bytes().splitlines(keepends=True)[1:]]
    assert len(made) == 2


def test_a_name_that_no_line_can_hold_is_left_out(root: Path) -> None:
    assert not note_reading(str(root), ["x" * LINE_BYTES], NOW, "t")
    assert note_reading(str(root), ["x" * LINE_BYTES, MAIL], NOW, "t")
    assert gathered(root).read_bytes() == LINE


@given(st.integers(-70, 4))
def test_a_line_stays_below_the_limit_also_with_a_gap(tmp_path_factory: pytest.TempPathFactory, over: int) -> None:
    root = tmp_path_factory.mktemp("limit")
    (root / ".ai-state").mkdir()
    gathered(root).write_text("torn")
    name = "x" * (LINE_BYTES - len(LINE) + len(MAIL) + over)
    noted = note_reading(str(root), [name], NOW, "t")
    added = gathered(root).read_bytes().removeprefix(b"torn")
    assert len(added) < LINE_BYTES
    assert noted == (pending_readings(str(root)).counts == {name: 1}) == (over < -1)


# -- damage ---------------------------------------------------------------------------------

DAMAGED = [
    "{",
    "[]",
    "5",
    "\0\0",
    "[" * 9_999,
    '{"at":"2026-02-09"}',
    '{"names":["a.b"]}',
    '{"at":5,"names":["a.b"]}',
    '{"at":"soon","names":["a.b"]}',
    '{"at":"0001-01-01T00:00+14:00","names":["a.b"]}',
    '{"at":"2026-02-09","names":"a.b"}',
    '{"at":"2026-02-09","names":[5]}',
    '{"at":"2026-02-09","names":["\\ud800"]}',
    '{"at":"2026-02-09","names":["a.b"',
]


@pytest.mark.parametrize("name", ["access.jsonl", "access-folding.jsonl"])
@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:40])
def test_damaged_lines_are_skipped_and_counted(root: Path, text: str, name: str) -> None:
    gathered(root, name).write_text(line(MAIL) + text + "\n\n \r\n" + line(STYLE).replace("\n", "\r\n"))
    assert pending_readings(str(root)).counts == {MAIL: 1, STYLE: 1}
    (problem,) = problems_of(root)
    assert (problem.code, problem.severity, problem.path) == (
        "LocalStateDamaged",
        "warning",
        f".ai-state/local/{name}",
    )
    assert problem.message == "Lines that could not be read and do not count: 1."


def test_bytes_that_are_no_text_are_skipped(root: Path) -> None:
    gathered(root).write_bytes(b"\xff\xfe\n" + LINE + b'{"at":"2026-02-09","names":["\xff"]}\n')
    assert pending_readings(str(root)).counts == {MAIL: 1}
    assert "count: 2." in problems_of(root)[0].message


def test_fields_that_nobody_knows_do_not_matter(root: Path) -> None:
    gathered(root).write_text(line(MAIL, by="somebody"))
    assert pending_readings(str(root)).counts == {MAIL: 1}
    assert problems_of(root) == []


def test_half_a_line_does_not_spoil_the_next(root: Path) -> None:
    gathered(root).write_bytes(LINE + LINE[:20])
    assert note_reading(str(root), [STYLE], LATER, "t")
    assert note_reading(str(root), [STYLE], LATER, "t")
    assert gathered(root).read_bytes() == LINE + LINE[:20] + b"\n" + line(STYLE, at=LATER).encode() * 2
    assert pending_readings(str(root)).counts == {MAIL: 1, STYLE: 2}


def test_a_whole_line_without_its_end_counts(root: Path) -> None:
    gathered(root).write_bytes(LINE.rstrip(b"\n"))
    assert pending_readings(str(root)).counts == {MAIL: 1}
    assert note_reading(str(root), [MAIL], NOW, "t")
    assert gathered(root).read_bytes() == LINE * 2


def test_lines_that_were_not_understood_are_kept_when_the_rest_is_folded(root: Path) -> None:
    gathered(root).write_bytes(b"what is this\n" + LINE + b'{"torn\n' + LINE + LINE[:9])
    fold(root)
    assert counted(root) == {MAIL: 2}
    aside = gathered(root, "access.jsonl.damaged")
    assert aside.read_bytes() == b'what is this\n{"torn\n'
    assert sorted(os.listdir(aside.parent)) == [".gitignore", "access.jsonl.damaged"]
    gathered(root).write_bytes(b"something else\n" + LINE)
    fold(root)
    assert counted(root) == {MAIL: 3}
    assert aside.read_bytes() == b'what is this\n{"torn\n'


# -- bounds ---------------------------------------------------------------------------------


def test_a_full_file_gets_no_more_lines_and_the_next_change_empties_it(root: Path) -> None:
    full = LINE * ((PENDING_BYTES - 10) // len(LINE))
    gathered(root).write_bytes(full)
    assert not note_reading(str(root), [MAIL], NOW, "t")
    assert gathered(root).read_bytes() == full
    fold(root)
    assert counted(root) == {MAIL: len(full) // len(LINE)}
    assert note_reading(str(root), [MAIL], NOW, "t")
    assert gathered(root).read_bytes() == LINE


def test_up_to_the_limit_lines_are_added(root: Path) -> None:
    full = LINE * (PENDING_BYTES // len(LINE) - 1)
    gathered(root).write_bytes(full)
    assert note_reading(str(root), [MAIL], NOW, "t")
    assert gathered(root).read_bytes() == full + LINE


def test_only_the_end_of_the_file_is_read_for_a_reading(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered(root).write_bytes(LINE * 20_000)
    sizes: list[int] = []
    read = os.read

    def reading(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(os, "read", reading)
    assert note_reading(str(root), [MAIL], NOW, "t")
    monkeypatch.undo()
    assert sum(sizes) < 100


@pytest.mark.parametrize("name", ["access.jsonl", "access-folding.jsonl"])
def test_a_file_beyond_all_reason_is_moved_aside_by_the_next_change(root: Path, name: str) -> None:
    size = 9 * 1024 * 1024
    with gathered(root, name).open("wb") as huge:
        huge.truncate(size)
    assert pending_readings(str(root)) == Readings()
    assert [problem.path for problem in problems_of(root)] == [f".ai-state/local/{name}"]
    assert fold(root).change is None
    assert gathered(root, f"{name}.damaged").stat().st_size == size
    assert note_reading(str(root), [MAIL], NOW, "t")
    fold(root)
    assert counted(root) == {MAIL: 1}


# -- folding --------------------------------------------------------------------------------


def test_what_is_taken_is_added_up_and_removed_with_the_change(root: Path) -> None:
    for at in (LATER, NOW):
        note_reading(str(root), [MAIL, STYLE], at, "t")
    data = gathered(root).read_bytes()
    taken = take_readings(str(root))
    assert taken.readings == Readings({MAIL: 2, STYLE: 2}, {MAIL: LATER, STYLE: LATER})
    assert taken.change == FileUpdate(path="local/access-folding.jsonl", data=None, planned=sha256(data))
    assert not gathered(root).exists()
    assert pending_readings(str(root)) == taken.readings
    apply(root, plan(root, taken))
    assert counted(root) == {MAIL: 2, STYLE: 2}
    assert sorted(os.listdir(root / ".ai-state" / "local")) == [".gitignore"]
    assert pending_readings(str(root)) == Readings()
    assert take_readings(str(root)) == GatheredReadings()


def test_where_there_is_nothing_to_fold_nothing_is_changed(root: Path) -> None:
    assert take_readings(str(root)) == GatheredReadings()
    assert os.listdir(root / ".ai-state") == ["memory.json"]
    gathered(root).write_bytes(b"")
    assert take_readings(str(root)) == GatheredReadings()
    assert gathered(root).exists()


def test_what_a_dead_writer_took_comes_first_and_the_rest_next_time(root: Path) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    take_readings(str(root))  # and here it dies
    note_reading(str(root), [STYLE], LATER, "t")
    assert pending_readings(str(root)) == Readings({MAIL: 1, STYLE: 1}, {MAIL: NOW, STYLE: LATER})
    assert fold(root).readings.counts == {MAIL: 1}
    assert fold(root).readings.counts == {STYLE: 1}
    assert fold(root) == GatheredReadings()
    assert counted(root) == {MAIL: 1, STYLE: 1}


def test_an_empty_file_that_was_left_goes(root: Path) -> None:
    gathered(root, "access-folding.jsonl").write_bytes(b"")
    assert fold(root).readings == Readings()
    assert not gathered(root, "access-folding.jsonl").exists()


def test_a_line_that_comes_after_the_taking_stops_the_change_and_is_in_the_next(root: Path) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    with gathered(root).open("ab", buffering=0) as late:
        taken = take_readings(str(root))
        assert taken.readings.counts == {MAIL: 1}
        late.write(line(STYLE, at=LATER).encode())
    with pytest.raises(Conflict, match=r"access-folding\.jsonl"):
        apply(root, plan(root, taken))
    assert counted(root) == {}
    assert pending_readings(str(root)).counts == {MAIL: 1, STYLE: 1}
    assert fold(root).readings == Readings({MAIL: 1, STYLE: 1}, {MAIL: NOW, STYLE: LATER})
    assert counted(root) == {MAIL: 1, STYLE: 1}
    assert take_readings(str(root)) == GatheredReadings()


def test_a_line_that_comes_while_the_change_is_made_stops_it_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    with gathered(root).open("ab", buffering=0) as late:
        taken = take_readings(str(root))

        def before(operation: str, path: str) -> None:
            if operation == "create" and path.endswith("intent.json.draft"):
                late.write(LINE)

        monkeypatch.setattr(disk, "before", before)
        with pytest.raises(Conflict, match=r"access-folding\.jsonl"):
            apply(root, plan(root, taken))
    monkeypatch.undo()
    assert counted(root) == {}
    fold(root)
    assert counted(root) == {MAIL: 2}


def test_while_a_reader_is_adding_what_was_moved_waits(root: Path) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    path = str(gathered(root))
    with held_in_place(path), gathered(root).open("ab", buffering=0) as reader:
        assert take_readings(str(root)) == GatheredReadings()
        assert pending_readings(str(root)).counts == {MAIL: 1}
        assert note_reading(str(root), [STYLE], NOW, "t")  # nobody else waits for it
        reader.write(LINE)
        assert fold(root) == GatheredReadings()
    assert fold(root).readings.counts == {MAIL: 2}
    assert fold(root).readings.counts == {STYLE: 1}
    assert counted(root) == {MAIL: 2, STYLE: 1}


def test_what_is_taken_is_on_the_disk_before_the_change_begins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    made: list[str] = []
    monkeypatch.setattr(disk, "before", lambda operation, path: made.append(f"{operation} {os.path.basename(path)}"))
    take_readings(str(root))
    expected = ["append access-folding.jsonl", "fsync access-folding.jsonl", "sync_folder local"]
    assert made == ["rename access-folding.jsonl", *expected]
    made.clear()
    take_readings(str(root))  # one that an earlier writer moved may not be there yet either
    assert made == expected


class Died(BaseException):
    """The process is gone."""


def test_whatever_dies_when_no_count_is_lost_or_doubled(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    for names in ([MAIL, STYLE], [MAIL]):
        note_reading(str(root), names, NOW, "t")
    number = 0
    died = True
    while died:
        copy = tmp_path_factory.mktemp("death") / "copy"
        shutil.copytree(root, copy)
        died = die_while_folding(copy, number)
        note_reading(str(copy), [MAIL], LATER, "t")
        here = str(copy / ".ai-state")
        assert finish_interrupted(here, os.path.join(here, "recovery")) == []
        pending = pending_readings(str(copy)).counts
        both = {name: counted(copy).get(name, 0) + pending.get(name, 0) for name in (MAIL, STYLE)}
        assert both == {MAIL: 3, STYLE: 1}, number
        for name in ("one", "two", "three"):
            fold(copy, name)
        assert counted(copy) == {MAIL: 3, STYLE: 1}, number
        assert os.listdir(copy / ".ai-state" / "local") == [".gitignore"]
        number += 1
    assert number > 15


def die_while_folding(root: Path, at: int) -> bool:
    """Whether the writer died: before the call with this number, and with nothing swept after it."""
    calls = 0

    def before(_operation: str, _path: str) -> None:
        nonlocal calls
        calls += 1
        if calls > at:
            raise Died

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "before", before)
        try:
            fold(root)
        except Died:
            return True
    return False


# -- a disk that refuses, and files that are none -------------------------------------------


def refuse(monkeypatch: pytest.MonkeyPatch, operation: str, name: str = "") -> None:
    def before(found: str, path: str) -> None:
        if found == operation and path.endswith(name):
            raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr(disk, "before", before)


@pytest.mark.parametrize("operation", ["append", "make_folder", "create"])
def test_a_read_only_disk_is_no_error(root: Path, operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, operation)
    assert not note_reading(str(root), [MAIL], NOW, "t")
    assert pending_readings(str(root)) == Readings()


@pytest.mark.parametrize("operation", ["rename", "append", "fsync", "sync_folder"])
def test_what_cannot_be_taken_waits(root: Path, operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    note_reading(str(root), [MAIL], NOW, "t")
    refuse(monkeypatch, operation)
    assert take_readings(str(root)) == GatheredReadings()
    monkeypatch.undo()
    assert pending_readings(str(root)).counts == {MAIL: 1}
    fold(root)
    assert counted(root) == {MAIL: 1}


def test_lines_that_could_not_be_kept_are_not_removed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered(root).write_bytes(b"what is this\n" + LINE)
    refuse(monkeypatch, "create", ".damaged")
    assert fold(root) == GatheredReadings()
    assert gathered(root, "access-folding.jsonl").read_bytes() == b"what is this\n" + LINE


@pytest.mark.parametrize("name", ["access.jsonl", "access-folding.jsonl"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling link"])
def test_what_is_no_plain_file_is_neither_read_nor_written(root: Path, kind: str, name: str) -> None:
    file, target = gathered(root, name), root / "target"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)
    if kind == "link":
        target.write_bytes(LINE)
    before = os.lstat(file)
    assert note_reading(str(root), [MAIL], NOW, "t") == (name != "access.jsonl")
    assert take_readings(str(root)) == GatheredReadings()
    assert pending_readings(str(root)).counts == ({} if name == "access.jsonl" else {MAIL: 1})
    assert [(problem.code, problem.path) for problem in problems_of(root)] == [
        ("LocalStateDamaged", f".ai-state/local/{name}")
    ]
    assert (os.lstat(file).st_mode, os.lstat(file).st_ino) == (before.st_mode, before.st_ino)
    assert [path.read_bytes() for path in (target,) if path.exists()] == ([LINE] if kind == "link" else [])


def test_a_pipe_with_a_reader_gets_nothing(root: Path) -> None:
    os.mkfifo(gathered(root))
    reader = os.open(gathered(root), os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert not note_reading(str(root), [MAIL], NOW, "t")
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", [".ai-state", ".ai-state/local"])
def test_folders_behind_links_are_not_written_to(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = tmp_path / "root"
    (root / name).parent.mkdir(parents=True)
    (root / name).symlink_to(elsewhere)
    assert not note_reading(str(root), [MAIL], NOW, "t")
    assert take_readings(str(root)) == GatheredReadings()
    assert list(elsewhere.iterdir()) == []
    (elsewhere / "access.jsonl").write_bytes(LINE)
    (elsewhere / "local").mkdir()
    (elsewhere / "local" / "access.jsonl").write_bytes(LINE)
    assert pending_readings(str(root)) == Readings()
    assert take_readings(str(root)) == GatheredReadings()
    assert sorted(os.listdir(elsewhere)) == ["access.jsonl", "local"]


# -- several processes ----------------------------------------------------------------------

READER = """
import os, sys
from quire.layers.profile.access import note_reading
root, name, stop = sys.argv[1:]
count = 0
while not os.path.exists(stop):
    assert note_reading(root, ["user.all", "user." + name], "2026-02-09T14:00:00Z", name)
    count += 1
print(count)
"""


def test_readers_and_a_writer_at_once_count_exactly(root: Path) -> None:
    names, stop = ("one", "two", "three"), root / "stop"
    command = [sys.executable, "-c", READER, str(root)]
    readers = [subprocess.Popen([*command, name, str(stop)], stdout=subprocess.PIPE) for name in names]
    folds = 0
    while folds < 30:
        taken = take_readings(str(root))
        if taken.change is not None:
            apply(root, plan(root, taken), f"fold{folds}")
            folds += 1
        assert all(reader.poll() is None for reader in readers)
    stop.touch()
    counts = {f"user.{name}": int(reader.communicate()[0]) for name, reader in zip(names, readers, strict=True)}
    for name in ("left", "rest"):
        fold(root, name)
    read = {name: count for name, count in counts.items() if count}  # one may have come too late to read anything
    assert counted(root) == {"user.all": sum(counts.values()), **read}
    assert pending_readings(str(root)) == Readings()
