"""Canonical JSON and its hash, byte for byte as the original program writes it.

Keys are sorted at every level: those that count the places of an array first, by their number, the others in the order
of `collation`. Numbers are written as JavaScript writes them, text as it is, half a character as its escape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, KeysView
from typing import Any

import msgspec

from quire.files.digests import hex_digest
from quire.layers.journal.collation import collation_key
from quire.model import limits
from quire.model.errors import InvalidJson

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_INDEX_MOST = 2**32 - 2
_EXACT = 2**53
_HALVES = re.compile(r"[\ud800-\udfff]")
_ENCODE = msgspec.json.Encoder().encode
_TOO_DEEP = f"nested too deeply: the limit is {limits.JSON_DEPTH} levels"

Put = Callable[[str], None]


def canonical_text(value: Any) -> str:
    """The text that is hashed: sorted keys, two spaces, no newline at the end."""
    parts: list[str] = []
    _write(value, "\n", parts.append, True)
    return "".join(parts)


def content_hash(value: Any) -> str:
    """The SHA-256 of the canonical text, in lower-case hex."""
    return hex_digest(canonical_text(value))


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are written alike."""
    return one is other or canonical_text(one) == canonical_text(other)


def file_bytes(value: Any) -> bytes:
    """A whole file in canonical form."""
    return canonical_text(value).encode("utf-8") + b"\n"


def declared_text(value: Any) -> str:
    """The same form with the keys in the order they have, as settings are written."""
    parts: list[str] = []
    _write(value, "\n", parts.append, False)
    return "".join(parts)


def line_bytes(value: Any) -> bytes:
    """One line of a log: no spaces, keys in the order they have, without its end."""
    parts: list[str] = []
    _write(value, "", parts.append, False)
    return "".join(parts).encode("utf-8")


def decode_json(data: bytes) -> Any:
    """A value as any writer may have stored it, half characters and numbers without end included.

    ValueError says why there is none. A byte order mark at the beginning is no part of it.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        value = _decode_patiently(data, error)
    if limits.is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def _decode_patiently(data: bytes, first: Exception) -> Any:
    import json

    def never(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(data.decode("utf-8"), parse_constant=never)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start:,})") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        # The faster reader's words for half a character would mislead; this one names line and column.
        raise ValueError(f"{error.msg}, line {error.lineno}, column {error.colno}") from None
    except ValueError:
        raise ValueError(str(first)) from None


def number_text(number: float) -> str:
    """A number as JavaScript writes it: every number is a double there, and what is none is null."""
    if isinstance(number, int) and -_EXACT <= number <= _EXACT:
        return str(number)
    try:
        double = float(number)
    except OverflowError:
        return "null"
    if double != double or double in (float("inf"), float("-inf")):
        return "null"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # Where the point stands, counted from the first digit.
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _ordered(keys: KeysView[str]) -> list[str]:
    counting = [key for key in keys if _INDEX.fullmatch(key) and int(key) <= _INDEX_MOST]
    if not counting:
        return sorted(keys, key=collation_key)
    others = sorted(keys - set(counting), key=collation_key)
    return sorted(counting, key=int) + others


def _write(value: Any, newline: str, put: Put, sort: bool, depth: int = 0) -> None:
    """Without a newline to begin lines with, everything stands in one."""
    if not isinstance(value, dict | list | tuple):
        put(_scalar(value))
        return
    if depth >= limits.JSON_DEPTH:
        raise InvalidJson(f"The value is {_TOO_DEEP}.", hint="Flatten it. Nothing was written.")
    inner, colon = (newline + "  ", ": ") if newline else ("", ":")
    if isinstance(value, dict):
        between = "{" + inner
        for key in _ordered(value.keys()) if sort else value:
            put(f"{between}{_text(key)}{colon}")
            _write(value[key], inner, put, sort, depth + 1)
            between = "," + inner
        put(newline + "}" if value else "{}")
    else:
        between = "[" + inner
        for item in value:
            put(between)
            _write(item, inner, put, sort, depth + 1)
            between = "," + inner
        put(newline + "]" if value else "[]")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value)


def _text(text: str) -> str:
    try:
        return _ENCODE(text).decode("utf-8")
    except UnicodeEncodeError:
        # Two halves that stand side by side in a text of ours are one character everywhere else.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        pieces = [_ENCODE(piece).decode("utf-8")[1:-1] for piece in _HALVES.split(text)]
        halves = [f"\\u{ord(half):04x}" for half in _HALVES.findall(text)]
        return '"' + "".join(piece + half for piece, half in zip(pieces, [*halves, ""], strict=True)) + '"'
