"""Find the positions of headers and key-value pairs in a valid TOML text."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Literal

import msgspec

from quire.files.jsonc_parser import BOM
from quire.model import limits

_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANKS = re.compile(r"[ \t]*")
_REST_OF_LINE = re.compile(r"[^\n]*\n?")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# What a value consists of; the quotes that end a long string may be preceded by two that belong to it.
_PIECE = re.compile(
    r'"""(?:[^"\\]+|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']+|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+",
    re.S,
)


class TomlStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A header or a pair: the whole lines it stands in, and for a pair the place of its value."""

    kind: Literal["table", "array", "pair"]
    names: tuple[str, ...]
    """All names from the top; those of a pair begin with the names of its table."""
    begin: int
    end: int
    table: int = -1
    """Which statement is the header of the table that a pair stands in; -1 for the top."""
    value_begin: int = 0
    value_end: int = 0


def read_toml(text: str) -> dict[str, Any]:
    """The data of a TOML text; ValueError with line and column where it is none."""
    try:
        found = tomllib.loads(text.removeprefix(BOM))
    except RecursionError:
        found = None
    if found is None or limits.is_too_deep(found):
        raise ValueError(f"It is nested deeper than {limits.JSON_DEPTH} levels.")
    return found


def plain_key(name: str) -> bool:
    """Whether a name can stand in a TOML text without quotes."""
    return _BARE.fullmatch(name) is not None


def scan_toml(text: str) -> list[TomlStatement]:
    """The statements of a valid text, in order."""
    found: list[TomlStatement] = []
    table, top = -1, len(BOM) if text.startswith(BOM) else 0
    at = _after(_SPACE, text, top)
    while at < len(text):
        begin = max(text.rfind("\n", 0, at) + 1, top)
        if text[at] == "[":
            is_array = text.startswith("[[", at)
            names, at = _names(text, _after(_BLANKS, text, at + 1 + is_array))
            at = _after(_REST_OF_LINE, text, at)
            table = len(found)
            found.append(TomlStatement(kind="array" if is_array else "table", names=names, begin=begin, end=at))
        else:
            names, at = _names(text, at)
            value = _after(_BLANKS, text, text.index("=", at) + 1)
            value_end = _value_end(text, value)
            at = _after(_REST_OF_LINE, text, value_end)
            above = found[table].names if table >= 0 else ()
            found.append(
                TomlStatement(
                    kind="pair",
                    names=above + names,
                    begin=begin,
                    end=at,
                    table=table,
                    value_begin=value,
                    value_end=value_end,
                )
            )
        at = _after(_SPACE, text, at)
    return found


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _names(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The names of a dotted key, and where it ends."""
    names: list[str] = []
    while found := _KEY.match(text, at):
        token = found[0]
        names.append(tomllib.loads(f"k = {token}")["k"] if token[0] in "\"'" else token)
        at = found.end()
        if dot := _DOT.match(text, at):
            at = dot.end()
        else:
            break
    return tuple(names), at


def _value_end(text: str, at: int) -> int:
    """Where the value ends that begins here: at the end of its line or at a comment, outside of all brackets."""
    depth, end = 0, at
    while found := _PIECE.match(text, at):
        piece = found[0]
        if depth == 0 and piece[0] in "#\n":
            break
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        at = found.end()
        if piece.strip(" \t\r\n") and piece[0] != "#":
            end = found.start() + len(piece.rstrip(" \t\r\n"))
    return end
