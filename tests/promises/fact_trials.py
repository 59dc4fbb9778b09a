"""The facts under trial: a writer stopped at every call of the seam, and writers at work together. Run as a script.

`trials.py` says what it can be asked for.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
from crash_space import LATER, NOW, Tree, differing, leftovers, open_project, read_space
from crash_space import empty as repository
from trials import Prepared, Worker, apart, holding, rows_of, tell

from quire.files.world import World
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.compact import Compact, compact
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.focus import Focus, Release, focus, release
from quire.verbs.facts.import_ import Import, import_facts
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.notes import PromoteNote, TakeNote, clear, promote, show_notes, take_note
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.verb import Arguments

FACTS = "harbor/.memory/facts.jsonl"
LOCAL = "harbor/.memory/local/"
NOTES, DONE = f"{LOCAL}notes.md", f"{LOCAL}notes.done.md"
# Written on the way, and not worth refusing a fact for: the next command sees to them.
BESIDE = ("harbor/.memory/.gitattributes", "harbor/.gitignore", f"{LOCAL}.gitignore")

WORKER = "Retries run in the worker, never in the request."
TIMEOUT = "A request may take thirty seconds."
QUEUE = "The queue lives in Redis."
EXPORT = "The export of large files is slow."
DOCUMENT = """---
id: retry-queue
title: Retry queue
status: decided
open_questions:
  - "How long is a job kept?"
---
# Retry queue

## Decisions

### Keep the queue in Postgres

**Status:** decided

