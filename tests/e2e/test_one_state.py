"""Who reads the whole memory while others save sees it as it was at one moment, and finds nothing wrong that is not."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.stores import make_records
from one_state_here import ALIKE, NODES, RELATIONS

from installed import Git, Memory
from quire.files.layout import LOCK
from quire.files.world import real_world
from quire.files.write_access import LockedFolder, in_one_state
from thorough import either

HERE = Path(__file__).parent / "one_state_here.py"
WRITERS, SAVES, OTHERS = either((3, 35, 150), (4, 100, 500))
SECONDS = 600


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each kind of reader found beside writers that saved all the time, by its name."""
    folder = tmp_path_factory.mktemp("one-state")
    env = {**os.environ, "HOME": str(folder), "MEMORY_HOME": str(folder / "home"), "MEMORY_LOCK_TIMEOUT": "300"}
    root = folder / "project"
    root.mkdir()
    git, memory = Git(root, {**env, "GIT_CONFIG_GLOBAL": os.devnull}), Memory(root, env)
    git("init", "--quiet")
    memory.init()
    make_records(root / ".memory", OTHERS)
    names = [f"w{number}" for number in range(WRITERS)]
    for name in names:
        _done(_start(env, "write", root, name, "1"))
    assert memory("check", "--json").data["valid"]
    mark = folder / "writing"
    mark.touch()
    readers = {what: _start(env, what, root, str(mark)) for what in ("check", "export", "diff", "rebuild")}
    writers = [_start(env, "write", root, name, str(SAVES)) for name in names]
    commands = []
    while any(writer.poll() is None for writer in writers):
        commands.append(memory("check", "--json", seconds=SECONDS))
        time.sleep(0.2)
    mark.unlink()
    for writer in writers:
        _done(writer)
    found = {what: json.loads(_done(reader)) for what, reader in readers.items()}
    return {**found, "commands": commands, "records": OTHERS + 1 + WRITERS * NODES}


def _start(env: dict[str, str], *arguments: str | Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, str(HERE), *map(str, arguments)]
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _done(process: subprocess.Popen[bytes]) -> bytes:
    out, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said.decode()[-2000:]
    return out


@pytest.mark.proof
@pytest.mark.parametrize("what", ["check", "export", "diff"])
def test_a_reader_beside_writers_finds_nothing_wrong(looks: dict[str, Any], what: str) -> None:
    assert looks[what]["wrong"] == {}


@pytest.mark.proof
def test_the_command_beside_writers_finds_nothing_wrong(looks: dict[str, Any]) -> None:
    assert [run.code for run in looks["commands"]] == [0] * len(looks["commands"])
    assert {warning["code"] for run in looks["commands"] for warning in run.json["warnings"]} <= {ALIKE}


@pytest.mark.proof
def test_an_index_made_anew_beside_writers_holds_one_state(looks: dict[str, Any]) -> None:
    assert list(looks["rebuild"]["wrong"]) == [f"{looks['records']} records, {WRITERS * RELATIONS} edges"]


# -- writers that do not end --------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Iterator[LockedFolder]:
    (tmp_path / ".memory").mkdir()
    yield LockedFolder(str(tmp_path), ".memory")
    (tmp_path / ".memory").chmod(0o755)


def test_nobody_waits_where_nobody_writes(place: LockedFolder) -> None:
    os.utime(place.path, (1, 1))
    before = os.stat(place.path)
    calls: list[int] = []
    in_one_state(lambda: calls.append(1), real_world(), [place])
    assert calls == [1]
    assert os.stat(place.path).st_mtime_ns == before.st_mtime_ns


def test_the_lock_of_a_dead_writer_is_taken_over(place: LockedFolder) -> None:
    lock = Path(place.path) / LOCK
    lock.write_text('{"pid":999999999,"operation":"save","created_at":"2026-03-02T11:19:00+00:00","kernel":true}\n')
    assert in_one_state(lambda: lock.exists(), real_world(), [place])
    assert not lock.exists()


def test_a_change_that_a_dead_writer_left_on_a_disk_that_cannot_be_written_to_is_no_hindrance(
    place: LockedFolder,
) -> None:
    (Path(place.path) / "recovery/transaction-dead").mkdir(parents=True)
    Path(place.path).chmod(0o555)
    assert in_one_state(lambda: "read", real_world(), [place]) == "read"


def test_who_holds_the_lock_does_not_wait_for_itself(place: LockedFolder) -> None:
    from quire.files.write_access import write_access

    with write_access(place.root, place.folder, real_world(), "test"):
        assert in_one_state(lambda: "read", real_world(), [place]) == "read"
