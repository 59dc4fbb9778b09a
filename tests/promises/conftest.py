"""The promises are tested on a disk in memory where there is one: they sync often, and its cost is not the question."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_MEMORY = "/dev/shm"
ROOM = 256 * 1024 * 1024


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    if not enough_room():
        yield tmp_path
        return
    folder = tempfile.mkdtemp(prefix="quire-", dir=SHARED_MEMORY)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


def enough_room() -> bool:
    try:
        found = os.statvfs(SHARED_MEMORY)
    except OSError:
        return False
    return os.access(SHARED_MEMORY, os.W_OK) and found.f_bavail * found.f_frsize >= ROOM
