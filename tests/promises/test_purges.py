"""A text that was kept, in every kind of file of ours, and taken out of all of them: no trace, nothing else lost."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crash_faults import spread
from kinds_catalogue import KINDS, Space, kind_of, lent, read_all

from promised import proves, tally
from quire.files import disk
from quire.layers.journal.canonical import content_hash
from quire.model.errors import Conflict
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.purge import purge
from quire.verbs.admin.purge import purge as purge_of
from quire.verbs.admin.repair import repair, repairs_kept, undo_repair
from quire.verbs.admin.reset import reset_project
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.profile.remember import RememberEntry, remember_entry
from thorough import either

pytestmark = proves("P9.3", "G12", over="graph facts profile journal inbox")

ONE_LINE = 'zk"ey/größe\\7Q-vault'
LINES = 'first "line" of wörds/9\nsecond line, \\ its end'
OURS = re.compile(r"harbor/\.(memory|ai-state|agent-memory)/|home/registry/profile/")
LEFT = re.compile(r"harbor/\.memory/integrations/")
FORMED_ANEW = ("index", "page", "map", "sidecar", "hook lock", "profile lock", "run lock")


@pytest.fixture
def space() -> Iterator[Space]:
    yield from lent()


def forms_of(value: str) -> list[bytes]:
    """Written down by any program, with any line ends."""
    found = set()
    for said in (value, value.replace("\n", "\r\n"), value.replace("\n", " ")):
        for ascii_only in (True, False):
            escaped = json.dumps(said, ensure_ascii=ascii_only)[1:-1]
            found |= {said, escaped, escaped.replace("/", "\\/")}
    return [form.encode() for form in found]


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same, and what is in archives among them."""
    found = dict(files)
    for name, data in files.items():
        if name.endswith((".tar", ".tar.gz")):
            with tarfile.open(fileobj=io.BytesIO(data)) as held:
                for member in held.getmembers():
                    if content := held.extractfile(member):
                        found[f"{name}!{member.name}"] = content.read()
    return found


def holders(top: str, value: str) -> set[str]:
    """Every file below a folder that has the value in any form, archives looked into."""
    return {name for name, data in unpacked(read_all(top)).items() if any(form in data for form in forms_of(value))}


def remarked(held: Any, value: str) -> Any:
    """With one more field."""
    return [remarked(held[0], value), *held[1:]] if isinstance(held, list) else {**held, "remark": f"is {value}."}


def planted(space: Space, value: str) -> set[str]:
    """By hand, once into every kind of file that is ours; the paths."""
    found = set()
    for kind, path in space.paths.items():
        if not OURS.match(path) or kind in ("index", "git rules", "own ignore") or path.endswith(".lock"):
            continue
        file = Path(space.folder, path)
        data = file.read_bytes() if file.exists() else space.whole[path]  # a verb may have folded it into another
        form = KINDS[kind].form
        if form == "json":
            data = json.dumps(remarked(json.loads(data), value), indent=2, ensure_ascii=False).encode()
        elif form == "lines":
            first, _, rest = data.partition(b"\n")
            data = json.dumps(remarked(json.loads(first), value)).encode() + b"\n" + rest
        else:
            data += f"\nis {value}.\n".encode()
        file.write_bytes(data)
        found.add(path)
    return found


def told(space: Space, value: str) -> None:
    """By the verbs that people use, into every layer."""
    project = space.open(hours=1)  # before the session that is open there counts as ended
    node = {"kind": "gotcha", "title": "A vault", "body": f"# A vault\n\nIt is {value}.", "tags": ["vault"]}
    save_nodes(project, {"task": "tell", "nodes": [node]})
    line = value.replace("\n", " ")
    store(project, Store(section="Specs", content=f"The vault has {line} in it."))
    remember_entry(project, RememberEntry(category="tools", key="vault", value=f"Opened by {line}."))
    take_note(project, TakeNote(words=[f"look at {line}"]))
    record_session(project, NoteSession(session_id="other", narrative=f"Found {line}.", close=True))


def checked(space: Space) -> list[tuple[str, str, str]]:
    found = check_files(space.open(hours=31))
    return sorted((one.code, one.path or "", one.field or "") for one in (*found.errors, *found.warnings))


@pytest.mark.parametrize("value", [ONE_LINE, LINES], ids=["one line", "lines"])
def test_no_file_of_any_kind_keeps_it_and_nothing_else_changes(space: Space, value: str) -> None:
    told(space, value)
    by_hand = planted(space, value)
    project = space.open()
    answer_question(project, "vault")
    before, faults = read_all(space.folder), checked(space)
    holding = holders(space.folder, value)
    assert by_hand <= holding
    assert len(by_hand) >= 40
    rehearsed = purge(project, [value], dry_run=True)
    assert {name for name, data in read_all(space.folder).items() if before.get(name) != data} <= {
        name for name in before if kind_of(name) == "index"
    }
    done = purge(project, [value])
    assert (done.places, done.dry_run) == (rehearsed.places, False)
    after = read_all(space.folder)
    left = holders(space.folder, value)
    assert {name for name in left if not LEFT.match(name)} == set()
    assert {f"harbor/{place.path}" for place in done.left} == left
    gone = {name for name in before.keys() - after.keys() if kind_of(name) != "index"}
    assert {kind_of(name) for name in gone} == {"rejection"}
    others = {name for name in before if name not in holding and kind_of(name) not in FORMED_ANEW}
    assert {name for name in others if after.get(name) != before[name]} == set()
    assert checked(space) == faults
    tally("P9.3", states=len(before), inputs=len(holding))
    assert purge(project, [value]).places == ()


