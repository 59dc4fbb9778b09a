"""What holds after a union merge: one test for every rule."""

from __future__ import annotations

import itertools
import random
from typing import Any

import msgspec
from making import active, data, edge, episode, fact, outcome, resolved, settled

from quire.layers.facts.lines import read_lines
from quire.layers.facts.resolve import Resolved, canonical, resolve_reading

EARLY, LATE = "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"


def _any_order(*items: Any) -> Resolved:
    """Resolved in every order, which must all be the same."""
    found = settled(data(*items))
    orders = (
        itertools.permutations(items)
        if len(items) < 5
        else (random.Random(n).sample(items, len(items)) for n in range(20))
    )
    for order in orders:
        again = resolved(data(*order))
        assert outcome(again) == outcome(found)
        assert canonical(again) == canonical(found)
    return found


# -- lines about one fact ------------------------------------------------------------------------


def test_the_same_line_twice_is_one() -> None:
    found = _any_order(fact(), fact(), fact())
    assert canonical(found).count(b"\n") == 1
    assert found.conflicts == ()


def test_the_highest_version_wins_and_the_other_text_is_kept() -> None:
    found = _any_order(fact(content="New.", version=3), fact(content="Old.", version=2))
    assert found.facts["a"].content == "New."
    (conflict,) = found.conflicts
    assert [loser.content for loser in conflict.losers] == ["Old."]
    assert not conflict.is_tie
    assert canonical(found).count(b"\n") == 2


def test_a_tie_is_broken_the_same_way_everywhere() -> None:
    found = _any_order(fact(content="Ours.", version=3), fact(content="Theirs.", version=3), fact(content="Base."))
    assert found.facts["a"].content == "Theirs."
    (conflict,) = found.conflicts
    assert conflict.is_tie
    assert [loser.content for loser in conflict.losers] == ["Ours.", "Base."]


def test_at_a_tie_the_fact_that_is_put_away_stays_away() -> None:
    for one, other in (
        ("superseded", "archived"),
        ("archived", "dormant"),
        ("dormant", "frozen"),
        ("pending", "active"),
        ("frozen", "active"),
    ):
        found = _any_order(fact(status=one, version=3), fact(status=other, version=3))
        assert found.facts["a"].status == one


def test_then_the_later_time_wins_as_a_time() -> None:
    found = _any_order(
        fact(content="A.", updated_at="2026-03-02T01:00:00+02:00"),
        fact(content="B.", updated_at="2026-03-01T22:59:00Z"),
    )
    assert found.facts["a"].content == "A."


def test_a_tombstone_wins_by_its_version_and_travels() -> None:
    gone = fact(status="archived", version=5, archived_at=LATE, reason="Untrue.")
    found = _any_order(gone, fact(version=4), fact())
    assert (found.facts["a"].status, found.facts["a"].reason) == ("archived", "Untrue.")
    assert found.conflicts == ()
    assert b'"status":"archived"' in canonical(found)
    # The other branch has never heard of it.
    assert resolved(data(fact()) + canonical(found)).facts["a"].status == "archived"


def test_an_edit_with_a_higher_version_outlives_the_tombstone_which_stays_visible() -> None:
    found = _any_order(fact(status="archived", version=4, archived_at=LATE), fact(content="Edited.", version=5))
    assert (found.facts["a"].status, found.facts["a"].archived_at) == ("active", None)
    assert [loser.status for loser in found.conflicts[0].losers] == ["archived"]


def test_an_absent_line_means_nothing() -> None:
    assert active(_any_order(fact("b"), fact("c"))) == {"b", "c"}
    assert resolved(b"").facts == {}


