"""One entry: every field read patiently, nothing of it lost, and how a new one is written."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from entry_making import BEFORE, entry
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.layers.profile.entries import (
    Entry,
    ProfileLink,
    last_touched,
    name_of,
    new_fields,
    read_entry,
    split_name,
    time_text,
)
from quire.layers.profile.records import entry_edges, entry_of, entry_record

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**500), 10**500)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda held: (
        st.lists(held, max_size=3)
        | st.dictionaries(st.sampled_from(("type", "detail", "target", "relation", "x")), held, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = tuple(entry())


def read(category: str = "tools", key: str = "k", /, **fields: Any) -> Entry:
    return read_entry(category, key, {"value": "A text.", **fields})


# -- names and times ------------------------------------------------------------------------


def test_a_name_is_cut_at_its_first_dot() -> None:
    assert split_name("user.time.zone") == ("user", "time.zone")
    assert split_name("user") == ("user", "")
    assert split_name(".x") == ("", "x")
    assert split_name("") == ("", "")
    assert name_of("user", "time.zone") == "user.time.zone"
    assert (read("user", "time.zone").name, read("user", "time.zone").ref) == (
        "user.time.zone",
        "profile:user.time.zone",
    )


def test_times_are_written_in_whole_seconds_of_utc() -> None:
    assert time_text(datetime(2026, 2, 9, 14, 0, 0, 999_999, UTC)) == BEFORE
    assert time_text(datetime(2026, 2, 9, 16, 30, tzinfo=timezone(timedelta(hours=2, minutes=30)))) == BEFORE
    assert time_text(datetime(2, 1, 1, tzinfo=UTC)) == "0002-01-01T00:00:00Z"


def test_a_new_entry_has_every_field_in_order() -> None:
    assert json.dumps(new_fields("A text.", BEFORE)) == json.dumps(entry())
    found = new_fields("x", BEFORE, tags=["a"], confidence=0.3, novel=1)
    assert list(found) == [*FIELDS, "novel"]
    assert found == entry("x", tags=["a"], confidence=0.3, novel=1)
    assert new_fields("x", BEFORE)["tags"] is not new_fields("x", BEFORE)["tags"]


def test_when_somebody_last_wrote_it() -> None:
    assert last_touched(read(updated_at=BEFORE)) == datetime(2026, 2, 9, 14, tzinfo=UTC)
    assert last_touched(read(created_at=BEFORE)) == datetime(2026, 2, 9, 14, tzinfo=UTC)
    assert last_touched(read(created_at=BEFORE, updated_at="soon")) == datetime(2026, 2, 9, 14, tzinfo=UTC)
    assert last_touched(read()) is None
    assert last_touched(read(created_at="never", updated_at="soon")) is None


@pytest.mark.parametrize(
    "text",
    ["2026-02-09T14:00:00Z", "2026-02-09T14:00:00.000000Z", "2026-02-09T14:00:00.000000+00:00", "2026-02-09T14:00:00"],
)
def test_times_of_every_program_are_understood(text: str) -> None:
    assert last_touched(read(updated_at=text)) == datetime(2026, 2, 9, 14, tzinfo=UTC)
    assert read(updated_at=text).updated_at == text


# -- reading --------------------------------------------------------------------------------


def test_a_whole_entry() -> None:
    fields = entry(
        "Prefers tabs.",
        tags=["b", "a"],
        confidence=0.85,
        importance=8,
        source={"type": "user-stated", "detail": "in a review", "agent_id": "x"},
        access_count=3,
        last_accessed="2026-02-10T10:00:00Z",
        status="archived",
        links=[{"target": "user.email", "relation": "related-to"}],
        summary="Tabs.",
        colour="red",
    )
    assert read_entry("relationships", "style", fields, is_private=True) == Entry(
        category="relationships",
        key="style",
        value="Prefers tabs.",
        created_at=BEFORE,
        updated_at=BEFORE,
        tags=("b", "a"),
        confidence=0.85,
        importance=8,
        source_type="user-stated",
        source_detail="in a review",
        access_count=3,
        last_accessed="2026-02-10T10:00:00Z",
        status="archived",
        links=(ProfileLink("user.email", "related-to"),),
        summary="Tabs.",
        is_private=True,
        fields=fields,
    )


def test_only_a_text_makes_an_entry() -> None:
    assert read_entry("tools", "k", {"value": ""}).value == ""
    for value in (None, 7, True, [], {}, ["x"], 1.5):
        with pytest.raises(ValueError, match="it has no text in `value`"):
            read_entry("tools", "k", {"value": value})
    with pytest.raises(ValueError, match="it has no text in `value`"):
        read_entry("tools", "k", {})


def test_whatever_is_missing_has_its_default() -> None:
    assert read() == Entry(category="tools", key="k", value="A text.", fields={"value": "A text."})
    found = read()
    assert (found.importance, found.source_type, found.source_detail) == (5, "session", None)
    assert (found.access_count, found.last_accessed, found.status, found.links) == (0, None, "active", ())
    assert (found.tags, found.confidence, found.created_at, found.updated_at) == ((), None, "", "")


def test_an_entry_that_was_never_updated_was_when_it_was_made() -> None:
    assert read(created_at=BEFORE).updated_at == BEFORE
    assert read(created_at=BEFORE, updated_at=7).updated_at == BEFORE


@pytest.mark.parametrize(
    ("stored", "tags"),
    [
        (None, ()),
        ("personal", ()),
        ({"a": 1}, ()),
        (["a", None, 7, "", ["b"], "a", "B", "b"], ("a", "B", "b")),
        ([], ()),
    ],
)
def test_tags(stored: Any, tags: tuple[str, ...]) -> None:
    assert read(tags=stored).tags == tags


@each(
    ("stored", "confidence"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.35, 0.35),
        (1.7, 1.0),
        (-0.2, 0.0),
        (10**400, 1.0),
        (-(10**400), 0.0),
        ("0.5", None),
        (True, None),
        (False, None),
        (None, None),
        ([], None),
        ({}, None),
        (math.nan, None),
        (math.inf, None),
    ],
)
def test_confidence(stored: Any, confidence: float | None) -> None:
    assert read(confidence=stored).confidence == confidence
    assert read("user", "k", confidence=stored).confidence is None


@each(
    ("stored", "importance"),
    [
        (1, 1),
        (10, 10),
        (0, 1),
        (-5, 1),
        (11, 10),
        (7.0, 7),
        (7.4, 7),
        (99.9, 10),
        (10**400, 10),
        (-(10**400), 1),
        ("8", 5),
        (True, 5),
        (None, 5),
        ([8], 5),
        (math.nan, 5),
        (-math.inf, 5),
    ],
)
def test_importance(stored: Any, importance: int) -> None:
    found = read(importance=stored).importance
    assert found == importance
    assert type(found) is int


@pytest.mark.parametrize(
    ("stored", "kind", "detail"),
    [
        ({"type": "codebase", "detail": "src/"}, "codebase", "src/"),
        ({"type": "codebase"}, "codebase", None),
        ({"type": "gossip", "detail": None}, "gossip", None),
        ({"type": "", "detail": 7}, "session", None),
        ({"type": ["inferred"], "detail": {}}, "session", None),
        ({}, "session", None),
        ("an old note", "session", "an old note"),
        ("", "session", ""),
        (None, "session", None),
        (["inferred"], "session", None),
        (7, "session", None),
    ],
)
def test_source(stored: Any, kind: str, detail: str | None) -> None:
    found = read(source=stored)
    assert (found.source_type, found.source_detail) == (kind, detail)


@pytest.mark.parametrize(
    ("stored", "count"),
    [(0, 0), (7, 7), (7.0, 7), (7.5, 0), (-3, 0), (10**30, 10**30), ("7", 0), (True, 0), (None, 0), ([], 0)],
)
def test_access_count(stored: Any, count: int) -> None:
    assert read(access_count=stored).access_count == count


@pytest.mark.parametrize(
    ("stored", "last"), [(BEFORE, BEFORE), ("soon", "soon"), ("", None), (None, None), (7, None), ([BEFORE], None)]
)
def test_last_accessed(stored: Any, last: str | None) -> None:
    assert read(last_accessed=stored).last_accessed == last


@pytest.mark.parametrize(
    ("stored", "status"),
    [
        ("active", "active"),
        ("archived", "archived"),
        ("superseded", "superseded"),
        ("resting", "resting"),
        ("", "active"),
        (None, "active"),
        (True, "active"),
        (["archived"], "active"),
    ],
)
def test_status(stored: Any, status: str) -> None:
    assert read(status=stored).status == status


def test_what_a_later_version_took_back_is_superseded() -> None:
    assert read(invalid_at=BEFORE).status == "superseded"
    assert read(invalid_at=BEFORE, status="active").status == "superseded"
    assert read(invalid_at=BEFORE, status="archived").status == "archived"
    assert read(invalid_at=None, status="active").status == "active"


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "user.email",
        {"target": "user.email", "relation": "related-to"},
        [None, "user.email", 7, []],
        [{"target": "user.email"}, {"relation": "related-to"}, {"target": 7, "relation": "x"}],
        [{"target": "user", "relation": "x"}, {"target": ".a", "relation": "x"}, {"target": "a.", "relation": "x"}],
        [{"target": "user.email", "relation": ""}, {"target": "user.email", "relation": None}],
    ],
)
def test_links_that_are_none(stored: Any) -> None:
    assert read(links=stored).links == ()


def test_links_are_kept_in_order_and_once() -> None:
    items = [
        {"target": "user.b", "relation": "novel"},
        7,
        {"target": "user.a.b", "relation": "related-to", "weight": 3},
        {"target": "user.b", "relation": "novel"},
        {"target": "user.b", "relation": "related-to"},
    ]
    assert read(links=items).links == (
        ProfileLink("user.b", "novel"),
        ProfileLink("user.a.b", "related-to"),
        ProfileLink("user.b", "related-to"),
    )


@given(
    st.dictionaries(st.sampled_from((*FIELDS, "summary", "invalid_at", "novel")), JSON),
    st.sampled_from(("user", "tools")),
)
def test_any_object_with_a_text_is_an_entry_that_every_layer_above_can_take(
    fields: dict[str, Any], category: str
) -> None:
    fields["value"] = "A text."
    found = read_entry(category, "k", fields)
    assert found.fields is fields
    assert 1 <= found.importance <= 10
    assert found.confidence is None or 0.0 <= found.confidence <= 1.0
    assert found.access_count >= 0
    record = entry_record(found)
    assert entry_of(record) == found
    index = Index(open_in_memory())
    index.bring_up([Held([record, *entry_edges(found)])], None)
    assert index.find(found.ref) == record_as_found(record)
    index.close()


class Held:
    """A source of one file that holds these."""

    layer = "profile"

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Any = None) -> dict[str, str]:
        return {"memory.json": "1"}

    def read(self, paths: Any) -> list[Any]:
        return self.items


def record_as_found(record: Any) -> Any:
    """Names are looked up by, and not given back."""
    return msgspec.structs.replace(record, names=())


@pytest.mark.parametrize(
    "time",
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "0001-01-01", "2026-W07-1", "20260209T140000Z", "\x00"],
)
def test_times_at_the_ends_of_the_calendar_can_be_taken(time: str) -> None:
    found = read(created_at=time, updated_at=time, last_accessed=time)
    index = Index(open_in_memory())
    index.bring_up([Held([entry_record(found)])], None)
    assert index.find(found.ref) == record_as_found(entry_record(found))
    index.close()
