"""The spool: whoever notes that a session ended, and whoever reads at the same time, nobody's pointer is lost."""

from __future__ import annotations

import os
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.clients.spool import MOST_BYTES, Ended, has_ended, note_ended, take_ended
from quire.files.local_files import held_in_place
from thorough import either

ENDED = ".memory/local/ended.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".memory").mkdir()
    return tmp_path


def ended(number: int, **fields: Any) -> Ended:
    given = {"client": "claude", "session": f"s-{number}", "at": "2026-03-02T11:19:00Z", "event": "session-end"}
    return Ended(**{**given, **fields})


def note(root: Path, item: Ended) -> bool:
    return note_ended(str(root), item, os.urandom(8).hex())


def take(root: Path) -> Any:
    return take_ended(str(root), os.urandom(8).hex())


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".memory/local").glob("ended*"))


def test_what_was_noted_is_taken_once(root: Path) -> None:
    assert not has_ended(str(root))
    assert take(root).sessions == []
    assert all(note(root, ended(number, transcript=f"/t/{number}.jsonl")) for number in range(3))
    assert has_ended(str(root))
    taken = take(root)
    assert taken.sessions == [ended(number, transcript=f"/t/{number}.jsonl") for number in range(3)]
    assert has_ended(str(root))
    taken.done(str(root))
    assert not has_ended(str(root))
    assert take(root).sessions == []
    assert names(root) == []


def test_the_latest_word_of_each_session_counts(root: Path) -> None:
    note(root, ended(1, event="turn-end", at="2026-03-02T11:00:00Z"))
    note(root, ended(1, event="session-end", at="2026-03-02T12:00:00Z"))
    note(root, ended(1, event="turn-end", at="2026-03-02T11:30:00Z"))
    note(root, ended(1, client="codex"))
    found = take(root).sessions
    assert [(item.client, item.event) for item in found] == [("claude", "session-end"), ("codex", "session-end")]


def test_a_reader_that_dies_before_it_is_done_loses_nothing(root: Path) -> None:
    note(root, ended(1))
    take(root)  # and never done
    note(root, ended(2))
    take(root)
    note(root, ended(1, event="turn-end", at="2026-03-02T10:00:00Z"))
    taken = take(root)
    assert sorted(item.session for item in taken.sessions) == ["s-1", "s-2"]
    assert next(item for item in taken.sessions if item.session == "s-1").event == "session-end"
    assert len(names(root)) == 3
    taken.done(str(root))
    assert names(root) == []


def test_what_is_added_after_it_was_read_stays_for_the_next_time(root: Path) -> None:
    """Somebody was still adding to the file when it was taken, and is through before the reader is."""
    note(root, ended(1))
    with held_in_place(str(root / ENDED)), (root / ENDED).open("ab") as file:
        taken = take(root)
        file.write(msgspec.json.encode(ended(2)) + b"\n")
    assert [item.session for item in taken.sessions] == ["s-1"]
    taken.done(str(root))
    assert "s-2" in {item.session for item in take(root).sessions}


def test_damaged_lines_and_odd_files_do_not_count(root: Path) -> None:
    note(root, ended(1))
    file = root / ENDED
    bad = b'\n{\nnull\n[]\n{"client": 5}\n\xff\n{"client": "claude"}\n{"client": "c", "session": ""}\n'
    bad += b'{"client": "c", "session": "s-2", "later": "\xff"}\n'
    file.write_bytes(bad + file.read_bytes() + bad)
    os.mkfifo(root / ".memory/local/ended-pipe.jsonl")
    (root / ".memory/local/ended-folder.jsonl").mkdir()
    taken = take(root)
    assert [item.session for item in taken.sessions] == ["s-1"]


def test_it_is_bounded(root: Path) -> None:
    added = 0
    while note(root, ended(added, summary="x" * 8_000)):
        added += 1
        assert added < 1_000
    assert added > 100
    assert (root / ENDED).stat().st_size <= MOST_BYTES
    assert len(take(root).sessions) == added
    assert note(root, ended(0))


def test_a_folder_without_a_memory_gets_none(tmp_path: Path) -> None:
    assert not note(tmp_path, ended(1))
    assert list(tmp_path.iterdir()) == []
    assert not has_ended(str(tmp_path))
    assert take(tmp_path).sessions == []


def _note(root: Path, numbers: range) -> None:
    for number in numbers:
        assert note(root, ended(number))


def _start(root: Path, processes: int, each: int) -> list[Any]:
    context = get_context("fork")
    started = [context.Process(target=_note, args=(root, range(at * each, (at + 1) * each))) for at in range(processes)]
    for process in started:
        process.start()
    return started


@pytest.mark.proof
def test_many_sessions_end_at_once(root: Path) -> None:
    started = _start(root, 200, 1)
    for process in started:
        process.join()
    assert {process.exitcode for process in started} == {0}
    assert {item.session for item in take(root).sessions} == {f"s-{number}" for number in range(200)}


@pytest.mark.proof
def test_many_sessions_end_while_somebody_reads(root: Path) -> None:
    processes, each = 20, either(50, 400)
    started = _start(root, processes, each)
    seen: set[str] = set()
    until = time.monotonic() + 120
    while any(process.is_alive() for process in started) and time.monotonic() < until:
        taken = take(root)
        seen |= {item.session for item in taken.sessions}
        taken.done(str(root))
    for process in started:
        process.join()
    assert {process.exitcode for process in started} == {0}
    seen |= {item.session for item in take(root).sessions}
    assert {f"s-{number}" for number in range(processes * each)} - seen == set()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_reader_between_opening_and_writing_loses_nothing(
    root: Path, is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moment: the file that was just opened is taken, read and done with before the line is written."""
    note(root, ended(0))
    if not is_there:
        (root / ENDED).unlink()
    seen: set[str] = set()
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if b"s-7" in data:
            for _ in range(2):
                taken = take(root)
                seen.update(item.session for item in taken.sessions)
                taken.done(str(root))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    assert note(root, ended(7))
    monkeypatch.undo()
    seen |= {item.session for item in take(root).sessions}
    assert "s-7" in seen
