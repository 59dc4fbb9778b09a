"""The index after a change of ours knows exactly what an index made from the file alone knows, whatever came before."""

import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from changing import MINDS, TEXTS, Memory, line
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from quire.files.digests import hex_digest
from quire.layers.facts.lines import read_lines
from quire.model.errors import QuireError
from quire.verbs.facts.archive import Archive, Restore
from quire.verbs.facts.archive import archive as archive_fact
from quire.verbs.facts.archive import restore as restore_fact
from quire.verbs.facts.connect import Connect
from quire.verbs.facts.connect import connect as connect_fact
from quire.verbs.facts.import_ import Import, import_facts
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.facts.supersede import Supersede
from quire.verbs.facts.supersede import supersede as supersede_fact
from thorough import either

SECTIONS = ("Architecture", "Decisions", "Specs", "Recent Work")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield Memory(str(tmp_path))


# -- one thing at a time --------------------------------------------------------------------


def test_a_store_a_confirmation_and_a_refusal_of_one(memory: Memory) -> None:
    for text in TEXTS:
        memory.store(text, tags=("sea",), session="s-1")
    memory.check()
    memory.wait(days=1)
    assert store_fact(memory.project, Store(section="Specs", content=TEXTS[0].upper())).action == "reinforced"
    memory.check()
    assert store_fact(memory.project, Store(section="Specs", content=TEXTS[0])).action == "unchanged"
    memory.check()


def test_putting_away_and_bringing_back(memory: Memory) -> None:
    names = [memory.store(text) for text in TEXTS]
    archive_fact(memory.project, Archive(fact_ids=names[:3], reason="old"))
    memory.check()
    restore_fact(memory.project, Restore(fact_ids=[names[1], names[4]]))
    memory.check()


def test_superseding_moves_the_edges(memory: Memory) -> None:
    first, second, third = (memory.store(text) for text in TEXTS[:3])
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    connect_fact(memory.project, Connect(source=second, target="feature.retry-queue", relation="enables"))
    connect_fact(memory.project, Connect(source=third, target=second, relation="replaces"))
    supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4]))
    memory.check()


def test_superseding_by_what_is_known_already(memory: Memory) -> None:
    first, second, third = (memory.store(text) for text in TEXTS[:3])
    supersede_fact(memory.project, Supersede(fact_id=first, content=TEXTS[2]))
    memory.check()
    supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[2]))
    memory.check()
    assert inspect_fact(memory.project, f"fact:{second}").replaced_by == (third,)


def test_edges_that_become_one(memory: Memory) -> None:
    first, second, third = (memory.store(text) for text in TEXTS[:3])
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    connect_fact(memory.project, Connect(source=first, target=third, relation="depends_on"))
    supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[2]))
    memory.check()


def test_an_archived_edge_uncovers_the_one_that_said_the_same(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    import_facts(
        memory.project,
        Import(
            data=line("edge", "e1", source_id=first, target_id=second)
            + line("edge", "e2", source_id=first, target_id=second),
            source="x",
        ),
    )
    memory.check()
    archive_fact(memory.project, Archive(fact_ids="edge:e1"))
    memory.check()


def test_an_edge_between_a_fact_and_what_replaced_it(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    connect_fact(memory.project, Connect(source=first, target=second, relation="enables"))
    supersede_fact(memory.project, Supersede(fact_id=first, content=TEXTS[1]))
    memory.check()
    supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[2]))
    memory.check()


def test_archiving_what_replaced_another(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    new = supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4])).new.id
    archive_fact(memory.project, Archive(fact_ids=new))
    memory.check()


def test_restoring_what_had_been_replaced(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    new = supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4])).new.id
    archive_fact(memory.project, Archive(fact_ids=new))
    shutil.rmtree(os.path.join(memory.project.root, ".memory", "index"))
    restore_fact(memory.project, Restore(fact_ids=second))
    memory.check()


def test_restoring_what_replaced_another(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    new = supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4])).new.id
    archive_fact(memory.project, Archive(fact_ids=new))
    shutil.rmtree(os.path.join(memory.project.root, ".memory", "index"))
    restore_fact(memory.project, Restore(fact_ids=new))
    memory.check()