def test_digests_hold_where_they_held_and_nowhere_else(space: Space) -> None:
    told(space, ONE_LINE)
    edited = Path(space.folder, "harbor/.memory/memory/victim.md")
    edited.write_bytes(edited.read_bytes() + f"\nBy hand: {ONE_LINE}\n".encode())
    faults = checked(space)
    assert [code for code, path, _ in faults if "victim" in path] == ["ObjectContentHashMismatch"]
    purge_of(space.open(), [ONE_LINE])
    assert checked(space) == faults
    found = inspect_node(space.open(), "gotcha.a-vault").node
    assert "It is [purged]." in str(found)
    assert edited.read_bytes().endswith(b"\nBy hand: [purged]\n")


def test_what_sessions_told_goes_from_journal_pages_and_archive(space: Space) -> None:
    """Events, checkpoints, batches of the archive, the state, and what is made of it; its digests hold."""
    faults = checked(space)
    for value in ("login23x0", "mailer11x0"):
        kinds = {kind_of(name) for name in holders(space.folder, value)} - {""}
        assert kinds >= {"state", "checkpoint", "index"}
        done = purge_of(space.open(), [value])
        left = {name for name in holders(space.folder, value) if OURS.match(name) or kind_of(name) == "page"}
        assert left == set()
        assert len(done.places) >= 3
    assert checked(space) == faults
    state = json.loads(Path(space.path("state")).read_bytes())
    assert state["bundleHash"] == content_hash(state["bundle"])
    assert "[purged]" in state["bundle"]["currentFocus"]["summary"]


