"""Changing facts through the project: all or nothing, once, beside other programs, and told as it was done."""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from changing import TEXTS, Memory, line

from quire.files import disk
from quire.layers.facts.layout import LINE_BYTES, VERSION_MOST
from quire.layers.facts.lines import read_lines
from quire.model.errors import (
    Conflict,
    InputError,
    NotFound,
    NotInitialized,
    QuireError,
    SecretDetected,
    StorageFailed,
)
from quire.project import Project
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.import_ import Import, import_facts
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.verb import Arguments

FOREIGN = line("fact", "foreign", content="Written by another program.", version=50)
Act = Callable[[Memory], Any]

# Each on a memory that holds the facts a and b and the connection e.
ACTS: dict[str, Act] = {
    "store": lambda memory: store(memory.project, Store(section="Specs", content=TEXTS[2])),
    "confirm": lambda memory: store(memory.project, Store(section="Specs", content=TEXTS[0], session="s-9")),
    "supersede": lambda memory: supersede(memory.project, Supersede(fact_id="a", content=TEXTS[3])),
    "take over": lambda memory: supersede(memory.project, Supersede(fact_id="a", content=TEXTS[1])),
    "archive": lambda memory: archive(memory.project, Archive(fact_ids="a", reason="stale")),
    "archive edge": lambda memory: archive(memory.project, Archive(fact_ids="edge:e")),
    "restore": lambda memory: restore(memory.project, Restore(fact_ids="c")),
    "connect": lambda memory: connect(memory.project, Connect(source="b", target="a", relation="enables")),
    "confirm edge": lambda memory: connect(
        memory.project, Connect(source="a", target="b", relation="depends_on", session="s-9")
    ),
    "session": lambda memory: record_session(memory.project, NoteSession(session_id="s-1", turns=2, close=True)),
    "import": lambda memory: import_facts(memory.project, Import(data=line("fact", "i", content=TEXTS[4]), source="x")),
    "propose": lambda memory: take_in_documents(
        memory.project,
        {"kind": "design-decision", "authority": "inferred", "section": "Decisions", "content": TEXTS[5]},
    ),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield Memory(str(tmp_path))


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """Three facts and a connection, which the index knows."""
    memory.file.write_bytes(
        line("fact", "a", content=TEXTS[0], version=1)
        + line("fact", "b", content=TEXTS[1], version=2)
        + line("fact", "c", content="Put away.", version=3, status="archived")
        + line("edge", "e", source_id="a", target_id="b", version=4)
    )
    list_facts(memory.project, ListFacts())
    return memory


# -- all or nothing, and once ---------------------------------------------------------------


@pytest.mark.parametrize("act", ACTS)
def test_a_change_shows_in_the_file_and_in_the_index(filled: Memory, act: str) -> None:
    before = filled.data
    ACTS[act](filled)
    assert filled.data != before
    filled.check()


@pytest.mark.parametrize("act", ACTS)
def test_every_other_line_is_as_it_was(filled: Memory, act: str) -> None:
    before = filled.data.split(b"\n")[:-1]
    ACTS[act](filled)
    after = filled.data.split(b"\n")[:-1]
    touched = {
        "confirm": [0],
        "supersede": [0],
        "take over": [0, 1],
        "archive": [0],
        "archive edge": [3],
        "restore": [2],
        "confirm edge": [3],
    }.get(act, [])
    assert [number for number, (old, new) in enumerate(zip(before, after, strict=False)) if old != new] == touched
    added = 1 if act in ("store", "supersede", "connect", "session", "import", "propose") else 0
    assert len(after) == len(before) + added
    if not touched:
        assert filled.data.startswith(b"\n".join(before) + b"\n")


@pytest.mark.parametrize("act", [name for name in ACTS if name not in ("propose",)])
def test_the_same_again_changes_nothing(filled: Memory, act: str) -> None:
    ACTS[act](filled)
    after = filled.data
    refused = pytest.raises(InputError) if act in ("supersede", "take over") else contextlib.nullcontext()
    for minutes in (0, 5):
        filled.wait(minutes=minutes)
        with refused:
            ACTS[act](filled)
        assert filled.data == after
    filled.check()


@pytest.mark.parametrize("act", ACTS)
def test_versions_only_grow(filled: Memory, act: str) -> None:
    ACTS[act](filled)
    reading = read_lines(filled.data)
    versions = {record.id: record.version for record in (*reading.facts, *reading.connections, *reading.episodes)}
    for name, version in (("a", 1), ("b", 2), ("c", 3), ("e", 4)):
        assert versions[name] == version or versions[name] > 4
    if act != "import":
        assert max(versions.values()) > 4


DRY: dict[str, Act] = {
    "store": lambda memory: store(memory.project, Store(section="Specs", content=TEXTS[2], dry_run=True)),
    "supersede": lambda memory: supersede(memory.project, Supersede(fact_id="a", content=TEXTS[3], dry_run=True)),
    "archive": lambda memory: archive(memory.project, Archive(fact_ids="a", dry_run=True)),
    "restore": lambda memory: restore(memory.project, Restore(fact_ids="c", dry_run=True)),
    "connect": lambda memory: connect(
        memory.project, Connect(source="b", target="a", relation="enables", dry_run=True)
    ),
    "import": lambda memory: import_facts(memory.project, Import(data=FOREIGN, source="x", dry_run=True)),
    "normalize": lambda memory: normalize(memory.project, Normalize()),
    "faded": lambda memory: archive(memory.project, Archive(faded=True, dry_run=True)),
    "ingest": lambda memory: take_in_documents(memory.project, dry_run=True),
}


@pytest.mark.parametrize("act", DRY)
def test_a_dry_run_writes_nothing(filled: Memory, tree: Callable[..., dict[str, bytes]], act: str) -> None:
    before = tree(Path(filled.project.root))
    assert DRY[act](filled)
    assert tree(Path(filled.project.root)) == before
    filled.check()


def test_what_a_dry_run_says_is_what_is_done(filled: Memory) -> None:
    said = supersede(filled.project, Supersede(fact_id="a", content=TEXTS[3], reason="moved", dry_run=True))
    done = supersede(filled.project, Supersede(fact_id="a", content=TEXTS[3], reason="moved"))
    said.new.id = said.new.ref = done.new.id = done.new.ref = ""
    said.old.replaced_by = done.old.replaced_by = ()
    said.dry_run = done.dry_run
    assert said == done


BAD: dict[str, tuple[Act, type[QuireError]]] = {
    "section": (lambda memory: store(memory.project, Store(section="Nowhere", content="x")), InputError),
    "content": (lambda memory: store(memory.project, Store(section="Specs", content=" ")), InputError),
    "credential": (
        lambda memory: store(memory.project, Store(section="Specs", content="AKIA" + "Z7Q2M4X9P1L5K8W3")),
        SecretDetected,
    ),
    "unknown": (lambda memory: supersede(memory.project, Supersede(fact_id="none", content="x")), NotFound),
    "same": (lambda memory: supersede(memory.project, Supersede(fact_id="a", content=TEXTS[0])), InputError),
    "put away": (lambda memory: supersede(memory.project, Supersede(fact_id="c", content="x")), InputError),
    "no id": (lambda memory: archive(memory.project, Archive(fact_ids=[])), InputError),
    "itself": (lambda memory: connect(memory.project, Connect(source="a", target="a", relation="enables")), InputError),
    "relation": (lambda memory: connect(memory.project, Connect(source="a", target="b", relation="!")), InputError),
    "end": (
        lambda memory: connect(memory.project, Connect(source="a", target="feature.none", relation="enables")),
        NotFound,
    ),
    "offset": (lambda memory: list_facts(memory.project, ListFacts(offset=-1)), InputError),
    "limit": (lambda memory: list_facts(memory.project, ListFacts(limit=0)), InputError),
}


@pytest.mark.parametrize("act", BAD)
def test_an_error_has_a_hint_and_changes_nothing(
    filled: Memory, tree: Callable[..., dict[str, bytes]], act: str
) -> None:
    work, kind = BAD[act]
    store(filled.project, Store(section="Specs", content="So that everything is there that a first change brings."))
    before = tree(Path(filled.project.root))
    with pytest.raises(kind) as refusal:
        work(filled)
    assert refusal.value.hint
    assert tree(Path(filled.project.root)) == before


def test_without_a_memory_nothing_is_made(tmp_path: Path, memory: Memory) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    project = Project(str(root), memory.project.world)
    for work in (
        lambda: store(project, Store(section="Specs", content="x")),
        lambda: list_facts(project, ListFacts()),
        lambda: overview(project, Arguments()),
    ):
        with pytest.raises(NotInitialized):
            work()
    assert list(root.iterdir()) == []


# -- other programs -------------------------------------------------------------------------


def appends(memory: Memory) -> None:
    with memory.file.open("ab") as file:
        file.write(FOREIGN)


class Intruder:
    """Another program that does something at the first moment of a kind."""

    def __init__(self, memory: Memory, work: Callable[[Memory], None] = appends, times: int = 1) -> None:
        self.memory, self.work, self.times = memory, work, times

    def __call__(self) -> None:
        if self.times:
            self.times -= 1
            self.work(self.memory)

    def when_planning(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """At every look at the clock while the index is asked."""
        from quire.layers.facts import drafts

        real = drafts.time_text

        def noted(moment: Any) -> str:
            found = real(moment)
            self()
            return found

        monkeypatch.setattr(drafts, "time_text", noted)

    def when_writing(self, monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
        def before(found: str, _path: str) -> None:
            if (found == operation and "transaction-" in _path) or found == operation == "append":
                self()

        monkeypatch.setattr(disk, "before", before)


PLANNED = ("store", "confirm", "supersede", "archive", "restore", "connect", "archive edge", "session", "propose")


@pytest.mark.parametrize("act", PLANNED)
def test_what_came_while_it_was_planned_is_known_and_stays(
    filled: Memory, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Intruder(filled).when_planning(monkeypatch)
    ACTS[act](filled)
    monkeypatch.undo()
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    assert FOREIGN in filled.data
    assert read_lines(filled.data).facts
    filled.check()
    # The version of what was written knows of the other line.
    assert max(record.version for record in (*read_lines(filled.data).facts, *read_lines(filled.data).episodes)) > 49


def test_what_another_program_did_to_the_same_fact_is_not_undone(
    filled: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edits(memory: Memory) -> None:
        memory.file.write_bytes(memory.data.replace(b'"version": 1}', b'"version": 30, "colour": "red"}'))

    Intruder(filled, edits).when_planning(monkeypatch)
    archive(filled.project, Archive(fact_ids="a", reason="stale"))
    (found,) = [fact for fact in read_lines(filled.data).facts if fact.id == "a"]
    assert (found.status, found.version, found.extra) == ("archived", 31, {"colour": "red"})


def test_who_never_stops_writing_is_not_waited_for(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    Intruder(filled, times=99).when_planning(monkeypatch)
    with pytest.raises(Conflict):
        store(filled.project, Store(section="Specs", content=TEXTS[2]))
    assert TEXTS[2].encode() not in filled.data
    assert filled.data.count(FOREIGN) == 3


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize("operation", ["create", "fsync", "rename", "append", "sync_folder"])
@pytest.mark.parametrize("act", ["store", "connect", "propose", "confirm", "archive", "supersede"])
def test_what_came_while_it_was_written_is_known_to_the_index(
    filled: Memory, act: str, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes between: the file may not lose his line, and the index may not believe that it knows the file."""
    Intruder(filled).when_writing(monkeypatch, operation)
    try:
        ACTS[act](filled)
    except Conflict:
        assert act in ("confirm", "archive", "supersede")
    monkeypatch.undo()
    filled.check()
    if operation in ("create", "fsync", "append", "sync_folder") or act in ("store", "connect", "propose"):
        came = filled.data.count(FOREIGN)
        assert came == (0 if operation == "append" and act in ("confirm", "archive", "supersede") else 1)


def test_two_projects_take_turns(filled: Memory) -> None:
    other = Project.open(filled.project.root, filled.project.world)
    first = store(filled.project, Store(section="Specs", content=TEXTS[2])).fact.id
    assert store(other, Store(section="Specs", content=TEXTS[2])).fact.id == first
    supersede(other, Supersede(fact_id=first, content=TEXTS[4]))
    with pytest.raises(InputError):
        supersede(filled.project, Supersede(fact_id=first, content=TEXTS[5]))
    filled.check()


def test_a_file_that_goes_and_comes_back(filled: Memory) -> None:
    data = filled.data
    filled.file.unlink()
    assert list_facts(filled.project, ListFacts()).total == 0
    name = filled.store(TEXTS[2])
    filled.check()
    assert read_lines(filled.data).facts[0].version == 1
    filled.file.write_bytes(data)
    assert list_facts(filled.project, ListFacts()).total == 2
    with pytest.raises(NotFound):
        inspect_fact(filled.project, f"fact:{name}")
    filled.check()


# -- a disk that refuses, an index that is none ---------------------------------------------


@pytest.mark.parametrize("act", ["store", "archive"])
def test_a_full_disk_is_said_and_changes_nothing(filled: Memory, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled.data

    def full(operation: str, path: str) -> None:
        if (operation in ("create", "append") and "recovery" in path) or path.endswith("facts.jsonl"):
            raise OSError(errno.ENOSPC, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", full)
        with pytest.raises(StorageFailed, match="the disk is full"):
            ACTS[act](filled)
    assert filled.data == before
    ACTS[act](filled)
    filled.check()


@pytest.mark.parametrize("act", ["store", "archive", "connect"])
def test_an_index_that_cannot_be_written_to(filled: Memory, act: str) -> None:
    folder = Path(filled.project.root, ".memory", "index")
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    ACTS[act](filled)
    assert list_facts(filled.project, ListFacts()).total == {"store": 3, "archive": 1, "connect": 2}[act]
    folder.unlink()
    filled.check()


@pytest.mark.parametrize("act", ["store", "archive", "connect"])
def test_an_index_that_is_damaged(filled: Memory, act: str) -> None:
    path = Path(filled.project.root, ".memory", "index", "quire.sqlite")
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    ACTS[act](filled)
    filled.check()


# -- odd files ------------------------------------------------------------------------------


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("name", ["ä", 'a"b', "a\\b", "a/b", "🙂", "edge:x", "episode:x", "feature.x", "%", "a'b"])
def test_a_fact_of_any_id_can_be_changed(memory: Memory, name: str) -> None:
    memory.file.write_bytes(line("fact", name, content=TEXTS[0]) + line("fact", "b", content=TEXTS[1]))
    assert archive(memory.project, Archive(fact_ids=[f"fact:{name}"])).changed == 1
    memory.check()
    assert restore(memory.project, Restore(fact_ids=[f"fact:{name}"])).changed == 1
    connect(memory.project, Connect(source=f"fact:{name}", target="b", relation="enables"))
    memory.check()
    assert supersede(memory.project, Supersede(fact_id=f"fact:{name}", content=TEXTS[2])).old.id == name
    memory.check()


def test_the_highest_version_there_can_be(memory: Memory) -> None:
    """A line that took the last version leaves none: that is said, and nothing unreadable is written."""
    memory.file.write_bytes(
        line("fact", "a", content=TEXTS[0], version=VERSION_MOST) + line("fact", "b", content=TEXTS[1])
    )
    for act in ("store", "archive"):
        with contextlib.suppress(QuireError):
            ACTS[act](memory)
        memory.check()
    problems = [problem.code for problem in read_lines(memory.data).problems]
    assert "FieldUnusable" not in problems


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("room", [500, 60, 0])
def test_the_longest_line_that_is_read(memory: Memory, room: int) -> None:
    """One very long line of another writer may not stop everything else."""
    empty = len(line("fact", "long", content="").rstrip(b"\n"))
    memory.file.write_bytes(
        line("fact", "long", content="word " * ((LINE_BYTES - room - empty) // 5)) + line("fact", "b", content=TEXTS[1])
    )
    assert list_facts(memory.project, ListFacts()).total == 2
    find_facts(memory.project, Recall(query="word"), note=False)
    memory.store(TEXTS[2])
    with contextlib.suppress(QuireError):
        archive(memory.project, Archive(fact_ids="long", reason="too long " * 20))
    assert {"long", "b"} < set(memory.names())
    memory.check(answers=False)


def test_lines_of_both_sides_of_a_merge(memory: Memory) -> None:
    """Twins, an edit on either side, a tombstone, the marks of a conflict, half a line."""
    memory.file.write_bytes(
        b"<<<<<<< ours\n"
        + line("fact", "a", content=TEXTS[0], version=3)
        + line("fact", "t1", content=TEXTS[1])
        + b"=======\n"
        + line("fact", "a", content=TEXTS[2], version=3, tags=["theirs"])
        + line("fact", "t2", content=TEXTS[1], created_at="2026-03-02T00:00:00Z")
        + line("fact", "gone", content=TEXTS[3], version=1)
        + line("fact", "gone", content=TEXTS[3], version=2, status="archived")
        + b">>>>>>> theirs\n"
        + b'{"_type":"fact","id":"half'
    )
    memory.check()
    before = memory.data
    archive(memory.project, Archive(fact_ids=["t2", "a"], reason="stale"))
    memory.check()
    for row in before.split(b"\n"):
        if b'"t1"' not in row and b'"t2"' not in row and b'"a"' not in row:
            assert row in memory.data.split(b"\n")
    assert line("fact", "a", content=TEXTS[2], version=3, tags=["theirs"]).strip() in memory.data.split(b"\n")
    memory.store(TEXTS[4])
    normalize(memory.project, Normalize(write=not False))
    memory.check()
    assert b'{"_type":"fact","id":"half' in memory.data
    assert b"<<<<<<<" not in memory.data


# -- what is told ---------------------------------------------------------------------------


def test_what_is_told_of_a_new_fact(memory: Memory) -> None:
    done = store(
        memory.project,
        Store(section="specs", content="- The port is open.", tags=("sea",), source="tool-call", session="s"),
    )
    view = done.fact
    assert (done.action, done.similar, done.equal_archived, done.warnings) == ("stored", [], [], [])
    assert (view.content, view.section, view.status, view.tags, view.source) == (
        "The port is open.",
        "Specs",
        "active",
        ("sea",),
        "tool-call",
    )
    assert (view.ref, view.confidence, view.reinforcements, view.mind) == (f"fact:{view.id}", 1.0, 1, "default")


def test_what_says_nearly_the_same_is_named(memory: Memory) -> None:
    first = memory.store("The retry queue keeps failed invoices for ninety days.")
    other = memory.store("The retry queue keeps invoices that failed.", section="Specs")
    memory.store("The retry queue keeps failed invoices for twenty days.", mind="side")
    done = store(
        memory.project, Store(section="Architecture", content="The retry queue keeps failed invoices for sixty days.")
    )
    assert [(item.id, item.section, item.opposite) for item in done.similar] == [
        (first, "Architecture", True),
        (other, "Specs", False),
    ]
    assert [warning.code for warning in done.warnings] == ["SaysTheOpposite", "SaysNearlyTheSame"]


def test_what_was_put_away_before_is_named(memory: Memory) -> None:
    first = memory.store(TEXTS[0])
    archive(memory.project, Archive(fact_ids=first, reason="It was wrong."))
    done = store(memory.project, Store(section="Architecture", content=TEXTS[0]))
    assert done.action == "stored"
    assert [view.id for view in done.equal_archived] == [first]
    assert "It was wrong." in done.warnings[0].message
    assert done.warnings[0].code == "FactEqualsArchived"


def test_a_chain_is_walked_both_ways(memory: Memory) -> None:
    names = [memory.store(TEXTS[0])]
    for text in TEXTS[1:4]:
        names.append(supersede(memory.project, Supersede(fact_id=names[-1], content=text)).new.id)
    assert inspect_fact(memory.project, f"fact:{names[3]}").chain == names[2::-1]
    assert inspect_fact(memory.project, f"fact:{names[0]}").replaced_by == (names[3],)
    with pytest.raises(InputError) as refusal:
        supersede(memory.project, Supersede(fact_id=names[0], content="x"))
    assert refusal.value.details["replacements"] == [names[3]]


def test_a_pin_follows_and_goes(memory: Memory) -> None:
    first, second = memory.store(TEXTS[0]), memory.store(TEXTS[1])
    focus(memory.project, Focus(fact_ids=[first, second]))
    new = supersede(memory.project, Supersede(fact_id=first, content=TEXTS[2])).new.id
    assert [view.id for view in focus(memory.project, Focus()).pins] == [new, second]
    archive(memory.project, Archive(fact_ids=second))
    assert [view.id for view in focus(memory.project, Focus()).pins] == [new]


def test_minds_see_nothing_of_each_other(memory: Memory) -> None:
    memory.store(TEXTS[0])
    side = memory.store(TEXTS[0], mind="side")
    memory.store(TEXTS[1], mind="side")
    assert list_facts(memory.project, ListFacts()).total == 1
    assert list_facts(memory.project, ListFacts(mind="side")).total == 2
    assert [view.id for view in find_facts(memory.project, Recall(query="invoices", mind="side"), note=False).results][
        :1
    ] == [side]
    archive(memory.project, Archive(fact_ids=side))
    assert search_archive(memory.project, SearchArchive(query="invoices")).results == []
    assert [
        view.id for view in search_archive(memory.project, SearchArchive(query="invoices", mind="side")).results
    ] == [side]
    assert list_facts(memory.project, ListFacts()).total == 1
    memory.check()


def test_pages_are_in_the_order_of_the_sections(memory: Memory) -> None:
    for number, section in enumerate(("Recent Work", "Specs", "Architecture", "Specs")):
        memory.wait(seconds=1)
        memory.store(TEXTS[number], section)
    page = list_facts(memory.project, ListFacts(limit=3))
    assert [view.section for view in page.results] == ["Architecture", "Specs", "Specs"]
    assert (page.total, page.more, page.sections) == (4, 1, {"Architecture": 1, "Specs": 2, "Recent Work": 1})
    rest = list_facts(memory.project, ListFacts(limit=3, offset=3))
    assert ([view.section for view in rest.results], rest.more) == (["Recent Work"], 0)
    only = list_facts(memory.project, ListFacts(section="specs"))
    assert (only.total, [view.content for view in only.results]) == (2, [TEXTS[1], TEXTS[3]])


def test_taking_in_and_putting_in_order(filled: Memory) -> None:
    theirs = filled.data + line("fact", "n", content=TEXTS[4]) + b"junk\n"
    done = import_facts(filled.project, Import(data=theirs, source="other.jsonl"))
    assert (done.added, done.known, done.set_aside) == (1, 4, 1)
    assert import_facts(filled.project, Import(data=theirs, source="other.jsonl")).added == 0
    filled.check()
    normal = normalize(filled.project, Normalize(write=not False))
    assert normal.changed
    filled.check()
    assert not normalize(filled.project, Normalize(write=not False)).changed
    assert import_facts(filled.project, Import(data=theirs, source="other.jsonl")).added == 0


def test_faded_facts_are_put_away_together(memory: Memory) -> None:
    old = [memory.store(text) for text in TEXTS[:2]]
    spec = memory.store(TEXTS[2], "Specs")
    memory.wait(days=60)
    new = memory.store(TEXTS[3])
    done = archive(memory.project, Archive(faded=True))
    assert sorted(item.id for item in done.outcomes) == sorted(old)
    assert {view.id for view in list_facts(memory.project, ListFacts()).results} == {spec, new}
    memory.check()
    before = memory.data
    assert archive(memory.project, Archive(faded=True)).changed == 0
    assert memory.data == before


def test_a_session_is_one_episode_however_often_it_is_told(memory: Memory) -> None:
    name = memory.store(TEXTS[0], session="s-1")
    record_session(memory.project, NoteSession(session_id="s-1", turns=2, tool_calls=7, narrative="We sailed."))
    memory.wait(minutes=10)
    _, (first,) = record_session(memory.project, NoteSession(session_id="s-1", turns=5, close=True))
    assert (first.fact_ids, first.extra["turns"], first.tool_calls_count) == ((name,), 5, 7)
    assert "We sailed." in first.narrative
    before = memory.data
    memory.wait(minutes=10)
    record_session(memory.project, NoteSession(session_id="s-1", close=True))
    assert memory.data == before
    memory.wait(days=2)
    _, (later,) = record_session(
        memory.project, NoteSession(session_id="s-1", turns=9, narrative="And came home.", close=True)
    )
    assert later.id == first.id
    assert episodes(memory.project, ShowEpisodes()).total == 1
    stored = json.loads(memory.data.split(b"\n")[1])
    assert (stored["turns"], stored["created_at"]) == (9, "2026-03-02T11:19:00.000Z")
    memory.check()