def test_a_poorer_writer_erases_nothing() -> None:
    rich = fact(
        supersedes="z", tags=["t"], jj_change_id="j", created_session="s", source="extraction", mine=1, persona_id="p"
    )
    found = _any_order(rich, fact(version=9), fact(version=8, layer="persona"))
    held = found.facts["a"]
    assert (held.version, held.supersedes, held.tags, held.jj_change_id) == (9, "z", ("t",), "j")
    assert (held.created_session, held.source, held.extra) == ("s", "extraction", {"mine": 1})
    assert (held.layer, held.persona_id) == ("persona", "p")
    assert found.conflicts == ()


def test_what_belongs_to_a_status_is_not_handed_to_another() -> None:
    found = _any_order(fact(status="archived", version=1, archived_at=LATE, reason="R"), fact(version=2))
    assert (found.facts["a"].archived_at, found.facts["a"].reason) == (None, None)
    found = _any_order(fact(status="archived", version=1, archived_at=LATE), fact(status="archived", version=2))
    assert found.facts["a"].archived_at == LATE
    assert found.conflicts == ()


def test_reading_confirms_nothing() -> None:
    once = fact(last_reinforced=EARLY, reinforcement_count=5, confidence=0.5)
    twice = fact(last_reinforced=LATE, reinforcement_count=4)
    found = _any_order(once, twice, fact(), once)
    held = found.facts["a"]
    assert (held.last_reinforced, held.reinforcement_count, held.confidence) == (LATE, 4, 1.0)
    lean = _any_order(once, fact(version=2))
    assert (lean.facts["a"].reinforcement_count, lean.facts["a"].confidence) == (5, 0.5)
    own = _any_order(once, fact(version=2, confidence=0.9))
    assert (own.facts["a"].reinforcement_count, own.facts["a"].confidence) == (1, 0.9)


def test_a_difference_that_would_be_lost_is_kept_as_history() -> None:
    found = _any_order(fact(source="manual", tags=["x"]), fact(source="extraction", tags=["y"]), fact(tags=["x"]))
    assert len(found.conflicts[0].losers) == 1
    found = _any_order(fact(mine={"a": 1}), fact(mine={"a": True}))
    assert len(found.conflicts[0].losers) == 1


def test_unknown_keys_of_several_lines() -> None:
    found = _any_order(fact(b=1), fact(a=5, c=2), fact(a=4, version=0))
    assert set(found.facts["a"].extra) == {"a", "b", "c"}


# -- one fact under two ids ----------------------------------------------------------------------


def test_two_ids_with_one_content_are_one_fact() -> None:
    found = _any_order(
        fact("b", "The tag is signed.", created_at=EARLY),
        fact("a", "- The  Tag is signed.", created_at=LATE, supersedes="old"),
        edge("e", "a", "c", "enables"),
        edge("f", "fact:b", "c", "enables"),
        fact("c"),
        episode(fact_ids=["a", "b", "nobody", "c"]),
        fact("n", supersedes="a"),
    )
    assert active(found) == {"b", "c", "n"}
    assert found.aliases == {"a": "b"}
    assert list(found.twins) == ["a"]
    assert found.find("a") is found.find("fact:b")
    assert [(link.source, link.target) for link in found.connections.values()] == [("b", "c")]
    assert found.doubles == {"f": "e"}
    assert found.replacements == {"b": ("n",), "old": ("b",)}


def test_the_oldest_survives_by_time_then_by_id() -> None:
    assert _any_order(fact("b", "X"), fact("a", "X")).aliases == {"b": "a"}
    found = _any_order(fact("b", "X", created_at="2026-03-01T01:00:00+02:00"), fact("a", "X", created_at=EARLY))
    assert found.aliases == {"a": "b"}
    assert _any_order(fact("a", "X", created_at="sometime"), fact("b", "X", created_at=LATE)).aliases == {"a": "b"}


def test_minds_do_not_see_each_other() -> None:
    assert active(_any_order(fact("a", "X"), fact("b", "X", mind="other"))) == {"a", "b"}


def test_only_active_facts_become_one() -> None:
    found = _any_order(fact("a", "X", status="archived"), fact("b", "X"))
    assert (active(found), found.aliases) == ({"b"}, {})


