"""Connecting two things: ends that exist, relations that mean something, one line for one connection."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from drafting import AT, NOW, Store
from making import edge, episode, fact

from quire.layers.facts.connect import MadeConnection, connect
from quire.layers.facts.records import connection_of
from quire.layers.facts.types import Connection
from quire.model.errors import InputError, NotFound, SecretDetected


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, fact("a", "One.", version=3), fact("b", "Two."), episode("ep"))


def joined(
    store: Store, source: str = "a", target: str = "b", relation: str = "depends_on", **more: Any
) -> MadeConnection:
    days = more.pop("days", 0)
    draft = store.draft(NOW + timedelta(days=days))
    done = connect(draft, more.pop("name", "e"), source, target, relation, **more)
    if not draft.is_empty:
        store.write(draft)
    return done


def test_a_new_connection_is_one_line_more(store: Store) -> None:
    before = store.data
    done = joined(store, description=" because ", session="s-1")
    assert (done.action, done.warnings) == ("connected", [])
    assert (done.edge.ref, done.edge.source, done.edge.predicate, done.edge.target) == (
        "edge:e",
        "fact:a",
        "depends_on",
        "fact:b",
    )
    assert store.data.startswith(before)
    draft = store.draft()
    found = draft.edge("edge:e")
    assert found is not None
    assert found == done.edge
    assert store.data.count(b"\n") == 4
    assert connection_of(found) == Connection(
        id="e",
        source_id="a",
        target_id="b",
        relation="depends_on",
        description="because",
        created_at=AT,
        version=4,
        created_session="s-1",
    )


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("depends_on", "depends_on"),
        ("Depends On", "depends_on"),
        ("DEPENDS-ON", "depends_on"),
        (" motivated  by ", "motivated_by"),
        ("is near", "is_near"),
        ("größer", "größer"),
    ],
)
def test_a_relation_however_it_is_spelled(store: Store, said: str, relation: str) -> None:
    done = joined(store, relation=said)
    assert done.edge.predicate == relation
    usual = relation in ("depends_on", "motivated_by")
    assert [(item.code, item.severity) for item in done.warnings] == ([] if usual else [("RelationUnknown", "warning")])


@pytest.mark.parametrize("relation", ["", " ", "_-_", "a.b", "a:b", "a\nb!", "x" * 61, "🙂"])
def test_a_relation_that_is_none(store: Store, relation: str) -> None:
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        connect(draft, "e", "a", "b", relation)
    assert refusal.value.details == {
        "field": "relation",
        "allowed": ["depends_on", "contradicts", "enables", "replaces", "motivated_by"],
    }
    assert draft.is_empty


@pytest.mark.parametrize(
    ("source", "target", "ends"),
    [
        ("fact:a", " b ", ("fact:a", "fact:b")),
        ("episode:ep", "a", ("episode:ep", "fact:a")),
        ("a", "episode:ep", ("fact:a", "episode:ep")),
    ],
)
def test_ends_by_id_or_ref(store: Store, source: str, target: str, ends: tuple[str, str]) -> None:
    done = joined(store, source, target)
    assert (done.edge.source, done.edge.target) == ends


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [
        ("none", "b", "source"),
        ("a", "none", "target"),
        ("a", "fact:none", "target"),
        ("a", "episode:none", "target"),
        ("a", "feature.none", "target"),
        ("a", "profile:user.timezone", "target"),
        ("a", "event:1", "target"),
        ("", "b", "source"),
        ("a", " ", "target"),
    ],
)
def test_an_end_that_is_not_here(store: Store, source: str, target: str, field: str) -> None:
    draft = store.draft()
    with pytest.raises(NotFound) as refusal:
        connect(draft, "e", source, target, "enables")
    assert refusal.value.details["field"] == field
    assert draft.is_empty


def test_nothing_is_connected_to_itself(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("old", "Same."), fact("young", "Same.", created_at="2026-03-02T00:00:00Z"))
    for source, target in (("old", "old"), ("fact:old", "old"), ("old", "young")):
        with pytest.raises(InputError, match="cannot be connected to itself"):
            connect(store.draft(), "e", source, target, "enables")


def test_a_twin_is_the_fact_that_it_stands_for(tmp_path: Path) -> None:
    store = Store(
        tmp_path, fact("old", "Same."), fact("young", "Same.", created_at="2026-03-02T00:00:00Z"), fact("b", "Two.")
    )
    assert joined(store, "young").edge.source == "fact:old"


@pytest.mark.parametrize(
    ("first", "again", "action"),
    [
        ({}, {}, "unchanged"),
        ({}, {"days": 1}, "reinforced"),
        ({}, {"session": "s-1"}, "reinforced"),
        ({"session": "s-1"}, {"session": "s-1", "days": 9}, "unchanged"),
        ({"session": "s-1"}, {}, "unchanged"),
        ({"session": "s-1"}, {"session": "s-2"}, "reinforced"),
    ],
)
def test_the_same_connection_again(store: Store, first: dict[str, Any], again: dict[str, Any], action: str) -> None:
    joined(store, **first)
    lines = store.lines()
    done = joined(store, relation="Depends on", name="other", **again)
    assert (done.action, done.edge.ref) == (action, "edge:e")
    assert store.lines()[:3] == lines[:3]
    if action == "unchanged":
        assert store.lines() == lines
        return
    before = store.data
    assert joined(store, name="third", **again).action == "unchanged"
    assert store.data == before


def test_the_other_way_round_and_another_relation_are_other_connections(store: Store) -> None:
    joined(store)
    assert joined(store, "b", "a", name="f").action == "connected"
    assert joined(store, relation="enables", name="g").action == "connected"
    assert store.data.count(b'"_type":"edge"') == 3


def test_an_archived_connection_can_be_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"), fact("b"), edge("old", "a", "b", status="archived"))
    assert joined(store).edge.ref == "edge:e"


def test_what_another_writer_wrote_is_known(tmp_path: Path) -> None:
    theirs = {"_type": "edge", "id": "t", "source_fact_id": "a", "target_fact_id": "b", "relation": "Depends On"}
    store = Store(tmp_path, fact("a"), fact("b"), {**theirs, "colour": "red"})
    done = joined(store)
    assert (done.action, done.edge.ref) == ("reinforced", "edge:t")
    assert b'"source_id":"a","target_id":"b","relation":"depends_on"' in store.lines()[2]
    assert b'"colour":"red"' in store.lines()[2]


def test_what_was_superseded_is_connected_through_what_replaced_it(tmp_path: Path) -> None:
    """Reading leads the connection on to the replacement: so it must be known there, and not be made again."""
    store = Store(tmp_path, fact("a", "One."), fact("b", "Two.", status="superseded"), fact("c", "3.", supersedes="b"))
    done = joined(store, "a", "b")
    assert (done.edge.source, done.edge.target) == ("fact:a", "fact:c")
    before = store.data
    assert joined(store, "a", "b", name="f").action == "unchanged"
    assert joined(store, "a", "c", name="g").action == "unchanged"
    assert store.data == before


def test_a_description_is_kept_where_there_was_none(store: Store) -> None:
    """Saying why, later, must not be lost without a word."""
    joined(store)
    joined(store, description="because of the ports", days=1)
    assert b"because of the ports" in store.data


@pytest.mark.parametrize("description", ["x" * 2_001, "a\x1bb"])
def test_a_description_that_may_not_be(store: Store, description: str) -> None:
    with pytest.raises(InputError) as refusal:
        joined(store, description=description)
    assert refusal.value.details["field"] == "description"


def test_a_description_with_a_credential(store: Store) -> None:
    with pytest.raises(SecretDetected):
        joined(store, description="AKIA" + "Z7Q2M4X9P1L5K8W3")


def test_a_session_is_a_short_name(store: Store) -> None:
    for session in ("x" * 5_000, "a\nb"):
        with pytest.raises(InputError) as refusal:
            joined(store, session=session)
        assert refusal.value.details["field"] == "session"


def test_a_fact_with_the_id_of_something_else(tmp_path: Path) -> None:
    """An id may look like a ref of the graph; where the graph has no such node, the fact is meant."""
    store = Store(tmp_path, fact("feature.queue", "One."), fact("b", "Two."))
    done = joined(store, "feature.queue", "b")
    assert done.edge.source == "fact:feature.queue"
    assert store.draft().edge("edge:e") == done.edge
