"""What a compaction takes out: kept whole, for its owner's eyes, and not without end."""

import contextlib
import errno
import os
import stat
from pathlib import Path

import pytest

from quire.files import disk
from quire.layers.facts.checkpoints import keep_checkpoint
from quire.model.errors import OutsideProject, QuireError, StorageFailed

STAMP = "20260302T111900Z"


def folder(root: Path) -> Path:
    return root / ".memory" / "local" / "checkpoints"


def test_it_is_kept_byte_by_byte_and_told_where(tmp_path: Path) -> None:
    data = b'{"role":"user","content":"\xc3\xa4"}\n' * 3
    place = keep_checkpoint(str(tmp_path), data, STAMP, "0123456789abcdef")
    assert place.startswith(f".memory/local/checkpoints/{STAMP}-")
    assert place.endswith(".jsonl")
    path = tmp_path / place
    assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_git_never_sees_it(tmp_path: Path) -> None:
    keep_checkpoint(str(tmp_path), b"x", STAMP, "0123456789abcdef")
    assert (tmp_path / ".memory" / "local" / ".gitignore").read_text() == "*\n"


def test_only_the_newest_fifty_stay(tmp_path: Path) -> None:
    root = str(tmp_path)
    for number in range(60):
        keep_checkpoint(root, b"%d" % number, f"20260302T11{number:02}00Z", f"{number:016x}")
    found = sorted(folder(tmp_path).iterdir())
    assert [path.read_bytes() for path in found] == [b"%d" % number for number in range(10, 60)]


def test_the_one_just_kept_stays_whatever_the_clock_says(tmp_path: Path) -> None:
    root = str(tmp_path)
    for number in range(55):
        keep_checkpoint(root, b"late", f"20270302T11{number:02}00Z", f"{number:016x}")
    place = keep_checkpoint(root, b"early", STAMP, "f" * 16)
    assert (tmp_path / place).read_bytes() == b"early"


def test_what_is_no_checkpoint_is_left_alone(tmp_path: Path) -> None:
    root = str(tmp_path)
    keep_checkpoint(root, b"x", "20250302T111900Z", "0" * 16)
    (folder(tmp_path) / "0-notes.txt").write_text("mine")
    (folder(tmp_path) / "00").mkdir()
    for number in range(60):
        keep_checkpoint(root, b"x", f"20260302T11{number:02}00Z", f"{number:016x}")
    assert (folder(tmp_path) / "0-notes.txt").read_text() == "mine"
    assert (folder(tmp_path) / "00").is_dir()


def test_two_in_one_second_are_two(tmp_path: Path) -> None:
    root = str(tmp_path)
    places = {keep_checkpoint(root, b"%d" % number, STAMP, f"{number:016x}") for number in range(3)}
    assert len(places) == 3
    assert sorted((tmp_path / place).read_bytes() for place in places) == [b"0", b"1", b"2"]


def test_an_earlier_one_is_never_overwritten(tmp_path: Path) -> None:
    root = str(tmp_path)
    place = keep_checkpoint(root, b"first", STAMP, "0" * 16)
    with contextlib.suppress(QuireError):
        keep_checkpoint(root, b"second", STAMP, "0" * 16)
    assert (tmp_path / place).read_bytes() == b"first"


@pytest.mark.parametrize("operation", ["make_folder", "create", "sync_folder"])
def test_a_disk_that_refuses_is_said(tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(found: str, path: str) -> None:
        if found == operation:
            raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr(disk, "before", refuse)
    with pytest.raises(StorageFailed, match="read-only"):
        keep_checkpoint(str(tmp_path), b"x", STAMP, "0" * 16)


def test_one_that_cannot_be_removed_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(tmp_path)
    for number in range(50):
        keep_checkpoint(root, b"x", f"20260302T11{number:02}00Z", f"{number:016x}")

    def refuse(found: str, path: str) -> None:
        if found == "remove":
            raise OSError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(disk, "before", refuse)
    place = keep_checkpoint(root, b"last", "20260303T000000Z", "f" * 16)
    assert (tmp_path / place).read_bytes() == b"last"
    assert len(os.listdir(folder(tmp_path))) == 51


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder(root).parent.mkdir(parents=True)
    folder(root).symlink_to(elsewhere)
    with pytest.raises(OutsideProject):
        keep_checkpoint(str(root), b"x", STAMP, "0" * 16)
    assert list(elsewhere.iterdir()) == []