def test_a_twin_that_was_put_away_says_whom_it_stands_for() -> None:
    found = _any_order(
        fact("a", "X", status="superseded", version=4),
        fact("b", "X", status="superseded", version=4, same_as="a"),
        fact("n", "Y", supersedes="a", version=5),
        edge("e", "b", "n"),
    )
    assert found.aliases == {"b": "a"}
    assert found.live("b") == ("n",)
    assert found.connections["e"].source == "a"


def test_circles_and_dead_ends_of_same_as_lead_nowhere() -> None:
    gone: dict[str, Any] = {"status": "archived"}
    found = _any_order(
        fact("a", same_as="b", **gone),
        fact("b", same_as="a", **gone),
        fact("c", same_as="b", **gone),
        fact("d", same_as="z", **gone),
    )
    assert found.aliases == {}
    assert list(found.facts) == ["a", "b", "c", "d"]
    assert _any_order(fact("a", "X", same_as="b"), fact("b", "Y")).aliases == {}


# -- replacements --------------------------------------------------------------------------------


def test_two_live_replacements_are_kept_and_told() -> None:
    gone = fact("old", status="superseded", version=2)
    found = _any_order(gone, fact("x", supersedes="old"), fact("y", supersedes="old"))
    assert active(found) == {"x", "y"}
    assert [(told.fact, told.live) for told in found.contradictions] == [("old", ("x", "y"))]
    same = _any_order(gone, fact("x", "Same.", supersedes="old"), fact("y", "Same.", supersedes="old"))
    assert same.contradictions == ()
    unknown = _any_order(fact("x", supersedes="lost"), fact("y", supersedes="lost"))
    assert [told.fact for told in unknown.contradictions] == ["lost"]


def test_a_contradiction_is_told_where_the_ways_part() -> None:
    gone: dict[str, Any] = {"status": "superseded"}
    found = _any_order(
        fact("a", **gone),
        fact("b", supersedes="a"),
        fact("c", supersedes="a", **gone),
        fact("d", supersedes="c"),
    )
    assert [(told.fact, told.live) for told in found.contradictions] == [("a", ("b", "d"))]
    assert found.chain("d") == ("d", "c", "a")
    assert found.live("a") == ("b", "d")
    later = _any_order(
        fact("a", **gone), fact("c", supersedes="a", **gone), fact("d", supersedes="c"), fact("e", supersedes="c")
    )
    assert [told.fact for told in later.contradictions] == ["c"]


def test_an_old_fact_that_lives_beside_its_replacement_is_told() -> None:
    found = _any_order(
        fact("a", status="superseded", version=4), fact("a", "Edited.", version=6), fact("b", supersedes="a", version=5)
    )
    assert active(found) == {"a", "b"}
    assert [(told.fact, told.live) for told in found.contradictions] == [("a", ("a", "b"))]


def test_chains_in_a_circle_end() -> None:
    gone: dict[str, Any] = {"status": "superseded"}
    found = _any_order(fact("a", supersedes="b", **gone), fact("b", supersedes="a", **gone), fact("c", supersedes="c"))
    assert found.chain("a") == ("a", "b")
    assert found.live("a") == ()
    assert found.contradictions == ()


# -- connections, episodes, minds, lines aside ---------------------------------------------------


def test_one_triple_is_one_connection_and_the_oldest_stays() -> None:
    found = _any_order(
        fact("a"),
        fact("b"),
        edge("y", "a", "b", created_at=EARLY),
        edge("x", "a", "b", "Depends on", created_at=LATE),
        edge("z", "a", "b", created_at=EARLY, status="archived"),
        edge("w", "b", "a"),
    )
    assert set(found.connections) == {"y", "z", "w"}
    assert found.doubles == {"x": "y"}
    assert canonical(found).count(b'"_type":"edge"') == 4


