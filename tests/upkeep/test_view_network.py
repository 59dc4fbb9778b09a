"""The network in columns: numbers that lead to words, edges only between what is given, the same each time."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quire.model.records import Edge, Record
from quire.model.verdicts import Verdict
from quire.upkeep.views.network import GraphData, network_of


def record(ref: str, layer: str = "graph", kind: str = "feature", **fields: Any) -> Record:
    made = {"title": f"{ref} titled", "text": "", "status": "active", "path": "a.json"}
    return Record(ref=ref, layer=layer, kind=kind, **{**made, **fields})  # type: ignore[arg-type]


def edge(source: str, target: str, predicate: str = "affects", status: str = "active") -> Edge:
    ref = f"{source} {predicate} {target} {status}"
    return Edge(ref=ref, source=source, predicate=predicate, target=target, status=status, path="r.json")


RECORDS = [
    record("event:evt-000001", "journal", "event"),
    record("fact:a", "facts", "fact", title="", text="What  it\nsays."),
    record("feature.b", stage="dead"),
    record("feature.a"),
    record("decision.c", kind="decision", status="stale"),
]
EDGES = [
    edge("fact:a", "feature.a", "motivated_by"),
    edge("feature.b", "decision.c", status="stale"),
    edge("feature.b", "decision.c", status="active"),
    edge("feature.b", "decision.c", "related_to", "rejected"),
    edge("feature.a", "feature.gone"),
]


def ties(found: GraphData) -> list[tuple[str, str, str, int]]:
    """Edges with their words."""
    columns = (found.edges.source, found.edges.predicate, found.edges.target, found.edges.live)
    return [
        (found.refs[source], found.words.predicate[predicate], found.refs[target], live)
        for source, predicate, target, live in zip(*columns, strict=True)
    ]


def test_records_stand_by_layer_kind_and_ref_with_words_by_number() -> None:
    found = network_of(RECORDS, {"feature.a": Verdict(verdict="moved")}, [], 10)
    assert found.refs == ("decision.c", "feature.a", "feature.b", "fact:a", "event:evt-000001")
    assert [found.words.layer[number] for number in found.layer] == ["graph", "graph", "graph", "facts", "journal"]
    assert [found.words.kind[number] for number in found.kind] == ["decision", "feature", "feature", "fact", "event"]
    assert [found.words.status[number] for number in found.status] == ["stale", *["active"] * 4]
    assert (found.words.stage, found.stage) == (("idea", "dead"), (-1, 0, 1, -1, -1))
    assert (found.words.verdict, found.verdict) == (("moved",), (-1, 0, -1, -1, -1))
    assert found.live == (0, 1, 0, 1, 1)
    assert found.titles[3] == "What it says."
    assert (found.total, found.cut) == (5, False)


def test_an_edge_is_given_once_and_is_live_where_any_of_its_lines_is() -> None:
    assert ties(network_of(RECORDS, {}, EDGES, 10)) == [
        ("feature.b", "affects", "decision.c", 1),
        ("feature.b", "related_to", "decision.c", 0),
        ("fact:a", "motivated_by", "feature.a", 1),
    ]


def test_what_is_left_out_is_said_and_takes_its_edges_with_it() -> None:
    found = network_of(RECORDS, {}, EDGES, 2)
    assert found.refs == ("decision.c", "feature.a")
    assert (found.total, found.cut, ties(found)) == (5, True, [])


def test_nothing_gives_empty_columns() -> None:
    found = network_of([], {}, EDGES, 10)
    assert (found.refs, found.words.layer, found.edges.source, found.total, found.cut) == ((), (), (), 0, False)


@given(st.randoms(use_true_random=False))
def test_the_order_of_what_comes_in_changes_nothing(chance: random.Random) -> None:
    records, edges = list(RECORDS), list(EDGES)
    chance.shuffle(records)
    chance.shuffle(edges)
    assert network_of(records, {}, edges, 10) == network_of(RECORDS, {}, EDGES, 10)


def test_records_of_one_file_are_tied_where_few_relations_are_written() -> None:
    records = [
        record("gotcha.a", kind="gotcha", anchors=("src/pay/hooks.py#twice",)),
        record("gotcha.b", kind="gotcha", anchors=("src/pay/hooks.py", "src/pay/")),
        record("gotcha.c", kind="gotcha", anchors=("src/pay/",)),
        record("gotcha.d", kind="gotcha", anchors=("setup.py",)),
    ]
    found = network_of(records, {}, [], 10)
    assert ties(found) == [("gotcha.a", "same file", "gotcha.b", 1)]
    assert [found.words.folder[number] for number in found.folder] == ["src/pay", "src/pay", "src/pay", "."]
    written = [edge("gotcha.a", ref) for ref in ("gotcha.b", "gotcha.c", "gotcha.d")]
    tied = network_of(records, {}, [*written, edge("gotcha.d", "gotcha.a")], 10)
    assert "same file" not in tied.words.predicate
