"""Any bytes in the file of facts, and in what this machine keeps beside it, are survived; so is any index."""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fact_trials import counted, index_differs, index_of

from promised import proves
from quire.files.world import World
from quire.model.errors import InputError, QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.notes import DoneNotes, TakeNote, done, show_notes, take_note
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.verb import Arguments
from thorough import either, some

Tree = dict[str, bytes]

pytestmark = proves("P5.1")

FACTS = ".memory/facts.jsonl"
LOCAL = {
    "pins": ".memory/local/working.json",
    "times of reading": ".memory/local/access.jsonl",
    "notes": ".memory/local/notes.md",
    "notes that are done": ".memory/local/notes.done.md",
    "session": ".memory/local/sessions",
}
WITNESS = "The witness stays."
VICTIM = "The victim: größe, in two lines.\nThe second."
POINTS = either(12, 30)


@pytest.fixture
def project(tmp_path: Path, world: World) -> Project:
    """A memory outside git (the looks are many): a witness, a victim, and everything that can lie beside them."""
    root = tmp_path / "plain"
    root.mkdir()
    project = Project.open(str(root), counted(world))
    init_memory(project, guidance=False)
    ids = [store(project, Store(section="Specs", content=text, tags=["größe"])).fact.id for text in (WITNESS, VICTIM)]
    connect(project, Connect(source=ids[1], target=ids[0], relation="depends_on"))
    record_session(project, NoteSession(session_id="past", turns=3, title="the beginning", close=True))
    record_session(project, NoteSession(session_id="live", turns=2, files=["src/a.py"]))
    focus(project, Focus(fact_ids=ids[:1]))
    find_facts(project, Recall(query="who stays?"))
    for text in ("look at the uploads", "look at the fonts"):
        take_note(project, TakeNote(words=[text]))
    done(project, DoneNotes(numbers=["2"]))
    return project


def place_of(project: Project, kind: str) -> Path:
    path = Path(project.root, FACTS if kind == "facts" else LOCAL[kind])
    return next(path.iterdir()) if path.is_dir() else path


def attempt(call: Callable[[], Any]) -> QuireError | None:
    """The error that a call refuses with; any other error is a crash and comes through."""
    refusal = None
    try:
        call()
    except QuireError as error:
        refusal = error
    assert refusal is None or refusal.hint, refusal
    return refusal


def survey(project: Project, *, closed: bool = False) -> set[str]:
    """Look at everything. Reading must go on, but of a file that is closed to us; what `check` names of the memory."""
    found = check_files(project)
    for problem in (*found.errors, *found.warnings):
        assert problem.message
        assert problem.path.encode()
    for call in (
        lambda: list_facts(project, ListFacts()),
        lambda: find_facts(project, Recall(query="who stays?"), note=False),
        lambda: search_archive(project, SearchArchive(query="who stays?")),
        lambda: episodes(project, ShowEpisodes(query="the beginning")),
        lambda: context(project, ShowContext(prompt="who stays?")),
        lambda: overview(project, Arguments()),
        lambda: focus(project, Focus()),
        partial(show_notes, project, Arguments()),
        lambda: normalize(project, Normalize(write=not True)),
    ):
        assert attempt(call) is None or closed
    if not closed and WITNESS in {view.content for view in list_facts(project, ListFacts()).results}:
        assert find_facts(project, Recall(query="The witness stays"), note=False).results[0].content == WITNESS
    paths = {problem.path for problem in (*found.errors, *found.warnings)}
    return {path for path in paths if path.startswith(".memory/")}