def test_a_connection_to_nobody_is_parked_until_it_is_somebody() -> None:
    items = (fact("a"), edge("e", "a", "b"), edge("f", "x", "y"), edge("g", "a", "episode:q"), edge("h", "a", "fact:z"))
    found = _any_order(*items)
    assert found.connections == {}
    assert [(parked.connection.id, parked.missing) for parked in found.parked] == [
        ("e", ("b",)),
        ("f", ("x", "y")),
        ("g", ("episode:q",)),
        ("h", ("fact:z",)),
    ]
    later = settled(canonical(found) + data(fact("b"), episode("q")))
    assert set(later.connections) == {"e", "g"}


def test_a_connection_may_lead_to_other_layers() -> None:
    found = _any_order(fact("a"), edge("e", "a", "feature.retry-queue"), edge("f", "profile:user.timezone", "a"))
    assert [(link.source, link.target) for link in found.connections.values()] == [
        ("a", "feature.retry-queue"),
        ("profile:user.timezone", "a"),
    ]


def test_ends_that_have_become_one_are_parked() -> None:
    found = _any_order(fact("a", "X"), fact("b", "X"), edge("e", "a", "b"))
    assert [parked.missing for parked in found.parked] == [()]


def test_a_connection_to_an_archived_fact_holds_and_revives_nothing() -> None:
    found = _any_order(fact("a"), fact("b", status="archived"), edge("e", "a", "b"))
    assert set(found.connections) == {"e"}
    assert active(found) == {"a"}


def test_episodes_are_merged_by_id() -> None:
    found = _any_order(
        episode(narrative="Ours.", session_id="s", tags=["auto"]), episode(narrative="Theirs.", fact_ids=["a"])
    )
    (held,) = found.episodes.values()
    assert (held.narrative, held.session_id, held.tags, held.fact_ids) == ("Theirs.", "s", ("auto",), ("a",))
    assert [loser.narrative for loser in found.conflicts[0].losers] == ["Ours."]


def test_minds_are_merged_by_name() -> None:
    mind = {"_type": "mind", "name": "m"}
    found = _any_order(mind, {**mind, "description": "d"}, {**mind, "parent": "default", "status": "retired"})
    (held,) = found.minds.values()
    assert (held.description, held.parent, held.status) == ("d", "default", "retired")
    assert found.conflicts == ()


def test_lines_aside_stand_at_the_end_as_they_were() -> None:
    found = _any_order('{"broken', fact("a"), "<<<<<<< HEAD", b"\xff\xfe", ' {"_type":"widget" } ', '{"broken')
    assert canonical(found).split(b"\n")[1:] == [b' {"_type":"widget" } ', b'{"broken', b"\xff\xfe", b""]
    assert settled(b"junk\r\r\n\xef\xbb\xbf\xef\xbb\xbfjunk\r\n").aside == (b"junk",)


def test_the_normal_file_has_one_order() -> None:
    found = _any_order(
        episode("e"),
        edge("l", "a", "b"),
        fact("d", section="Recent Work"),
        fact("c", section="Elsewhere"),
        fact("b", created_at=LATE),
        fact("a"),
        fact("0", mind="zoo"),
        {"_type": "mind", "name": "zoo"},
    )
    ids = [getattr(record, "id", None) or record.name for record in found.records]  # type: ignore[union-attr]
    assert ids == ["zoo", "a", "b", "d", "c", "0", "l", "e"]


def test_the_version_of_the_file_is_the_highest_that_counts() -> None:
    assert _any_order(fact("a", version=3), fact("b", version=2**60), edge("e", "a", "b", version=8)).version == 8
    assert resolved(b"").version == 0


def test_problems_come_along() -> None:
    reading = read_lines(data("junk", fact(version=-2)))
    assert resolve_reading(reading).problems == tuple(reading.problems)
    assert msgspec.structs.replace(resolve_reading(reading), problems=()).aside == (b"junk",)
