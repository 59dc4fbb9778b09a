"""What `write_file` must never put a file in the place of."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from quire.files.durable_write import write_file
from quire.model.errors import StorageFailed


def test_a_link_to_a_pipe_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "settings.json").symlink_to("pipe")
    with pytest.raises(StorageFailed, match="is not a regular file"):
        write_file(str(tmp_path / "settings.json"), b"{}", "00")
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "settings.json"]


def test_a_socket_is_left_alone(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(StorageFailed, match="is not a regular file"):
            write_file(str(tmp_path / "s"), b"{}", "00")
        assert (tmp_path / "s").is_socket()


def test_a_link_to_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("1")
    (tmp_path / "settings.json").symlink_to("real.json")
    write_file(str(tmp_path / "settings.json"), b"2", "00")
    assert (tmp_path / "settings.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "2"


def test_a_folder_that_is_gone_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        write_file(str(tmp_path / "gone" / "file"), b"2", "00")
