"""The world is what the test or the process says it is."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from quire.files.world import World, real_world


def test_a_pinned_clock_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_NOW", "2026-03-02T11:19:00+00:00")
    world = real_world()
    assert world.now() == world.now() == datetime(2026, 3, 2, 11, 19, tzinfo=UTC)


def test_without_a_pin_the_clock_runs_in_utc() -> None:
    before = time.time()
    assert before <= real_world().now().timestamp() <= time.time()
    assert real_world().now().tzinfo is UTC


def test_tokens_are_hexadecimal_and_never_repeat() -> None:
    world = real_world()
    tokens = {world.token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(len(token) == 16 and int(token, 16) >= 0 for token in tokens)


def test_the_folder_is_absolute_and_the_process_is_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert real_world().cwd == str(tmp_path)
    assert real_world("below").cwd == str(tmp_path / "below")
    assert real_world().pid == os.getpid()


def test_the_environment_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    world = real_world()
    monkeypatch.setenv("MEMORY_NOW", "2026-03-02T11:19:00+00:00")
    assert "MEMORY_NOW" not in world.env


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOME": "/h"}, "/h/.memory"),
        ({"HOME": "/h", "MEMORY_HOME": "/m"}, "/m"),
        ({"HOME": "/h", "MEMORY_HOME": "m"}, "/here/m"),
        ({"HOME": "/h", "MEMORY_HOME": ""}, "/h/.memory"),
        ({}, ""),
    ],
)
def test_the_registry_lives_where_the_environment_says(world: World, env: dict[str, str], expected: str) -> None:
    assert msgspec.structs.replace(world, env=env, cwd="/here").memory_home == expected


@pytest.mark.parametrize(
    ("text", "seconds"), [("1.5", 1.5), ("0", 0.0), ("-3", 0.0), ("", 30.0), ("soon", 30.0), (None, 30.0)]
)
def test_how_long_to_wait_for_a_lock_is_a_setting(world: World, text: str | None, seconds: float) -> None:
    env = {} if text is None else {"MEMORY_LOCK_TIMEOUT": text}
    assert msgspec.structs.replace(world, env=env).lock_seconds == seconds


@pytest.mark.parametrize("text", ["nan", "inf"])
def test_a_time_limit_that_is_no_number_does_not_wait_for_ever(world: World, text: str) -> None:
    seconds = msgspec.structs.replace(world, env={"MEMORY_LOCK_TIMEOUT": text}).lock_seconds
    assert 0 <= seconds <= 3600
