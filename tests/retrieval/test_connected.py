"""What hangs on the hits: neighbours with their direction, open questions, replacements; nothing retired as current."""

from collections.abc import Callable
from typing import Any

import pytest

Shelf = Callable[..., Any]
Make = Callable[..., Any]


@pytest.fixture
def fill(shelf: Shelf, record: Make) -> Callable[..., Any]:
    """A feature about queues, and things with other words around it."""

    def with_others(*items: Any) -> Any:
        return shelf(record("feature.queue", "Retry queue", "Deliveries are sent again."), *items)

    return with_others


def sentences(answer: Any) -> list[str]:
    return [link.sentence for link in answer.connected]


def test_the_direction_of_a_relation_is_kept_from_either_end(fill: Shelf, record: Make, edge: Make) -> None:
    asked = fill(
        record("feature.ledger", "Double-entry ledger", "Accounting books."),
        edge("feature.queue", "depends_on", "feature.ledger"),
    )
    assert sentences(asked("retry queue")) == ["feature.queue depends_on feature.ledger"]
    assert sentences(asked("accounting ledger books")) == ["feature.queue depends_on feature.ledger"]
    assert (
        "- feature.ledger — Double-entry ledger (feature.queue depends_on feature.ledger)"
        in asked("retry queue").markdown
    )


@pytest.mark.parametrize("status", ["stale", "rejected"])
def test_a_relation_that_is_not_active_leads_nowhere(fill: Shelf, record: Make, edge: Make, status: str) -> None:
    asked = fill(
        record("feature.ledger", "Ledger", "Accounting."), edge("feature.queue", "affects", "feature.ledger", status)
    )
    assert asked("retry queue").connected == []


@pytest.mark.parametrize(
    "state", [{"status": "superseded"}, {"status": "stale"}, {"status": "closed"}, {"stage": "dead"}]
)
def test_what_is_retired_is_never_pulled_back_as_a_neighbour(
    fill: Shelf, record: Make, edge: Make, state: dict[str, str]
) -> None:
    asked = fill(
        record("feature.fax", "Fax gateway", "Telephone lines.", **state),
        edge("feature.fax", "affects", "feature.queue"),
        edge("feature.queue", "supersedes", "feature.fax"),
    )
    answer = asked("retry queue")
    assert answer.connected == answer.open_questions == []
    assert "feature.fax" not in answer.markdown


def test_open_questions_stand_apart_and_closed_ones_nowhere(fill: Shelf, record: Make, edge: Make) -> None:
    asked = fill(
        record("question.limit", "Which ceiling?", "Unknown."),
        record("question.old", "Whose job?", "Ours.", status="closed"),
        edge("question.limit", "affects", "feature.queue"),
        edge("question.old", "affects", "feature.queue"),
    )
    answer = asked("retry queue")
    assert [link.record.ref for link in answer.open_questions] == ["question.limit"]
    assert answer.connected == []
    assert "## Open questions\n- question.limit — Which ceiling?" in answer.markdown
    assert "question.old" not in answer.markdown


def test_neighbours_are_weaker_than_the_hit_and_in_the_order_of_their_relation(
    fill: Shelf, record: Make, edge: Make
) -> None:
    names = {"a": "related_to", "b": "depends_on", "c": "affects"}
    asked = fill(
        *(record(f"decision.{name}", f"Thing {name}", "Else.") for name in names),
        *(edge(f"decision.{name}", predicate, "feature.queue") for name, predicate in names.items()),
    )
    answer = asked("retry queue")
    assert [link.record.ref for link in answer.connected] == ["decision.c", "decision.b", "decision.a"]
    assert all(link.score < min(hit.score for hit in answer.hits) for link in answer.connected)


def test_a_low_confidence_counts_less(fill: Shelf, record: Make, edge: Make) -> None:
    asked = fill(
        record("decision.low", "Thing", "Else."),
        record("decision.sure", "Thing", "Else."),
        edge("decision.low", "affects", "feature.queue", confidence="low"),
        edge("decision.sure", "affects", "feature.queue", confidence="high"),
    )
    assert [link.record.ref for link in asked("retry queue").connected] == ["decision.sure", "decision.low"]


def test_a_hit_is_not_listed_again_as_a_neighbour_and_a_neighbour_only_once(
    fill: Shelf, record: Make, edge: Make
) -> None:
    asked = fill(
        record("decision.queue-too", "Retry queue table", "Deliveries are sent again from a table."),
        record("feature.ledger", "Ledger", "Accounting."),
        edge("feature.queue", "related_to", "decision.queue-too"),
        edge("feature.ledger", "affects", "feature.queue"),
        edge("feature.queue", "depends_on", "feature.ledger"),
        edge("feature.queue", "affects", "feature.queue"),
        edge("feature.queue", "affects", "feature.not-there"),
    )
    answer = asked("retry queue")
    assert {hit.record.ref for hit in answer.hits} == {"feature.queue", "decision.queue-too"}
    assert [link.record.ref for link in answer.connected] == ["feature.ledger"]


def test_only_so_many_neighbours_are_listed(fill: Shelf, record: Make, edge: Make) -> None:
    asked = fill(
        *(record(f"decision.n{n}", f"Thing {n}", "Else.") for n in range(40)),
        *(edge(f"decision.n{n}", "affects", "feature.queue") for n in range(40)),
    )
    assert len(asked("retry queue").connected) == 12


