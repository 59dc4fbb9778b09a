"""What the kernel tells about folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from quire.files.freshness import watch_folders

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")


def test_every_kind_of_change_is_told_once(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    file = inner / "note.md"
    file.write_text("one")
    watch = watch_folders([str(inner)])
    assert watch is not None
    assert not watch.touched()
    changes = (
        lambda: file.write_text("two"),
        lambda: os.utime(file, (1, 1)),
        lambda: file.with_name("other").write_text("three"),
        lambda: os.replace(file.with_name("other"), file),
        lambda: file.unlink(),
        lambda: inner.rmdir(),
    )
    for number, change in enumerate(changes):
        change()
        assert watch.touched(), number
        assert not watch.touched(), number
    watch.close()


def test_reading_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("one")
    watch = watch_folders([str(tmp_path)])
    assert watch is not None
    assert (tmp_path / "note.md").read_text() == "one"
    assert os.listdir(tmp_path) == ["note.md"]
    assert not watch.touched()
    watch.close()


def test_a_watch_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        watch = watch_folders([str(tmp_path)])
        assert watch is not None
    watch.close()
    watch.close()
    del watch
    assert set(os.listdir("/proc/self/fd")) <= before


def test_what_cannot_be_watched_is_not(tmp_path: Path) -> None:
    assert watch_folders([]) is None
    assert watch_folders([str(tmp_path / "missing")]) is None
    assert watch_folders([str(tmp_path), str(tmp_path / "missing")]) is None
    assert watch_folders(["/proc/self"]) is None  # a file system that is none of a disk or of memory
