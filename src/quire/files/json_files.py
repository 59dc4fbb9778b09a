"""Write JSON and JSON lines; read them strictly from others."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, TypeVar, overload

import msgspec

from quire.model import limits
from quire.model.errors import InputError, InvalidJson
from quire.model.text import plain_newlines

Value = TypeVar("Value")

_CONFLICT = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_ODD = (b" :", b"\t:", b"\r:", b"\n:", b'\\\\":')


def pretty(value: Any) -> bytes:
    """Two-space indent, literal Unicode, one trailing newline. Key order is the caller's."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def compact(value: Any) -> bytes:
    """One line, no spaces, keys sorted."""
    return msgspec.json.encode(value, order="deterministic")


def decode_object(data: bytes) -> dict[str, Any]:
    """A JSON object as it stands; ValueError with the reason where it is none."""
    try:
        value = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(value, dict):
        raise ValueError("the top level is not an object")
    return value


@overload
def json_value(data: bytes | str) -> Any: ...
@overload
def json_value(data: bytes | str, kind: type[Value]) -> Value | None: ...
def json_value(data: bytes | str, kind: Any = Any) -> Any:
    """A JSON value of this type; None where it is none, or of another type."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def has_key_twice(data: bytes, value: Any) -> bool:
    """Whether an object in some JSON has a key twice; `value` is the decoded JSON."""
    pairs, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            pairs += len(item)
            item = item.values()
        elif not isinstance(item, list):
            continue
        waiting += [inner for inner in item if isinstance(inner, dict | list)]
    # There are as many `":` as pairs, unless a text holds one, or something stands between; then it is looked closely.
    if data.count(b'":') - data.count(b'\\":') == pairs and not any(odd in data for odd in _ODD):
        return False
    return sum(1 for found in _string().finditer(data) if found.group(1)) != pairs


@functools.cache
def _string() -> re.Pattern[bytes]:
    return re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"([ \t\r\n]*:)?', re.DOTALL)


def input_text(data: bytes, source: str, *, too_long: str = "Send less.", empty: str = "Send one JSON object.") -> str:
    """Decode input as text; raise an error with a hint if it is too long, empty or no text."""
    if len(data) > limits.INPUT_BYTES:
        raise InputError(
            f"{source} is {len(data):,} bytes long; the limit is {limits.INPUT_BYTES:,}.",
            hint=too_long,
            details={"field": "<input>", "limit": limits.INPUT_BYTES},
        )
    try:
        text = plain_newlines(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"{source} is not UTF-8 text (byte {error.start}).", hint="Send UTF-8.", details={"source": source}
        ) from None
    if not text.strip():
        raise InvalidJson(f"{source} is empty.", hint=empty, details={"source": source})
    return text


def parse_strict(text: str, source: str, *, bounded: bool = True) -> Any:
    """JSON with nothing left to guess: no duplicate keys, no NaN, no bottomless nesting.

    A number beyond all bounds is refused as well, unless the reader keeps numbers as they are written.
    """
    import json
    import math

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            # What is no ordinary key is not repeated: it may be a credential that slipped to the wrong side of a colon.
            shown = f"the key `{twice}`" if twice.isidentifier() and len(twice) <= 24 else "a key"
            raise ValueError(f"{shown} occurs twice in one object")
        if any("\ud800" <= char <= "\udfff" for name in found if not name.isascii() for char in name):
            raise ValueError("a key holds a lone surrogate, which is not text")
        return found

    def never(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    def finite(digits: str) -> float:
        found = float(digits)
        if bounded and math.isinf(found):
            raise ValueError("a number is larger than any that can be kept")
        return found

    try:
        value = json.loads(text, object_pairs_hook=once, parse_constant=never, parse_float=finite)
    except json.JSONDecodeError as error:
        raise InvalidJson(
            f"{source} is not JSON: {error.msg}, line {error.lineno}, column {error.colno}.",
            hint="Send one JSON object. `memory save --help` shows an example.",
            details={"source": source, "line": error.lineno, "column": error.colno},
        ) from None
    except RecursionError:
        raise _too_deep(source) from None
    except ValueError as error:
        raise InvalidJson(
            f"{source} is not usable JSON: {error}.",
            hint="Correct it and send it again; nothing was written.",
            details={"source": source},
        ) from None
    if limits.is_too_deep(value):
        raise _too_deep(source)
    return value


def _too_deep(source: str) -> InvalidJson:
    return InvalidJson(
        f"{source} is nested too deeply: the limit is {limits.JSON_DEPTH} levels.",
        hint="Correct it and send it again; nothing was written.",
        details={"source": source},
    )


def is_conflict_mark(line: bytes) -> bool:
    """Whether a line is one that a merge left between the lines of two sides."""
    return line[:7] in _CONFLICT and line[7:8] in (b"", b" ")


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a JSONL file, without their ends; an empty last line is no line."""
    found = data.split(b"\n")
    if found[-1] == b"":
        found.pop()
    for number, line in enumerate(found, start=1):
        yield number, line.removesuffix(b"\r")
