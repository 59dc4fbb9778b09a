"""Each check on the way of a write is needed: without any one of them, something is lost that these tests notice."""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from crash_faults import Call, Fault, attach
from crash_states import state_of
from power_loss import Recorder

from promised import proves, tally
from quire.files import disk as seam
from quire.files import durable_write, file_lock, paths, transaction
from quire.files.digests import sha256
from quire.files.durable_write import write_file
from quire.files.transaction import Append, FileUpdate, apply_changes, finish_interrupted
from quire.model.errors import Conflict, LockBusy, StorageFailed
from quire.project import Project
from quire.verbs.ask.status import status
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes

OLD, NEW, THEIRS = b"old\n", b"new\n", b"theirs\n"


class Ground:
    """A folder with one file and one log, and a change of both."""

    def __init__(self, folder: Path) -> None:
        self.root, self.recovery = str(folder / "store"), str(folder / "store/recovery")
        self.file, self.log = folder / "store/a.txt", folder / "store/log.jsonl"
        os.makedirs(self.root)
        self.file.write_bytes(OLD)
        self.log.write_bytes(b"{}\n")

    def change(self) -> None:
        changes = [FileUpdate(path="a.txt", data=NEW, planned=sha256(OLD))]
        apply_changes(self.root, changes, [Append(path="log.jsonl", data=b"{1}\n", size=3)], "t")

    def left(self) -> list[str]:
        return os.listdir(self.recovery) if os.path.isdir(self.recovery) else []


@contextlib.contextmanager
def failing(fault: Fault) -> Iterator[None]:
    attach(fault, (seam,))
    try:
        yield
    finally:
        attach(None, (seam,))


def calls_of(folder: Path) -> list[str]:
    ground, recorder = Ground(folder), Recorder()
    names: list[str] = []

    def note(call: Call) -> Any:
        names.append(f"{call.name} {os.path.basename(call.path)}")
        return recorder(call)

    with failing(note):
        ground.change()
    return names


def wrong_with_somebody_else_at(folder: Path, number: int, decision: int) -> list[str]:
    """What is wrong where somebody writes the file right before this call; nothing is decided after `decision`."""
    ground = Ground(folder)
    decided: list[str] = []

    def intrude(call: Call) -> Any:
        if call.number == number:
            ground.file.write_bytes(THEIRS)
        if call.number >= number and call.path.endswith("intent.json") and call.name == "replace":
            decided.append(call.path)
        return call.do()

    found = []
    with failing(intrude):
        try:
            ground.change()
        except Conflict:
            if ground.log.read_bytes() != b"{}\n":
                found.append("the log grew")
        else:
            found.append("it was done")
    if ground.file.read_bytes() != THEIRS:
        found.append("what they wrote is gone")
    if decided and number < decision:
        found.append("it was decided on a file that had changed")
    return found + [f"left: {name}" for name in ground.left()]