@pytest.mark.parametrize("act", ["restore", "archive"])
def test_one_of_two_that_replaced_the_same(memory: Memory, act: str) -> None:
    """What led to the old fact leads to the one live replacement; with two of them it stays where it was told."""
    first = memory.store(TEXTS[0])
    import_facts(
        memory.project,
        Import(
            data=line("fact", "old", content=TEXTS[1], status="superseded")
            + line(
                "fact", "r1", content=TEXTS[2], supersedes="old", status="archived" if act == "restore" else "active"
            )
            + line("fact", "r2", content=TEXTS[3], supersedes="old")
            + line("edge", "e", source_id="old", target_id=first),
            source="x",
        ),
    )
    memory.check()
    if act == "restore":
        restore_fact(memory.project, Restore(fact_ids="r1"))
    else:
        archive_fact(memory.project, Archive(fact_ids="r1"))
    memory.check()


def test_connecting_to_what_was_superseded(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4]))
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    memory.check()


def test_connecting_to_what_was_superseded_where_its_replacement_is_connected(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    new = supersede_fact(memory.project, Supersede(fact_id=second, content=TEXTS[4])).new.id
    connect_fact(memory.project, Connect(source=first, target=new, relation="depends_on"))
    connect_fact(memory.project, Connect(source=first, target=second, relation="depends_on"))
    memory.check()


def test_saying_of_what_was_put_away_that_it_was_replaced(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    archive_fact(memory.project, Archive(fact_ids=second))
    connect_fact(memory.project, Connect(source=first, target=second, relation="replaces"))
    memory.check()


def test_putting_away_what_somebody_says_was_replaced(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    connect_fact(memory.project, Connect(source=first, target=second, relation="replaces"))
    memory.check()
    archive_fact(memory.project, Archive(fact_ids=second))
    memory.check()


def test_taking_back_that_something_was_replaced(memory: Memory) -> None:
    first, second = (memory.store(text) for text in TEXTS[:2])
    archive_fact(memory.project, Archive(fact_ids=second))
    edge = connect_fact(memory.project, Connect(source=first, target=second, relation="replaces")).edge
    shutil.rmtree(os.path.join(memory.project.root, ".memory", "index"))
    archive_fact(memory.project, Archive(fact_ids=edge.ref))
    memory.check()


def test_a_proposal_its_acceptance_and_its_end(memory: Memory) -> None:
    first = memory.store(TEXTS[0], "Decisions")
    candidate = {"kind": "design-decision", "authority": "inferred", "section": "Decisions", "content": TEXTS[1]}
    done = take_in_documents(memory.project, candidate)
    memory.check()
    take_in_documents(memory.project, accept=done.fact_ids)
    memory.check()
    done = take_in_documents(memory.project, {**candidate, "content": TEXTS[2], "supersedes": first})
    memory.check()
    take_in_documents(memory.project, accept=done.fact_ids)
    memory.check()


def test_a_proposal_that_is_dropped(memory: Memory) -> None:
    first = memory.store(TEXTS[0], "Decisions")
    candidate = {"kind": "design-decision", "authority": "inferred", "section": "Decisions", "content": TEXTS[1]}
    done = take_in_documents(memory.project, {**candidate, "supersedes": first})
    take_in_documents(memory.project, drop=done.fact_ids)
    memory.check()


def test_accepting_what_was_to_replace_a_fact_that_is_gone(memory: Memory) -> None:
    first = memory.store(TEXTS[0], "Decisions")
    candidate = {"kind": "design-decision", "authority": "inferred", "section": "Decisions", "content": TEXTS[1]}
    done = take_in_documents(memory.project, {**candidate, "supersedes": first})
    supersede_fact(memory.project, Supersede(fact_id=first, content=TEXTS[2]))
    shutil.rmtree(os.path.join(memory.project.root, ".memory", "index"))
    take_in_documents(memory.project, accept=done.fact_ids)
    memory.check()


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize(
    "minds",
    [
        ("side",),
        ("side", None),
        ("primensus",),
        ("primensus", "side", None, "default"),
        ("side", "primensus", "side"),
        ("default", "primensus"),
        (None, "side"),
    ],
)
def test_whose_facts_are_meant_follows_from_the_file(memory: Memory, minds: tuple[str | None, ...]) -> None:
    for text, mind in zip(TEXTS, minds, strict=False):
        memory.store(text, mind=mind)
        memory.check()


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_older_lines_said_when_it_was_put_away_before(memory: Memory, status: str) -> None:
    """Three lines of one id: what it says now holds, the others are history."""
    memory.store(TEXTS[0])
    import_facts(
        memory.project,
        Import(
            data=line("fact", "x", content=TEXTS[1], version=3, status=status, reason="an old reason", tags=["old"])
            + line("fact", "x", content=TEXTS[2], version=4)
            + line("fact", "x", content=TEXTS[3], version=5),
            source="x",
        ),
    )
    memory.check()
    if status == "archived":
        archive_fact(memory.project, Archive(fact_ids="x"))
    else:
        supersede_fact(memory.project, Supersede(fact_id="x", content=TEXTS[4]))
    memory.check()
    restore_fact(memory.project, Restore(fact_ids="x"))
    memory.check()


def test_a_fact_that_an_older_line_called_the_same_as_another(memory: Memory) -> None:
    first = memory.store(TEXTS[0])
    import_facts(
        memory.project,
        Import(
            data=line("fact", "x", content=TEXTS[1], version=3, status="archived", same_as=first)
            + line("fact", "x", content=TEXTS[2], version=4),
            source="x",
        ),
    )
    memory.check()
    archive_fact(memory.project, Archive(fact_ids="x", reason="stale"))
    memory.check()
    assert inspect_fact(memory.project, "fact:x").view.content == TEXTS[2]


def test_a_live_line_that_calls_itself_the_same_as_another(memory: Memory) -> None:
    """`same_as` means something only of a fact that was put away for it: another writer's word on a live one does
    not make it vanish into the other when it is archived."""
    first = memory.store(TEXTS[0])
    import_facts(memory.project, Import(data=line("fact", "x", content=TEXTS[2], same_as=first), source="x"))
    memory.check()
    archive_fact(memory.project, Archive(fact_ids="x", reason="stale"))
    memory.check()
    restore_fact(memory.project, Restore(fact_ids="x"))
    memory.check()
    assert inspect_fact(memory.project, "fact:x").view.content == TEXTS[2]


def test_twins_are_put_away_and_brought_back_together(memory: Memory) -> None:
    first = memory.store(TEXTS[0])
    import_facts(
        memory.project,
        Import(data=line("fact", "x", content=TEXTS[0]) + line("fact", "y", content=TEXTS[0], version=3), source="x"),
    )
    memory.check()
    archive_fact(memory.project, Archive(fact_ids="y"))
    memory.check()
    for name in (first, "x", "y"):
        assert inspect_fact(memory.project, f"fact:{name}").view.status == "archived"
    restore_fact(memory.project, Restore(fact_ids=first))
    memory.check()
    memory.wait(days=2)
    supersede_fact(memory.project, Supersede(fact_id="y", content=TEXTS[1]))
    memory.check()


def test_a_session_that_is_closed_again_and_again(memory: Memory) -> None:
    memory.store(TEXTS[0], session="s-1")
    record_session(memory.project, NoteSession(session_id="s-1", turns=3, narrative="Redis tickets.", close=True))
    memory.check()
    memory.wait(hours=1)
    memory.store(TEXTS[1], session="s-1")
    record_session(memory.project, NoteSession(session_id="s-1", turns=5, close=True))
    memory.check()


def test_a_connection_that_came_before_the_session_that_it_is_about(memory: Memory) -> None:
    first = memory.store(TEXTS[0])
    import_facts(memory.project, Import(data=line("edge", "e", source_id=first, target_id=EPISODES[1]), source="x"))
    memory.check()
    record_session(memory.project, NoteSession(session_id="s-1", turns=1, close=True))
    memory.check()
    assert [item.ref for item in inspect_fact(memory.project, f"fact:{first}").connections] == ["edge:e"]


def test_two_that_call_each_other_the_same(memory: Memory) -> None:
    """Nobody can say which of them is meant, until one of them holds again."""
    memory.store(TEXTS[0])
    import_facts(
        memory.project,
        Import(
            data=line("fact", "x", content=TEXTS[1], status="archived", same_as="y")
            + line("fact", "y", content=TEXTS[2], status="archived", same_as="x"),
            source="x",
        ),
    )
    memory.check()
    restore_fact(memory.project, Restore(fact_ids="x"))
    memory.check()


def test_another_programs_lines_between_ours(memory: Memory) -> None:
    first = memory.store(TEXTS[0])
    with memory.file.open("ab") as file:
        file.write(line("fact", "x", content=TEXTS[1], version=9) + line("edge", "e", source_id="x", target_id=first))
    second = memory.store(TEXTS[2])
    memory.check()
    with memory.file.open("ab") as file:
        file.write(b'{"half": ')
    archive_fact(memory.project, Archive(fact_ids=second))
    memory.check()
    memory.store(TEXTS[3])
    memory.check()


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_line_ends_of_any_kind(memory: Memory, newline: bytes, end: bool) -> None:
    rows = [line("fact", name, content=text).strip() for name, text in zip("abc", TEXTS, strict=False)]
    memory.file.write_bytes(newline.join(rows) + (newline if end else b""))
    memory.store(TEXTS[4])
    memory.check()
    archive_fact(memory.project, Archive(fact_ids=["a", "c"]))
    memory.check()


# -- anything after anything ----------------------------------------------------------------

PICK = st.integers(0, 63)
# The second is that of the session s-1, which may be connected before it is known here.
EPISODES = ("episode:ep0", f"episode:session-{hex_digest('s-1')[:12]}")
REASON = st.sampled_from((None, "stale"))
SESSION = st.sampled_from((None, "s-1", "s-2"))
LINE = st.fixed_dictionaries(
    {
        "what": st.sampled_from(("fact", "fact", "fact", "edge", "episode")),
        "name": st.integers(0, 7),
        "other": st.integers(0, 7),
        "text": st.sampled_from(TEXTS),
        "section": st.sampled_from(SECTIONS),
        "status": st.sampled_from(("active", "active", "archived", "superseded", "dormant", "pending")),
        "day": st.integers(1, 4),
        "version": st.integers(0, 20),
    },
    optional={
        "mind": st.sampled_from(("side", "default", "primensus")),
        "supersedes": st.integers(0, 7),
        "same_as": st.integers(0, 7),
        "reason": st.sampled_from(("moved", "gone")),
        "tags": st.sampled_from((["a"], ["b", "a"])),
        "colour": st.sampled_from(("red", 7, None)),
    },
)


class Changes(RuleBasedStateMachine):
    """Everything that changes the file, in any order; after each step the index is compared with the file."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "fsync", lambda _descriptor: None)
        self.folder = tempfile.mkdtemp(prefix="quire-")
        self.memory = Memory(self.folder)
        self.project = self.memory.project

    def teardown(self) -> None:
        try:
            self.memory.check()
        finally:
            self.patch.undo()
            shutil.rmtree(self.folder)

    def name(self, pick: int) -> str:
        names = self.memory.names()
        return names[pick % len(names)] if names else "none"

    def change(self, work: Callable[[], Any], *, again: bool = True) -> Any:
        """Do something; an error changes nothing, a change leaves what it is not about, and twice is once."""
        before = self.memory.data
        try:
            found = work()
        except QuireError:
            assert self.memory.data == before
            return None
        after = self.memory.data
        assert_only_its_own_lines(before, after)
        if again:
            with contextlib.suppress(QuireError):
                work()
            assert self.memory.data == after
        return found

    @rule(hours=st.sampled_from((1, 30)))
    def time_passes(self, hours: int) -> None:
        self.memory.wait(hours=hours)

    @rule(
        text=st.sampled_from(TEXTS),
        section=st.sampled_from(SECTIONS),
        mind=st.sampled_from(MINDS),
        session=SESSION,
        source=st.sampled_from(("manual", "tool-call")),
    )
    def store(self, text: str, section: str, mind: str | None, session: str | None, source: str) -> None:
        before = self.memory.data
        done = self.change(
            lambda: store_fact(
                self.project, Store(section=section, content=text, mind=mind, session=session, source=source)
            )
        )
        if done.action == "unchanged":
            assert self.memory.data == before
        elif done.action == "stored" and done.fact.id not in {fact.id for fact in read_lines(before).facts}:
            assert self.memory.data.startswith(before)

    @rule(pick=PICK, text=st.sampled_from(TEXTS), section=st.sampled_from((None, *SECTIONS)), reason=REASON)
    def supersede(self, pick: int, text: str, section: str | None, reason: str | None) -> None:
        name = self.name(pick)
        self.change(
            lambda: supersede_fact(self.project, Supersede(fact_id=name, content=text, section=section, reason=reason))
        )

    @rule(picks=st.lists(PICK, min_size=1, max_size=2), reason=REASON)
    def archive(self, picks: list[int], reason: str | None) -> None:
        names = [self.name(pick) for pick in picks]
        self.change(lambda: archive_fact(self.project, Archive(fact_ids=names, reason=reason)))

    @rule(picks=st.lists(PICK, min_size=1, max_size=2))
    def restore(self, picks: list[int]) -> None:
        names = [self.name(pick) for pick in picks]
        self.change(lambda: restore_fact(self.project, Restore(fact_ids=names)))

    @rule(
        start=PICK,
        end=PICK,
        relation=st.sampled_from(("depends_on", "depends_on", "enables", "replaces", "is_near")),
        session=SESSION,
    )
    def connect(self, start: int, end: int, relation: str, session: str | None) -> None:
        ends = [*self.memory.names(), *self.memory.episodes(), "feature.retry-queue"]
        first, second = (ends[pick % len(ends)] for pick in (start, end))
        self.change(
            lambda: connect_fact(self.project, Connect(source=first, target=second, relation=relation, session=session))
        )

    @rule(pick=PICK)
    def archive_an_edge(self, pick: int) -> None:
        edges = self.memory.edges() or ["edge:none"]
        self.change(lambda: archive_fact(self.project, Archive(fact_ids=edges[pick % len(edges)])))

    @rule(session=st.sampled_from(("s-1", "s-2")), turns=st.integers(0, 3), close=st.booleans())
    def tell_of_a_session(self, session: str, turns: int, close: bool) -> None:
        self.change(lambda: record_session(self.project, NoteSession(session_id=session, turns=turns, close=close)))

    @rule(
        text=st.sampled_from(TEXTS),
        authority=st.sampled_from(("inferred", "inferred", "explicit")),
        pick=st.none() | PICK,
    )
    def propose(self, text: str, authority: str, pick: int | None) -> None:
        candidate = {"kind": "design-decision", "authority": authority, "section": "Decisions", "content": text}
        if pick is not None:
            candidate["supersedes"] = self.name(pick)
        # Somebody who says it again without a document says it anew.
        self.change(lambda: take_in_documents(self.project, candidate), again=False)

    @rule(pick=PICK, accept=st.booleans())
    def decide(self, pick: int, accept: bool) -> None:
        waiting = sorted({fact.id for fact in read_lines(self.memory.data).facts if fact.status == "pending"})
        name = waiting[pick % len(waiting)] if waiting else "none"
        decision = {"accept": [name]} if accept else {"drop": [name]}
        self.change(lambda: take_in_documents(self.project, **decision))

    @rule(lines=st.lists(LINE, min_size=1, max_size=3))
    def take_in(self, lines: list[dict[str, Any]]) -> None:
        data = b"".join(map(self.merged_line, lines))
        self.change(lambda: import_facts(self.project, Import(data=data, source="other.jsonl")))

    @rule(lines=st.lists(LINE, min_size=1, max_size=2))
    def another_program_appends(self, lines: list[dict[str, Any]]) -> None:
        with self.memory.file.open("ab") as file:
            file.write(b"".join(map(self.merged_line, lines)))

    @rule()
    def put_in_order(self) -> None:
        normalize(self.project, Normalize(write=not False))
        assert not normalize(self.project, Normalize(write=not False)).changed

    def merged_line(self, spec: dict[str, Any]) -> bytes:
        """A line as a merge brings it: about something that is here, or about something else."""
        known = [*self.memory.names(), "x1", "x2", "x3"]
        fields = {key: known[spec[key] % len(known)] for key in ("supersedes", "same_as") if key in spec}
        fields |= {key: spec[key] for key in ("mind", "reason", "tags", "colour", "version", "status") if key in spec}
        fields["created_at"] = f"2026-03-0{spec['day']}T00:00:00.000Z"
        if spec["what"] == "fact":
            name = known[spec["name"] % len(known)]
            return line("fact", name, content=spec["text"], section=spec["section"], **fields)
        if spec["what"] == "episode":
            fields.pop("status")
            return line("episode", f"ep{spec['name'] % 3}", **fields)
        edges = [*(ref.removeprefix("edge:") for ref in self.memory.edges()), "e1", "e2"]
        ends = [[*known, *EPISODES][spec[key] % (len(known) + len(EPISODES))] for key in ("other", "version")]
        fields.pop("mind", None)
        return line("edge", edges[spec["name"] % len(edges)], source_id=ends[0], target_id=ends[1], **fields)

    @invariant()
    def the_index_knows_what_the_file_says(self) -> None:
        self.memory.check(answers=False)


def assert_only_its_own_lines(before: bytes, after: bytes) -> None:
    """Whatever was not about what changed stands there as it stood, in the same order; versions only grow."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    stayed = Counter(old) & Counter(new)
    assert [row for row in old if row in stayed] == [row for row in new if row in stayed]
    gone, came = Counter(old) - stayed, Counter(new) - stayed
    assert names_in(gone) <= names_in(came)
    if came and old:
        assert version_of(after) > version_of(before) or not gone


def names_in(rows: Counter[bytes]) -> set[str]:
    reading = read_lines(b"".join(rows))
    return {record.id for record in (*reading.facts, *reading.connections, *reading.episodes)}


def version_of(data: bytes) -> int:
    reading = read_lines(data)
    return max((record.version for record in (*reading.facts, *reading.connections, *reading.episodes)), default=0)


TestChanges = pytest.mark.proof(Changes.TestCase)
TestChanges.settings = settings(max_examples=either(8, 20), stateful_step_count=12)