def test_copies_of_every_sort_are_reached(space: Space) -> None:
    """Archives of a reset, copies of a repair, edits that were kept, what a dead writer left."""
    told(space, ONE_LINE)
    root = Path(space.folder, "harbor")
    sidecar = root / ".memory/memory/a-vault.json"
    held = json.loads(sidecar.read_bytes())
    sidecar.write_text(json.dumps({**held, "tags": ["vault", "vault", ONE_LINE]}, indent=2) + "\n")
    assert repair(space.open()).name
    kept = root / ".memory/recovery/unapplied-0123456789abcdef"
    kept.mkdir()
    (kept / "0.new").write_text(f"is {ONE_LINE}")
    reset_project(space.open())
    assert init_memory(space.open())
    (root / ".memory/local").mkdir(exist_ok=True)
    (root / ".memory/local/hooks.log").write_text(f"said {ONE_LINE}\n")
    holding = holders(space.folder, ONE_LINE)
    assert {name.partition("!")[0].rpartition(".")[2] for name in holding} >= {"gz", "log"}
    done = purge_of(space.open(), [ONE_LINE])
    assert holders(space.folder, ONE_LINE) == set()
    assert any(".backup/" in place.path for place in done.places)
    # What comes out of the archive is whole.
    (archive,) = (root / ".memory/.backup").glob("*.tar.gz")
    data = archive.read_bytes()
    reset_project(space.open(), destroy=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(root, filter="data")
    found = [code for code, path, _ in checked(space) if "a-vault" in path]
    assert "ObjectContentHashMismatch" not in found
    assert holders(space.folder, ONE_LINE) == set()


def test_the_copy_of_a_repair_goes_and_the_others_can_still_be_taken_back(space: Space) -> None:
    told(space, ONE_LINE)
    root = Path(space.folder, "harbor")
    sidecars = [root / f".memory/memory/{name}.json" for name in ("a-vault", "victim")]
    names = []
    for sidecar, tag in zip(sidecars, (ONE_LINE, "plain"), strict=True):
        held = json.loads(sidecar.read_bytes())
        sidecar.write_text(json.dumps({**held, "tags": ["same", "same", tag]}, indent=2) + "\n")
        names.append(repair(space.open()).name)
    done = purge_of(space.open(), [ONE_LINE])
    removed = [place.path for place in done.places if place.action == "removed"]
    assert removed == [f".memory/local/repairs/{names[0]}/memory.tar"]
    assert {name for name in holders(space.folder, ONE_LINE) if not LEFT.match(name)} == set()
    repairs_kept(space.open())
    assert undo_repair(space.open(), names[1]).name == names[1]
    assert json.loads(sidecars[1].read_bytes())["tags"] == ["same", "same", "plain"]


@proves("P9.3", found="an index of the journal's own, from before there was a graph, kept it")
def test_an_index_that_nobody_uses_any_more_goes_too(space: Space) -> None:
    told(space, ONE_LINE)
    folder = Path(space.folder, "harbor/.agent-memory/local/index")
    folder.mkdir(exist_ok=True)
    for name in ("quire.sqlite", "quire.sqlite-wal", "quire.sqlite-journal"):
        (folder / name).write_text(ONE_LINE)
    purge_of(space.open(), [ONE_LINE])
    assert list(folder.iterdir()) == []


def test_an_ordinary_project_has_no_secret(space: Space) -> None:
    before = read_all(space.folder)
    found = purge_of(space.open(), secrets=True)
    assert (found.texts, found.places, found.left) == (0, (), ())
    after = read_all(space.folder)
    assert {name for name in before if after.get(name) != before[name] and kind_of(name) != "index"} == set()


class _Killed(BaseException):
    """The process ends here."""


def test_killed_at_any_call_it_is_done_by_the_next_and_nothing_is_lost(space: Space) -> None:
    told(space, ONE_LINE)
    planted(space, ONE_LINE)
    ready = Space(space.folder, read_all(space.folder))
    calls: list[str] = []
    quiet = disk.before
    try:
        disk.before = lambda operation, path: calls.append(f"{operation} {path}")
        purge_of(space.open(), [ONE_LINE])
        disk.before = quiet
        wanted = _truth(space)
        for number in spread(range(len(calls)), either(8, 0)):
            ready.restore()
            _kill_at(space, number)
            purge_of(space.open(hours=31), [ONE_LINE])
            assert _truth(space) == wanted, (number, calls[number])
            assert {name for name in holders(space.folder, ONE_LINE) if not LEFT.match(name)} == set(), number
            tally("P9.3", faults=1)
    finally:
        disk.before = quiet


@proves("P9.3", found="after a crash before the index went, the next purge found no file, and left the index")
def test_killed_before_the_index_went_the_next_purge_takes_it(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    told(space, ONE_LINE)
    assert answer_question(space.open(), "vault")

    def before(_operation: str, path: str) -> None:
        if "/index/" in path:
            raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", before)
        with pytest.raises(_Killed):
            purge_of(space.open(), [ONE_LINE])
    assert {kind_of(name) for name in holders(space.folder, ONE_LINE)} >= {"index"}
    purge_of(space.open(), [ONE_LINE])
    assert holders(space.folder, ONE_LINE) == set()


def _truth(space: Space) -> dict[str, bytes]:
    """All that means something; what a dead writer had begun, a repair sweeps."""
    return {
        name: data
        for name, data in read_all(space.folder).items()
        if OURS.match(name)
        and "/.quire-" not in name
        and kind_of(name) not in ("index", "hook lock", "profile lock", "run lock")
    }


def _kill_at(space: Space, number: int) -> None:
    count = 0

    def counted(_operation: str, _path: str) -> None:
        nonlocal count
        if count >= number:
            raise _Killed  # a process that is dead calls nothing, whatever it would still tidy up
        count += 1

    before_this = disk.before
    disk.before = counted
    try:
        with pytest.raises(_Killed):
            purge_of(space.open(), [ONE_LINE])
    finally:
        disk.before = before_this


_SAVER = """
import sys
from quire.project import Project
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.store import Store, store
for number in range(int(sys.argv[2])):
    project = Project.open(sys.argv[1])
    store(project, Store(section="Specs", content=f"The {number}th berth opens by {sys.argv[3]} alone."))
    take_note(project, TakeNote(words=[f"berth {number} opens by {sys.argv[3]} too"]))
    print(number, flush=True)
"""


def test_whoever_saves_meanwhile_loses_nothing(space: Space) -> None:
    told(space, ONE_LINE)
    root, times = os.path.join(space.folder, "harbor"), either(4, 20)
    env = {**os.environ, "HOME": f"{space.folder}/home", "MEMORY_HOME": f"{space.folder}/home/registry"}
    line = [sys.executable, "-c", _SAVER, root, str(times), ONE_LINE]
    with subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "0\n", process.stderr.read()
        rounds = 0
        while process.poll() is None and rounds < 50:
            with contextlib.suppress(Conflict):  # it says so where somebody was faster three times
                purge_of(space.open(), [ONE_LINE])
            rounds += 1
        assert process.wait() == 0, process.stderr.read()
    purge_of(space.open(), [ONE_LINE])
    facts = Path(root, ".memory/facts.jsonl").read_text()
    notes = Path(root, ".memory/local/notes.md").read_text()
    for number in range(times):
        assert f"The {number}th berth opens by [purged] alone." in facts
        assert f"berth {number} opens by [purged] too" in notes
    assert {name for name in holders(space.folder, ONE_LINE) if not LEFT.match(name)} == set()
    tally("P9.3", processes=1)
