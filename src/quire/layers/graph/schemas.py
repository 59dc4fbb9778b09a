"""Generate JSON Schemas from the types: for `schema/`, and to explain invalid input."""

from __future__ import annotations

import contextlib
from functools import cache
from typing import Any

import msgspec

from quire.layers.graph.types import Event, Intent, Node, Relation
from quire.model.config import Config
from quire.model.json_schema import SchemaFault, find_faults
from quire.model.vocabulary import OTHER_STATUSES, QUESTION_STATUSES

_TYPES: dict[str, type] = {
    "config": Config,
    "object": Node,
    "relation": Relation,
    "event": Event,
    "patch": Intent,
}

_WITHOUT_NUMBERS = (Node, Relation)
"""msgspec takes 1.0 for a whole number where the schema does not; in these it reads exactly what the schema allows."""

_NODE_RULES = [
    {
        "if": {"properties": {"type": {"const": "question"}}},
        "then": {"properties": {"status": {"enum": list(QUESTION_STATUSES)}}},
        "else": {"properties": {"status": {"enum": list(OTHER_STATUSES)}}},
    },
    {
        "if": {"properties": {"type": {"const": "feature"}}},
        "then": {},
        "else": {"not": {"required": ["stage"]}},
    },
]
_EVENT_RULES = [
    {"if": {"properties": {"event": {"pattern": "^memory\\."}}}, "then": {"required": ["id"]}},
    {"if": {"properties": {"event": {"pattern": "^relation\\."}}}, "then": {"required": ["relation_id"]}},
]
_RULES = {"object": _NODE_RULES, "event": _EVENT_RULES}

SCHEMA_NAMES = tuple(_TYPES)


def schema(name: str) -> dict[str, Any]:
    """The schema document for `config`, `object`, `relation`, `event` or `patch` (the save intent)."""
    top, known = _components(_TYPES[name])
    definitions = dict(known)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:quire:graph:v5:{name}",
        **definitions.pop(top["$ref"].rpartition("/")[2]),
    }
    if name in _RULES:
        document["allOf"] = _RULES[name]
    if definitions:
        document["$defs"] = definitions
    return document


def faults_of(value: Any, shape: type) -> list[SchemaFault]:
    """Every way in which a decoded value is not what the type says."""
    if shape in _WITHOUT_NUMBERS:
        with contextlib.suppress(msgspec.ValidationError):
            msgspec.convert(value, shape)  # most are sound, and this finds it out quickly
            return []
    top, definitions = _components(shape)
    return find_faults(value, top, definitions)


@cache
def _components(shape: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Made once: a check asks for every file. Nobody may change what comes back."""
    (top,), definitions = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    return top, definitions
