"""Putting facts away and bringing them back: each id is answered for, and nothing else is touched."""

from pathlib import Path
from typing import Any

import pytest
from drafting import AT, Store
from making import edge, fact

from quire.layers.facts.archive import archive_facts, named_ids, restore_facts
from quire.layers.facts.store_fact import FactInput, supersede_fact
from quire.layers.facts.types import Fact
from quire.model import limits
from quire.model.errors import InputError, SecretDetected

MORE: dict[str, Any] = {"colour": "red", "weights": [1, 2.5, {"deep": None}]}


def outcomes(found: list[Any]) -> dict[str, str]:
    return {item.id: item.outcome for item in found}


def archive(store: Store, *names: str, reason: str | None = None) -> dict[str, str]:
    draft = store.draft()
    found = archive_facts(draft, names, reason)
    if not draft.is_empty:
        store.write(draft)
    return outcomes(found)


def restore(store: Store, *names: str) -> dict[str, str]:
    draft = store.draft()
    found = restore_facts(draft, names)
    if not draft.is_empty:
        store.write(draft)
    return outcomes(found)


# -- which ids ------------------------------------------------------------------------------


def test_ids_come_as_a_list_or_alone_and_count_once() -> None:
    assert named_ids("a") == ["a"]
    assert named_ids(["b", " a ", "b", "", " ", "a"]) == ["b", "a"]
    assert named_ids(("a b",)) == ["a b"]


@pytest.mark.parametrize("ids", ["", "  ", [], ["", " "], ()])
def test_no_id_is_an_error(ids: Any) -> None:
    with pytest.raises(InputError) as refusal:
        named_ids(ids)
    assert refusal.value.details["field"] == "fact_ids"


def test_too_many_ids_are_refused() -> None:
    assert len(named_ids([str(number) for number in range(limits.ITEMS)])) == 2_000
    with pytest.raises(InputError, match="2,001 facts are named; the limit is 2,000"):
        named_ids([str(number) for number in range(limits.ITEMS + 1)])


# -- archiving ------------------------------------------------------------------------------


def test_each_id_is_answered_for(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("a", "x" * 100),
        fact("b", "Two.", status="archived"),
        fact("c", "Three.", status="superseded"),
        fact("d", "Four.", status="pending"),
    )
    draft = store.draft()
    found = archive_facts(draft, ["a", "b", "c", "d", "none", "fact:a", "edge:none"], "stale")
    assert [(item.id, item.outcome, item.done) for item in found] == [
        ("a", "archived", True),
        ("b", "already archived", False),
        ("c", "already superseded", False),
        ("d", "archived", True),
        ("none", "not found", False),
        ("a", "already archived", False),
        ("edge:none", "not found", False),
    ]
    assert found[0].message == f"a: archived (was: {'x' * 59}…)"
    assert list(draft.replaced) == [(Fact, "a"), (Fact, "d")]


