"""Validate a value against a JSON Schema: the part of the language that our own types use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

Place = tuple[str | int, ...]


class SchemaFault(msgspec.Struct, frozen=True, kw_only=True):
    """One broken rule: which, where, and what is allowed there."""

    code: str
    place: Place
    message: str
    allowed: tuple[str, ...] = ()


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def find_faults(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> list[SchemaFault]:
    """All faults of the value, in document order."""
    return list(_walk(value, schema, definitions, ()))


def _walk(value: Any, schema: dict[str, Any], definitions: dict[str, Any], place: Place) -> Iterator[SchemaFault]:
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        yield from _any_of(value, schema["anyOf"], definitions, place)
        return
    if "enum" in schema:
        if value not in schema["enum"] or isinstance(value, bool) != isinstance(schema["enum"][0], bool):
            allowed = tuple(map(str, schema["enum"]))
            yield SchemaFault(
                code="SchemaEnum",
                place=place,
                message=f"must be one of {', '.join(allowed)}",
                allowed=allowed,
            )
        return
    expected = schema.get("type")
    if expected and not _is_type(value, expected):
        code = "SchemaType"
        yield SchemaFault(code=code, place=place, message=f"must be {_article(expected)}, not {_name(value)}")
    elif isinstance(value, dict):
        yield from _object(value, schema, definitions, place)
    elif isinstance(value, list):
        yield from _array(value, schema, definitions, place)
    elif isinstance(value, str):
        yield from _string(value, schema, place)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema, place)


def _any_of(
    value: Any, choices: list[dict[str, Any]], definitions: dict[str, Any], place: Place
) -> Iterator[SchemaFault]:
    attempts = [list(_walk(value, choice, definitions, place)) for choice in choices]
    if all(attempts):
        # The choice whose type fits explains best what is wrong inside it.
        yield from min(attempts, key=lambda faults: faults[0].code == "SchemaType")


def _object(
    value: dict[str, Any], schema: dict[str, Any], definitions: dict[str, Any], place: Place
) -> Iterator[SchemaFault]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield SchemaFault(code="SchemaRequired", place=(*place, name), message="is required")
    for name, item in value.items():
        if name in known:
            yield from _walk(item, known[name], definitions, (*place, name))
        elif schema.get("additionalProperties") is False:
            yield SchemaFault(
                code="SchemaAdditionalProperty",
                place=(*place, name),
                message=f"is not a known key; known here: {', '.join(known)}",
                allowed=tuple(known),
            )


def _array(
    value: list[Any], schema: dict[str, Any], definitions: dict[str, Any], place: Place
) -> Iterator[SchemaFault]:
    if len(value) > schema.get("maxItems", len(value)):
        yield SchemaFault(
            code="SchemaMaxItems",
            place=place,
            message=f"has {len(value):,} entries; the limit is {schema['maxItems']:,}",
        )
        return
    for number, item in enumerate(value):
        yield from _walk(item, schema.get("items", {}), definitions, (*place, number))


def _string(value: str, schema: dict[str, Any], place: Place) -> Iterator[SchemaFault]:
    if len(value) < schema.get("minLength", 0):
        yield SchemaFault(code="SchemaMinLength", place=place, message="must not be empty")
    elif len(value) > schema.get("maxLength", len(value)):
        message = f"is {len(value):,} characters long; the limit is {schema['maxLength']:,}"
        yield SchemaFault(code="SchemaMaxLength", place=place, message=message)
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        shown = schema.get("description") or f"must match {schema['pattern']}"
        yield SchemaFault(code="SchemaPattern", place=place, message=shown)


def _number(value: float, schema: dict[str, Any], place: Place) -> Iterator[SchemaFault]:
    if value < schema.get("minimum", value):
        yield SchemaFault(code="SchemaMinimum", place=place, message=f"must be at least {schema['minimum']}")
    if value > schema.get("maximum", value):
        yield SchemaFault(code="SchemaMaximum", place=place, message=f"must be at most {schema['maximum']}")


def _is_type(value: Any, expected: str) -> bool:
    if isinstance(value, bool):
        return expected == "boolean"
    return isinstance(value, _TYPES[expected])


def _article(name: str) -> str:
    return {"null": "null"}.get(name, f"{'an' if name[0] in 'aeiou' else 'a'} {name}")


def _name(value: Any) -> str:
    for name, types in _TYPES.items():
        if _is_type(value, name) and type(value) in types:
            return _article(name)
    return type(value).__name__
