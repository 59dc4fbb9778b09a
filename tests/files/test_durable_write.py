"""A file is replaced whole or not at all, keeps its mode and its link, and leaves nothing beside it."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.model.errors import StorageFailed


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The operations of the seam, as they happen."""
    made: list[tuple[str, str]] = []
    monkeypatch.setattr(disk, "before", lambda operation, path: made.append((operation, os.path.basename(path))))
    return made


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    def fail(operation: str, number: int) -> None:
        def before(name: str, path: str) -> None:
            if name == operation:
                raise OSError(number, os.strerror(number), path)

        monkeypatch.setattr(disk, "before", before)

    return fail


def test_a_new_file_is_written_synced_renamed_and_its_folder_synced(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    write_file(str(tmp_path / "a.md"), b"text", "token")
    assert (tmp_path / "a.md").read_bytes() == b"text"
    assert [operation for operation, _ in calls] == ["create", "fsync", "rename", "sync_folder"]
    assert calls[2] == ("rename", "a.md")
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_file(str(path), b"new", "token")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "agents.md").write_bytes(b"old")
    link = tmp_path / "AGENTS.md"
    link.symlink_to("docs/agents.md")
    write_file(str(link), b"new", "token")
    assert link.is_symlink()
    assert (tmp_path / "docs" / "agents.md").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["AGENTS.md", "docs"]
    assert os.listdir(tmp_path / "docs") == ["agents.md"]


@pytest.mark.parametrize("operation", ["create", "fsync", "set_mode", "rename"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_refusal_of_the_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, failing: Callable[[str, int], None], operation: str, number: int
) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"old")
    failing(operation, number)
    with pytest.raises(StorageFailed, match=r"AGENTS\.md") as raised:
        write_file(str(path), b"new", "token")
    assert raised.value.details["errno"] == errno.errorcode[number]
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["AGENTS.md"]


def test_bytes_that_do_not_read_back_are_never_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def garble(operation: str, path: str) -> None:
        if operation == "fsync":
            Path(path).write_bytes(b"nXw")

    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(disk, "before", garble)
    with pytest.raises(StorageFailed, match="does not hold the data that was written"):
        write_file(str(path), b"new", "token")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["AGENTS.md"]


def test_a_reader_sees_the_old_bytes_or_the_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    versions = [b"a" * 20_000, b"b" * 30_000]
    path.write_bytes(versions[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        write_file(str(path), versions[number % 2], f"t{number}")
    done.set()
    reader.join()
    assert seen <= set(versions)


@pytest.fixture
def dead_pid() -> Iterator[int]:
    """The number of a process that has ended."""
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(done.stdout)


def test_what_a_killed_writer_left_beside_the_file_is_swept_and_a_living_one_is_not_disturbed(
    tmp_path: Path, dead_pid: int
) -> None:
    (tmp_path / f".quire-{dead_pid}-feed.tmp").write_bytes(b"half")
    (tmp_path / f".quire-{os.getpid()}-beef.tmp").write_bytes(b"half")
    (tmp_path / ".quire-notes.tmp").write_bytes(b"not ours")
    write_file(str(tmp_path / "AGENTS.md"), b"text", "token")
    assert sorted(os.listdir(tmp_path)) == [f".quire-{os.getpid()}-beef.tmp", ".quire-notes.tmp", "AGENTS.md"]


def test_a_folder_is_made_with_its_parents_and_each_parent_is_synced(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    ensure_folder(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
    assert calls == [
        ("make_folder", "a"),
        ("sync_folder", tmp_path.name),
        ("make_folder", "b"),
        ("sync_folder", "a"),
    ]
    calls.clear()
    ensure_folder(str(tmp_path / "a" / "b"))
    assert calls == []


def test_a_folder_that_somebody_else_makes_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "before", lambda operation, path: operation == "make_folder" and os.mkdir(path))
    ensure_folder(str(tmp_path / "a"))
    assert (tmp_path / "a").is_dir()


def test_creating_never_touches_an_existing_file_or_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"old")
    (tmp_path / "link").symlink_to("elsewhere")
    for name in ("there", "link"):
        with pytest.raises(FileExistsError):
            disk.create(str(tmp_path / name), b"new")
    assert (tmp_path / "there").read_bytes() == b"old"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("write", [disk.append, lambda path, _data: disk.truncate(path, 0)])
def test_a_log_that_is_a_link_is_not_written_through(tmp_path: Path, write: Callable[[str, bytes], None]) -> None:
    (tmp_path / "outside").write_bytes(b"old")
    (tmp_path / "events.jsonl").symlink_to("outside")
    with pytest.raises(OSError):
        write(str(tmp_path / "events.jsonl"), b"new")
    assert (tmp_path / "outside").read_bytes() == b"old"
