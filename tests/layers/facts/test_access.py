"""Times of reading: lines that many processes add without a lock, and that no damage stops."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files import disk
from quire.layers.facts.access import COMPACT_BYTES, note_access, read_access
from quire.model.records import Problem

NOW = "2026-03-02T11:19:00+00:00"
LATER = "2026-03-02T12:00:00+00:00"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".memory" / "local" / "access.jsonl"
    path.parent.mkdir(parents=True)
    (path.parent / ".gitignore").write_text("*\n")
    return path


def root_of(file: Path) -> str:
    return str(file.parents[2])


def line(name: str, at: str = NOW, **more: object) -> str:
    return json.dumps({"id": name, "at": at, **more}, separators=(",", ":")) + "\n"


def noted(file: Path) -> list[Problem]:
    problems: list[Problem] = []
    read_access(root_of(file), problems)
    return problems


def test_without_a_file_nothing_was_read(tmp_path: Path) -> None:
    assert read_access(str(tmp_path)) == {}
    assert list(tmp_path.iterdir()) == []


def test_readings_are_added_line_by_line(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert note_access(root, ["b", "a", "b"], NOW, "t")
    assert note_access(root, ["ä"], LATER, "t")
    file = tmp_path / ".memory" / "local" / "access.jsonl"
    assert file.read_text() == line("a") + line("b") + line("ä", LATER).replace("\\u00e4", "ä")
    assert read_access(root) == {"a": NOW, "b": NOW, "ä": LATER}


def test_the_folder_tells_git_to_leave_it_alone(tmp_path: Path) -> None:
    ignore = tmp_path / ".memory" / "local" / ".gitignore"
    note_access(str(tmp_path), ["a"], NOW, "t")
    assert ignore.read_text() == "*\n"
    ignore.write_text("")  # as a process leaves it that dies here
    note_access(str(tmp_path), ["b"], NOW, "t")
    assert ignore.read_text() == "*\n"


def test_the_latest_time_holds_in_whatever_order_and_zone(file: Path) -> None:
    file.write_text(
        line("a", LATER)
        + line("a", NOW)
        + line("b", "2026-03-02T12:19:00+02:00")
        + line("b", "2026-03-02T10:20:00.500Z")
        + line("c", "2026-03-02T11:19:00Z")
        + line("c", "2026-03-02T11:19:00+00:00")
    )
    assert read_access(root_of(file)) == {"a": LATER, "b": "2026-03-02T10:20:00.500Z", "c": "2026-03-02T11:19:00+00:00"}
    assert noted(file) == []


def test_noting_nothing_touches_nothing(tmp_path: Path) -> None:
    assert note_access(str(tmp_path), [], NOW, "t")
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_read_back_is_not_noted(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert not note_access(root, ["a"], "yesterday", "t")
    assert not note_access(root, ["a"], "\ud800", "t")
    assert not note_access(root, ["two words", "", "\ud800", "x" * 161], NOW, "t")
    assert list(tmp_path.iterdir()) == []
    assert note_access(root, ["two words", "good", "\ud800"], NOW, "t")
    assert read_access(root) == {"good": NOW}


DAMAGED = ["{", "[]", "5", '{"id":"x"}', '{"id":5,"at":"2026-03-02"}', '{"id":"x y","at":"2026-03-02"}', "[" * 9_999]
DAMAGED += ['{"id":"x","at":"soon"}', '{"id":"\\ud800","at":"2026-03-02"}', "\0\0\0", '{"id":"x","at":"2026-03-02']


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:12])
def test_damaged_lines_are_skipped_and_counted(file: Path, text: str) -> None:
    file.write_text(line("a") + text + "\n\n \r\n" + line("b").replace("\n", "\r\n"))
    assert read_access(root_of(file)) == {"a": NOW, "b": NOW}
    (problem,) = noted(file)
    assert (problem.code, problem.severity, problem.path) == (
        "LocalStateDamaged",
        "warning",
        ".memory/local/access.jsonl",
    )
    assert "1." in problem.message


def test_bytes_that_are_no_text_are_skipped(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\n" + line("a").encode() + b'{"id":"\xff","at":"2026-03-02"}\n')
    assert read_access(root_of(file)) == {"a": NOW}


def test_half_a_line_does_not_spoil_the_next(file: Path) -> None:
    file.write_text(line("a") + '{"id":"torn","at":"2026-0')
    assert note_access(root_of(file), ["b"], LATER, "t")
    assert read_access(root_of(file)) == {"a": NOW, "b": LATER}
    assert note_access(root_of(file), ["c"], LATER, "t")
    assert b"\n\n" not in file.read_bytes()


def test_a_whole_line_without_its_end_is_still_read(file: Path) -> None:
    file.write_text(line("a").rstrip("\n"))
    assert note_access(root_of(file), ["b"], NOW, "t")
    assert read_access(root_of(file)) == {"a": NOW, "b": NOW}


NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=160)


@given(st.lists(NAMES))
def test_any_id_comes_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = str(tmp_path_factory.mktemp("any"))
    assert note_access(root, names, NOW, "t")
    assert read_access(root) == dict.fromkeys(sorted(names), NOW)


# -- compaction -----------------------------------------------------------------------------


def at(second: int) -> str:
    return f"2026-03-02T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}+00:00"


def test_a_file_up_to_the_limit_is_left_alone(file: Path) -> None:
    start = line("a") * ((COMPACT_BYTES - len(line("b"))) // len(line("a")))
    file.write_text(start)
    note_access(root_of(file), ["b"], NOW, "t")
    assert file.read_text() == start + line("b")


def test_beyond_the_limit_the_last_line_of_each_id_stays(file: Path) -> None:
    lines = [line(f"id{number % 100:02}", at(number), by="other") for number in range(5_000)]
    file.write_text("".join(lines))
    before = read_access(root_of(file))
    assert note_access(root_of(file), ["new"], at(80_000), "t")
    assert file.read_text() == "".join([*lines[-100:], line("new", at(80_000))])
    assert read_access(root_of(file)) == {**before, "new": at(80_000)}
    assert sorted(os.listdir(file.parent)) == [".gitignore", "access.jsonl"]


def test_of_too_many_ids_the_newest_stay_and_there_is_room_for_more(file: Path) -> None:
    file.write_text("".join(line(f"id{number:05}", at(number)) for number in reversed(range(9_000))))
    assert note_access(root_of(file), ["new"], at(80_000), "t")
    found = list(read_access(root_of(file)))
    kept = len(found) - 1
    assert found == [*(f"id{number:05}" for number in range(9_000 - kept, 9_000)), "new"]
    assert 3_000 < kept < 5_000
    size = file.stat().st_size
    assert size < COMPACT_BYTES * 0.8
    note_access(root_of(file), ["more"], at(80_001), "t")
    assert file.stat().st_size == size + len(line("more", at(80_001)))


def test_never_more_than_five_thousand_ids_stay(file: Path) -> None:
    file.write_text("".join(f'{{"id":"{number:x}","at":"2026-03-02"}}\n' for number in range(9_000)))
    note_access(root_of(file), ["new"], LATER, "t")
    assert len(read_access(root_of(file))) == 5_000


def test_what_compaction_cannot_read_is_kept_beside(file: Path) -> None:
    data = "what is this\n" + line("a") * 6_000
    file.write_text(data)
    note_access(root_of(file), ["b"], LATER, "t")
    assert file.read_text() == line("a") + line("b", LATER)
    assert noted(file) == []
    aside = file.with_name("access.jsonl.damaged")
    assert aside.read_text() == data + line("b", LATER)
    file.write_text("other rubbish\n" + line("a") * 6_000)
    note_access(root_of(file), ["b"], LATER, "t")
    assert aside.read_text() == data + line("b", LATER)


def test_where_compaction_fails_the_reading_is_noted_all_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = line("a") * 6_000
    file.write_text(start)
    refuse(monkeypatch, "create")
    assert note_access(root_of(file), ["b"], LATER, "t")
    assert file.read_text() == start + line("b", LATER)


# -- a disk that refuses, and files that are none -------------------------------------------


def refuse(monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
    def before(found: str, path: str) -> None:
        if found == operation:
            raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr(disk, "before", before)


@pytest.mark.parametrize("operation", ["append", "make_folder"])
def test_a_read_only_disk_is_no_error(tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, operation)
    assert not note_access(str(tmp_path), ["a"], NOW, "t")
    assert read_access(str(tmp_path)) == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="no permission stops the superuser")
def test_a_folder_without_permission_is_no_error(file: Path) -> None:
    file.parent.chmod(0o500)
    assert not note_access(root_of(file), ["a"], NOW, "t")
    file.parent.chmod(0o700)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling link"])
def test_what_is_no_plain_file_is_neither_read_nor_written(file: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)
    if kind == "link":
        target.write_text(line("secret"))
    assert not note_access(root_of(file), ["a"], NOW, "t")
    assert read_access(root_of(file)) == {}
    assert [problem.code for problem in noted(file)] == ["LocalStateDamaged"]
    assert [path.read_text() for path in (target,) if path.exists()] == ([line("secret")] if kind == "link" else [])


def test_a_pipe_with_a_reader_gets_nothing(file: Path) -> None:
    os.mkfifo(file)
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert not note_access(root_of(file), ["a"], NOW, "t")
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", [".memory", ".memory/local"])
def test_folders_behind_links_and_files_in_their_place_are_refused(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere" / name
    elsewhere.mkdir(parents=True)
    for kind in ("link", "file"):
        root = tmp_path / kind
        (root / name).parent.mkdir(parents=True)
        if kind == "link":
            (root / name).symlink_to(elsewhere)
        else:
            (root / name).write_text("mine")
        assert not note_access(str(root), ["a"], NOW, "t")
        assert read_access(str(root)) == {}
    assert list(elsewhere.iterdir()) == []


def test_a_huge_file_is_moved_aside_and_the_first_one_stays(file: Path) -> None:
    for size in (9, 10):
        with file.open("wb") as huge:
            huge.truncate(size * 1024 * 1024)
        assert read_access(root_of(file)) == {}
        assert [problem.code for problem in noted(file)] == ["LocalStateDamaged"]
        assert note_access(root_of(file), ["a"], NOW, "t")
        assert file.read_text() == line("a")
        assert file.with_name("access.jsonl.damaged").stat().st_size == 9 * 1024 * 1024


# -- several processes ----------------------------------------------------------------------

WRITER = """
import sys
from quire.layers.facts.access import note_access
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for number in range(count):
    assert note_access(root, [f"{name}-{number}-{part}" for part in range(5)], "2026-03-02T11:19:00+00:00", name)
"""


def write_at_once(root: Path, names: tuple[str, ...], count: int) -> None:
    """Processes that note readings at the same time, each waiting until all are there."""
    line = [sys.executable, "-c", WRITER, str(root)]
    writers = [subprocess.Popen([*line, name, str(count)], stdin=subprocess.PIPE) for name in names]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0


def test_processes_that_add_at_once_lose_no_line(tmp_path: Path) -> None:
    names = ("one", "two", "three")
    write_at_once(tmp_path, names, 60)
    problems: list[Problem] = []
    found = read_access(str(tmp_path), problems)
    assert set(found) == {f"{name}-{number}-{part}" for name in names for number in range(60) for part in range(5)}
    assert problems == []


def test_processes_that_compact_at_once_leave_a_sound_file(file: Path) -> None:
    file.write_text(line("old", at(0)) * 6_000)
    write_at_once(file.parents[2], ("one", "two"), 20)
    assert read_access(root_of(file))["old"] == at(0)
    assert noted(file) == []
    assert file.stat().st_size < COMPACT_BYTES
    assert sorted(os.listdir(file.parent)) == [".gitignore", "access.jsonl"]
