"""Files of this machine: each layer has them in a folder of its own, and lines are added without waiting."""

import os
import threading
from pathlib import Path

import pytest

from quire.files import disk
from quire.files.local_files import (
    LocalFile,
    damaged_lines,
    ensure_local,
    held_in_place,
    is_at_rest,
    place_of,
    read_local,
    read_object,
    remove_local,
    spoiled,
    write_local,
)
from quire.model.errors import OutsideProject, StorageFailed, UnsupportedVersion

FOLDERS = [".memory", ".ai-state"]


def put(root: Path, folder: str, name: str, data: bytes) -> Path:
    path = root / folder / "local" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_file_is_written_and_read_in_its_own_folder(tmp_path: Path, folder: str) -> None:
    root = str(tmp_path)
    missing = read_local(root, folder, "sub/a.json")
    assert missing == LocalFile(folder=folder, name="sub/a.json")
    write_local(root, missing, b'{"version":1,"x":2}', "t")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        f"{folder}/local/.gitignore",
        f"{folder}/local/sub/a.json",
    ]
    found = read_object(root, folder, "sub/a.json")
    assert (found.fields, found.problem, found.place) == ({"version": 1, "x": 2}, None, f"{folder}/local/sub/a.json")
    assert place_of(folder, "sub/a.json") == found.place
    assert remove_local(root, found)
    assert not remove_local(root, found)


def test_one_folder_knows_nothing_of_the_other(tmp_path: Path) -> None:
    put(tmp_path, ".memory", "a.json", b"{}")
    assert read_local(str(tmp_path), ".ai-state", "a.json").data is None
    ensure_local(str(tmp_path), ".ai-state", "t")
    assert (tmp_path / ".ai-state" / "local" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / ".memory" / "local" / ".gitignore").exists()


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_cannot_be_used_is_named_by_its_place_and_set_aside_there(tmp_path: Path, folder: str) -> None:
    path = put(tmp_path, folder, "a.json", b"[]")
    found = read_object(str(tmp_path), folder, "a.json")
    assert found.problem
    assert (found.problem.code, found.problem.path) == ("LocalStateDamaged", f"{folder}/local/a.json")
    write_local(str(tmp_path), found, b"new", "t")
    assert path.read_bytes() == b"new"
    assert path.with_name("a.json.damaged").read_bytes() == b"[]"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path, folder: str) -> None:
    path = put(tmp_path, folder, "a.json", b'{"version":2}')
    found = read_object(str(tmp_path), folder, "a.json")
    assert found.problem
    assert (found.problem.code, found.fields) == ("LocalStateNewer", {})
    with pytest.raises(UnsupportedVersion, match=rf"`{folder}/local/a\.json`"):
        write_local(str(tmp_path), found, b"new", "t")
    assert path.read_bytes() == b'{"version":2}'


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_in_the_place_of_a_file_is_left_alone(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder / "local" / "a.json").mkdir(parents=True)
    found = read_local(str(tmp_path), folder, "a.json")
    assert found.is_closed
    for change in (lambda: write_local(str(tmp_path), found, b"new", "t"), lambda: remove_local(str(tmp_path), found)):
        with pytest.raises(StorageFailed, match=rf"`{folder}/local/a\.json`"):
            change()
    assert (tmp_path / folder / "local" / "a.json").is_dir()


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_written_through_a_link(tmp_path: Path, folder: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideProject):
        ensure_local(str(tmp_path), folder, "t")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_warnings_say_what_is_wrong() -> None:
    found = LocalFile(folder=".ai-state", name="a.jsonl")
    problem = damaged_lines(found, 1234, "Repair them.").problem
    assert problem
    assert (problem.code, problem.severity, problem.path) == (
        "LocalStateDamaged",
        "warning",
        ".ai-state/local/a.jsonl",
    )
    assert (problem.message, problem.hint) == ("Lines that could not be read and do not count: 1,234.", "Repair them.")
    other = spoiled(found, "it is full").problem
    assert other
    assert other.message == "It cannot be used: it is full. It counts as empty."


# -- adding while others move ---------------------------------------------------------------


def test_a_file_is_not_at_rest_while_somebody_adds_to_it(tmp_path: Path) -> None:
    path, moved = str(tmp_path / "lines"), str(tmp_path / "moved")
    with held_in_place(path), held_in_place(path):  # several may add at once
        assert os.path.getsize(path) == 0
        disk.rename(path, moved)
        assert not is_at_rest(moved)
        disk.append_lightly(path, b"late\n")
    assert is_at_rest(moved)
    assert (tmp_path / "lines").read_bytes() == b"late\n"
    assert (tmp_path / "moved").read_bytes() == b""


def test_who_comes_after_the_move_holds_the_new_file(tmp_path: Path) -> None:
    path, moved = str(tmp_path / "lines"), str(tmp_path / "moved")
    (tmp_path / "lines").write_bytes(b"old\n")
    disk.rename(path, moved)
    with held_in_place(path):
        assert is_at_rest(moved)
        assert not is_at_rest(path)


def test_a_file_that_is_moved_while_it_is_taken_hold_of_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, moved = str(tmp_path / "lines"), str(tmp_path / "moved")
    (tmp_path / "lines").write_bytes(b"old\n")
    real = os.stat

    def stat(where: str, **options: bool) -> os.stat_result:
        if where == path and not os.path.lexists(moved):
            os.rename(path, moved)  # in the last moment
        return real(where, **options)

    monkeypatch.setattr(os, "stat", stat)
    with held_in_place(path):
        monkeypatch.undo()
        assert is_at_rest(moved)
        assert not is_at_rest(path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_plain_file_is_not_held(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lines"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "target")
    with pytest.raises(OSError), held_in_place(str(path)):
        pytest.fail("it is held")
    assert not (tmp_path / "target").exists()


def test_nothing_stays_open(tmp_path: Path) -> None:
    path = str(tmp_path / "lines")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        with held_in_place(path):
            pass
        assert is_at_rest(path)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


def test_lines_that_are_added_while_the_file_is_moved_again_and_again_are_all_there(tmp_path: Path) -> None:
    path = str(tmp_path / "lines")
    count = 400

    def add(name: int) -> None:
        for number in range(count):
            with held_in_place(path):
                disk.append_lightly(path, f"{name}-{number}\n".encode())

    threads = [threading.Thread(target=add, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    found: list[bytes] = []
    moved = str(tmp_path / "moved")
    while True:
        done = not any(thread.is_alive() for thread in threads)
        if not os.path.exists(moved) and os.path.exists(path):
            os.rename(path, moved)
        if os.path.exists(moved) and is_at_rest(moved):
            found += Path(moved).read_bytes().split()
            os.unlink(moved)
        elif done:
            break
    assert sorted(found) == sorted(f"{name}-{number}".encode() for name in range(3) for number in range(count))