def test_what_is_written_of_an_archived_fact(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One.", version=4, tags=["x"], **MORE), fact("b"))
    before = store.fact("a")
    assert archive(store, "a", reason="  It moved.  ") == {"a": "archived"}
    found = store.fact("a")
    assert (found.status, found.archived_at, found.updated_at, found.reason, found.version) == (
        "archived",
        AT,
        AT,
        "It moved.",
        5,
    )
    for name in ("id", "content", "section", "tags", "created_at", "extra", "content_hash", "confidence"):
        assert getattr(found, name) == getattr(before, name)


def test_twice_is_once(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"))
    archive(store, "a", reason="first")
    before = store.data
    assert archive(store, "a", reason="second") == {"a": "already archived"}
    assert store.data == before


@pytest.mark.parametrize("reason", ["", " ", "x" * 2_001, "a\x1bb"])
def test_a_reason_that_is_none(tmp_path: Path, reason: str) -> None:
    store = Store(tmp_path, fact("a"))
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        archive_facts(draft, ["a"], reason)
    assert refusal.value.details["field"] == "reason"
    assert draft.is_empty


def test_a_reason_with_a_credential(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"))
    with pytest.raises(SecretDetected):
        archive_facts(store.draft(), ["a"], "AKIA" + "Z7Q2M4X9P1L5K8W3")


def test_twins_go_together_and_name_the_one_they_stand_for(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("young", "Same.", created_at="2026-03-02T00:00:00Z", colour="red"),
        fact("old", "SAME."),
        fact("side", "Same.", mind="side"),
    )
    assert archive(store, "young") == {"old": "archived"}
    lines = {item.id: item for item in store.stored()}
    assert [lines[name].status for name in ("old", "young", "side")] == ["archived", "archived", "active"]
    assert (lines["young"].same_as, lines["old"].same_as, lines["young"].extra) == ("old", None, {"colour": "red"})
    assert lines["young"].version == lines["old"].version == 1


def test_a_fact_named_twice_through_its_twin_is_archived_once(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("young", "Same.", created_at="2026-03-02T00:00:00Z"), fact("old", "Same."))
    draft = store.draft()
    found = archive_facts(draft, ["young", "old"], None)
    assert [(item.id, item.outcome) for item in found] == [("old", "archived"), ("old", "already archived")]


def test_what_another_writer_called_the_same_stays_a_fact_of_its_own(tmp_path: Path) -> None:
    """Only a line that was put away for another is that other; archiving this one for itself must not make it so."""
    store = Store(tmp_path, fact("a", "One."), fact("b", "Two.", same_as="a"))
    archive(store, "b")
    assert store.fact("b").content == "Two."
    assert restore(store, "b") == {"b": "restored"}


def test_a_dropped_proposal_replaces_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."), fact("p", "Two.", status="pending", supersedes="a"))
    assert archive(store, "p") == {"p": "archived"}
    assert store.fact("a").is_active
    assert store.fact("p").supersedes is None


# -- connections ----------------------------------------------------------------------------


def test_a_connection_is_archived_by_its_ref(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a"), fact("b"), edge("e", "a", "b", version=2, colour="red", weight=0.5))
    draft = store.draft()
    (found,) = archive_facts(draft, "edge:e", "no more")
    assert (found.outcome, found.message) == ("archived", "edge:e: archived (was: fact:a depends_on fact:b)")
    link = store.write(draft).connections["e"].connection
    assert (link.status, link.archived_at, link.updated_at, link.reason, link.version) == (
        "archived",
        AT,
        AT,
        "no more",
        3,
    )
    assert (link.confidence, link.extra) == (0.5, {"colour": "red"})
    assert archive(store, "edge:e") == {"edge:e": "already archived"}


def test_what_follows_from_the_facts_alone_cannot_be_archived(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", status="superseded"), fact("b", "Two.", supersedes="a"))
    draft = store.draft()
    assert outcomes(archive_facts(draft, ["fact:b replaces fact:a", "edge:fact:b replaces fact:a"], None)) == {
        "fact:b replaces fact:a": "not found",
        "edge:fact:b replaces fact:a": "not found",
    }
    assert draft.is_empty


# -- restoring ------------------------------------------------------------------------------


def test_what_comes_back_is_what_went(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One.", tags=["x"], confidence=0.4, source="tool-call", **MORE))
    before = store.fact("a")
    archive(store, "a", reason="wrong")
    assert restore(store, "a") == {"a": "restored"}
    after = store.fact("a")
    assert (after.version, after.updated_at) == (2, AT)
    changed = {name for name in Fact.__struct_fields__ if getattr(after, name) != getattr(before, name)}
    assert changed == {"version", "updated_at"}
    assert restore(store, "a") == {"a": "already active"}


def test_each_restored_id_is_answered_for(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("a", "One.", status="archived"),
        fact("b", "Two."),
        fact("c", "Three.", status="superseded"),
        fact("d", "Four.", supersedes="c"),
        fact("e", "TWO.", status="archived"),
        fact("f", "Six.", status="dormant"),
        fact("g", "Seven.", status="lost"),
        fact("h", "Eight.", status="pending"),
    )
    assert restore(store, "a", "b", "c", "e", "f", "g", "h", "none") == {
        "a": "restored",
        "b": "already active",
        "c": "refused",
        "e": "refused",
        "f": "restored",
        "g": "restored",
        "h": "accepted",
        "none": "not found",
    }
    assert [item.id for item in store.stored() if item.is_active] == ["a", "b", "d", "f", "g", "h"]


def test_two_that_say_the_same_are_not_both_restored(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "Same.", status="archived"), fact("b", "SAME.", status="archived"))
    assert restore(store, "b", "a") == {"b": "restored", "a": "refused"}


def test_of_one_mind_the_text_of_another_stands_in_nobodys_way(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "Same."), fact("b", "Same.", mind="side", status="archived"))
    assert restore(store, "b") == {"b": "restored"}


def test_a_superseded_fact_comes_back_when_nothing_stands_in_its_place(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."))
    draft = store.draft()
    supersede_fact(draft, "a", FactInput(id="b", content="Two."))
    store.write(draft)
    draft = store.draft()
    (found,) = restore_facts(draft, "a")
    assert (found.outcome, found.message) == ("refused", "a: not restored, since b replaced it; archive that first")
    archive(store, "b")
    assert restore(store, "a") == {"a": "restored"}
    assert (store.fact("a").superseded_at, store.fact("a").reason) == (None, None)


def test_twins_stay_other_names_of_what_comes_back(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("young", "Same.", created_at="2026-03-02T00:00:00Z"), fact("old", "Same."))
    archive(store, "old")
    assert restore(store, "young") == {"old": "restored"}
    assert store.fact("young").id == "old"
    assert [item.status for item in store.stored()] == ["archived", "active"]


def test_accepting_a_proposal_puts_away_what_it_was_to_replace(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."), fact("p", "Two.", status="pending", supersedes="a", reason="new"))
    assert restore(store, "p") == {"p": "accepted"}
    old, new = store.fact("a"), store.fact("p")
    assert (old.status, old.superseded_at, old.reason) == ("superseded", AT, "new")
    assert (new.status, new.last_reinforced, old.version, new.version) == ("active", AT, 1, 2)


@pytest.mark.parametrize("again", range(3))
def test_there_and_back_any_number_of_times(tmp_path: Path, again: int) -> None:
    store = Store(tmp_path, fact("a", "One.", **MORE), fact("b", "Two."))
    lines = store.lines()
    for number in range(again + 1):
        archive(store, "a", reason=f"reason {number}")
        restore(store, "a")
    assert store.lines()[1:] == lines[1:]
    assert store.fact("a").version == 2 * (again + 1)
    assert len(store.stored()) == 2