@pytest.fixture
def without_check(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Leave out the check of the file at one of its places."""
    real = transaction._refuse_if_changed

    def leave_out(place: int) -> None:
        turns = iter(range(1, 100))

        def refuse(root: str, path: str, planned: str | None) -> None:
            if next(turns) != place:
                real(root, path, planned)

        monkeypatch.setattr(transaction, "_refuse_if_changed", refuse)

    return leave_out


@proves("P2.1", "A6", over="graph facts profile journal")
@proves("P3.2")
def test_whoever_changes_the_file_at_any_call_before_it_is_replaced_loses_nothing(tmp_path: Path) -> None:
    names = calls_of(tmp_path / "calls")
    last = names.index("open log.jsonl") - 1  # its folder is opened first
    decision = names.index("open transaction-t")  # right after the second check
    assert last > decision >= 8
    for number in range(last):
        assert wrong_with_somebody_else_at(tmp_path / str(number), number, decision) == [], names[number]
    tally("P3.2", faults=last)


@proves("P2.1", "A6", over="graph facts profile journal")
def test_without_the_first_check_a_change_that_comes_too_late_begins_to_write(
    tmp_path: Path, without_check: Callable[[int], None]
) -> None:
    def calls_too_late(folder: Path) -> list[str]:
        ground = Ground(folder)
        ground.file.write_bytes(THEIRS)
        names: list[str] = []
        with failing(lambda call: (names.append(call.name), call.do())[1]), pytest.raises(Conflict):
            ground.change()
        return names

    assert calls_too_late(tmp_path / "sound") == []
    without_check(1)
    assert calls_too_late(tmp_path / "mutant") != []


@proves("P2.1", "A6", over="graph facts profile journal")
@pytest.mark.parametrize("place", [2, 3])
def test_without_a_later_check_it_is_noticed(tmp_path: Path, without_check: Callable[[int], None], place: int) -> None:
    names = calls_of(tmp_path / "calls")
    decision = names.index("open transaction-t")  # right after the second check
    without_check(place)
    number = 1 if place == 2 else decision + 2
    assert wrong_with_somebody_else_at(tmp_path / "mutant", number, decision)


@proves("P2.1", "A6", over="graph facts profile journal")
@proves("P1.3", "C4")
def test_a_disk_that_keeps_other_bytes_than_were_written_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(call: Call) -> Any:
        if call.name == "write" and call.path.endswith("0.new"):
            return os.write(call.arguments[0], bytes(call.arguments[1])[::-1])
        return call.do()

    ground = Ground(tmp_path / "sound")
    with failing(lie), pytest.raises(StorageFailed, match="does not hold the data that was written"):
        ground.change()
    assert (ground.file.read_bytes(), ground.log.read_bytes(), ground.left()) == (OLD, b"{}\n", [])
    mutant = Ground(tmp_path / "mutant")
    monkeypatch.setattr(transaction, "stage", lambda path, data, like=None: seam.create(path, data))
    with failing(lie):
        mutant.change()
    assert mutant.file.read_bytes() == NEW[::-1]


@proves("P2.1", "A6", over="graph facts profile journal wiring")
def test_a_file_that_lies_in_the_way_is_not_written_through(tmp_path: Path) -> None:
    """Somebody may guess the name of a temporary file, and lay a link there."""
    victim, target = tmp_path / "victim", tmp_path / "a.txt"
    victim.write_bytes(THEIRS)
    link = tmp_path / f".quire-{os.getpid()}-t.tmp"

    def plain_open(call: Call) -> Any:
        if call.name == "open" and call.arguments[1] & os.O_EXCL:
            return os.open(call.arguments[0], call.arguments[1] & ~(os.O_EXCL | os.O_NOFOLLOW), 0o666)
        return call.do()

    link.symlink_to(victim)
    with pytest.raises(StorageFailed):
        write_file(str(target), NEW, "t")
    assert victim.read_bytes() == THEIRS
    assert not target.exists()
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    with failing(plain_open), contextlib.suppress(StorageFailed):
        write_file(str(target), NEW, "t")
    assert victim.read_bytes() != THEIRS, "a writer without that guard is noticed"


@proves("P3.2")
@proves("P2.1", "A6", over="graph facts profile journal")
def test_two_writers_are_never_inside_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / ".lock")

    def inside_twice() -> bool:
        first = file_lock.Holder(pid=os.getpid(), operation="one", created_at="2026-03-02T11:19:00+00:00")
        with file_lock.held(path, first, 0, lambda _seconds: None):
            try:
                with file_lock.held(path, first, 0, lambda _seconds: None):
                    return True
            except LockBusy:
                return False

    assert not inside_twice()
    monkeypatch.setattr(file_lock.fcntl, "flock", lambda _descriptor, _how: None)
    assert inside_twice(), "a lock that the kernel does not know of is noticed"


@proves(
    "P1.2",
    "A6",
    over="graph facts journal",
    found="a log that had grown when the power failed kept a line of zeros, and what was saved stood behind it",
)
@pytest.mark.parametrize("kept", [0, 2, 4])
def test_a_log_that_grew_without_its_bytes_is_cut_back_and_completed(tmp_path: Path, kept: int) -> None:
    ground, data = Ground(tmp_path), b'{"n":1}\n'
    folder = Path(ground.recovery, "transaction-dead")
    folder.mkdir(parents=True)
    step = {"action": "append", "path": "log.jsonl", "text": data.decode(), "size": 3}
    (folder / "intent.json").write_bytes(msgspec.json.encode({"version": 1, "steps": [step]}))
    ground.log.write_bytes(b"{}\n" + data[:kept] + bytes(len(data) - kept))
    assert finish_interrupted(ground.root, ground.recovery) == []
    assert ground.log.read_bytes() == b"{}\n" + data
    assert ground.left() == []


@proves(
    "P1.2",
    "A6",
    over="graph facts profile journal wiring",
    found="the mode of a file that is replaced was set after it was synced, and could be lost with the power",
)
def test_the_mode_of_a_file_is_on_the_disk_before_it_takes_the_place_of_another(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_bytes(OLD)
    target.chmod(0o600)
    recorder = Recorder()
    with failing(recorder):
        durable_write.write_file(str(target), NEW, "t")
    names = [entry.name for entry in recorder.log]
    assert names == ["create", "write", "mode", "sync", "rename", "sync"]
    assert target.stat().st_mode & 0o777 == 0o600


@proves("P1.3", "C4", over="facts", found="a file that could not be opened for a moment counted as empty from then on")
@proves("P4.2")
@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.EACCES], ids=errno.errorcode.get)
def test_facts_that_could_not_be_read_for_a_moment_are_there_afterwards(project: Any, code: int) -> None:
    store(project, Store(section="Decisions", content="Mails go out at night."))
    file = Path(project.root, ".memory/facts.jsonl")
    data = file.read_bytes() + b'{"_type":"fact","id":"b","section":"Specs","content":"Theirs.","status":"active"}\n'
    file.write_bytes(data)

    def refuse(call: Call) -> Any:
        if call.path.endswith("facts.jsonl"):
            raise OSError(code, os.strerror(code), call.path)
        return call.do()

    attach(refuse, (paths,))
    try:
        with contextlib.suppress(StorageFailed):
            assert code != errno.EMFILE or list_facts(project, ListFacts()) is None, "nothing is answered in its place"
    finally:
        attach(None, (paths,))
    assert {fact.content for fact in list_facts(project, ListFacts()).results} == {"Mails go out at night.", "Theirs."}
    assert file.read_bytes() == data


@proves("P1.2", "A6", over="graph", found="the copy of what a person had edited could be lost with the power")
def test_the_copy_of_an_edit_is_on_the_disk_by_name_before_the_edit_is_replaced(project: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "feature", "title": "One", "body": "Old."}]})
    Path(project.root, ".memory/memory/one.md").write_bytes(b"Edited by hand.")
    recorder = Recorder()
    with failing(recorder):
        save_nodes(project, {"task": "t", "nodes": [{"id": "feature.one", "body": "New."}]})
    names = [(entry.name, os.path.relpath(entry.path, project.root)) for entry in recorder.log]
    (copy,) = [path for name, path in names if name == "create" and path.endswith("/one.md")]
    assert Path(project.root, copy).read_bytes() == b"Edited by hand."
    (decided,) = [n for n, (name, path) in enumerate(names) if name == "rename" and path.endswith("/intent.json")]
    assert ("sync", os.path.dirname(copy)) in names[names.index(("create", copy)) : decided]


# -- what is judged once ------------------------------------------------------------------------------------------


def change_index(root: Path, line: str) -> None:
    connection = apsw.Connection(str(root / ".memory/index/quire.sqlite"))
    connection.execute(line)
    connection.close()


DIFFERENT: dict[str, Callable[[Path], object]] = {
    "a byte": lambda root: (root / ".memory/events.jsonl").write_bytes(b"{}\n"),
    "a mode": lambda root: (root / ".memory/events.jsonl").chmod(0o600),
    "a file": lambda root: (root / ".memory/.quire-1-x.tmp").write_bytes(b""),
    "a folder": lambda root: (root / ".memory/recovery/transaction-1").mkdir(parents=True),
    "a record of the index": lambda root: change_index(root, "UPDATE records SET text = 'another'"),
    "an index that knows no file": lambda root: change_index(root, "DELETE FROM files"),
    "an index that must look again": lambda root: os.utime(next((root / ".memory/memory").glob("*.json"))),
    "no index": lambda root: shutil.rmtree(root / ".memory/index"),
}


@proves("P1.1")
@pytest.mark.parametrize("what", DIFFERENT)
def test_what_was_left_otherwise_is_judged_for_itself(project: Project, tmp_path: Path, what: str) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Trap", "body": "B."}]})
    status(project)
    before = state_of(str(tmp_path), 99_999_999)
    assert state_of(str(tmp_path), 99_999_999) == before
    DIFFERENT[what](Path(project.root))
    assert state_of(str(tmp_path), 99_999_999) != before


@proves("P1.1")
def test_what_two_processes_left_alike_is_judged_once(tmp_path: Path) -> None:
    found = set()
    for process in (111_111, 222_222):
        space = tmp_path / "space"
        space.mkdir()
        (space / f".quire-{process}-x.tmp").write_text(f'{{"pid": {process}}}\n')
        found.add(state_of(str(space), process))
        shutil.rmtree(space)
    assert len(found) == 1
