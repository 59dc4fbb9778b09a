"""Two at the same thing, one exactly in the middle of the other: each place where something was lost or doubled."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from machine_verbs import verb_named

from promised import proves
from quire.files import disk
from quire.files.world import World
from quire.inbox.proposals import Proposal, propose
from quire.layers.graph.save import save_intent
from quire.layers.graph.store import GraphStore
from quire.layers.record_details import node_revision
from quire.model.errors import Conflict, InputError, LockBusy, QuireError
from quire.project import Project
from quire.upkeep.guidance import refresh_map
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.facts import session as sessions
from quire.verbs.facts import store as fact_storing
from quire.verbs.facts.notes import DoneNotes, PromoteNote, TakeNote, done, promote, show_notes, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox import accept as accept_module
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.rejected import rejected
from quire.verbs.page import actions
from quire.verbs.page.actions import ActEdit, act_edit
from quire.verbs.page.views import ViewRecords, view_records
from quire.verbs.profile import session_start
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.session_start import start_session
from quire.verbs.verb import Arguments

TEXT = "The queue drops jobs when the worker restarts."


@pytest.fixture
def other(project: Project, world: World) -> Project:
    """Somebody else in the same project, who does not wait."""
    env = {**world.env, "MEMORY_LOCK_TIMEOUT": "0"}
    return Project.open(project.root, msgspec.structs.replace(world, env=env, token=lambda: os.urandom(8).hex()))


def between(module: Any, step_name: str, visit: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Somebody comes before a step of ours, once; what they were told."""
    step = getattr(module, step_name)
    told: list[str] = []

    def hooked(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(module, step_name, step)
        try:
            visit()
            told.append("done")
        except QuireError as error:
            told.append(error.code)
        return step(*given, **more)

    monkeypatch.setattr(module, step_name, hooked)
    return told


def node_proposal() -> Proposal:
    fields = {"kind": "gotcha", "title": "Jobs are dropped", "body": TEXT}
    return propose("graph", "gotcha", TEXT, fields, origin="file:a.md", by="user")


@proves("P3.2", over="inbox", found="a proposal that two accepted at once was accepted by both")
@pytest.mark.parametrize("act", ["inbox_accept", "inbox_reject"])
def test_a_proposal_is_settled_once(
    project: Project, other: Project, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = node_proposal()
    inbox_add(project, [item])
    told = between(accept_module, "accept_proposal", lambda: verb_named(act)(other, [item.id]), monkeypatch)
    done = accept(project, ChosenProposals(ids=[item.id]))
    assert told == [LockBusy.code]
    assert [one.ref for one in done.done] == ["gotcha.jobs-are-dropped"]
    assert [one.status for one in inbox(project, ShowInbox(status="all")).proposals] == ["accepted"]
    assert rejected(project, Arguments()).results == []
    with pytest.raises(InputError, match="was accepted already"):
        verb_named(act)(other, [item.id])


@proves("P3.1", over="facts", found="promoting a note took another one off the list")
def test_the_note_that_became_a_fact_goes_and_no_other(
    project: Project, other: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("First.", "Second.", "Third."):
        take_note(project, TakeNote(words=[text]))
    told = between(fact_storing, "store", lambda: done(other, DoneNotes(numbers=["1"])), monkeypatch)
    assert promote(project, PromoteNote(number="2", section="Specs")).fact.content == "Second."
    assert told == ["done"]
    assert [note.text for note in show_notes(project, Arguments()).notes] == ["Third."]


@proves("P3.2", "B2", over="graph", found="an edit overwrote another one for a moment, and could lose it")
def test_an_edit_of_what_somebody_changed_writes_nothing(
    project: Project, other: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"id": "feature.chain", "title": "One", "body": "One."}]})
    found = inspect_node(project, "feature.chain").node
    revision = node_revision(found.data, found.body_data)
    told = between(
        actions, "save_nodes", lambda: act_edit(other, ActEdit("feature.chain", revision, title="Theirs")), monkeypatch
    )
    log = Path(project.root, ".memory/events.jsonl")
    with pytest.raises(Conflict, match=" changed since you began"):
        act_edit(project, ActEdit("feature.chain", revision, title="Mine"))
    assert told == ["done"]
    assert inspect_node(project, "feature.chain").node.node.title == "Theirs"
    assert log.read_text(encoding="utf-8").count('"memory.updated"') == 1


