"""The seam through which every file is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cases import each
from quire.files import disk


@each("add", [disk.append, disk.append_lightly])
def test_nothing_is_added_below_a_folder_that_became_a_link(add: Callable[[str, bytes], None], tmp_path: Path) -> None:
    outside, here = tmp_path / "outside", tmp_path / "here"
    if not outside.exists():
        outside.mkdir()
        here.symlink_to(outside)
    with pytest.raises(OSError):
        add(str(here / "lines.jsonl"), b"one\n")
    assert list(outside.iterdir()) == []
    add(str(outside / "lines.jsonl"), b"one\n")
    add(str(outside / "lines.jsonl"), b"two\n")
    assert (outside / "lines.jsonl").read_bytes() == b"one\ntwo\n"
    (outside / "lines.jsonl").unlink()


@each("add", [disk.append, disk.append_lightly])
def test_a_file_that_takes_no_line_is_named_in_full(add: Callable[[str, bytes], None], tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.mkdir(exist_ok=True)
    with pytest.raises(IsADirectoryError) as raised:
        add(str(path), b"one\n")
    assert raised.value.filename == str(path)
