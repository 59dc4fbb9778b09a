"""Temporary files that a killed `integrate` left beside the files of agents: seen, taken away, and put back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import Here, copy_of

from installed import Memory

OLD = 7200


@pytest.fixture
def here(shared_memory: Memory, tmp_path: Path) -> Here:
    found = copy_of(shared_memory, tmp_path)
    # What is left behind is told from what is being written by the time of the disk.
    found.env = {name: value for name, value in found.env.items() if name != "MEMORY_NOW"}
    return found


def leave(folder: Path, pid: int, age: int = OLD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".quire-{pid}-abc.tmp"
    path.write_text("half a file")
    at = path.stat().st_mtime - age
    os.utime(path, (at, at))
    return path


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that is gone."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


def codes(here: Here) -> list[tuple[str, str]]:
    found = here("check", "--json").json
    return [(item["code"], item["path"]) for item in found["data"]["warnings"] if item["code"] == "LeftoverFiles"]


def test_check_sees_them_repair_takes_them_away_and_undo_puts_them_back(here: Here, dead: int) -> None:
    left = [leave(here.root / folder, dead) for folder in (".cursor", ".claude/skills", "")]
    alive = leave(here.root / ".cursor", os.getpid())
    fresh = leave(here.root / ".gemini", dead, age=0)
    assert sorted(codes(here)) == [
        ("LeftoverFiles", "."),
        ("LeftoverFiles", ".claude/skills"),
        ("LeftoverFiles", ".cursor"),
    ]
    done = here("check", "--repair", "--json").data
    assert [path.exists() for path in left] == [False] * 3
    assert alive.exists()
    assert fresh.exists()
    assert codes(here) == []
    name = done["repair"]["name"] if isinstance(done.get("repair"), dict) else done["name"]
    assert here("check", "--undo", name).code == 0
    assert [path.read_text() for path in left] == ["half a file"] * 3


def test_remove_takes_away_what_a_killed_run_left(here: Here, dead: int) -> None:
    left = [leave(here.root / folder, dead, age=0) for folder in (".cursor", ".claude", "")]
    alive = leave(here.root / ".cursor", os.getpid(), age=0)
    assert here("integrate", "--remove").code == 0
    assert [path.exists() for path in left] == [False] * 3
    assert alive.exists()
