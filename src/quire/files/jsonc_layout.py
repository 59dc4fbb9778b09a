"""Detect how a JSON text is laid out: indentation, line ends, colons, members that begin a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from quire.files.jsonc_parser import JsoncNode

_COLON = re.compile(r"[ \t]*:[ \t]*")
_BLANK = re.compile(r"[ \t]*")
_DEFAULT_UNIT = "  "


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of what is added to an object or array."""

    newline: str
    unit: str
    colon: str
    indent: str | None
    """The indentation of the members that begin a line; None where all of them share lines."""
    below: str
    """The indentation that members would have, if they began a line."""
    gap: str
    """What stands between a comma and the next member on the same line."""


def style_of(text: str, chain: Sequence[JsoncNode]) -> Style:
    """The style of the last of these nodes, each of which holds the next one."""
    holder = chain[-1]
    unit = _unit(text, chain)
    colon = _colon(text, chain)
    return Style(
        newline=newline_in(text),
        unit=unit,
        colon=colon,
        indent=_member_indent(text, holder),
        below=line_indent(text, holder.begin) + unit,
        gap=_gap(text, holder, colon),
    )


def written(value: Any, style: Style, indent: str | None) -> str:
    """A value as JSON: over several lines at this indentation, or on one line where there is none."""
    import json

    def dumped(literal: bool) -> str:
        separators = ("," if indent is not None or style.colon == ":" else ", ", style.colon)
        spread = None if indent is None else style.unit
        return json.dumps(value, ensure_ascii=not literal, allow_nan=False, indent=spread, separators=separators)

    found = dumped(True)
    if not found.isascii() and any("\ud800" <= char <= "\udfff" for char in found):
        found = dumped(False)
    return found if indent is None else found.replace("\n", style.newline + indent)


def newline_in(text: str) -> str:
    """The text's own line ending, by majority."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def line_indent(text: str, at: int) -> str:
    """The blanks that the line begins with in which this place is."""
    found = _BLANK.match(text, text.rfind("\n", 0, at) + 1, at)
    return found[0] if found else ""


def begins_line(text: str, at: int) -> bool:
    """Whether nothing but blanks stands before this place in its line, which is not the first one."""
    start = text.rfind("\n", 0, at) + 1
    return start > 0 and _BLANK.fullmatch(text, start, at) is not None


def has_own_lines(text: str, chain: Sequence[JsoncNode]) -> bool:
    """Whether the last of these nodes is laid out with room: the whole text, or the value of what begins a line."""
    if len(chain) == 1:
        return True
    part = next(part for part in chain[-2].parts if part.node is chain[-1])
    return begins_line(text, part.begin)


def _member_indent(text: str, holder: JsoncNode) -> str | None:
    for part in reversed(holder.parts):
        if begins_line(text, part.begin):
            return line_indent(text, part.begin)
    return None


def _unit(text: str, chain: Sequence[JsoncNode]) -> str:
    for node in (*reversed(chain), *_containers(chain[0])):
        inner, outer = _member_indent(text, node), line_indent(text, node.begin)
        if inner is not None and inner != outer and inner.startswith(outer):
            return inner.removeprefix(outer)
    return _DEFAULT_UNIT


def _containers(root: JsoncNode) -> Iterator[JsoncNode]:
    """All objects and arrays that hold something, the outer ones first."""
    level = [root]
    while level:
        found = [node for node in level if node.parts]
        yield from found
        level = [part.node for node in found for part in node.parts]


def _colon(text: str, chain: Sequence[JsoncNode]) -> str:
    for node in reversed(chain):
        for part in reversed(node.parts):
            between = text[part.key_end : part.node.begin]
            if part.key is not None and _COLON.fullmatch(between):
                return between
    return ": "


def _gap(text: str, holder: JsoncNode, colon: str) -> str:
    if len(holder.parts) > 1:
        between = text[holder.parts[-2].comma + 1 : holder.parts[-1].begin]
        if _BLANK.fullmatch(between):
            return between
    return "" if colon == ":" else " "
