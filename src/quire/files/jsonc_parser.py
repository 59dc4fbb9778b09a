"""Parse JSON with comments and trailing commas, keeping the position of every part."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model import limits

if TYPE_CHECKING:
    from json import JSONDecoder

BOM = "\ufeff"
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_SHOWN_KEY = 24
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
_STRING_FAULTS = {
    "Unterminated": "The quotation marks are never closed",
    "control character": "A control character is in a text",
    "escape": "Invalid escape after a backslash",
}


class JsoncNode(msgspec.Struct, frozen=True, kw_only=True):
    """A value in the text: from its first character to the one after its last, and the parts it consists of."""

    begin: int
    end: int
    value: Any
    parts: tuple[JsoncPart, ...] = ()


class JsoncPart(msgspec.Struct, frozen=True, kw_only=True):
    """A member of an object or an item of an array, and where the comma after it stands (-1: there is none)."""

    begin: int
    key: str | None = None
    key_end: int = 0
    node: JsoncNode
    comma: int = -1


def read_jsonc(text: str) -> Any:
    """The data of a JSON text with comments and trailing commas; ValueError with line and column for all else."""
    return parse(text).value


def parse(text: str) -> JsoncNode:
    """The value of the whole text, with the place of each of its parts."""
    root = _value(text, _skip(text, len(BOM) if text.startswith(BOM) else 0), 0)
    rest = _skip(text, root.end)
    if rest != len(text):
        raise fault(text, rest, "Text follows the end of the value")
    return root


def same(first: Any, second: Any) -> bool:
    """Whether two pieces of data say the same; the order of keys says nothing, true and 1 are different."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    # Not a number is not equal to itself, but it is written in the same way.
    return type(first) is type(second) and (first == second or repr(first) == repr(second))


def fault(text: str, at: int, reason: str) -> ValueError:
    """An error with its position. The text there is not repeated: it may be a secret."""
    line = text.count("\n", 0, at) + 1
    return ValueError(f"{reason}, line {line}, column {at - text.rfind(chr(10), 0, at)}.")


def solid_end(text: str, start: int, stop: int) -> tuple[int, bool]:
    """Where the last comment between two places ends (or the first place), and whether it is one to the line's end."""
    comments = list(_COMMENT.finditer(text, start, stop))
    return (comments[-1].end(), comments[-1][0].startswith("//")) if comments else (start, False)


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> JsoncNode:
    if text[at : at + 1] in ("{", "["):
        if depth >= limits.JSON_DEPTH:
            raise fault(text, at, f"It is nested deeper than {limits.JSON_DEPTH} levels")
        return _container(text, at, depth)
    value, end = _scalar(text, at)
    return JsoncNode(begin=at, end=end, value=value)


def _container(text: str, at: int, depth: int) -> JsoncNode:
    is_object = text[at] == "{"
    closing = "}" if is_object else "]"
    parts: list[JsoncPart] = []
    members: dict[str, Any] = {}
    here = _skip(text, at + 1)
    while text[here : here + 1] != closing:
        if parts and parts[-1].comma < 0:
            raise _unexpected(text, here, f"A comma or `{closing}` was expected")
        begin, key, key_end = here, None, 0
        if is_object:
            key, key_end, here = _key(text, here, members)
        node = _value(text, here, depth + 1)
        here = _skip(text, node.end)
        comma = here if text[here : here + 1] == "," else -1
        if comma >= 0:
            here = _skip(text, comma + 1)
        parts.append(JsoncPart(begin=begin, key=key, key_end=key_end, node=node, comma=comma))
        if key is not None:
            members[key] = node.value
    value = members if is_object else [part.node.value for part in parts]
    return JsoncNode(begin=at, end=here + 1, value=value, parts=tuple(parts))


def _key(text: str, at: int, members: dict[str, Any]) -> tuple[str, int, int]:
    """A key, where it ends, and where its value begins."""
    if text[at : at + 1] != '"':
        raise _unexpected(text, at, "A key in double quotes was expected")
    key, end = _scalar(text, at)
    if key in members:
        shown = f"The key `{key}`" if key.isidentifier() and len(key) <= _SHOWN_KEY else "A key"
        raise fault(text, at, f"{shown} occurs twice in one object")
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise _unexpected(text, colon, "A colon was expected")
    return key, end, _skip(text, colon + 1)


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if text.startswith(_NO_NUMBERS, at):
        raise fault(text, at, "NaN and Infinity are not JSON")
    try:
        return _decoder().raw_decode(text, at)
    except ValueError as error:
        raise _not_scalar(text, at, error) from None


def _not_scalar(text: str, at: int, error: ValueError) -> ValueError:
    from json import JSONDecodeError

    if not isinstance(error, JSONDecodeError):
        # More digits than Python turns into a number.
        return fault(text, at, "The number is too long")
    if text[at : at + 1] != '"':
        return _unexpected(text, at, "A value was expected")
    reason = next((ours for theirs, ours in _STRING_FAULTS.items() if theirs in error.msg), "The text is not valid")
    return fault(text, error.pos, reason)


@functools.cache
def _decoder() -> JSONDecoder:
    from json import JSONDecoder

    return JSONDecoder()


def _unexpected(text: str, at: int, reason: str) -> ValueError:
    if at >= len(text):
        return fault(text, at, f"{reason}, but the text ends")
    if text.startswith("/*", at):
        return fault(text, at, "The comment never ends")
    return fault(text, at, reason)
