"""What a person does to a record while looking at it is done as every verb does it, and undone byte for byte."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clocks import Clock

from installed import Git
from quire.files import disk
from quire.files.world import World
from quire.inbox.proposals import Proposal, propose
from quire.layers.record_details import node_revision
from quire.model.errors import Conflict, InputError, NotFound, QuireError, SecretDetected, ValueRejected
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.status import status
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.page.actions import ActAccept, ActConfirm, ActEdit, ActReject, ActStale, ActSupersede, perform
from quire.verbs.page.undo import Acted, undo_acted
from quire.verbs.profile.remember import RememberEntry, remember_entry

Tree = dict[str, bytes]
Act = Callable[[Project], Acted]
SECRET = "The key is ghp_" + "a1B2" * 9
HOSTILE = "Fine until \u202e it turns."
NODES = [
    {
        "kind": "feature",
        "title": "Retry queue",
        "body": "Sends again.",
        "stage": "building",
        "anchors": ["src/queue.py"],
        "tags": ["billing"],
    },
    {"kind": "feature", "title": "Worker", "body": "Runs what must not block."},
    {"kind": "decision", "title": "Retries run inline", "body": "Simple for now."},
    {"kind": "decision", "title": "Retries run in the worker", "body": "The request must not wait."},
    {"kind": "gotcha", "title": "Clock drift", "body": "The clock of the worker is late."},
    {"kind": "question", "title": "Who pays", "body": "Nobody knows."},
]


@pytest.fixture
def acting(repo: Path, world: World, git: Git, clock: Clock) -> Project:
    """A committed memory with nodes, facts, a profile and an inbox."""
    (repo / "src").mkdir()
    (repo / "src" / "queue.py").write_text("def send() -> None: ...\n")
    acting = Project.open(str(repo), world)
    init_memory(acting, layers=("facts", "profile"))
    git("add", "--all")
    git("commit", "--quiet", "--message", "code")
    save_nodes(acting, {"task": "first", "nodes": NODES})
    for section, text in (
        ("Architecture", "The queue lives in Redis."),
        ("Specs", "Tickets expire after ninety days."),
    ):
        store(acting, Store(section=section, content=text))
    remember_entry(acting, RememberEntry(category="tools", key="editor", value="vim", force=True))
    inbox_add(acting, proposals())
    git("add", "--all")
    git("commit", "--quiet", "--message", "memory")
    clock.now += timedelta(hours=1)
    return acting


def proposals() -> list[Proposal]:
    node = {"kind": "gotcha", "title": "Pipes block", "body": "A full pipe blocks its writer."}
    fact = {"section": "Decisions", "content": "Invoices are written by the billing worker."}
    entry = {"category": "tools", "key": "shell", "value": "fish"}
    episode = {"session_id": "s-1", "title": "Queue", "summary": "Moved the queue.", "turns": 3}
    return [
        propose("graph", "gotcha", "A full pipe blocks its writer.", node, origin="session:x:1", by="user"),
        propose("facts", "fact", fact["content"], fact, origin="session:x:1", by="user"),
        propose("profile", "preference", "fish", entry, origin="session:x:1", by="user"),
        propose("notes", "next step", "Look at the logs.", {"text": "Look at the logs."}, origin="s", by="agent"),
        propose("episodes", "session", "Moved the queue.", episode, origin="session:x:1", by="agent"),
    ]


def proposal(into: str) -> str:
    return next(item.id for item in proposals() if item.into == into)


def remembered(acting: Project) -> Tree:
    """Everything that is remembered: all files of the layers but the log, the index and what is kept aside."""
    found: Tree = {}
    for top in (".memory", ".ai-state"):
        for folder, folders, files in os.walk(os.path.join(acting.root, top)):
            folders[:] = [name for name in folders if name not in ("index", "recovery", ".backup")]
            for name in files:
                if name not in ("events.jsonl", ".lock", "memory.lock", ".gitignore", "reviewed"):
                    path = Path(folder, name)
                    found[os.path.relpath(path, acting.root)] = path.read_bytes()
    return found


def fact_id(acting: Project, text: str) -> str:
    return next(fact.id for fact in list_facts(acting, ListFacts()).results if text in fact.content)


def revision(acting: Project, node_id: str) -> str:
    stored = acting.graph.find_node(node_id)
    assert stored
    return node_revision(stored.data, stored.body_data)


def sound(acting: Project) -> None:
    """Nothing is wrong, and the index says what the files say."""
    found = check_files(acting)
    assert found.errors == []
    assert [item for item in found.warnings if item.code in ("ProductMapStale", "EventJsonlInvalid")] == []
    known = {record.ref for record in acting.with_index(lambda index: index.records("graph"))}
    assert known == {node.node.id for node in acting.graph.nodes()[0]}


def events(acting: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(acting.root, ".memory/events.jsonl").read_text().splitlines()]


def confirm(acting: Project) -> Acted:
    Path(acting.root, "src/queue.py").write_text("def send() -> int: ...\n")
    return perform(acting, ActConfirm("feature.retry-queue", "read it"))


ACTIONS: dict[str, tuple[Act, str]] = {
    "confirm": (confirm, "Confirmed: Retry queue"),
    "stale": (lambda it: perform(it, ActStale("gotcha.clock-drift", "fixed")), "Marked stale: Clock drift"),
    "stale fact": (
        lambda it: perform(it, ActStale(f"fact:{fact_id(it, 'Redis')}", "moved")),
        "Put away: The queue lives in Redis.",
    ),
    "supersede by one that is there": (
        lambda it: perform(it, ActSupersede("decision.retries-run-inline", by="decision.retries-run-in-the-worker")),
        "Superseded: Retries run inline",
    ),
    "supersede by a new one": (
        lambda it: perform(it, ActSupersede("feature.retry-queue", title="Outbox", body="A table.", reason="simpler")),
        "Superseded: Retry queue",
    ),
    "supersede a fact": (
        lambda it: perform(it, ActSupersede(f"fact:{fact_id(it, 'Redis')}", body="The queue lives in Postgres.")),
        "Superseded: The queue lives in Redis.",
    ),
    "supersede a fact by another": (
        lambda it: perform(
            it, ActSupersede(fact_id(it, "Redis"), by=f"fact:{fact_id(it, 'Tickets')}", reason="merged")
        ),
        "Superseded: The queue lives in Redis.",
    ),
    "edit": (
        lambda it: perform(
            it, ActEdit("question.who-pays", revision(it, "question.who-pays"), title="Who pays now", body="X.")
        ),
        "Edited: Who pays now",
    ),
    "stage": (
        lambda it: perform(it, ActEdit("feature.worker", revision(it, "feature.worker"), stage="shipped")),
        "Now shipped: Worker",
    ),
    "accept a node": (lambda it: perform(it, ActAccept(proposal("graph"))), "Accepted: A full pipe blocks its writer."),
    "accept a fact": (
        lambda it: perform(it, ActAccept(proposal("facts"))),
        "Accepted: Invoices are written by the billing worker.",
    ),
    "accept an entry": (lambda it: perform(it, ActAccept(proposal("profile"))), "Accepted: fish"),
    "accept a note": (lambda it: perform(it, ActAccept(proposal("notes"))), "Accepted: Look at the logs."),
    "accept an episode": (lambda it: perform(it, ActAccept(proposal("episodes"))), "Accepted: Moved the queue."),
    "reject": (
        lambda it: perform(it, ActReject(proposal("facts"), "wrong")),
        "Rejected: Invoices are written by the billing worker.",
    ),
}


@pytest.mark.proof(keep=5)
@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_is_undone_and_done_again_byte_for_byte(acting: Project, name: str, clock: Clock) -> None:
    act, message = ACTIONS[name]
    before = remembered(acting)
    acted = act(acting)
    after = remembered(acting)
    assert (acted.message, acted.at) == (message, "2026-03-02T12:19:00+00:00")
    assert after != before
    assert acted.changes
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} <= set(acted.files)
    sound(acting)
    clock.now += timedelta(minutes=1)
    undone = undo_acted(acting, acted)
    assert remembered(acting) == before
    assert (undone.action, undone.message) == ("undo", f"Undone: {message}")
    sound(acting)
    redone = undo_acted(acting, undone)
    assert remembered(acting) == after
    assert (redone.action, redone.message) == ("redo", f"Done again: {message}")
    sound(acting)
    assert undo_acted(acting, redone).message == f"Undone: {message}"
    assert remembered(acting) == before
    sound(acting)


def test_the_log_keeps_what_was_done_and_tells_what_was_undone(acting: Project) -> None:
    count = len(events(acting))
    undone = [undo_acted(acting, ACTIONS[name][0](acting)) for name in ("stale", "supersede by a new one", "edit")]
    undo_acted(acting, undone[0])
    new = events(acting)[count:]
    assert [(line["event"], line.get("id", line.get("relation_id", ""))) for line in new] == [
        ("memory.marked_stale", "gotcha.clock-drift"),
        ("memory.updated", "gotcha.clock-drift"),
        ("memory.created", "feature.outbox"),
        ("memory.superseded", "feature.retry-queue"),
        ("relation.created", "rel.feature-outbox-supersedes-feature-retry-queue"),
        ("memory.deleted", "feature.outbox"),
        ("memory.updated", "feature.retry-queue"),
        ("relation.deleted", "rel.feature-outbox-supersedes-feature-retry-queue"),
        ("memory.updated", "question.who-pays"),
        ("memory.updated", "question.who-pays"),
        ("memory.marked_stale", "gotcha.clock-drift"),
    ]
    assert {line["actor"] for line in new} == {"user"}
    assert new[1]["payload"] == {"task": "undo (marked stale)", "fields": ["status"]}
    assert new[-2]["payload"]["fields"] == ["body", "title"]
    assert new[-1]["payload"] == {"task": "redo (marked stale)"}


def test_a_successor_stands_for_the_same_code(acting: Project) -> None:
    perform(acting, ActSupersede("feature.retry-queue", title="Outbox", body="A table."))
    found = acting.graph.find_node("feature.outbox")
    assert found
    assert (found.node.stage, found.node.anchors, found.node.tags) == ("building", ["src/queue.py"], ["billing"])
    old = acting.graph.find_node("feature.retry-queue")
    assert old
    assert (old.node.status, old.node.superseded_by) == ("superseded", "feature.outbox")
    assert events(acting)[-2]["reason"] == "replaced by feature.outbox"


def test_a_successor_with_a_title_that_is_taken_overwrites_nobody(acting: Project) -> None:
    perform(
        acting, ActSupersede("decision.retries-run-inline", title="Retries run in the worker", body="Another reason.")
    )
    old = acting.graph.find_node("decision.retries-run-inline")
    kept = acting.graph.find_node("decision.retries-run-in-the-worker")
    assert old
    assert kept
    assert old.node.superseded_by == "decision.retries-run-in-the-worker-2"
    assert kept.body == "The request must not wait."


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (
            lambda it: perform(it, ActConfirm("gotcha.clock-drift")),
            "Nothing changed, since it has no anchors: Clock drift",
        ),
        (
            lambda it: perform(it, ActEdit("feature.worker", revision(it, "feature.worker"), title="Worker")),
            "already says that",
        ),
        (lambda it: perform(it, ActEdit("feature.worker", revision(it, "feature.worker"))), "already says that"),
    ],
)
def test_what_changes_nothing_says_so_and_cannot_be_undone(acting: Project, act: Act, said: str) -> None:
    before = remembered(acting)
    acted = act(acting)
    assert said in acted.message
    assert acted.changes == ()
    assert remembered(acting) == before
    with pytest.raises(InputError, match=r"(?i)nothing"):
        undo_acted(acting, acted)


@pytest.mark.parametrize("name", ["stale", "stale fact"])
def test_the_same_twice_changes_nothing_the_second_time(acting: Project, name: str) -> None:
    ref = "gotcha.clock-drift" if name == "stale" else f"fact:{fact_id(acting, 'Redis')}"
    perform(acting, ActStale(ref, "fixed"))
    again = perform(acting, ActStale(ref, "fixed"))
    assert "Nothing changed" in again.message
    assert again.changes == ()


# -- refused ----------------------------------------------------------------------------------------


REFUSED: dict[str, tuple[Act, type[QuireError], str]] = {
    "unknown node": (lambda it: perform(it, ActStale("gotcha.nothing", "x")), NotFound, "gotcha.nothing"),
    "unknown node to confirm": (lambda it: perform(it, ActConfirm("feature.nothing")), NotFound, "feature.nothing"),
    "unknown node to edit": (
        lambda it: perform(it, ActEdit("feature.new", "", title="A", body="B")),
        NotFound,
        "feature.new",
    ),
    "unknown fact": (lambda it: perform(it, ActStale("fact:zzzz", "x")), NotFound, "zzzz"),
    "unknown successor": (
        lambda it: perform(it, ActSupersede("feature.worker", by="feature.no")),
        NotFound,
        "feature.no",
    ),
    "unknown proposal": (lambda it: perform(it, ActAccept("in-0000000000")), NotFound, "in-0000000000"),
    "no ref": (lambda it: perform(it, ActStale("../../etc/passwd", "x")), InputError, "not a ref"),
    "option": (lambda it: perform(it, ActConfirm("--output=/tmp/x")), InputError, "no fact|not in the graph|not a ref"),
    "no reason": (lambda it: perform(it, ActStale("gotcha.clock-drift", "")), InputError, "reason"),
    "no reason for a fact": (lambda it: perform(it, ActStale(fact_id(it, "Redis"), " ")), InputError, "reason"),
    "profile": (lambda it: perform(it, ActStale("profile:tools.editor", "x")), InputError, "not in the graph"),
    "fact to confirm": (
        lambda it: perform(it, ActConfirm(f"fact:{fact_id(it, 'Redis')}")),
        InputError,
        "not in the graph",
    ),
    "fact to edit": (
        lambda it: perform(it, ActEdit(f"fact:{fact_id(it, 'Redis')}", "", title="x")),
        InputError,
        "not in the graph",
    ),
    "project": (lambda it: perform(it, ActStale(project_id(it), "x")), InputError, "project"),
    "by itself": (lambda it: perform(it, ActSupersede("feature.worker", by="feature.worker")), InputError, "itself"),
    "by nothing": (lambda it: perform(it, ActSupersede("feature.worker")), InputError, "Give the replacement"),
    "by two": (
        lambda it: perform(it, ActSupersede("feature.worker", by="feature.x", title="y")),
        InputError,
        "not both",
    ),
    "by a fact": (
        lambda it: perform(it, ActSupersede("feature.worker", by="fact:abcd")),
        InputError,
        "not in the graph",
    ),
    "fact by a node": (
        lambda it: perform(it, ActSupersede(fact_id(it, "Redis"), by="feature.worker")),
        InputError,
        "place",
    ),
    "no body": (lambda it: perform(it, ActSupersede("feature.worker", title="New")), InputError, "the text:"),
    "wrong stage": (lambda it: edit(it, "feature.worker", stage="finished"), InputError, "stage"),
    "stage of a decision": (lambda it: edit(it, "decision.retries-run-inline", stage="idea"), InputError, "stage"),
    "empty title": (lambda it: edit(it, "feature.worker", title="  "), InputError, "title"),
    "secret": (lambda it: edit(it, "feature.worker", body=SECRET), SecretDetected, "the text:"),
    "secret as reason": (lambda it: perform(it, ActStale("feature.worker", SECRET)), SecretDetected, "reason"),
    "secret in a fact": (
        lambda it: perform(it, ActSupersede(fact_id(it, "Redis"), body=SECRET)),
        SecretDetected,
        "content",
    ),
    "secret in a successor": (
        lambda it: perform(it, ActSupersede("feature.worker", title="New", body=SECRET)),
        SecretDetected,
        "the text:",
    ),
    "secret as reason of a reject": (
        lambda it: perform(it, ActReject(proposal("facts"), SECRET)),
        SecretDetected,
        "reason",
    ),
    "hostile": (lambda it: edit(it, "feature.worker", title=HOSTILE), InputError, "title"),
    "hostile fact": (lambda it: perform(it, ActSupersede(fact_id(it, "Redis"), body=HOSTILE)), InputError, "content"),
    "two lines": (lambda it: edit(it, "feature.worker", title="a\nb"), InputError, "title"),
    "rejected": (
        lambda it: edit(it, "feature.worker", body="Boats are named after rivers."),
        ValueRejected,
        "rejected",
    ),
    "rejected fact": (
        lambda it: perform(it, ActSupersede(fact_id(it, "Redis"), body="boats are named after rivers")),
        ValueRejected,
        "rejected",
    ),
    "old revision": (
        lambda it: perform(it, ActEdit("feature.worker", "0" * 16, title="New")),
        Conflict,
        "changed since",
    ),
}


def edit(acting: Project, ref: str, **fields: str) -> Acted:
    return perform(acting, ActEdit(ref, revision(acting, ref), **fields))


def project_id(acting: Project) -> str:
    return next(node.node.id for node in acting.graph.nodes()[0] if node.node.type == "project")


@pytest.mark.proof(keep=10)
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_save_takes_is_refused_and_nothing_is_written(acting: Project, name: str) -> None:
    reject(acting, Reject(value="Boats are named after rivers."))
    act, error, said = REFUSED[name]
    before, log = remembered(acting), events(acting)
    with pytest.raises(error, match=f"(?i){said}"):
        act(acting)
    assert remembered(acting) == before
    assert events(acting) == log


def test_an_edit_of_a_text_that_somebody_changed_is_refused(acting: Project) -> None:
    seen = revision(acting, "feature.worker")
    save_nodes(acting, {"task": "x", "nodes": [{"id": "feature.worker", "body": "Newer."}]})
    with pytest.raises(Conflict, match="changed since"):
        perform(acting, ActEdit("feature.worker", seen, body="Older."))
    Path(acting.root, ".memory/memory/worker.md").write_text("By hand.")
    with pytest.raises(Conflict, match="changed since"):
        perform(acting, ActEdit("feature.worker", seen, body="Older."))
    assert Path(acting.root, ".memory/memory/worker.md").read_text() == "By hand."


def test_an_edit_that_was_overtaken_while_it_was_saved_is_taken_back(acting: Project) -> None:
    body = Path(acting.root, ".memory/memory/worker.md")
    token, calls = acting.world.token, []

    def overtake() -> str:
        if not calls:
            body.write_text("By hand, at the last moment.")
        calls.append(1)
        return token()

    seen = revision(acting, "feature.worker")
    before = remembered(acting)
    acting.world = msgspec.structs.replace(acting.world, token=overtake)
    with pytest.raises(Conflict, match="changed since"):
        perform(acting, ActEdit("feature.worker", seen, body="Of the page."))
    assert remembered(acting) == {**before, ".memory/memory/worker.md": b"By hand, at the last moment."}


def test_a_proposal_is_settled_once(acting: Project) -> None:
    perform(acting, ActAccept(proposal("graph")))
    with pytest.raises(InputError, match="accepted already"):
        perform(acting, ActAccept(proposal("graph")))
    with pytest.raises(InputError, match="accepted already"):
        perform(acting, ActReject(proposal("graph")))


def test_a_proposal_that_cannot_be_a_record_says_why_and_waits_on(acting: Project) -> None:
    save_nodes(acting, {"task": "x", "nodes": [{"id": "gotcha.taken", "title": "T", "body": "B."}]})
    fields = {"id": "gotcha.taken", "kind": "gotcha", "title": "Other", "body": "Other."}
    new = propose("graph", "gotcha", "Other.", fields, origin="s", by="user")
    inbox_add(acting, [new])
    before = remembered(acting)
    with pytest.raises(InputError, match="already exists"):
        perform(acting, ActAccept(new.id))
    assert remembered(acting) == before


# -- undo, when something else happened ---------------------------------------------------------------


def test_undo_after_a_hand_edit_is_refused_and_keeps_it(acting: Project) -> None:
    acted = perform(acting, ActEdit("feature.worker", revision(acting, "feature.worker"), title="Runner", body="Runs."))
    Path(acting.root, ".memory/memory/worker.md").write_text("By hand.")
    before, log = remembered(acting), events(acting)
    with pytest.raises(Conflict, match=r"memory/worker\.md` was changed since") as caught:
        undo_acted(acting, acted)
    assert caught.value.hint
    assert (remembered(acting), events(acting)) == (before, log)


def test_undo_twice_changes_nothing_the_second_time(acting: Project) -> None:
    acted = perform(acting, ActStale("gotcha.clock-drift", "fixed"))
    undo_acted(acting, acted)
    before, log = remembered(acting), events(acting)
    undone = undo_acted(acting, acted)
    assert undone.message == "Nothing changed, it already was as before: Clock drift"
    assert undone.changes == ()
    assert (remembered(acting), events(acting)) == (before, log)


def test_undo_after_another_save_takes_back_its_own_alone(acting: Project) -> None:
    acted = perform(acting, ActStale("gotcha.clock-drift", "fixed"))
    before = Path(acting.root, ".memory/memory/clock-drift.json").read_bytes()
    save_nodes(acting, {"task": "x", "nodes": [{"id": "feature.worker", "body": "Newer."}]})
    undo_acted(acting, acted)
    assert Path(acting.root, ".memory/memory/worker.md").read_text() == "Newer."
    assert Path(acting.root, ".memory/memory/clock-drift.json").read_bytes() != before
    sound(acting)


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("last_first", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        ("stale", "edit"),
        ("stale fact", "accept a fact"),
        ("accept a fact", "accept a node"),
        ("supersede by a new one", "accept an entry"),
        ("reject", "accept a note"),
        ("supersede a fact", "accept an episode"),
    ],
)
def test_two_actions_are_undone_in_any_order(acting: Project, names: tuple[str, str], last_first: bool) -> None:
    before = remembered(acting)
    acted = [ACTIONS[name][0](acting) for name in names]
    after = remembered(acting)
    undone = [undo_acted(acting, item) for item in (reversed(acted) if last_first else acted)]
    assert remembered(acting) == before
    sound(acting)
    for item in reversed(undone):
        undo_acted(acting, item)
    assert remembered(acting) == after
    sound(acting)


def test_proposals_and_facts_that_arrived_since_survive(acting: Project) -> None:
    acted = perform(acting, ActAccept(proposal("facts")))
    new = propose("notes", "next step", "Water the plants.", {"text": "Water the plants."}, origin="s", by="agent")
    inbox_add(acting, [new])
    store(acting, Store(section="Specs", content="Maps are drawn at night."))
    undo_acted(acting, acted)
    waiting = {item.id: item.status for item in inbox(acting, ShowInbox(status="all")).proposals}
    assert waiting == dict.fromkeys([*(item.id for item in proposals()), new.id], "pending")
    contents = {fact.content for fact in list_facts(acting, ListFacts()).results}
    assert contents == {"The queue lives in Redis.", "Tickets expire after ninety days.", "Maps are drawn at night."}
    sound(acting)


def test_the_first_fact_vanishes_with_its_file(repo: Path, world: World) -> None:
    acting = Project.open(str(repo), world)
    init_memory(acting)
    inbox_add(acting, proposals())
    before = remembered(acting)
    acted = perform(acting, ActAccept(proposal("facts")))
    assert (repo / ".memory/facts.jsonl").exists()
    undone = undo_acted(acting, acted)
    assert remembered(acting) == before
    assert not (repo / ".memory/facts.jsonl").exists()
    undo_acted(acting, undone)
    store(acting, Store(section="Specs", content="Maps are drawn at night."))
    assert b"facts.jsonl merge=union" in (repo / ".memory/.gitattributes").read_bytes()
    undo_acted(acting, acted)
    assert [fact.content for fact in list_facts(acting, ListFacts()).results] == ["Maps are drawn at night."]
    assert b"facts.jsonl merge=union" in (repo / ".memory/.gitattributes").read_bytes()


def test_a_fact_that_was_changed_or_tied_since_stays(acting: Project) -> None:
    acted = perform(acting, ActAccept(proposal("facts")))
    name = fact_id(acting, "Invoices")
    connect(acting, Connect(source=f"fact:{name}", target="feature.worker", relation="depends_on"))
    with pytest.raises(Conflict, match="refers to"):
        undo_acted(acting, acted)
    archive(acting, Archive(fact_ids=[name], reason="old"))
    with pytest.raises(Conflict, match=r"facts\.jsonl` was changed since"):
        undo_acted(acting, acted)
    assert name not in {fact.id for fact in list_facts(acting, ListFacts()).results}
    assert b'"archived"' in Path(acting.root, ".memory/facts.jsonl").read_bytes()


def test_a_node_that_something_was_tied_to_stays(acting: Project) -> None:
    acted = perform(acting, ActAccept(proposal("graph")))
    link = {"id": "feature.worker", "related": [{"predicate": "affects", "to": "gotcha.pipes-block"}]}
    save_nodes(acting, {"task": "x", "nodes": [link]})
    before = remembered(acting)
    with pytest.raises(Conflict, match=r"refers to `gotcha\.pipes-block`"):
        undo_acted(acting, acted)
    assert remembered(acting) == before
    sound(acting)


def test_what_a_redo_would_lead_to_must_be_there(acting: Project) -> None:
    undone = undo_acted(acting, ACTIONS["supersede by one that is there"][0](acting))
    save_nodes(acting, {"task": "x", "delete": [{"id": "decision.retries-run-in-the-worker", "reason": "no"}]})
    with pytest.raises(Conflict, match="no longer exists"):
        undo_acted(acting, undone)
    sound(acting)


@pytest.mark.parametrize("name", ["stale", "stale fact"])
def test_what_was_rejected_since_is_not_said_again(acting: Project, name: str) -> None:
    acted = ACTIONS[name][0](acting)
    text = "The queue lives in Redis." if "fact" in name else "The clock of the worker is late."
    reject(acting, Reject(value=text))
    before = remembered(acting)
    with pytest.raises(ValueRejected):
        undo_acted(acting, acted)
    assert remembered(acting) == before


def test_the_map_follows(acting: Project) -> None:
    def shown() -> str:
        return Path(acting.root, "AGENTS.md").read_text()

    before = shown()
    acted = perform(acting, ActEdit("feature.worker", revision(acting, "feature.worker"), title="Runner"))
    assert "Runner" in shown()
    undone = undo_acted(acting, acted)
    assert shown() == before
    Path(acting.root, "AGENTS.md").write_text(before + "\nMine.\n")
    undo_acted(acting, undone)
    assert "Runner" in shown()
    assert shown().endswith("\nMine.\n")


def test_an_open_session_is_open_again(acting: Project) -> None:
    record_session(acting, NoteSession(session_id="s-1", turns=2))
    record_session(acting, NoteSession(session_id="s-0", turns=5, title="Silent"))
    acting.world = msgspec.structs.replace(acting.world, now=lambda now=acting.world.now(): now + timedelta(hours=9))
    before = remembered(acting)
    acted = perform(acting, ActAccept(proposal("episodes")))
    assert len(episodes(acting, ShowEpisodes()).results) == 2
    undo_acted(acting, acted)
    assert remembered(acting) == before
    assert episodes(acting, ShowEpisodes()).results == []


def test_what_is_too_much_to_keep_is_done_and_cannot_be_undone(
    acting: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.files.undo_recorder.MOST", 1_000)
    acted = perform(acting, ActEdit("feature.worker", revision(acting, "feature.worker"), body="Long. " * 400))
    assert acted.changes == ()
    assert [problem.code for problem in acted.warnings] == ["NotUndoable"]
    assert acted.message == "Edited: Worker"
    with pytest.raises(InputError, match=r"(?i)nothing"):
        undo_acted(acting, acted)


def test_a_text_that_was_edited_by_hand_comes_back_as_it_was(acting: Project) -> None:
    Path(acting.root, ".memory/memory/worker.md").write_bytes(b"By hand.\r\nTwo lines.")
    before = remembered(acting)
    acted = perform(acting, ActEdit("feature.worker", revision(acting, "feature.worker"), body="Of the page."))
    assert remembered(acting)[".memory/memory/worker.md"] == b"Of the page."
    undo_acted(acting, acted)
    assert remembered(acting) == before


def test_a_change_of_another_project_is_not_undone_here(acting: Project, tmp_path: Path, world: World) -> None:
    acted = perform(acting, ActStale("gotcha.clock-drift", "fixed"))
    other = tmp_path / "other"
    other.mkdir()
    there = Project(str(other), world)
    init_memory(there)
    with pytest.raises(InputError, match=r"(?i)nothing"):
        undo_acted(there, acted)
    with pytest.raises(InputError, match=r"(?i)nothing"):
        undo_acted(acting, msgspec.structs.replace(acted, changes=()))


def test_without_git_everything_is_undone_all_the_same(tmp_path: Path, world: World) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    acting = Project(str(root), world)
    init_memory(acting, layers=("facts",))
    save_nodes(acting, {"task": "first", "nodes": NODES})
    before = remembered(acting)
    undo_acted(acting, perform(acting, ActStale("gotcha.clock-drift", "fixed")))
    assert remembered(acting) == before


class Died(BaseException):
    """The process is gone."""


@pytest.mark.proof
@pytest.mark.parametrize("name", ["supersede by a new one", "accept a fact", "reject"])
def test_an_undo_that_dies_anywhere_is_done_or_not_begun(acting: Project, name: str, world: World) -> None:
    before = remembered(acting)
    acted = ACTIONS[name][0](acting)
    after = remembered(acting)
    kept = f"{acting.root}-kept"
    shutil.copytree(acting.root, kept, symlinks=True)
    outcomes = []
    for at in range(1_000):
        made: list[str] = []

        def dying(operation: str, path: str, made: list[str] = made, at: int = at) -> None:
            made.append(f"{operation} {path}")
            if len(made) > at:
                raise Died

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "before", dying)
            try:
                undo_acted(acting, acted)
                break
            except Died:
                pass
        again = Project.open(acting.root, world)
        status(again)
        assert remembered(again) in (before, after), made[-1]
        outcomes.append(remembered(again) == before)
        assert check_files(again).errors == []
        shutil.rmtree(acting.root)
        shutil.copytree(kept, acting.root, symlinks=True)
    assert len(outcomes) > 15
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {True, False}
    assert remembered(acting) == before