**Rationale:** One store less to run.
"""
OTHER = b"".join(
    b'{"_type":"fact","id":"%s","section":"Specs","content":"Brought %s.","status":"active","version":9}\n'
    % (name, name)
    for name in (b"alpha", b"beta", b"gamma")
)
TALK = json.dumps(
    {
        "messages": [
            {"role": "user" if turn % 2 == 0 else "assistant", "content": f"Turn {turn}: " + "the queue moves. " * 80}
            for turn in range(12)
        ]
    }
).encode()


class Scenario(NamedTuple):
    """What is there before, what is done, and where its trial is milder than that of the others."""

    prepare: Callable[[str], None]
    act: Callable[[Project, dict[str, str]], object]
    loose: str = ""
    """Below here a file may be neither old nor new: nothing acknowledged stands in it."""
    once: bool = False
    """Told again after it was done, it is something else that is done."""
    grows: str = ""
    """A file that gains by every run."""


# -- the little world in which it happens -------------------------------------------------------------------------


def counted(world: World) -> World:
    """The same world with tokens that differ from their first characters on, as ids of facts need them."""
    numbers = iter(range(10**6))
    return msgspec.structs.replace(world, token=lambda: f"{next(numbers):08x}" * 2)


def ids_in(space: str) -> dict[str, str]:
    """The id of each text in the file."""
    found: dict[str, str] = {}
    with contextlib.suppress(FileNotFoundError), open(os.path.join(space, FACTS), encoding="utf-8") as file:
        for line in file:
            with contextlib.suppress(ValueError, KeyError):
                fields = json.loads(line)
                found.setdefault(fields["content"], fields["id"])
    return found


def bare(space: str) -> None:
    """A repository with a memory that knows no facts yet, and whose `.gitignore` says nothing of it."""
    repository(space)
    init_memory(open_project(space, NOW, "a"), guidance=False)
    with open(os.path.join(space, "harbor/.gitignore"), "wb") as file:
        file.write(b"*.log")


def filled(space: str) -> None:
    """Four facts, one of them put away, a connection, an episode, a pin, two notes, and a design document; no git."""
    for name in ("harbor/docs", "home"):
        os.makedirs(os.path.join(space, name))
    with open(os.path.join(space, "harbor/docs/retry-queue.md"), "w", encoding="utf-8") as file:
        file.write(DOCUMENT)
    project = open_project(space, NOW, "a")
    init_memory(project, guidance=False)
    told = (("Architecture", WORKER), ("Decisions", TIMEOUT), ("Specs", QUEUE), ("Known Issues", EXPORT))
    ids = [store(project, Store(section=section, content=text)).fact.id for section, text in told]
    archive(project, Archive(fact_ids=ids[3:], reason="fixed"))
    connect(project, Connect(source=ids[0], target=ids[1], relation="depends_on"))
    record_session(project, NoteSession(session_id="past", turns=2, tool_calls=3, title="the beginning", close=True))
    focus(project, Focus(fact_ids=ids[:1]))
    for text in ("look at the uploads", "look at the fonts"):
        take_note(project, TakeNote(words=[text]))
    list_facts(project, ListFacts())


def merged(space: str) -> None:
    """As git leaves it after a union merge: twins, older lines, a line that is none."""
    filled(space)
    with open(os.path.join(space, FACTS), "rb") as file:
        first, *rest = file.read().splitlines(keepends=True)
    twin = {**json.loads(first), "id": "twin"}
    older = {**json.loads(rest[0]), "version": 0, "tags": ["older"]}
    with open(os.path.join(space, FACTS), "wb") as file:
        file.write(b"".join([*rest, *(json.dumps(line).encode() + b"\n" for line in (twin, older)), b"{torn\n", first]))


def in_session(space: str) -> None:
    """A session was noted and not closed."""
    filled(space)
    record_session(
        open_project(space, NOW, "a"),
        NoteSession(session_id="live", turns=3, tool_calls=7, title="retries", files=["src/a.py"]),
    )


SCENARIOS: dict[str, Scenario] = {
    "first store": Scenario(bare, lambda project, _: store(project, Store(section="Architecture", content=WORKER))),
    "store": Scenario(
        filled, lambda project, _: store(project, Store(section="Decisions", content="Mails go out at night."))
    ),
    "reinforce": Scenario(
        filled, lambda project, _: store(project, Store(section="Architecture", content=WORKER, session="two"))
    ),
    "supersede": Scenario(
        filled,
        lambda project, ids: supersede(
            project, Supersede(fact_id=ids[WORKER], content="Retries run in the scheduler.", reason="r")
        ),
    ),
    "archive": Scenario(
        filled, lambda project, ids: archive(project, Archive(fact_ids=[ids[TIMEOUT], ids[QUEUE]], reason="r"))
    ),
    "restore": Scenario(filled, lambda project, ids: restore(project, Restore(fact_ids=[ids[EXPORT]]))),
    "connect": Scenario(
        filled,
        lambda project, ids: connect(project, Connect(source=ids[TIMEOUT], target=ids[QUEUE], relation="enables")),
    ),
    "normalize": Scenario(merged, lambda project, _: normalize(project, Normalize(write=not False))),
    "import": Scenario(filled, lambda project, _: import_facts(project, Import(data=OTHER, source="other.jsonl"))),
    "ingest": Scenario(filled, lambda project, _: take_in_documents(project)),
    "focus": Scenario(filled, lambda project, ids: focus(project, Focus(fact_ids=[ids[TIMEOUT], ids[QUEUE]]))),
    "release": Scenario(filled, lambda project, _: release(project, Release())),
    "checkpoint": Scenario(
        filled, lambda project, _: record_session(project, NoteSession(session_id="live", turns=4, files=["src/a.py"]))
    ),
    "close": Scenario(
        in_session,
        lambda project, _: record_session(project, NoteSession(session_id="live", turns=4, close=True)),
        loose=f"{LOCAL}sessions/",
        once=True,
    ),
    "silent": Scenario(
        in_session,
        lambda project, _: record_session(project, NoteSession(session_id="next", turns=1)),
        loose=f"{LOCAL}sessions/",
    ),
    "first note": Scenario(
        bare, lambda project, _: take_note(project, TakeNote(words=["look at the mailer"])), once=True
    ),
    "note": Scenario(filled, lambda project, _: take_note(project, TakeNote(words=["look at the mailer"])), once=True),
    "clear": Scenario(filled, lambda project, _: clear(project, Arguments()), once=True, grows=DONE),
    "promote": Scenario(
        filled,
        lambda project, _: promote(project, PromoteNote(number="1", section="Known Issues")),
        once=True,
        grows=DONE,
    ),
    "compact": Scenario(
        filled,
        lambda project, _: compact(project, TALK, Compact()),
        loose=f"{LOCAL}checkpoints/",
        grows=f"{LOCAL}checkpoints/",
    ),
}


# -- looking ------------------------------------------------------------------------------------------------------


def look(space: str) -> Tree:
    """Every file that matters: not when something was read, and no file of facts that says as much as none."""
    found = read_space(space)
    return {name: data for name, data in found.items() if name != f"{LOCAL}access.jsonl" and (data or name != FACTS)}


def index_of(root: str) -> dict[str, list[str]]:
    """What the index holds of the facts, without the numbers of its rows."""
    columns = (
        "ref, kind, title, text, status, section, scope, weight, half_life, since, created_at, updated_at, updated,"
        " tags, anchors, origin, seen, raw"
    )
    queries = {
        "records": f"SELECT {columns} FROM records WHERE layer = 'facts'",
        "names": "SELECT name, ref FROM names JOIN records ON records.id = record WHERE layer = 'facts'",
        "edges": "SELECT ref, source, predicate, target, status, raw FROM edges WHERE layer = 'facts'",
        "counts": "SELECT * FROM tallies WHERE layer = 'facts' AND number != 0",
        "problems": "SELECT * FROM problems WHERE layer = 'facts'",
        "overview": "SELECT * FROM summaries WHERE layer IN (SELECT layer FROM records WHERE layer = 'facts')",
        "loose ends": "SELECT name FROM names WHERE record NOT IN (SELECT id FROM records)",
        "vectors": "SELECT ref FROM vectors JOIN records ON records.id = record WHERE layer = 'facts'",
    }
    return rows_of(root, queries)


def index_differs(project: Project) -> list[str]:
    """How the index as it is differs from one that is made from nothing."""
    list_facts(project, ListFacts())
    found = index_of(project.root)
    rebuild(project, Rebuild())
    return apart(found, index_of(project.root))


# -- judging ------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    prepared: Prepared
    before: Tree
    after: Tree

    @property
    def turns(self) -> int:
        return 1

    @property
    def space(self) -> str:
        return self.prepared.space

    def act(self, phase: str = "b") -> object:
        return self.scenario.act(open_project(self.space, LATER, phase), ids_in(self.prepared.template))

    def is_done(self, now: Tree) -> bool:
        """Whether everything stands there that an unharmed run leaves."""
        missing = [name for name in differing(now, self.after) if not self.is_loose(name) and name not in BESIDE]
        return not missing and self.has_grown(now)

    def is_loose(self, name: str) -> bool:
        return any(place and name.startswith(place) for place in (self.scenario.loose, self.scenario.grows))

    def has_grown(self, now: Tree) -> bool:
        """Whether what a run adds is there, whatever else was added."""
        place = self.scenario.grows
        added = [data for name, data in self.after.items() if place and name.startswith(place)]
        return all(any(data in other for name, other in now.items() if name.startswith(place)) for data in added)

    def judge(self, _number: int, *, cut: bool = False) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: first as a reader finds it, then after one more run."""
        try:
            yield from self.as_read()
            now = look(self.space)
            last = self.scenario.once and self.is_done(now)
            if not last:
                self.again(now)
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        yield from self.converged(after_a_write=not last)

    def as_read(self) -> Iterator[str]:
        project = open_project(self.space)
        find_facts(project, Recall(query="where do retries run?"), note=False)
        overview(project, Arguments())
        context(project, ShowContext(prompt="retries"))
        show_notes(project, Arguments())
        known = ["JsonInvalid"] if self.name == "normalize" else []
        yield from (
            f"check: {found.code} {found.message}" for found in check_files(project).errors if found.code not in known
        )
        yield from (f"the index is not as one made anew, {text}" for text in index_differs(project))
        now = look(self.space)
        for name in {**now, **self.before, **self.after}:
            if now.get(name) not in (self.before.get(name), self.after.get(name)) and not self.is_loose(name):
                yield f"`{name}` is neither old nor new"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=False))

    def again(self, now: Tree) -> None:
        try:
            # A file that is new with every run needs a name of its own.
            self.act("c" if self.scenario.loose else "b")
        except InputError:
            if not self.is_done(now):
                raise

    def converged(self, *, after_a_write: bool) -> Iterator[str]:
        now = look(self.space)
        for name in differing(now, self.after):
            if not self.is_loose(name) and (after_a_write or name not in BESIDE):
                yield f"the next run left `{name}` different"
        if not self.has_grown(now):
            yield f"`{self.scenario.grows}` does not hold what it should"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=after_a_write))
        yield from (f"the index is not as one made anew, {text}" for text in index_differs(open_project(self.space)))

    def lost(self) -> Iterator[str]:
        """What is not there for the first reader although it was acknowledged."""
        list_facts(open_project(self.space), ListFacts())
        if not self.is_done(look(self.space)):
            yield "acknowledged and lost"

    def refusal(self, said: str, *, for_good: bool) -> Iterator[str]:
        """What is wrong with how an operation ended that the disk refused a call."""
        now = look(self.space)
        if said == "done":
            if not self.is_done(now):
                yield f"acknowledged, and not there: {differing(now, self.after)}"
            return
        if "KeyboardInterrupt" not in said:
            code, message, hint = said.split("|", 2)
            if code == "untyped" or not hint:
                yield f"not an error that a person can act on: {said}"
            if for_good or "could not be completed" in message:
                return
            if not self.is_done(now) and now.get(FACTS) != self.before.get(FACTS) and self.name != "promote":
                yield "refused, yet the facts changed"
        yield from (f"left behind: {name}" for name in leftovers(self.space, after_a_write=True))


