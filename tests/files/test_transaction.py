"""Many files change together or not at all, also when the process dies in the middle."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.files import disk
from quire.files.digests import sha256
from quire.files.transaction import Append, FileUpdate, apply_changes, finish_interrupted, is_interrupted
from quire.model.errors import Conflict, OutsideProject, StorageFailed

LINE = b'{"event":"one"}\n'
NEWS = b'{"event":"two"}\n{"event":"three"}\n'


class Died(BaseException):
    """The process is gone: from here on it does nothing at all."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "old.md").write_bytes(b"old")
    (folder / "memory" / "gone.md").write_bytes(b"gone")
    (folder / "events.jsonl").write_bytes(LINE)
    return folder


def changes() -> list[FileUpdate]:
    return [
        FileUpdate(path="memory/new.md", data=b"new", planned=None),
        FileUpdate(path="relations/deep/r.json", data=b"{}", planned=None),
        FileUpdate(path="memory/old.md", data=b"newer", planned=sha256(b"old")),
        FileUpdate(path="memory/gone.md", data=None, planned=sha256(b"gone")),
    ]


def run(store: Path, size: int = len(LINE)) -> None:
    appends = [Append(path="events.jsonl", data=NEWS, size=size)]
    apply_changes(str(store), changes(), appends, "feed")


def recover(store: Path) -> list[str]:
    return finish_interrupted(str(store), str(store / "recovery"))


