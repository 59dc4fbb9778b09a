"""What the damages of every kind of file found: each failure in the smallest form in which it could be seen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from kinds_catalogue import Space, lent
from kinds_damage import SHAPES, damaged, put

from promised import proves
from quire.files.marked_sections import Markers, find_section
from quire.inbox.store import read_inbox
from quire.model.errors import InputError, InvalidStore, StorageFailed, UnsupportedVersion
from quire.verbs.admin.check import check_files
from quire.verbs.admin.doctor import Doctor, doctor
from quire.verbs.agents.connections import connect_clients, connection_status
from quire.verbs.agents.session_end import collect_sessions, journal_run_once
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.ask.status import status as status_of
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.journal.automate_status import automate_status
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.page.record_views import ViewRecord, view_record
from quire.verbs.verb import Arguments


@pytest.fixture
def space() -> Iterator[Space]:
    yield from lent()


def spoil(space: Space, kind: str, damage: str, version: str = "") -> bytes:
    form = "lines" if space.paths[kind].endswith(".jsonl") else "json"
    data = damaged(damage, space.whole[space.paths[kind]], form, version)
    assert data is not None
    put(space.path(kind), data)
    return data


@proves("P5.1", "D11", over="facts graph inbox", found="facts that could not be read stopped every other layer")
def test_facts_that_cannot_be_read_stop_no_other_layer(space: Space) -> None:
    os.unlink(space.path("facts"))
    os.mkdir(space.path("facts"))
    project = space.open()
    assert inspect_node(project, "feature.witness").node.node.title == "Witness"
    assert len(inbox(project, ShowInbox(status="all")).proposals) >= 3
    assert [item["path"] for item in status(project).unreadable] == [".memory/facts.jsonl"]
    with pytest.raises(InvalidStore, match=r"facts\.jsonl"):
        list_facts(project, ListFacts())


@proves("P5.1", "D11", over="graph", found="check overlooked an empty folder in the place of a node or a relation")
@pytest.mark.parametrize("kind", ["sidecar", "relation"])
def test_an_empty_folder_in_the_place_of_a_file_is_named_by_check(space: Space, kind: str) -> None:
    path = space.path(kind)
    os.unlink(path)
    os.mkdir(path)
    shown = space.paths[kind].removeprefix("harbor/")
    found = {problem.path for problem in check_files(space.open()).errors}
    os.rmdir(path)
    assert shown in found


@proves("P5.1", "D4", over="graph", found="a number out of range ended a look at a node in a crash")
@pytest.mark.parametrize("damage", ["long number", "large exponent"])
def test_a_number_that_cannot_be_kept_makes_a_node_unreadable_for_everybody(space: Space, damage: str) -> None:
    data = spoil(space, "sidecar", damage)
    project = space.open()
    with pytest.raises(InvalidStore, match=r"victim\.json"):
        view_record(project, ViewRecord("feature.victim"))
    with pytest.raises(InvalidStore, match=r"victim\.json"):
        save_nodes(project, {"task": "t", "nodes": [{"id": "feature.victim", "title": "Another"}]})
    assert Path(space.path("sidecar")).read_bytes() == data


@proves("P5.2", "A11", "E3", over="inbox", found="a rejection that could not be read was written over")
@pytest.mark.parametrize("damage", ["half", "conflict", "not utf-8"])
def test_a_rejection_that_cannot_be_read_is_not_written_over(space: Space, damage: str) -> None:
    data = spoil(space, "rejection", damage)
    with pytest.raises(InvalidStore, match="cannot be read"):
        reject(space.open(), Reject(value="Nobody reads the reports.", reason="still not so"))
    assert Path(space.path("rejection")).read_bytes() == data


@proves("P5.1", "D1", over="inbox", found="a key that is no text was passed over, and with it what it said")
def test_a_line_of_the_inbox_that_is_not_utf8_anywhere_is_told_of(space: Space) -> None:
    lines = space.whole[space.paths["inbox"]].splitlines(keepends=True)
    put(space.path("inbox"), b"".join([lines[0].replace(b'"proposed_at"', b'"prop\xffosed_at"'), *lines[1:]]))
    found = read_inbox(space.open().root)
    assert [problem.path for problem in found.problems] == [".memory/local/inbox.jsonl"]
    assert len(found.proposals) == len(lines) - 1


@proves("P5.2", "A11", over="wiring", found="a record of wiring that could not be read was written over")
def test_a_record_of_wiring_that_cannot_be_read_is_kept_beside_its_place(space: Space) -> None:
    data = spoil(space, "record of wiring", "half")
    connect_clients(space.open(), ["claude", "cursor", "codex"])
    path = space.path("record of wiring")
    assert Path(path + ".damaged").read_bytes() == data
    assert json.loads(Path(path).read_bytes())["version"] == 1


@proves("P5.3", "D4", over="wiring journal profile", found="depth without end in these files ended a look in a crash")
@pytest.mark.parametrize("kind", ["record of wiring", "runs", "profile", "expired"])
def test_depth_without_end_crashes_nobody_who_looks(space: Space, kind: str) -> None:
    spoil(space, kind, "deep inside")
    project = space.open()
    connection_status(project)
    automate_status(project, Arguments())
    journal_run_once(project)
    assert doctor(project, Doctor()).findings


@proves("P5.5", "D15", over="machine", found="agreed sources of a newer version were replaced by ours")
def test_agreed_sources_of_a_newer_version_are_left_alone(space: Space) -> None:
    data = spoil(space, "agreed sources", "newer", "version")
    project = space.open()
    with pytest.raises(UnsupportedVersion):
        add(project, JournalAdd(source_type="markdown", path=os.path.join(space.folder, "home"), name="more"))
    assert Path(space.path("agreed sources")).read_bytes() == data


@proves("P6.2", "E3", over="graph journal", found="a section was replaced with one end of a conflict in it")
def test_a_section_in_which_a_conflict_begins_is_left_alone() -> None:
    markers = Markers("<!-- a -->", "<!-- b -->")
    begun = b"<!-- a -->\nold\n<<<<<<< HEAD\nours\n<!-- b -->\n=======\ntheirs\n>>>>>>> side\n"
    assert find_section(begun, markers).state == "damaged"
    whole = b"<!-- a -->\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n<!-- b -->\n"
    assert find_section(whole, markers).state == "present"


@proves("P5.3", "D3", over="graph", found="thousands of unknown keys kept a save busy for minutes")
def test_ten_thousand_unknown_keys_are_refused_in_a_moment(space: Space) -> None:
    node = {"kind": "feature", "title": "T", "body": "B.", **{f"k{number}": 1 for number in range(10_000)}}
    with pytest.raises(InputError):
        save_nodes(space.open(), {"task": "t", "nodes": [node]})


@proves("P5.3", "D3", over="graph", found="a body beyond its limit was first searched for what was rejected")
def test_a_body_of_ten_megabytes_is_refused_before_it_is_searched(space: Space) -> None:
    with pytest.raises(InputError, match="limit is 200,000"):
        save_nodes(
            space.open(), {"task": "t", "nodes": [{"kind": "feature", "title": "T", "body": "word " * 2_000_000}]}
        )


@proves("P5.3", "D3", over="journal", found="the name of a source had no limit")
def test_a_name_of_a_source_has_a_limit(space: Space) -> None:
    before = Path(space.path("sources")).read_bytes()
    with pytest.raises(InputError, match="limit is 160"):
        add(space.open(), JournalAdd(source_type="markdown", path=space.folder, name="x" * 161))
    assert Path(space.path("sources")).read_bytes() == before


@proves("P4.2", "A15", over="index", found="a body that could be read again was told of as unreadable for ever")
@proves("P5.1", "D1", over="graph")
def test_a_body_that_was_repaired_is_not_told_of_any_more(space: Space) -> None:
    whole = space.whole[space.paths["body"]]
    put(space.path("body"), whole + b"\xff")
    assert [item["path"] for item in status_of(space.open()).unreadable] == [".memory/memory/victim.json"]
    put(space.path("body"), whole)
    assert status_of(space.open()).unreadable == []


@proves("P5.4", "D11", over="inbox", found="something else in the place of a lock ended the collection in a crash")
@pytest.mark.parametrize("shape", ["folder", "pipe", "socket"])
def test_what_is_in_the_place_of_the_collectors_lock_is_told_in_words(space: Space, shape: str) -> None:
    path = os.path.join(space.folder, "harbor/.memory/local/collect.lock")
    SHAPES[shape](path, "")
    with pytest.raises(StorageFailed):
        collect_sessions(space.open())
    assert os.path.lexists(path)
