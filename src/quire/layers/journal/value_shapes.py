"""Describe the shape of a JSON value and list its faults: `<path> must be …`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from quire.model.text import trim

_COUNTS = {1: "one", 2: "two"}


class Text(Struct, frozen=True):
    """A text that says something; null where `nullable`."""

    nullable: bool = False


class Texts(Struct, frozen=True):
    """A list of texts; empty ones may be among them. `least` and what is counted are said where there must be some."""

    least: int = 0
    counted: str = "item"


class OneOf(Struct, frozen=True):
    """One of a closed list of words."""

    allowed: tuple[str, ...]


class Number(Struct, frozen=True):
    """A number, not below `least`, above `above`."""

    least: int | None = None
    above: int | None = None


class Flag(Struct, frozen=True):
    """True or false."""


class Equal(Struct, frozen=True):
    """This value and no other."""

    value: int


class Object(Struct, frozen=True):
    """An object with at least these keys; the optional ones may be missing. Others are nobody's business."""

    fields: dict[str, Shape]
    optional: frozenset[str] = frozenset()


class Each(Struct, frozen=True):
    """A list whose items are all like this."""

    item: Object
    most: int | None = None
    counted: str = "items"


Shape = Text | Texts | OneOf | Number | Flag | Equal | Object | Each


_SHAPES: dict[Any, Shape] = {str: Text(), str | None: Text(nullable=True), bool: Flag(), int | float: Number()}


@cache
def shape_of(kind: type[Struct]) -> Object:
    """The shape of what is stored for a record: what its types say, or a shape that one of them is annotated with."""
    return Object({field.encode_name: _shape_of(field.type) for field in fields(kind) if field.name != "extra"})


def _shape_of(kind: Any) -> Shape:
    if marks := getattr(kind, "__metadata__", ()):
        shape: Shape = marks[0]
        return shape
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        return Texts() if item is str else Each(shape_of(item))
    return shape_of(kind) if isinstance(kind, type) and issubclass(kind, Struct) else _SHAPES[kind]


def find_faults(shape: Shape, value: Any, path: str) -> list[str]:
    """Everything that is wrong with the value, in the order of the declaration; empty where it fits."""
    return list(_faults(shape, value, path))


def _faults(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, Object):
        yield from _object_faults(shape, value, path)
    elif isinstance(shape, Each):
        yield from _list_faults(shape, value, path)
    elif isinstance(shape, Texts):
        yield from _texts_faults(shape, value, path)
    elif isinstance(shape, Number):
        yield from _number_faults(shape, value, path)
    elif isinstance(shape, Text):
        if not ((isinstance(value, str) and trim(value)) or (shape.nullable and value is None)):
            yield f"{path} must be a non-empty string."
    elif isinstance(shape, OneOf):
        if not isinstance(value, str) or value not in shape.allowed:
            yield f"{path} must be one of: {', '.join(shape.allowed)}."
    elif isinstance(shape, Flag):
        if not isinstance(value, bool):
            yield f"{path} must be a boolean."
    elif value != shape.value:
        yield f"{path} must equal {shape.value}."


_NOTHING = object()
"""Stands where a key is missing: null is something."""


def _object_faults(shape: Object, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} must be an object."
        return
    for name, field in shape.fields.items():
        if name in value:
            yield from _faults(field, value[name], f"{path}.{name}")
        elif name not in shape.optional:
            yield from _faults(field, _NOTHING, f"{path}.{name}")


def _list_faults(shape: Each, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path} must be an array."
        return
    if shape.most is not None and len(value) > shape.most:
        yield f"{path} must contain at most {_COUNTS.get(shape.most, shape.most)} {shape.counted}."
    for number, item in enumerate(value):
        yield from _faults(shape.item, item, f"{path}[{number}]")


def _texts_faults(shape: Texts, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        yield f"{path} must be an array of strings."
    elif len(value) < shape.least:
        yield f"{path} must contain at least {_COUNTS.get(shape.least, shape.least)} {shape.counted}."


def _number_faults(shape: Number, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield f"{path} must be a number."
    elif shape.least is not None and value < shape.least:
        yield f"{path} must be >= {shape.least}."
    elif shape.above is not None and value <= shape.above:
        yield f"{path} must be > {shape.above}."


def json_schema(shape: Shape) -> dict[str, Any]:
    """The shape as a JSON Schema that allows no other keys, for whoever is asked to write such a value."""
    if isinstance(shape, Object):
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [name for name in shape.fields if name not in shape.optional],
            "properties": {name: json_schema(field) for name, field in shape.fields.items()},
        }
    if isinstance(shape, Each):
        most = {} if shape.most is None else {"maxItems": shape.most}
        return {"type": "array", **most, "items": json_schema(shape.item)}
    if isinstance(shape, Texts):
        least = {"minItems": shape.least} if shape.least else {}
        return {"type": "array", **least, "items": {"type": "string"}}
    if isinstance(shape, OneOf):
        return {"type": "string", "enum": list(shape.allowed)}
    if isinstance(shape, Text):
        return {"anyOf": [{"type": "string"}, {"type": "null"}]} if shape.nullable else {"type": "string"}
    if isinstance(shape, Equal):
        return {"const": shape.value}
    return {"type": "boolean" if isinstance(shape, Flag) else "number"}