def test_a_superseded_match_brings_its_replacement_instead(shelf: Shelf, record: Make, edge: Make) -> None:
    asked = shelf(
        record("decision.short-codes", "Short codes", "Five-digit numbers for texting.", status="superseded"),
        record("decision.links", "Signed links", "Every message carries a signed address."),
        edge("decision.links", "supersedes", "decision.short-codes"),
    )
    answer = asked("short codes")
    assert [hit.record.ref for hit in answer.hits] == ["decision.links"]
    assert answer.hits[0].why == "replaced decision.short-codes, which matches"
    assert [(item.ref, item.reason) for item in answer.withheld] == [
        ("decision.short-codes", "superseded by decision.links")
    ]
    assert "withheld: decision.short-codes (superseded by decision.links)" in answer.markdown


def chain(record: Make, edge: Make, length: int) -> list[Any]:
    old = [record(f"decision.v{n}", f"Zanzibar {n}", "Zanzibar.", status="superseded") for n in range(length)]
    new = record(f"decision.v{length}", "Latest", "Altogether different.")
    return [*old, new, *(edge(f"decision.v{n + 1}", "supersedes", f"decision.v{n}") for n in range(length))]


@pytest.mark.parametrize("length", [1, 2, 5, 12])
def test_replacements_are_followed_to_the_last(shelf: Shelf, record: Make, edge: Make, length: int) -> None:
    assert shelf(*chain(record, edge, length)).refs("zanzibar") == [f"decision.v{length}"]


def test_replacements_that_go_in_a_circle_end(shelf: Shelf, record: Make, edge: Make) -> None:
    names = ["decision.a", "decision.b", "decision.c"]
    asked = shelf(
        *(record(name, "Zanzibar", "Zanzibar.", status="superseded") for name in names),
        *(edge(names[n], "supersedes", names[n - 1]) for n in range(3)),
        record("decision.self", "Quagga", "Quagga.", status="superseded"),
        edge("decision.self", "supersedes", "decision.self"),
    )
    for question in ("zanzibar", "quagga"):
        answer = asked(question)
        assert answer.hits == []
        assert {item.reason for item in answer.withheld} == {"superseded"}
        assert "--all" in answer.markdown


def test_a_replacement_that_is_itself_retired_is_not_shown(shelf: Shelf, record: Make, edge: Make) -> None:
    asked = shelf(
        record("decision.old", "Zanzibar", "Zanzibar.", status="superseded"),
        record("decision.new", "Latest", "Different.", status="stale"),
        edge("decision.new", "supersedes", "decision.old"),
    )
    assert asked("zanzibar").hits == []


def test_a_second_replacement_is_followed_where_the_first_is_gone(shelf: Shelf, record: Make, edge: Make) -> None:
    asked = shelf(
        record("decision.old", "Zanzibar", "Zanzibar.", status="superseded"),
        record("decision.new", "Latest", "Different."),
        edge("decision.gone", "supersedes", "decision.old"),
        edge("decision.new", "supersedes", "decision.old"),
    )
    assert asked.refs("zanzibar") == ["decision.new"]


def test_a_replacement_that_matches_by_itself_is_there_once(shelf: Shelf, record: Make, edge: Make) -> None:
    asked = shelf(
        record("decision.old", "Zanzibar route", "Zanzibar.", status="superseded"),
        record("decision.new", "Zanzibar route", "Zanzibar by sea."),
        edge("decision.new", "supersedes", "decision.old"),
    )
    assert asked.refs("zanzibar route") == ["decision.new"]


RETIRED = [
    ({"status": "stale"}, "stale"),
    ({"stage": "dead"}, "a dead feature"),
    ({"status": "superseded"}, "superseded"),
]


@pytest.mark.parametrize(("state", "reason"), RETIRED)
def test_what_is_retired_is_withheld_and_named_and_shown_with_all(
    shelf: Shelf, record: Make, state: dict[str, str], reason: str
) -> None:
    asked = shelf(record("feature.fax", "Fax gateway", "Sends a fax.", **state), record("feature.x", "Else", "Other."))
    answer = asked("fax gateway")
    assert answer.hits == []
    assert [(item.ref, item.reason) for item in answer.withheld] == [("feature.fax", reason)]
    assert f"feature.fax — Fax gateway: {reason}" in answer.markdown
    everything = asked("fax gateway", everything=True)
    assert [hit.record.ref for hit in everything.hits] == ["feature.fax"]
    assert reason in everything.hits[0].why
    assert f"[{state.get('status', 'active')}" in everything.markdown


def test_with_all_what_is_current_still_comes_before_what_is_not(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("feature.old", "Fax gateway", "Sends a fax.", status="stale"),
        record("feature.new", "Fax gateway", "Sends a fax."),
    )
    assert asked.refs("fax gateway", everything=True) == ["feature.new", "feature.old"]


def test_a_file_s_replaced_decision_is_not_its_rule_any_more(shelf: Shelf, record: Make, edge: Make) -> None:
    asked = shelf(
        record("decision.old", "Old", "x", status="superseded", anchors=("src/",)),
        record("decision.new", "New", "x"),
        edge("decision.new", "supersedes", "decision.old"),
    )
    assert asked.refs("", governs=lambda found: bool(found.anchors)) == ["decision.new"]
