"""Random histories of up to five branches: whatever git does with them, nothing is lost and everything parses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from branch_ways import Ground, play

from installed import Git
from promised import proves
from quire.files.world import World
from thorough import either

PARTS = 4
HISTORIES = either(1, 250)
"""Of each part."""


@pytest.fixture
def ground(repo: Path, world: World, git: Git) -> Iterator[Ground]:
    with tempfile.TemporaryDirectory(prefix="qh-") as name:
        found = Ground(repo, world, git, Path(name))
        yield found
        found.drivers.close()


@pytest.mark.proof(keep=1)
@proves("P6.4")
@pytest.mark.parametrize("part", range(PARTS))
def test_histories_lose_nothing_and_contest_only_what_people_disagree_on(ground: Ground, part: int) -> None:
    for seed in range(part, HISTORIES * PARTS, PARTS):
        play(ground, seed)
