"""What tests of a project share: a clock that can be moved, ids that differ."""

from __future__ import annotations

import hashlib
import itertools

import msgspec
import pytest
from clocks import Clock

from quire.files.world import World


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(world: World, clock: Clock) -> World:
    """Tokens that differ in every part: ids and names of checkpoints are made of parts of them."""
    tokens = (hashlib.sha256(b"%d" % number).hexdigest()[:16] for number in itertools.count())
    return msgspec.structs.replace(world, now=clock, token=lambda: next(tokens))