@proves("P3.1", over="facts", found="what was told of a session while it was closed was thrown away")
def test_what_is_told_of_a_session_while_it_is_closed_is_kept(
    project: Project, other: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = between(
        sessions,
        "_forget",
        lambda: record_session(other, NoteSession(session_id="s1", turns=9, narrative="Went on.")),
        monkeypatch,
    )
    _, episodes = record_session(project, NoteSession(session_id="s1", turns=3, title="Queues", close=True))
    assert told == ["done"]
    assert len(episodes) == 1
    open_now, episodes = record_session(project, NoteSession(session_id="s1", close=True))
    assert open_now.turns == 9
    assert [episode.narrative.endswith("9 turns, 0 tool calls, 0s.\n\nWent on.") for episode in episodes] == [True]


@proves("P3.1", over="profile", found="two sessions that began at once were told the same number")
def test_a_session_is_told_the_number_that_it_was_counted_by(
    project: Project, other: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    told = between(
        session_start, "ask_profile", lambda: seen.append(start_session(other, Arguments()).session_count), monkeypatch
    )
    assert start_session(project, Arguments()).session_count == 1
    assert told == ["done"]
    assert seen == [2]


def hand_edit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody saves a file just when ours is about to take its place."""

    def before(operation: str, place: str) -> None:
        if operation == "create" and os.path.dirname(place) == str(path.parent):
            monkeypatch.setattr(disk, "before", lambda _operation, _path: None)
            path.write_bytes((path.read_bytes() if path.exists() else b"") + b"theirs\n")

    monkeypatch.setattr(disk, "before", before)


@proves("P3.1", over="graph profile journal", found="layers overwrote each other's lines in .gitignore")
def test_lines_that_somebody_adds_to_gitignore_stay(
    project: Project, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_edit(repo / ".gitignore", monkeypatch)
    remember_entry(project, RememberEntry(category="tools", key="editor", value="Helix, dark."))
    lines = (repo / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "theirs" in lines
    assert any(line.startswith(".ai-state/") for line in lines)


@proves("P3.1", over="graph journal", found="a new map overwrote what the journal had just put into AGENTS.md")
def test_what_somebody_adds_to_agents_md_stays_when_the_map_is_renewed(
    project: Project, repo: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_edit(repo / "AGENTS.md", monkeypatch)
    written, problems = refresh_map(project.root, world, "# Another map\n")
    text = (repo / "AGENTS.md").read_text(encoding="utf-8")
    assert (written, problems) == (["AGENTS.md"], [])
    assert text.endswith("theirs\n")
    assert "# Another map" in text


@proves("P2.2", "B3", over="graph", found="a reader saw one of two nodes that were saved together")
def test_a_reader_sees_both_of_two_nodes_that_are_saved_together(
    project: Project, other: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pair(word: str) -> dict[str, Any]:
        return {"task": "t", "nodes": [{"id": f"feature.{name}", "title": word, "body": word} for name in ("a", "b")]}

    save_nodes(project, pair("old"))
    save_nodes(project, pair("older and longer"))
    os.unlink(os.path.join(project.root, ".memory/index/quire.sqlite"))
    read = GraphStore.read_node
    due = ["new"]

    def reading(store: GraphStore, path: str) -> Any:
        found = read(store, path)
        if path.endswith(("a.json", "b.json")) and due:
            save_intent(other.graph, other.world, other.git, pair(due.pop()), actor="agent")
        return found

    monkeypatch.setattr(GraphStore, "read_node", reading)
    titles = {item.title for item in view_records(project, ViewRecords(kind="feature")).items}
    assert due == []
    assert titles == {"new"}


@proves("P2.2", "B3", over="index", found="an answer was put together from two states of the index, or failed")
def test_an_answer_is_from_one_state_of_the_index(project: Project, other: Project) -> None:
    store_fact(project, Store(section="Specs", content=TEXT))

    def work(index: Any) -> tuple[int, int]:
        before = len(index.records("facts"))
        store_fact(other, Store(section="Specs", content="Somebody else stores another one meanwhile."))
        return before, len(index.records("facts"))

    assert project.with_index(work) == (1, 1)
    assert project.with_index(lambda index: len(index.records("facts"))) == 2
