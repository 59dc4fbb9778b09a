"""What tests of a project share: a disk in memory, a clock that can be moved, ids that differ."""

from __future__ import annotations

import hashlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from clocks import Clock

from quire.files import World


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """On a disk in memory where there is one: how long a disk takes to sync is not the question."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="quire-", dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(world: World, clock: Clock) -> World:
    """Tokens that differ in every part: ids and names of checkpoints are made of parts of them."""
    tokens = (hashlib.sha256(b"%d" % number).hexdigest()[:16] for number in itertools.count())
    return msgspec.structs.replace(world, now=clock, token=lambda: next(tokens))
