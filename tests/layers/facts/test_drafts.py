"""A change before it is written: it answers as the file will, and tells the index exactly what is gone and new."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from drafting import AT, NOW, Store
from hypothesis import given
from hypothesis import strategies as st
from making import edge, episode, fact

from quire.layers.facts.archive import archive_facts, restore_facts
from quire.layers.facts.connect import connect
from quire.layers.facts.drafts import FactsDraft, find_fact, section_named
from quire.layers.facts.records import FactWithTwins, episode_of_record, held_of
from quire.layers.facts.source import overview_of
from quire.layers.facts.store_fact import FactInput, store_fact, supersede_fact
from quire.layers.facts.types import Episode, Fact
from quire.model.errors import InputError, NotFound
from quire.model.records import Edge, Record, RecordSummary
from quire.model.times import time_text


def told(content: str, name: str) -> FactInput:
    return FactInput(id=name, content=content, section="Specs")


def items(draft: FactsDraft, kind: type) -> dict[str, object]:
    return {item.ref: item for item in draft.items() if isinstance(item, kind)}


# -- asking ---------------------------------------------------------------------------------


def test_it_answers_like_the_file(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("old", "Same."),
        fact("young", "Same.", created_at="2026-03-02T00:00:00Z"),
        fact("gone", "SAME.", status="archived"),
        edge("e", "old", "gone"),
        episode("ep"),
    )
    draft = store.draft()
    assert [draft.fact(name).fact.id for name in ("old", "fact:old", "young", "fact:young")] == ["old"] * 4  # type: ignore[union-attr]
    assert draft.fact("none") is None
    assert {held.fact.id for held in draft.saying("default", draft.fact("old").fact.content_hash)} == {"old", "gone"}  # type: ignore[union-attr]
    assert draft.saying("side", draft.fact("old").fact.content_hash) == []  # type: ignore[union-attr]
    assert [item.ref for item in draft.edges_of("fact:gone")] == ["edge:e"]
    assert draft.edge("edge:none") is None
    assert [draft.has(ref) for ref in ("fact:young", "episode:ep", "fact:none", "episode:x", "feature.x")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert draft.is_empty
    assert (draft.added, draft.replaced, draft.gone) == ([], {}, [])
    assert (draft.home, draft.now) == ("default", AT)


def test_it_answers_as_the_file_will(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."), fact("b", "Two."), edge("e", "b", "a"))
    draft = store.draft()
    supersede_fact(draft, "a", told("Three.", "c"))
    assert draft.fact("a").fact.status == "superseded"  # type: ignore[union-attr]
    assert draft.has("fact:c")
    assert [(item.source, item.target) for item in draft.edges_of("fact:c")] == [
        ("fact:b", "fact:c"),
        ("fact:c", "fact:a"),
    ] or {(item.source, item.target) for item in draft.edges_of("fact:c")} == {
        ("fact:b", "fact:c"),
        ("fact:c", "fact:a"),
    }
    assert draft.edge("edge:e").target == "fact:c"  # type: ignore[union-attr]
    archive_facts(draft, "edge:e", None)
    assert draft.edge("edge:e").status == "archived"  # type: ignore[union-attr]
    restored = restore_facts(draft, "a")
    assert restored[0].outcome == "refused"


# -- what comes of it -----------------------------------------------------------------------


def test_versions_are_taken_one_by_one(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One.", version=41), fact("b", "Two."))
    draft = store.draft()
    archive_facts(draft, ["a", "b"], None)
    store_fact(draft, told("Three.", "c"))
    assert [record.version for record in draft.replaced.values()] == [42, 43]
    assert [record.version for record in draft.added] == [44]
    (summary,) = [item for item in draft.items() if isinstance(item, RecordSummary)]
    assert overview_of(summary.value).version == 44


def test_what_was_added_and_changed_again_is_one_new_line(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."))
    draft = store.draft()
    store_fact(draft, told("Two.", "b"))
    archive_facts(draft, "b", "at once")
    connect(draft, "e", "a", "b", "enables")
    archive_facts(draft, "edge:e", None)
    assert not draft.replaced
    assert [(type(record).__name__, record.status) for record in draft.added if not isinstance(record, Episode)] == [
        ("Fact", "archived"),
        ("Connection", "archived"),
    ]
    before = store.data
    store.write(draft)
    assert store.data.startswith(before)
    assert store.data.count(b"\n") == 3


def test_the_index_is_told_what_goes_and_what_comes(tmp_path: Path) -> None:
    store = Store(
        tmp_path,
        fact("old", "Same."),
        fact("young", "Same.", created_at="2026-03-02T00:00:00Z"),
        fact("b", "Two."),
        edge("e", "b", "young"),
    )
    draft = store.draft()
    supersede_fact(draft, "young", told("New.", "c"))
    assert {"fact:old", "edge:e"} <= set(draft.gone)
    records = items(draft, Record)
    assert set(records) == {"fact:old", "fact:c"}
    held = held_of(records["fact:old"])  # type: ignore[arg-type]
    assert [(line.id, line.status, line.same_as) for line in (held.fact, *held.twins)] == [
        ("old", "superseded", None),
        ("young", "superseded", "old"),
    ]
    edges = items(draft, Edge)
    assert set(edges) == {"edge:e", "fact:c replaces fact:old"}
    assert set(draft.replaced) == {(Fact, "old"), (Fact, "young")}


def test_episodes_are_added_or_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path, episode("ep", version=2))
    draft = store.draft()
    new = Episode(id="other", title="T", narrative="N", version=draft.next_version())
    draft.put_episode(new, new=True)
    again = Episode(id="ep", title="T2", narrative="N2", version=draft.next_version())
    draft.put_episode(again, new=False)
    assert (draft.added, list(draft.replaced.values()), draft.gone) == ([new], [again], ["episode:ep"])
    records = items(draft, Record)
    assert {ref: episode_of_record(record) for ref, record in records.items()} == {  # type: ignore[arg-type]
        "episode:other": new,
        "episode:ep": again,
    }
    assert store.write(draft).episodes == {"ep": again, "other": new}


def test_the_same_state_is_no_change(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."))
    draft = store.draft()
    held = draft.fact("a")
    assert held is not None
    draft.change_fact(held, held.fact)
    assert draft.is_empty


def test_a_change_in_the_minds_own_scope(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."), fact("b", "Two.", mind="side"))
    draft = store.draft()
    archive_facts(draft, ["a", "b"], None)
    assert {ref: record.scope for ref, record in items(draft, Record).items()} == {  # type: ignore[attr-defined]
        "fact:a": "",
        "fact:b": "side",
    }


# -- names ----------------------------------------------------------------------------------


def test_a_fact_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("abcde", "One."), fact("abcdf", "Two."), fact("abcd", "Three."), fact("xyz12", "4."))
    draft = store.draft()
    assert [find_fact(draft, name, "id").fact.id for name in ("abcd", "abcdf", "xyz1", " fact:xyz1 ")] == [
        "abcd",
        "abcdf",
        "xyz12",
        "xyz12",
    ]
    for name in ("abc", "xyz", "", "fact:", "yz12", "xyz123"):
        with pytest.raises(NotFound) as refusal:
            find_fact(draft, name, "id")
        assert refusal.value.details == {"field": "id", "id": name.removeprefix("fact:")}


def test_a_beginning_is_taken_as_it_is(tmp_path: Path) -> None:
    """Nothing in it is a pattern."""
    store = Store(tmp_path, fact("aaaa1", "One."), fact("%%%%1", "Two."), fact("____1", "Three."))
    draft = store.draft()
    assert find_fact(draft, "%%%%", "id").fact.id == "%%%%1"
    assert find_fact(draft, "____", "id").fact.id == "____1"
    for name in ("aaa%", "%aaa", "????", "a*a*"):
        with pytest.raises(NotFound):
            find_fact(draft, name, "id")


@pytest.mark.parametrize(
    ("said", "section"),
    [
        ("Architecture", "Architecture"),
        ("architecture ", "Architecture"),
        ("Patterns & Conventions", "Patterns & Conventions"),
        ("patterns-conventions", "Patterns & Conventions"),
        ("Patterns and Conventions", "Patterns & Conventions"),
        ("spec", "Specs"),
        ("known_issues", "Known Issues"),
        ("recent", "Recent Work"),
        ("deci", "Decisions"),
        ("Cons", "Constraints"),
    ],
)
def test_a_section_however_it_is_spelled(said: str, section: str) -> None:
    assert section_named(said) == section


@pytest.mark.parametrize("said", ["", "&", "dec", "x", "Architecture2", "Decisions Specs", "Entscheidungen"])
def test_what_names_no_section(said: str) -> None:
    with pytest.raises(InputError) as refusal:
        section_named(said)
    assert refusal.value.details["field"] == "section"


@given(st.text(max_size=40))
def test_any_text_is_a_section_or_an_error(text: str) -> None:
    try:
        found = section_named(text)
    except InputError:
        return
    assert section_named(found) == found


def test_times_as_these_files_have_them() -> None:
    assert time_text(NOW) == AT
    assert time_text(datetime(2026, 3, 2, 12, 19, 0, 123_999, timezone(timedelta(hours=1)))) == (
        "2026-03-02T11:19:00.123Z"
    )
    assert time_text(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000Z"


def test_twins_that_were_put_away_already_are_left_as_they_are(tmp_path: Path) -> None:
    store = Store(tmp_path, fact("a", "One."), fact("b", "Other words.", status="archived", same_as="a"))
    draft = store.draft()
    held = draft.fact("b")
    assert held == FactWithTwins(store.fact("a"), tuple(msgspec.structs.replace(line) for line in store.stored()[1:]))
    archive_facts(draft, "a", None)
    assert set(draft.replaced) == {(Fact, "a")}