def sampled(size: int, points: int) -> list[int]:
    """Evenly spread offsets; always both ends."""
    return sorted({0, 1, size - 2, size - 1, *(number * size // points for number in range(points))})


# -- the file of facts --------------------------------------------------------------------------------------------


@pytest.mark.proof
@proves("P5.1", "A10", "A11", over="facts")
def test_a_file_cut_off_anywhere_keeps_every_whole_line_and_the_next_fact_begins_its_own(project: Project) -> None:
    path = place_of(project, "facts")
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in sampled(len(whole), POINTS):
        path.write_bytes(whole[:size])
        named = survey(project)
        assert path.read_bytes() == whole[:size], "damaged bytes stay as they are"
        # A line without its end is a line; anything less is named.
        harmless = size == 0 or size in ends or size + 1 in ends
        assert (FACTS in named) is not harmless, size
        store(project, Store(section="Specs", content=f"Stored after {size}."))
        data = path.read_bytes()
        assert data.startswith(whole[:size] + (b"\n" if size and size not in ends else b"") + b"{")
        texts = {view.content for view in list_facts(project, ListFacts()).results}
        assert f"Stored after {size}." in texts
        assert (WITNESS in texts) is (size + 1 >= ends[0])
        assert index_differs(project) == []


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")


def link_out(path: Path) -> None:
    outside = next(folder for folder in path.parents if folder.name == "plain").with_name("outside")
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)


def dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere-at-all")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def huge(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(520 * 1024 * 1024)


def content(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "folder": folder,
    "link out": link_out,
    "dangling link": dangling,
    "pipe": pipe,
    "huge": huge,
    "empty": content(b""),
    "zeros": content(b"\0" * 600),
    "not utf-8": content(b'{"_type": "fact", "id": "\xff\xfe"}\n\xff\n'),
    "utf-16": content('{"_type": "fact"}\n'.encode("utf-16")),
    "conflict": content(b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"),
    "arrays": content(b"[]\nnull\n1e999\n"),
    "bomb": content(b"[" * 100_000),
    "wrong types": content(b'{"version": 1, "sessions": [], "pins": 7, "_type": "fact", "id": 1, "section": []}\n'),
    "keys twice": content(b'{"version": 1, "version": 1, "sessions": {}}\n'),
    "newer": content(b'{"version": 2, "sessions": {"": {"pins": "of another kind"}}}\n'),
    "surrogate": content(b'{"version": 1, "sessions": {"": {"pins": [{"id": "\\ud800", "at": "x"}]}}}\n'),
}
CLOSED = ("folder", "link out", "dangling link", "pipe", "huge")


@proves("P5.4", "D11", over="facts")
@proves("P5.1", "D4", over="facts")
@pytest.mark.parametrize("damage", some(["folder", "link out", "pipe", "huge"], 2))
def test_a_file_of_facts_that_cannot_be_read_is_not_taken_for_none(project: Project, memory: Any, damage: str) -> None:
    """An empty answer must not look like an empty memory."""
    DAMAGES[damage](place_of(project, "facts"))
    for line in (["facts"], ["facts", "list"], ["facts", "recall", "who stays?"]):
        run = memory(*line, cwd=Path(project.root))
        assert "facts.jsonl" in run.out + run.err, line
        assert "No facts are stored yet" not in run.out, line


# -- what belongs to this machine ---------------------------------------------------------------------------------


def use(project: Project, kind: str) -> Callable[[], object]:
    """The operation that writes a file of this kind."""
    name = list_facts(project, ListFacts()).results[0].id
    return {
        "pins": lambda: focus(project, Focus(fact_ids=[name])),
        "times of reading": lambda: find_facts(project, Recall(query="who stays?")),
        "notes": lambda: take_note(project, TakeNote(words=["one more"])),
        "notes that are done": lambda: (
            take_note(project, TakeNote(words=["one more"])),
            done(project, DoneNotes(numbers=["1"])),
        ),
        "session": lambda: record_session(project, NoteSession(session_id="live", turns=5)),
    }[kind]


# -- the index ----------------------------------------------------------------------------------------------------


@proves("P4.1", "A15", over="index")
@pytest.mark.parametrize("damage", some(["folder", "empty", "zeros", "link out", "dangling link", "not utf-8"], 3))
def test_an_index_that_is_anything_else_is_made_again_with_the_facts(project: Project, damage: str) -> None:
    index = Path(project.root, ".memory/index/quire.sqlite")
    expected = index_of(project.root)
    DAMAGES[damage](index)
    for _ in range(2):
        assert list_facts(project, ListFacts()).results[0].content == WITNESS
    assert index_of(project.root) == expected
    store(project, Store(section="Specs", content="Stored after it."))
    assert index_differs(project) == []


def test_an_index_that_vanishes_at_any_moment_is_made_again(project: Project) -> None:
    for number in range(3):
        shutil.rmtree(Path(project.root, ".memory/index"))
        store(project, Store(section="Specs", content=f"Stored in round {number}."))
        shutil.rmtree(Path(project.root, ".memory/index"))
        assert len(list_facts(project, ListFacts()).results) == 3 + number
    assert index_differs(project) == []


Step = tuple[str, ...]
# A fact is named by the letter that it was told with.
WALKS: dict[str, list[Step]] = {
    "stored, confirmed, put away, brought back": [
        ("store", "A"),
        ("store", "A", "later"),
        ("archive", "A"),
        ("restore", "A"),
    ],
    "superseded with its connections": [("store", "A"), ("store", "B"), ("connect", "B", "A"), ("supersede", "A", "C")],
    "superseded by one that is there": [
        ("store", "A"),
        ("store", "B"),
        ("supersede", "A", "B"),
        ("supersede", "B", "C"),
    ],
    "the replacement is put away": [
        ("store", "A"),
        ("store", "B"),
        ("connect", "B", "A"),
        ("supersede", "A", "C"),
        ("archive", "C"),
    ],
    "the replaced one comes back": [
        ("store", "A"),
        ("store", "B"),
        ("connect", "B", "A"),
        ("supersede", "A", "C"),
        ("archive", "C"),
        ("restore", "A"),
    ],
    "connected to one that was superseded": [
        ("store", "A"),
        ("store", "B"),
        ("supersede", "A", "C"),
        ("connect", "B", "A"),
    ],
    "said to replace one that was put away": [("store", "A"), ("store", "B"), ("archive", "A"), ("replace", "B", "A")],
    "said to replace one that is put away later": [
        ("store", "A"),
        ("store", "B"),
        ("replace", "B", "A"),
        ("archive", "A"),
    ],
    "two connections become the same": [
        ("store", "A"),
        ("store", "B"),
        ("store", "D"),
        ("connect", "A", "D"),
        ("connect", "B", "D"),
        ("supersede", "A", "B"),
    ],
    "a connection is put away": [("store", "A"), ("store", "B"), ("connect", "A", "B"), ("unconnect", "A", "B")],
    "the first fact is another mind's": [("store", "A", "work")],
    "another mind's facts, then one's own": [("store", "A", "work"), ("store", "B")],
}


class Walk:
    """The steps of a walk, carried out; facts are known by the letters they were told with."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.ids: dict[str, str] = {}
        self.edges: dict[tuple[str, str], str] = {}
        self.hours = 0

    def step(self, verb: str, *words: str) -> None:
        self.hours += 30
        now = self.project.world.now() + timedelta(hours=self.hours)
        project = Project(self.project.root, msgspec.structs.replace(self.project.world, now=lambda: now))
        if verb == "store":
            mind = "work" if words[1:] == ("work",) else None
            self.ids[words[0]] = store(
                project, Store(section="Specs", content=f"Letter {words[0]}.", mind=mind)
            ).fact.id
        elif verb == "supersede":
            self.ids[words[1]] = supersede(
                project, Supersede(fact_id=self.ids[words[0]], content=f"Letter {words[1]}.")
            ).new.id
        elif verb in ("connect", "replace"):
            relation = {"connect": "depends_on", "replace": "replaces"}[verb]
            edge = connect(
                project, Connect(source=self.ids[words[0]], target=self.ids[words[1]], relation=relation)
            ).edge
            self.edges[words[0], words[1]] = edge.ref
        elif verb == "unconnect":
            archive(project, Archive(fact_ids=[self.edges[words[0], words[1]]]))
        else:
            names = [self.ids[words[0]]]
            if verb == "archive":
                archive(project, Archive(fact_ids=names))
            else:
                restore(project, Restore(fact_ids=names))


@pytest.fixture
def empty(tmp_path: Path, world: World) -> Project:
    root = tmp_path / "plain"
    root.mkdir()
    project = Project.open(str(root), counted(world))
    init_memory(project, guidance=False)
    return project


@pytest.mark.parametrize("name", some(list(WALKS), 5))
def test_after_every_change_the_index_is_as_one_made_anew(empty: Project, name: str) -> None:
    walk = Walk(empty)
    for step in WALKS[name]:
        walk.step(*step)
        assert index_differs(empty) == [], step


@pytest.mark.parametrize("seed", range(either(3, 12)))
def test_after_any_walk_the_index_is_as_one_made_anew(empty: Project, seed: int) -> None:
    walk = Walk(empty)
    rng = random.Random(seed)
    verbs = ["store", "store", "supersede", "archive", "restore", "connect", "replace", "unconnect"]
    taken = []
    for number in range(14):
        verb = rng.choice(verbs) if number > 2 else "store"
        known = sorted(walk.ids) or ["A"]
        words = (
            rng.choice("ABCDE" if verb == "store" else known),
            rng.choice("ABCDE" if verb == "supersede" else known),
        )
        if verb == "unconnect":
            words = rng.choice(sorted(walk.edges) or [("", "")])
        # What makes no sense is refused, or is a connection that was never made.
        with contextlib.suppress(InputError, KeyError):
            walk.step(verb, *words)
            taken.append((verb, *words))
    assert index_differs(empty) == [], taken


# -- merges and other writers -------------------------------------------------------------------------------------


def stored(root: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(root, FACTS).read_bytes().splitlines()]


@proves("P6.2", "E3", over="facts")
@proves("P5.1", "E3", over="facts")
def test_a_conflict_that_was_left_in_the_file_hides_neither_side(project: Project) -> None:
    path = place_of(project, "facts")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"<<<<<<< HEAD\n" + lines[0] + b"=======\n" + lines[1] + b">>>>>>> side\n" + b"".join(lines[2:]))
    assert {view.content for view in list_facts(project, ListFacts()).results} == {WITNESS, VICTIM}
    found = [problem for problem in check_files(project).warnings if problem.code == "ConflictMarker"]
    assert [problem.line for problem in found] == [1, 3, 5]
    archive(project, Archive(fact_ids=[list_facts(project, ListFacts()).results[0].id]))
    assert path.read_bytes().count(b"=======") == 1, "what is no record stays where it is"


def test_lines_of_other_writers_are_never_rewritten_by_the_way(project: Project) -> None:
    path = place_of(project, "facts")
    theirs = (
        b' { "_type" : "fact", "id":"odd","section" :"Specs", "content":"Odd form.", "x": 1e2 } \r\n\n\xff\n{torn\n'
    )
    path.write_bytes(theirs + path.read_bytes())
    name = next(view.id for view in list_facts(project, ListFacts()).results if view.content == VICTIM)
    archive(project, Archive(fact_ids=[name]))
    store(project, Store(section="Specs", content="Stored after it."))
    supersede(
        project,
        Supersede(
            fact_id=next(line["id"] for line in good(path) if line.get("content") == WITNESS), content="Another one."
        ),
    )
    assert path.read_bytes().startswith(theirs)
    assert index_differs(project) == []


def good(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        if line.startswith(b'{"'):
            yield json.loads(line)


@proves("P6.4", "C15", over="facts")
def test_a_checkout_with_windows_line_ends_is_read_and_written_as_the_same_facts(project: Project) -> None:
    path = place_of(project, "facts")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert {view.content for view in list_facts(project, ListFacts()).results} == {WITNESS, VICTIM}
    assert check_files(project).errors == []
    assert store(project, Store(section="Specs", content=WITNESS)).action == "unchanged"
    archive(project, Archive(fact_ids=[list_facts(project, ListFacts()).results[0].id]))
    store(project, Store(section="Specs", content="Stored after it."))
    assert check_files(project).errors == []
    assert index_differs(project) == []
