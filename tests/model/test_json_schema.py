"""Finding every fault of a value."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.layers.graph.schemas import SCHEMA_NAMES, faults_of, schema
from quire.layers.graph.types import Intent, Node


def test_every_fault_is_found_with_its_place_and_what_is_allowed() -> None:
    value = {
        "task": 1,
        "nodes": [{"kind": "thing", "stage": "done", "related": [{"to": "x"}], "surprise": 1}],
        "stale": {},
    }
    found = {(fault.code, fault.place): fault for fault in faults_of(value, Intent)}
    assert set(found) == {
        ("SchemaType", ("task",)),
        ("SchemaEnum", ("nodes", 0, "kind")),
        ("SchemaEnum", ("nodes", 0, "stage")),
        ("SchemaRequired", ("nodes", 0, "related", 0, "predicate")),
        ("SchemaPattern", ("nodes", 0, "related", 0, "to")),
        ("SchemaAdditionalProperty", ("nodes", 0, "surprise")),
        ("SchemaType", ("stale",)),
    }
    assert "building" in found["SchemaEnum", ("nodes", 0, "stage")].allowed


def test_booleans_are_not_numbers() -> None:
    assert [fault.code for fault in faults_of({"task": True}, Intent)] == ["SchemaType"]


def test_a_nullable_field_accepts_null_and_explains_the_rest() -> None:
    faults = faults_of({"superseded_by": "not an id"}, Node)
    assert ("superseded_by",) in [fault.place for fault in faults if fault.code == "SchemaPattern"]
    assert ("superseded_by",) not in [fault.place for fault in faults_of({"superseded_by": None}, Node)]


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_the_schemas_are_valid_json_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab.-", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task", "nodes", "id", "kind", "stale", "title", "reason"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_our_verdict_is_that_of_a_real_json_schema_validator(value: Any) -> None:
    accepted = jsonschema.Draft202012Validator(schema("patch")).is_valid(value)
    assert (faults_of(value, Intent) == []) == accepted