def files(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


BEFORE = {"events.jsonl": LINE, "memory/gone.md": b"gone", "memory/old.md": b"old"}
AFTER = {
    "events.jsonl": LINE + NEWS,
    "memory/new.md": b"new",
    "memory/old.md": b"newer",
    "relations/deep/r.json": b"{}",
}


def dying(monkeypatch: pytest.MonkeyPatch, at: int) -> list[str]:
    """Let the process die at the call with this number; the calls made so far."""
    made: list[str] = []

    def before(operation: str, path: str) -> None:
        made.append(f"{operation} {os.path.basename(path)}")
        if len(made) > at:
            raise Died

    monkeypatch.setattr(disk, "before", before)
    return made


def die(store: Path, at: int) -> bool:
    """Whether the transaction died at this call."""
    with pytest.MonkeyPatch.context() as patch:
        dying(patch, at)
        try:
            run(store)
        except Died:
            return True
    return False


def deaths(store: Path, tmp_path: Path) -> Iterator[Path]:
    """The store as every possible death leaves it."""
    at = 0
    while True:
        copy = tmp_path / f"copy-{at}"
        shutil.copytree(store, copy)
        if not die(copy, at):
            return
        yield copy
        at += 1


def decided(store: Path) -> None:
    """Die right after the decision: nothing is applied, everything is staged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "before", lambda operation, _path: operation == "append" and (_ for _ in ()).throw(Died))
        patch.setattr("quire.files.transaction._sweep", lambda _folder: None)
        with pytest.raises(Died):
            run(store)
    assert is_interrupted(str(store / "recovery"))


def test_every_change_is_made_and_the_folder_is_swept(store: Path) -> None:
    run(store)
    assert files(store) == AFTER
    assert os.listdir(store / "recovery") == []
    assert not is_interrupted(str(store / "recovery"))


def test_a_file_that_was_changed_since_it_was_read_stops_everything(store: Path) -> None:
    (store / "memory" / "old.md").write_bytes(b"edited by hand")
    with pytest.raises(Conflict, match=r"memory/old\.md"):
        run(store)
    assert files(store) == {**BEFORE, "memory/old.md": b"edited by hand"}


def test_a_file_that_should_be_new_and_is_there_stops_everything(store: Path) -> None:
    (store / "memory" / "new.md").write_bytes(b"mine")
    with pytest.raises(Conflict, match=r"memory/new\.md"):
        run(store)
    assert files(store) == {**BEFORE, "memory/new.md": b"mine"}


def test_whoever_opens_the_store_after_a_death_finds_all_or_nothing(store: Path, tmp_path: Path) -> None:
    outcomes = []
    for copy in deaths(store, tmp_path):
        recover(copy) if is_interrupted(str(copy / "recovery")) else None
        assert files(copy) in (BEFORE, AFTER)
        assert not list((copy / "recovery").glob("*"))
        outcomes.append(files(copy) == AFTER)
    assert len(outcomes) > 25
    assert outcomes == sorted(outcomes), "once decided, a transaction is always completed"
    assert set(outcomes) == {True, False}


def test_a_death_during_the_recovery_is_recovered_from_too(store: Path, tmp_path: Path) -> None:
    decided(store)
    at = 0
    while True:
        copy = tmp_path / f"copy-{at}"
        shutil.copytree(store, copy)
        with pytest.MonkeyPatch.context() as patch:
            dying(patch, at)
            try:
                recover(copy)
                break
            except Died:
                at += 1
        recover(copy)
        assert files(copy) == AFTER
    assert at > 10
    assert files(copy) == AFTER


def test_finishing_twice_does_no_harm(store: Path) -> None:
    decided(store)
    shutil.copytree(store / "recovery", store.parent / "again")
    assert recover(store) == []
    shutil.copytree(store.parent / "again", store / "recovery", dirs_exist_ok=True)
    recover(store)
    assert {name: data for name, data in files(store).items() if "recovery" not in name} == AFTER


@pytest.mark.parametrize("written", range(len(NEWS) + 1))
def test_a_log_line_written_by_half_is_completed_and_never_doubled(store: Path, written: int) -> None:
    decided(store)
    (store / "events.jsonl").write_bytes(LINE + NEWS[:written])
    recover(store)
    assert (store / "events.jsonl").read_bytes() == LINE + NEWS


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (LINE + b"other\n", LINE + b"other\n" + NEWS),
        (LINE + b"other", LINE + b"other\n" + NEWS),
        (LINE + NEWS + b"other\n", LINE + NEWS + b"other\n"),
        (LINE + b"other\n" + NEWS, LINE + b"other\n" + NEWS),
        (b"quite another, longer log\n", b"quite another, longer log\n" + NEWS),
        (b"quite another, longer log", b"quite another, longer log\n" + NEWS),
        (b"short\n", b"short\n" + NEWS),
        (b"short", b"short\n" + NEWS),
        (b"", NEWS),
        (None, NEWS),
    ],
)
def test_lines_that_others_wrote_after_the_death_stay_whole(store: Path, log: bytes | None, expected: bytes) -> None:
    decided(store)
    (store / "events.jsonl").unlink()
    if log is not None:
        (store / "events.jsonl").write_bytes(log)
    recover(store)
    assert (store / "events.jsonl").read_bytes() == expected


def test_a_log_without_a_final_newline_gets_one_before_the_next_line(store: Path) -> None:
    (store / "events.jsonl").write_bytes(LINE.rstrip())
    run(store, size=len(LINE) - 1)
    assert (store / "events.jsonl").read_bytes() == LINE + NEWS


def test_what_somebody_changed_after_the_death_is_kept_and_ours_is_set_aside(store: Path) -> None:
    decided(store)
    (store / "memory" / "old.md").write_bytes(b"edited by hand")
    (store / "memory" / "gone.md").write_bytes(b"edited too")
    (kept,) = recover(store)
    assert Path(kept).read_bytes() == b"newer"
    found = {name: data for name, data in files(store).items() if not name.startswith("recovery")}
    assert found == {**AFTER, "memory/old.md": b"edited by hand", "memory/gone.md": b"edited too"}
    assert not is_interrupted(str(store / "recovery"))


def test_a_folder_that_vanished_after_the_death_is_made_again(store: Path) -> None:
    decided(store)
    shutil.rmtree(store / "relations")
    recover(store)
    assert files(store) == AFTER


def test_a_decision_of_a_newer_version_is_set_aside_and_nothing_of_it_is_lost(store: Path) -> None:
    decided(store)
    folder = store / "recovery" / "transaction-feed"
    intent = json.loads((folder / "intent.json").read_bytes())
    (folder / "intent.json").write_text(json.dumps({**intent, "version": 2}), encoding="utf-8")
    staged = sorted(os.listdir(folder))
    (kept,) = recover(store)
    assert sorted(os.listdir(kept)) == staged
    assert {name: data for name, data in files(store).items() if not name.startswith("recovery")} == BEFORE
    assert not is_interrupted(str(store / "recovery"))


@pytest.mark.parametrize(
    "step",
    [
        {"action": "replace", "path": "memory/x.md", "staged": "../../../victim"},
        {"action": "replace", "path": "memory/x.md", "staged": "ABSOLUTE"},
        {"action": "replace", "path": "../../victim", "staged": "0.new"},
        {"action": "remove", "path": "../../victim"},
        {"action": "append", "path": "../../victim", "text": "more"},
    ],
)
def test_a_decision_that_a_repository_brings_along_reaches_nothing_outside(store: Path, step: dict[str, str]) -> None:
    victim = store.parent / "victim"
    victim.write_bytes(b"precious")
    step = {name: text.replace("ABSOLUTE", str(victim)) for name, text in step.items()}
    folder = store / "recovery" / "transaction-evil"
    folder.mkdir(parents=True)
    (folder / "0.new").write_bytes(b"evil")
    (folder / "intent.json").write_text(json.dumps({"version": 1, "steps": [step]}), encoding="utf-8")
    recover(store)
    assert victim.read_bytes() == b"precious"
    assert not (store / "memory" / "x.md").exists()
    assert not is_interrupted(str(store / "recovery"))


@pytest.mark.parametrize("link", ["recovery", "recovery/transaction-evil"])
def test_a_link_among_the_recovery_folders_is_never_swept(store: Path, link: str) -> None:
    outside = store.parent / "outside"
    (outside / "transaction-x").mkdir(parents=True)
    (outside / "thesis.txt").write_bytes(b"precious")
    (outside / "transaction-x" / "thesis.txt").write_bytes(b"precious")
    (store / link).parent.mkdir(exist_ok=True)
    (store / link).symlink_to(outside)
    assert not is_interrupted(str(store / "recovery"))
    recover(store)
    assert (outside / "thesis.txt").read_bytes() == b"precious"
    assert (outside / "transaction-x" / "thesis.txt").read_bytes() == b"precious"


def test_nothing_is_staged_through_a_link(store: Path) -> None:
    (store.parent / "outside").mkdir()
    (store / "recovery").symlink_to(store.parent / "outside")
    with pytest.raises(OutsideProject):
        run(store)
    assert os.listdir(store.parent / "outside") == []
    assert files(store) == BEFORE


@pytest.mark.parametrize("link", ["memory", "memory/old.md", "events.jsonl", "relations"])
def test_nothing_is_written_through_a_link_of_the_store(store: Path, link: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    if (store / link).exists():
        shutil.move(store / link, outside)
    else:
        outside.mkdir()
    (store / link).symlink_to(outside)
    before = files(outside) if outside.is_dir() else outside.read_bytes()
    with pytest.raises((OutsideProject, OSError)):
        run(store)
    assert (files(outside) if outside.is_dir() else outside.read_bytes()) == before
    assert not is_interrupted(str(store / "recovery"))


def test_things_in_the_recovery_folder_that_are_not_ours_are_left_alone(store: Path) -> None:
    (store / "recovery").mkdir()
    (store / "recovery" / "transaction-note.txt").write_bytes(b"a file, not a folder")
    (store / "recovery" / "2026-03-02T11-19-00-00-00").mkdir()
    before = files(store)
    assert recover(store) == []
    assert files(store) == before


@pytest.mark.parametrize("after", ["append", "rename"])
def test_a_disk_that_refuses_leaves_the_old_state_or_says_that_the_change_will_be_completed(
    store: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    def before(operation: str, path: str) -> None:
        if operation == after and not path.endswith("intent.json"):
            raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(disk, "before", before)
    with pytest.raises((OSError, StorageFailed)) as raised:
        run(store)
    monkeypatch.undo()
    if isinstance(raised.value, StorageFailed):
        assert "completes the change" in (raised.value.hint or "")
        recover(store)
        assert files(store) == AFTER
    else:
        assert files(store) == BEFORE
        assert not is_interrupted(str(store / "recovery"))


def test_a_log_that_could_not_be_synced_is_cut_back(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(operation: str, path: str) -> None:
        if operation == "fsync" and path.endswith("events.jsonl"):
            raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(disk, "before", before)
    with pytest.raises(OSError, match="Input/output"):
        run(store)
    assert files(store) == BEFORE
    assert not is_interrupted(str(store / "recovery"))


@pytest.mark.parametrize("path", ["../outside", "/nowhere/at/all", "a/../../b", "", "a//b", "~/x", "a\\b", "a\0b"])
def test_a_change_outside_the_store_is_refused(store: Path, path: str) -> None:
    with pytest.raises(OutsideProject):
        apply_changes(str(store), [FileUpdate(path=path, data=b"x", planned=None)], [], "feed")
    assert files(store) == BEFORE
