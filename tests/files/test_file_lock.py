"""One writer at a time: busy says who, a dead holder blocks nobody, other programs' lock files are respected."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.files.file_lock import Holder, held, is_alive
from quire.model.errors import LockBusy

NOW = "2026-03-02T11:19:00+00:00"
HOLD = """
import sys, time
from quire.files.file_lock import Holder, held
import os
holder = Holder(pid=os.getpid(), operation="save", created_at="2026-03-02T11:19:00+00:00")
with held(sys.argv[1], holder, 5, time.sleep):
    print("held", flush=True)
    sys.stdin.readline()
"""


def ours(operation: str = "init", pid: int | None = None) -> Holder:
    return Holder(pid=os.getpid() if pid is None else pid, operation=operation, created_at=NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.fixture
def dead_pid() -> int:
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(done.stdout)


def take(path: Path, seconds: float = 0.0, holder: Holder | None = None) -> dict[str, Any]:
    """Take the lock and let go again; what the file said meanwhile."""
    with held(str(path), holder or ours(), seconds, time.sleep):
        said: dict[str, Any] = json.loads(path.read_bytes())
    return said


def test_the_file_names_its_holder_while_held_and_is_gone_afterwards(path: Path) -> None:
    assert take(path) == {"pid": os.getpid(), "operation": "init", "created_at": NOW, "kernel": True}
    assert not path.exists()


def test_a_second_writer_is_told_who_is_at_work(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(LockBusy) as raised:
        take(path, seconds=0.2)
    assert f"process {other.pid} (`save`" in raised.value.message
    assert raised.value.details["holder"]["pid"] == other.pid
    assert raised.value.details["lock_path"] == str(path)
    assert raised.value.hint
    assert path.exists()


def test_a_writer_waits_until_the_other_is_done(path: Path, other: subprocess.Popen[str]) -> None:
    def release(_seconds: float) -> None:
        assert other.stdin
        if not other.stdin.closed:
            other.stdin.write("\n")
            other.stdin.close()
        time.sleep(0.02)

    with held(str(path), ours(), 30, release):
        assert json.loads(path.read_bytes())["pid"] == os.getpid()


def test_a_killed_holder_blocks_nobody(path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert path.exists()
    assert take(path)["pid"] == os.getpid()
    assert not path.exists()


def test_a_stopped_holder_gives_busy_and_no_endless_waiting(path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGSTOP)
    with pytest.raises(LockBusy, match=str(other.pid)):
        take(path, seconds=0.1)


def test_the_lock_is_let_go_when_the_work_fails(path: Path) -> None:
    with pytest.raises(RuntimeError), held(str(path), ours(), 0, time.sleep):
        raise RuntimeError
    assert not path.exists()
    take(path)


def test_two_threads_of_one_process_exclude_each_other_too(path: Path) -> None:
    with held(str(path), ours(), 0, time.sleep), pytest.raises(LockBusy):
        take(path)


def test_a_lock_file_of_the_original_program_is_respected_while_its_process_lives(
    path: Path, other: subprocess.Popen[str], tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs.lock"
    text = json.dumps({"created_at": NOW, "operation": "save", "pid": other.pid})
    theirs.write_text(text, encoding="utf-8")
    with pytest.raises(LockBusy) as raised:
        take(theirs)
    assert str(other.pid) in raised.value.message
    assert "theirs.lock" in (raised.value.hint or "")
    assert theirs.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "created_at", ["2026-03-02T10:18:59+00:00", "2026-03-02T11:18:59+01:00", "2025-01-01T00:00:00Z"]
)
def test_a_lock_file_older_than_an_hour_is_taken_over(path: Path, created_at: str) -> None:
    path.write_text(json.dumps({"created_at": created_at, "operation": "save", "pid": 1}), encoding="utf-8")
    assert take(path)["operation"] == "init"
    assert not path.exists()


@pytest.mark.parametrize("created_at", ["2026-03-02T10:19:01+00:00", NOW, "2099-01-01T00:00:00Z", "yesterday"])
def test_a_younger_one_of_a_living_process_is_not(path: Path, created_at: str) -> None:
    path.write_text(json.dumps({"created_at": created_at, "operation": "save", "pid": 1}), encoding="utf-8")
    with pytest.raises(LockBusy):
        take(path)
    assert path.exists()


def test_a_lock_file_of_a_dead_process_is_taken_over(path: Path, dead_pid: int) -> None:
    path.write_text(json.dumps({"created_at": NOW, "operation": "save", "pid": dead_pid}), encoding="utf-8")
    assert take(path)["pid"] == os.getpid()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b'{"pid": "one"}',
        b'{"pid": 1, "operation": "save", "created_at": "2026-03-02T11:19:00+00:00", "kernel": true}',
        b"\0" * 5000,
    ],
)
def test_a_lock_file_that_names_nobody_is_a_leftover(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert take(path)["pid"] == os.getpid()
    assert not path.exists()


def test_a_lock_that_is_a_link_or_a_folder_is_refused_and_not_followed(tmp_path: Path, path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    path.symlink_to("victim")
    with pytest.raises(OSError) as raised:
        take(path)
    assert raised.value.errno == errno.ELOOP
    assert (tmp_path / "victim").read_bytes() == b"precious"
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        take(path)


def test_a_pipe_in_place_of_the_lock_does_not_hang(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises((OSError, LockBusy)):
        take(path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_stops_the_writer(path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(_descriptor: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError) as raised:
        take(path)
    assert raised.value.errno == number


def test_a_living_process_is_told_from_a_dead_one(dead_pid: int) -> None:
    assert is_alive(os.getpid())
    assert not is_alive(dead_pid)
    assert is_alive(2**70)
