"""Telling a fact: what is new, what only confirms, what replaces, and what may not be said at all."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from drafting import AT, NOW, Store
from hypothesis import given
from hypothesis import strategies as st
from making import edge, fact

from quire.layers.facts.content import content_hash
from quire.layers.facts.store_fact import FactInput, accept_fact, confirm_fact, store_fact, supersede_fact
from quire.layers.facts.types import Connection, Fact
from quire.layers.facts.winners import replacements_of
from quire.model.errors import InputError, NotFound, SecretDetected

KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"
MORE = {"colour": "red", "weights": [1, 2.5, {"deep": None}], "ts": "2020"}


def told(content: str = "The queue lives in Redis.", name: str = "new", **fields: Any) -> FactInput:
    return FactInput(**{"id": name, "content": content, "section": "Architecture", **fields})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def holding(tmp_path: Path, *lines: dict[str, Any]) -> Store:
    return Store(tmp_path, *lines)


# -- a new one ------------------------------------------------------------------------------


def test_a_new_fact(store: Store) -> None:
    draft = store.draft()
    done = store_fact(
        draft,
        told("- The queue lives in Redis. ", tags=("infra", " queue "), source="tool-call", session="s-1"),
    )
    expected = Fact(
        id="new",
        section="Architecture",
        content="The queue lives in Redis.",
        created_at=AT,
        source="tool-call",
        content_hash=content_hash("The queue lives in Redis."),
        version=1,
        tags=("infra", "queue"),
        created_session="s-1",
    )
    assert (done.action, done.fact, done.equal, done.warnings) == ("stored", expected, (), [])
    assert draft.added == [expected]
    assert not draft.replaced
    store.write(draft)
    assert store.stored() == [expected]


def test_the_version_is_one_more_than_the_highest_of_the_file(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", version=7), edge("e", "a", "b", version=12))
    assert store_fact(store.draft(), told()).fact.version == 13


@pytest.mark.parametrize(
    ("said", "section", "profile"),
    [
        ("Recent Work", "Recent Work", "recent_work"),
        ("recent_work", "Recent Work", "recent_work"),
        ("patterns and conventions", "Patterns & Conventions", "standard"),
        ("KNOWN-ISSUES", "Known Issues", "standard"),
        ("arch", "Architecture", "standard"),
    ],
)
def test_the_section_decides_the_profile(store: Store, said: str, section: str, profile: str) -> None:
    new = store_fact(store.draft(), told(section=said)).fact
    assert (new.section, new.decay_profile) == (section, profile)


@pytest.mark.parametrize("section", ["", "none", "con", "Architecture Decisions", None, "…"])
def test_a_section_that_is_none(store: Store, section: str | None) -> None:
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        store_fact(draft, told(section=section))
    assert refusal.value.details["field"] == "section"
    assert refusal.value.details["allowed"] == [
        "Architecture",
        "Decisions",
        "Constraints",
        "Known Issues",
        "Patterns & Conventions",
        "Specs",
        "Recent Work",
    ]
    assert draft.is_empty


@pytest.mark.parametrize("content", ["", " \t\n", "-", "-   ", "\ufeff", "- \u3000"])
def test_nothing_is_no_fact(store: Store, content: str) -> None:
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        store_fact(draft, told(content))
    assert refusal.value.details["field"] == "content"
    assert draft.is_empty


def test_how_long_a_fact_may_be(store: Store) -> None:
    assert store_fact(store.draft(), told("x" * 8_000)).action == "stored"
    with pytest.raises(InputError, match="8,001 characters; the limit is 8,000"):
        store_fact(store.draft(), told("x" * 8_001))


@pytest.mark.parametrize("confidence", [0.0, -1.0, 1.01, float("nan"), float("inf"), float("-inf")])
def test_a_confidence_that_is_none(store: Store, confidence: float) -> None:
    with pytest.raises(InputError) as refusal:
        store_fact(store.draft(), told(confidence=confidence))
    assert refusal.value.details["field"] == "confidence"


@pytest.mark.parametrize("confidence", [1e-9, 0.5, 1.0])
def test_a_confidence_comes_back(store: Store, confidence: float) -> None:
    draft = store.draft()
    store_fact(draft, told(confidence=confidence))
    assert store.write(draft).facts["new"].confidence == confidence


@pytest.mark.parametrize("field", ["source", "session", "mind"])
@pytest.mark.parametrize("text", ["", " ", "x" * 161, "a\nb", "a\x1b[31mb", "a\u202eb", "a\u2028b", "a\ud800b"])
def test_names_are_short_and_on_one_line(store: Store, field: str, text: str) -> None:
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        store_fact(draft, told(**{field: text}))
    assert refusal.value.details["field"] == field
    assert draft.is_empty


@pytest.mark.parametrize("mind", ["two words", " side", "side ", "a b c"])
def test_a_mind_that_could_not_be_read_back_is_refused(store: Store, mind: str) -> None:
    """The name of a mind holds no blanks: a line with one is read as a line of the default mind."""
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        store_fact(draft, told(mind=mind))
    assert refusal.value.details["field"] == "mind"


NAME = st.sampled_from(["side", "a b", "ü", "x" * 160, "a:b"]) | st.text(st.characters(codec="utf-8"), max_size=170)


@given(mind=NAME, source=NAME, session=NAME)
def test_what_is_accepted_is_read_back_as_it_was_told(
    tmp_path_factory: pytest.TempPathFactory, mind: str, source: str, session: str
) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    draft = store.draft()
    try:
        new = store_fact(draft, told(mind=mind, source=source, session=session)).fact
    except InputError:
        assert draft.is_empty
        return
    assert store.write(draft).facts == {"new": new}


@pytest.mark.parametrize(
    "fields",
    [{"content": f"The key is {KEY}."}, {"tags": ("ok", KEY)}, {"reason": f"see {KEY}"}],
    ids=["content", "tags", "reason"],
)
def test_credentials_are_not_written_down(store: Store, fields: dict[str, Any]) -> None:
    draft = store.draft()
    with pytest.raises(SecretDetected):
        store_fact(draft, told(**{"content": "A fact.", **fields}))
    assert draft.is_empty


@pytest.mark.parametrize("tags", [("",), (" ",), ("x" * 81,), ("a\nb",), ("ok", "a\u202eb")])
def test_tags_that_are_none(store: Store, tags: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        store_fact(store.draft(), told(tags=tags))
    assert refusal.value.details["field"] == "tags"


def test_a_tag_that_is_said_twice_is_one(store: Store) -> None:
    assert store_fact(store.draft(), told(tags=("b", "a", " b"))).fact.tags == ("b", "a")


def test_where_it_comes_from_is_kept(store: Store) -> None:
    artifact = {"kind": "document", "path": "docs/a.md", "sub": "", "sha256": "sha256:00"}
    draft = store.draft()
    store_fact(draft, told(artifact=artifact, witnesses=("document docs/a.md",)))
    new = store.write(draft).facts["new"]
    assert (new.extra, new.evidence) == ({"artifact": artifact}, ("document docs/a.md",))


# -- the same again -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "again", "days", "action"),
    [
        ({}, {}, 0, "unchanged"),
        ({}, {}, 1, "reinforced"),
        ({}, {"source": "tool-call"}, 0, "reinforced"),
        ({}, {"session": "s-1"}, 0, "reinforced"),
        ({"session": "s-1"}, {"session": "s-1"}, 9, "unchanged"),
        ({"session": "s-1"}, {"session": "s-2"}, 0, "reinforced"),
        ({"session": "s-1"}, {}, 0, "reinforced"),
        ({"session": "s-1"}, {"session": "s-1", "source": "tool-call"}, 0, "reinforced"),
        ({"witnesses": ("doc a",)}, {"witnesses": ("doc a",)}, 9, "unchanged"),
        ({"witnesses": ("doc a",)}, {"witnesses": ("doc a", "doc b")}, 0, "reinforced"),
    ],
)
def test_the_same_evidence_counts_once(
    store: Store, first: dict[str, Any], again: dict[str, Any], days: int, action: str
) -> None:
    draft = store.draft()
    store_fact(draft, told(**first))
    store.write(draft)
    before = store.data
    draft = store.draft(NOW + timedelta(days=days))
    done = store_fact(draft, told("  the queue   LIVES in redis. ", "other", section="Specs", **again))
    assert done.action == action
    assert (done.fact.id, done.fact.section, done.fact.content) == ("new", "Architecture", "The queue lives in Redis.")
    if action == "unchanged":
        assert draft.is_empty
        return
    later = draft.now
    store.write(draft)
    (stored,) = store.stored()
    assert (stored.reinforcement_count, stored.last_reinforced, stored.updated_at) == (2, later, later)
    assert (stored.version, stored.created_at, stored.confidence) == (2, AT, 1.0)
    assert store.data != before
    # And the same again, at the same time, is nothing new.
    draft = store.draft(NOW + timedelta(days=days))
    assert store_fact(draft, told(name="third", **again)).action == "unchanged"
    assert draft.is_empty


def test_a_confirmation_adds_its_tags_and_nothing_else(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Known.", tags=["x"], confidence=0.4, **MORE))
    draft = store.draft()
    done = store_fact(draft, told("Known.", tags=("x", " y "), confidence=1.0, artifact={"kind": "document"}))
    assert done.action == "reinforced"
    assert (done.fact.tags, done.fact.confidence, done.fact.source) == (("x", "y"), 0.4, "manual")
    store.write(draft)
    assert store.fact("a").extra == {"colour": "red", "weights": [1, 2.5, {"deep": None}], "ts": "2020"}


def test_of_very_many_confirmations_the_last_are_named(store: Store) -> None:
    draft = store.draft()
    store_fact(draft, told())
    for number in range(100):
        assert store_fact(draft, told(session=f"s-{number}")).action == "reinforced"
    new = store.write(draft).facts["new"]
    assert new.reinforcement_count == 101
    assert new.evidence == tuple(f"manual s-{number}" for number in range(36, 100))


def test_in_another_mind_it_is_another_fact(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Known."), fact("b", "Known.", mind="side"))
    assert store_fact(store.draft(), told("Known.", mind="third")).action == "stored"
    draft = store.draft()
    assert store_fact(draft, told("Known.", mind="side")).fact.id == "b"
    assert list(draft.replaced) == [(Fact, "b")]


def test_the_home_mind_is_that_of_the_file(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", mind="side"), fact("b", mind="primensus"))
    assert store_fact(store.draft(), told()).fact.mind == "primensus"


def test_what_was_put_away_is_told_and_not_revived(tmp_path: Path) -> None:
    store = holding(
        tmp_path,
        fact("a", "Known.", status="archived", reason="wrong"),
        fact("b", "KNOWN. ", status="superseded"),
        fact("c", "Known.", status="dormant"),
    )
    draft = store.draft()
    done = store_fact(draft, told("- Known."))
    assert (done.action, {item.id for item in done.equal}) == ("stored", {"a", "b", "c"})
    assert {item.id: item.status for item in store.write(draft).facts.values()} == {
        "a": "archived",
        "b": "superseded",
        "c": "dormant",
        "new": "active",
    }


def test_a_twin_is_confirmed_in_the_fact_that_it_stands_for(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("young", "Known.", created_at="2026-03-02T00:00:00Z"), fact("old", "Known."))
    draft = store.draft()
    assert store_fact(draft, told("Known.")).fact.id == "old"
    found = store.write(draft)
    assert (found.facts["old"].reinforcement_count, found.twins["young"].reinforcement_count) == (2, 1)


def test_confirming_in_other_words(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Known."))
    draft = store.draft()
    held = draft.fact("fact:a")
    assert held is not None
    done = confirm_fact(draft, held, told("It is known.", witnesses=("document docs/a.md",)))
    assert (done.action, done.fact.content, done.fact.evidence) == ("reinforced", "Known.", ("document docs/a.md",))


# -- what is only proposed ------------------------------------------------------------------


def test_a_proposal_waits_and_is_accepted_by_who_says_the_same(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."))
    draft = store.draft()
    done = store_fact(draft, told(pending=True, replaces="a", source="lifecycle:x"))
    assert (done.action, done.fact.status, done.fact.supersedes) == ("pending", "pending", "a")
    store.write(draft)
    assert store.fact("a").is_active
    draft = store.draft()
    assert store_fact(draft, told(name="again", pending=True)).action == "unchanged"
    assert draft.is_empty
    draft = store.draft()
    done = store_fact(draft, told(name="third"))
    assert (done.action, done.fact.id, done.fact.status) == ("stored", "new", "active")
    found = store.write(draft)
    assert found.facts["a"].status == "superseded"
    assert found.live("a") == ("new",)


def test_accepting_by_saying_it_is_no_confirmation_besides(store: Store) -> None:
    draft = store.draft()
    store_fact(draft, told(pending=True, source="lifecycle:x"))
    store.write(draft)
    draft = store.draft()
    store_fact(draft, told())
    store.write(draft)
    before = store.data
    draft = store.draft()
    assert store_fact(draft, told()).action == "unchanged"
    assert draft.is_empty
    assert store.data == before


def test_a_proposal_for_something_that_is_gone_is_accepted_alone(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", status="archived"), fact("p", status="pending", supersedes="a"))
    draft = store.draft()
    held = draft.fact("p")
    assert held is not None
    accept_fact(draft, held)
    assert list(draft.replaced) == [(Fact, "p")]
    found = store.write(draft)
    assert (found.facts["a"].status, found.facts["p"].status) == ("archived", "active")


def test_what_holds_is_not_proposed_again(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Known."))
    draft = store.draft()
    assert store_fact(draft, told("Known.", pending=True)).fact.id == "a"


# -- replacing ------------------------------------------------------------------------------


def test_superseding_puts_the_old_away_and_tells_the_new(tmp_path: Path) -> None:
    store = holding(
        tmp_path,
        fact("a", "Old.", tags=["x", "y"], decay_profile="global", mind="side", version=4, confidence=0.3, **MORE),
        fact("b", "Other.", mind="side"),
    )
    before = store.lines()
    draft = store.draft()
    old, done = supersede_fact(draft, "a", told("New.", section=None, tags=("y", "z"), reason="moved", session="s-1"))
    assert (old.status, old.superseded_at, old.updated_at, old.reason, old.version) == (
        "superseded",
        AT,
        AT,
        "moved",
        5,
    )
    assert (old.extra, old.confidence, old.tags) == (MORE, 0.3, ("x", "y"))
    assert (done.action, done.equal) == ("superseded", ())
    assert done.fact == Fact(
        id="new",
        mind="side",
        section="Architecture",
        content="New.",
        created_at=AT,
        content_hash=content_hash("New."),
        supersedes="a",
        version=6,
        decay_profile="global",
        tags=("x", "y", "z"),
        created_session="s-1",
    )
    store.write(draft)
    assert store.lines()[1] == before[1]
    assert store.stored() == [old, draft.fact("b").fact, done.fact]  # type: ignore[union-attr]


def test_a_section_may_be_given(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."))
    _, done = supersede_fact(store.draft(), "a", told("New.", section="recent work"))
    assert (done.fact.section, done.fact.decay_profile) == ("Recent Work", "recent_work")


def test_what_was_recent_work_does_not_fade_as_fast_elsewhere(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old.", section="Recent Work", decay_profile="recent_work"))
    _, done = supersede_fact(store.draft(), "a", told("New.", section="Architecture"))
    assert (done.fact.section, done.fact.decay_profile) == ("Architecture", "standard")


def test_a_section_of_another_writer_is_inherited(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old.", section="Folklore"))
    draft = store.draft()
    supersede_fact(draft, "a", told("New.", section=None))
    assert store.write(draft).facts["new"].section == "Folklore"


def test_no_change_is_an_error(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."))
    draft = store.draft()
    with pytest.raises(InputError, match="already says exactly that") as refusal:
        supersede_fact(draft, "a", told(" - OLD. "))
    assert refusal.value.details["field"] == "content"
    assert draft.is_empty


def test_what_is_known_already_takes_the_place(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."), fact("b", "New.", version=3, **MORE))
    draft = store.draft()
    old, done = supersede_fact(draft, "a", told("new."))
    assert (done.action, done.fact.id, done.fact.supersedes) == ("superseded", "b", "a")
    assert not draft.added
    found = store.write(draft)
    assert (found.live("a"), found.facts["b"].extra) == (("b",), MORE)
    assert (old.version, found.facts["b"].version) == (4, 5)


def test_what_replaced_something_else_already_says_so_in_a_line_of_its_own(tmp_path: Path) -> None:
    store = holding(
        tmp_path, fact("z", "Oldest.", status="superseded"), fact("a", "Old."), fact("b", "New.", supersedes="z")
    )
    draft = store.draft()
    supersede_fact(draft, "a", told("New."))
    (connection,) = draft.added
    assert isinstance(connection, Connection)
    assert (connection.source_id, connection.target_id, connection.relation) == ("b", "a", "replaces")
    found = store.write(draft)
    assert (found.live("a"), found.live("z"), found.contradictions) == (("b",), ("b",), ())


def test_long_ids_do_not_collide_where_they_are_joined(tmp_path: Path) -> None:
    """Two facts with long ids are replaced by one: both must be said to be."""
    first, second = "x" * 150 + "1", "x" * 150 + "2"
    winner = "y" * 150
    store = holding(
        tmp_path,
        fact("z", "Oldest.", status="superseded"),
        fact(first, "One."),
        fact(second, "Two."),
        fact(winner, "New.", supersedes="z"),
    )
    for name in (first, second):
        draft = store.draft()
        supersede_fact(draft, name, told("New."))
        store.write(draft)
    found = store.fact(winner)
    assert found.is_active
    draft = store.draft()
    assert [[item.id for item in replacements_of(draft, name)] for name in (first, second)] == [[winner], [winner]]


def test_replacing_what_this_replaced_before_needs_no_new_line(tmp_path: Path) -> None:
    """Restored and superseded by the same fact again: it says already what it replaces."""
    store = holding(tmp_path, fact("a", "Old."), fact("b", "New.", supersedes="a"))
    draft = store.draft()
    supersede_fact(draft, "a", told("New."))
    assert not draft.added
    assert store.write(draft).live("a") == ("b",)


def test_an_equal_text_of_another_mind_takes_no_place(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old.", mind="side"), fact("b", "New."))
    _, done = supersede_fact(store.draft(), "a", told("New."))
    assert (done.fact.id, done.fact.mind) == ("new", "side")


def test_an_equal_text_that_was_put_away_is_told(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."), fact("b", "New.", status="archived"))
    _, done = supersede_fact(store.draft(), "a", told("New."))
    assert (done.fact.id, [item.id for item in done.equal]) == ("new", ["b"])


def test_an_equal_text_that_waits_is_accepted_instead_of_said_twice(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old."), fact("p", "New.", status="pending"))
    draft = store.draft()
    _, done = supersede_fact(draft, "a", told("New."))
    assert (done.fact.id, done.fact.status) == ("p", "active")
    found = store.write(draft)
    assert [name for name, item in found.facts.items() if item.content == "New."] == ["p"]
    assert found.live("a") == ("p",)


@pytest.mark.parametrize("status", ["archived", "superseded", "pending", "lost"])
def test_only_an_active_fact_can_be_superseded(tmp_path: Path, status: str) -> None:
    store = holding(tmp_path, fact("a", "Old.", status=status), fact("b", "New.", supersedes="a"))
    draft = store.draft()
    with pytest.raises(InputError) as refusal:
        supersede_fact(draft, "a", told("Newer."))
    assert refusal.value.details == {"field": "fact_id", "id": "a", "status": status, "replacements": ["b"]}
    assert refusal.value.hint == "It was replaced by b: supersede that one."
    assert draft.is_empty


def test_what_nothing_replaced_can_be_restored_first(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "Old.", status="archived"))
    with pytest.raises(InputError) as refusal:
        supersede_fact(store.draft(), "a", told("New."))
    assert refusal.value.hint == "Restore it with `memory facts restore a` first."


@pytest.mark.parametrize("name", ["", " ", "fact:", "nothing", "abcd", "fact:abcd", "abc"])
def test_a_name_that_is_none_or_not_enough(tmp_path: Path, name: str) -> None:
    store = holding(tmp_path, fact("abcd1"), fact("abcd2", "Two."))
    with pytest.raises(NotFound) as refusal:
        supersede_fact(store.draft(), name, told("New."))
    assert refusal.value.details["field"] == "fact_id"
    if "abcd" in name:
        assert refusal.value.hint == "It could be any of abcd1, abcd2."


@pytest.mark.parametrize("name", ["abcd1", "fact:abcd1", " abcd1 ", "abcd", "fact:abcd"])
def test_a_name_may_be_cut_short_where_it_is_the_only_one(tmp_path: Path, name: str) -> None:
    store = holding(tmp_path, fact("abcd1"), fact("xbcd2", "Two."))
    old, _ = supersede_fact(store.draft(), name, told("New."))
    assert old.id == "abcd1"


def test_twins_go_together(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("b", "Old."), fact("a", "Old.", colour="red"), fact("c", "OLD.", status="archived"))
    draft = store.draft()
    old, _ = supersede_fact(draft, "b", told("New."))
    found = store.write(draft)
    assert old.id == "a"
    assert found.twins["b"].same_as == "a"
    assert {item.id: item.status for item in store.stored()} == {
        "b": "superseded",
        "a": "superseded",
        "c": "archived",
        "new": "active",
    }
    assert found.live("b") == found.live("a") == ("new",)


def test_edges_follow(tmp_path: Path) -> None:
    store = holding(
        tmp_path,
        fact("a", "Old."),
        fact("b"),
        edge("in", "b", "a"),
        edge("out", "a", "feature.x", "enables"),
        edge("away", "b", "a", "enables", status="archived"),
    )
    draft = store.draft()
    supersede_fact(draft, "a", told("New."))
    found = store.write(draft)
    assert {name: (link.source, link.target) for name, link in found.connections.items()} == {
        "in": ("b", "new"),
        "out": ("new", "feature.x"),
        "away": ("b", "new"),
    }
    assert [edge.target for edge in draft.edges_of("fact:b")] == ["fact:new", "fact:new"]


def test_chains_are_followed_to_their_end(tmp_path: Path) -> None:
    store = holding(tmp_path, fact("a", "One."))
    for name, before, text in (("b", "a", "Two."), ("c", "b", "Three."), ("d", "c", "Four.")):
        draft = store.draft()
        supersede_fact(draft, before, told(text, name))
        store.write(draft)
    draft = store.draft()
    assert [item.id for item in replacements_of(draft, "a")] == ["d"]
    assert store.stored()[-1].version == 6


def test_circles_end(tmp_path: Path) -> None:
    store = holding(
        tmp_path,
        fact("a", "One.", status="superseded", supersedes="b"),
        fact("b", "Two.", status="superseded", supersedes="a"),
    )
    assert replacements_of(store.draft(), "a") == []


def test_several_changes_in_one_draft(tmp_path: Path) -> None:
    """A later step sees what an earlier one did, and each changed line stands once."""
    store = holding(tmp_path, fact("a", "One."))
    draft = store.draft()
    store_fact(draft, told("Two.", "b"))
    supersede_fact(draft, "b", told("Three.", "c"))
    supersede_fact(draft, "a", told("three."))
    assert store_fact(draft, told("Three.", "d", session="s-9")).action == "reinforced"
    found = store.write(draft)
    assert {item.id: item.status for item in store.stored()} == {"a": "superseded", "b": "superseded", "c": "active"}
    assert found.live("a") == found.live("b") == ("c",)
    assert len({item.version for item in store.stored()}) == 3