def begin(name: str, prepared: Prepared) -> Trial:
    """The scenario made ready by an unharmed run."""
    prepared.restore()
    before = look(prepared.space)
    trial = Trial(name, SCENARIOS[name], prepared, before, {})
    trial.act()
    after = look(prepared.space)
    assert differing(before, after), "an unharmed run changes something"
    return trial._replace(after=after)


# -- many at once -------------------------------------------------------------------------------------------------


def tell_facts(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """New facts, every fifth of them told by all at once; now and then one of one's own is changed."""
    project = Project.open(root)
    text = f"Everybody knows thing {turn}." if turn % 5 == 0 else f"Writer {number} found thing {turn}."
    stored = store(project, Store(section="Specs", content=text, session=f"s{number}"))
    yield {"did": stored.action, "id": stored.fact.id, "text": text}
    if turn % 5 == 2:
        replaced = supersede(
            project, Supersede(fact_id=stored.fact.id, content=f"Writer {number} knows better of {turn}.")
        )
        yield {"did": "superseded", "id": replaced.new.id, "old": replaced.old.id, "text": replaced.new.content}
        edge = connect(project, Connect(source=replaced.new.id, target="feature.shared", relation="enables")).edge
        yield {"did": "connected", "id": edge.ref.removeprefix("edge:")}
    if turn % 5 == 3:
        done = archive(project, Archive(fact_ids=[stored.fact.id], reason="not worth it"))
        yield {"did": done.outcomes[0].outcome, "id": stored.fact.id, "text": text}


def add(root: str, number: int, turn: int) -> Iterator[dict[str, Any]]:
    """Nothing but new facts."""
    text = f"Writer {number} found thing {turn}."
    yield {"did": "stored", "id": store(Project.open(root), Store(section="Specs", content=text)).fact.id, "text": text}


def ask(root: str, _number: int, turn: int) -> Iterator[dict[str, Any]]:
    """Read what the writers write: what is seen is whole, and nothing is seen twice."""
    project = Project.open(root)
    for found in (
        find_facts(project, Recall(query=f"who found thing {turn}?", k=50)),
        list_facts(project, ListFacts(limit=2_000)),
    ):
        texts = [view.content for view in found.results]
        assert all(text.endswith(".") and text.split()[0] in ("Writer", "Everybody", "The") for text in texts), texts
        assert len(set(texts)) == len(texts), Counter(texts).most_common(3)
    context(project, ShowContext(prompt="thing"))
    search_archive(project, SearchArchive(query="thing"))
    assert overview(project, Arguments()).bad_lines == 0
    errors = check_files(project).errors
    assert errors == [], errors
    yield {"did": "read", "seen": len(texts)}


def hold(root: str, _number: int, _turn: int) -> Iterator[dict[str, Any]]:
    """Stop in the middle of a store."""
    holding()
    yield {
        "did": "stored",
        "id": store(Project.open(root), Store(section="Specs", content="The holder went on.")).fact.id,
    }


WORKERS: dict[str, Worker] = {"tell": tell_facts, "add": add, "ask": ask, "hold": hold}


if __name__ == "__main__":
    tell(begin, {name: scenario.prepare for name, scenario in SCENARIOS.items()}, WORKERS)
