"""The file of receipts: bounded, never torn, and what was told is the last thing to be left out."""

from __future__ import annotations

import json
import os
from multiprocessing import get_context
from pathlib import Path

import pytest

from quire.clients.lines import read_log
from quire.clients.receipts import MOST_BYTES, Receipt, ReceiptItem, add_receipt, read_receipts
from thorough import either

PLACE = ".memory/local"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".memory").mkdir()
    return tmp_path


def receipt(number: int, *, items: tuple[ReceiptItem, ...] = (), files: tuple[str, ...] = ()) -> Receipt:
    return Receipt(
        at="2026-03-02T11:19:00Z", client="claude", event="prompt", session=f"s-{number}", items=items, files=files
    )


def item(number: int, outcome: str = "included") -> ReceiptItem:
    return ReceiptItem(ref=f"feature.number-{number}", outcome=outcome, why="because " + "x" * 100, tokens=number)


def sessions(root: Path) -> list[str]:
    return [one.session for one in read_receipts(str(root))]


def test_what_is_added_is_read_again(root: Path) -> None:
    added = [receipt(1, items=(item(1), item(2, "trimmed"))), receipt(2, files=("/a/b.py",))]
    for one in added:
        add_receipt(str(root), one, "00")
    assert read_receipts(str(root)) == added
    assert read_receipts(str(root), "s-2") == added[1:]
    assert read_receipts(str(root), "none") == []
    assert (root / PLACE / ".gitignore").read_bytes() == b"*\n"


def test_a_folder_without_a_memory_gets_none(tmp_path: Path) -> None:
    add_receipt(str(tmp_path), receipt(1), "00")
    assert list(tmp_path.iterdir()) == []
    assert read_receipts(str(tmp_path)) == []
    assert read_log(str(tmp_path), 5) == []


@pytest.mark.proof
def test_a_full_file_makes_way_and_two_are_kept(root: Path) -> None:
    many = tuple(item(number) for number in range(100))
    size = 0
    added = 0
    while size < 5 * MOST_BYTES:
        one = receipt(added, items=many)
        add_receipt(str(root), one, "00")
        added += 1
        size += len(json.dumps(one.session)) + 150 * len(many)
    files = {path.name: path.stat().st_size for path in (root / PLACE).iterdir() if path.suffix == ".jsonl"}
    assert set(files) == {"receipts.jsonl", "receipts-old.jsonl"}
    assert all(length <= MOST_BYTES for length in files.values())
    found = sessions(root)
    # The latest ones, without a gap.
    assert found == [f"s-{number}" for number in range(added - len(found), added)]
    assert sum(files.values()) > MOST_BYTES


def test_what_was_told_is_left_out_last(root: Path) -> None:
    told = tuple(item(number) for number in range(1_000, 1_040))
    others = tuple(item(number, "trimmed") for number in range(1_000))
    add_receipt(str(root), receipt(1, items=(*others, *told)), "00")
    (found,) = read_receipts(str(root))
    assert [one.ref for one in found.items if one.outcome == "included"] == [one.ref for one in told]
    assert len((root / PLACE / "receipts.jsonl").read_bytes()) < 64 * 1024


def test_files_with_long_names_do_not_cost_the_receipt(root: Path) -> None:
    files = tuple(f"/{number}/" + "ü" * 4_000 for number in range(20))
    add_receipt(str(root), receipt(1, items=(item(1),), files=files), "00")
    (found,) = read_receipts(str(root))
    assert [one.ref for one in found.items] == ["feature.number-1"]


def _add(root: str, numbers: list[int]) -> None:
    for number in numbers:
        add_receipt(root, receipt(number, items=(item(number),) * 20), "00")


def _add_in_parallel(root: Path, processes: int, each: int) -> None:
    context = get_context("fork")
    batches = [list(range(at * each, (at + 1) * each)) for at in range(processes)]
    started = [context.Process(target=_add, args=(str(root), batch)) for batch in batches]
    for process in started:
        process.start()
    for process in started:
        process.join()
        assert process.exitcode == 0


@pytest.mark.proof
def test_many_processes_add_whole_lines(root: Path) -> None:
    processes, each = either(20, 50), 10
    _add_in_parallel(root, processes, each)
    lines = (root / PLACE / "receipts.jsonl").read_bytes().splitlines()
    assert {len(json.loads(line)["items"]) for line in lines} == {20}
    assert sorted(sessions(root)) == sorted(f"s-{number}" for number in range(processes * each))


@pytest.mark.proof
def test_whoever_finds_the_file_full_does_not_move_the_next_one_over_the_last(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moment: between finding it full and moving it away, somebody else did so."""
    full = tuple(item(number) for number in range(300))
    file = root / PLACE / "receipts.jsonl"
    count = 0
    while not file.exists() or file.stat().st_size < MOST_BYTES - 60_000:
        add_receipt(str(root), receipt(count, items=full), "00")
        count += 1
    real = os.replace
    others = iter([count, count + 1])

    def replace(source: str, target: str) -> None:
        for number in others:
            add_receipt(str(root), receipt(number, items=full), "00")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    while not (root / PLACE / "receipts-old.jsonl").exists():
        add_receipt(str(root), receipt(-1, items=full), "00")
    monkeypatch.undo()
    found = sessions(root)
    assert [name for name in found if name != "s--1"] == [f"s-{number}" for number in range(count + 2)]


@pytest.mark.proof
def test_many_processes_at_the_moment_at_which_the_file_is_full(root: Path) -> None:
    """Whoever finds it full moves it away; nobody who found the same moves the next one over it."""
    for attempt in range(either(5, 30)):
        for path in (root / PLACE).glob("*.jsonl"):
            path.unlink()
        full = receipt(0, items=tuple(item(number) for number in range(300)))
        count = 0
        file = root / PLACE / "receipts.jsonl"
        while not file.exists() or file.stat().st_size < MOST_BYTES - 60_000:
            add_receipt(str(root), full, "00")
            count += 1
        _add_in_parallel(root, 20, 4)
        found = sessions(root)
        assert found.count("s-0") >= count, attempt
        assert set(found) == {f"s-{number}" for number in range(80)}, attempt
