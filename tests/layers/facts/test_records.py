"""Facts, episodes and connections as records and edges, and back again without a loss."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import data, edge, fact

from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import LINE_BYTES
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.records import (
    FactWithTwins,
    connection_edge,
    connection_of,
    edge_ref,
    episode_of_record,
    episode_record,
    fact_record,
    fact_ref,
    held_of,
    replaces_edge,
    session_name,
    text_name,
)
from quire.layers.facts.types import Connection, Episode, Fact
from quire.model.records import Edge, Record


def one(**fields: Any) -> Fact:
    (found,) = read_lines(data(fact(**fields))).facts
    return found


def test_the_record_of_a_fact() -> None:
    long = "The retry queue lives in Redis, " + "and so on " * 20
    told = one(
        name="a",
        content=long,
        section="Recent Work",
        mind="side",
        source="tool-call",
        tags=["x", "y"],
        confidence=0.5,
        created_session="s-1",
        last_reinforced="2026-03-02T00:00:00Z",
        reinforcement_count=3,
    )
    twin = one(name="b", content=long)
    assert fact_record(FactWithTwins(told, (twin,)), "default") == Record(
        ref="fact:a",
        layer="facts",
        kind="fact",
        title=long[:79].rstrip() + "…",
        text=long,
        status="active",
        path="facts.jsonl",
        section="Recent Work",
        scope="side",
        weight=0.5,
        half_life=2.0,
        since="2026-03-02T00:00:00Z",
        created_at="2026-03-01T00:00:00.000Z",
        updated_at="2026-03-02T00:00:00Z",
        tags=("x", "y"),
        origin="tool-call",
        names=(text_name("side", content_hash(long)), "fact:b", "session:s-1"),
        raw=encode_record(told) + b"\n" + encode_record(twin),
    )


def test_of_the_home_mind_nothing_is_kept_apart() -> None:
    assert [fact_record(FactWithTwins(one(mind=mind)), "side").scope for mind in ("side", "default", "x")] == [
        "",
        "default",
        "x",
    ]


@pytest.mark.parametrize(
    ("section", "count", "half_life"),
    [("Architecture", 1, 14.0), ("Architecture", 2, 25.2), ("Architecture", 99, 90.0), ("Specs", 1, 0.0)],
)
def test_how_fast_it_wears(section: str, count: int, half_life: float) -> None:
    record = fact_record(FactWithTwins(one(section=section, reinforcement_count=count)), "default")
    assert record.half_life == pytest.approx(half_life)


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({}, "2026-03-01T00:00:00.000Z"),
        ({"last_reinforced": "2"}, "2"),
        ({"last_reinforced": "2", "superseded_at": "3"}, "3"),
        ({"superseded_at": "3", "archived_at": "4"}, "4"),
        ({"archived_at": "4", "updated_at": "5"}, "5"),
    ],
)
def test_when_it_last_changed(fields: dict[str, str], changed: str) -> None:
    assert fact_record(FactWithTwins(one(**fields)), "default").updated_at == changed


def test_breaks_in_a_text_break_no_title() -> None:
    assert fact_record(FactWithTwins(one(content="a\n\tb\r\n c")), "default").title == "a b c"


def test_the_record_of_an_episode() -> None:
    told = Episode(
        id="e",
        title=" A\nday ",
        narrative="What happened.",
        date="2026-03-01",
        session_id="s-1",
        mind="side",
        tags=("auto",),
        fact_ids=("a", "b"),
        extra={"colour": "red"},
    )
    record = episode_record(told, "default")
    assert record == Record(
        ref="episode:e",
        layer="facts",
        kind="episode",
        title="A day",
        text="What happened.",
        status="active",
        path="facts.jsonl",
        scope="side",
        weight=0.9,
        created_at="2026-03-01",
        updated_at="2026-03-01",
        tags=("auto",),
        origin="session",
        names=("session:s-1",),
        raw=encode_record(told),
    )
    assert episode_of_record(record) == told


def test_an_episode_without_a_title_is_called_by_its_day() -> None:
    record = episode_record(Episode(id="e", title=" ", narrative="N", date="2026-03-01"), "default")
    assert (record.title, record.names) == ("2026-03-01", ())


def test_edges_and_back() -> None:
    (told,) = read_lines(data(edge("e", "a", "feature.x", "Depends On", colour="red", weight=0.5))).connections
    found = connection_edge(told, "fact:a", "feature.x")
    assert (found.ref, found.source, found.predicate, found.target, found.status) == (
        "edge:e",
        "fact:a",
        "depends_on",
        "feature.x",
        "active",
    )
    assert connection_of(found) == told
    assert isinstance(told, Connection)


def test_what_a_fact_says_itself_has_no_line() -> None:
    found = replaces_edge("new", "old")
    assert found == Edge(
        ref="fact:new replaces fact:old",
        source="fact:new",
        predicate="replaces",
        target="fact:old",
        status="active",
        path="facts.jsonl",
    )
    assert connection_of(found) is None


def test_names() -> None:
    assert (fact_ref("a"), edge_ref("a"), session_name("a"), text_name("m", "0f")) == (
        "fact:a",
        "edge:a",
        "session:a",
        "text:0f:m",
    )


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
LINES = st.fixed_dictionaries(
    {"content": st.text(min_size=1, max_size=60)},
    optional={
        "mind": st.text(max_size=5),
        "status": st.sampled_from(["active", "archived", "odd", "ARCHIVED"]),
        "version": VALUES,
        "tags": VALUES,
        "confidence": VALUES,
        "reason": VALUES,
        "supersedes": VALUES,
        "ts": VALUES,
        "created_at": VALUES,
        "colour": VALUES,
        "extra": VALUES,
    },
)


@given(LINES, LINES)
def test_whatever_a_line_says_comes_back_from_the_record(first: dict[str, Any], second: dict[str, Any]) -> None:
    rows = [json.dumps({**fact("a"), **first}), json.dumps({**fact("b"), **second})]
    found = read_lines(data(*rows)).facts
    if len(found) < 2:
        return
    held = FactWithTwins(found[0], (found[1],))
    assert held_of(fact_record(held, "default")) == held


@pytest.mark.parametrize("room", [1_000, 10, 0])
def test_the_longest_line_that_is_read_comes_back(room: int) -> None:
    """The record holds the line as we write it, which may be longer than as it was read."""
    empty = len(data(fact("a", "")).rstrip(b"\n"))
    (found,) = read_lines(data(fact("a", "x" * (LINE_BYTES - room - empty)))).facts
    assert held_of(fact_record(FactWithTwins(found), "default")) == FactWithTwins(found)
