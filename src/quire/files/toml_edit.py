"""Add or remove one table of a TOML file that we do not own; every other character stays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from quire.files.jsonc_layout import newline_in
from quire.files.jsonc_parser import BOM, same
from quire.files.toml_scanner import TomlStatement, plain_key, read_toml, scan_toml

_BLANKS = re.compile(r"[ \t]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def set_table(text: str, names: tuple[str, ...], fields: Mapping[str, Any]) -> str:
    """The text with these fields in the table of that name, which is added at the end where it is missing.

    Of a table that is there, the fields that differ are replaced and missing ones added; its other fields stay.
    A table that is written in another way than with a header of its own is refused, unless it says the same already.
    """
    if not names:
        raise ValueError("A table has at least one name.")
    lines = {key: f"{_key(key)} = {_literal(value)}" for key, value in fields.items()}
    wanted = read_toml("\n".join(lines.values()))
    data = read_toml(text)
    present = _at(data, names)
    if present is not None and all(key in present and same(present[key], wanted[key]) for key in wanted):
        return text
    statements = scan_toml(text)
    header = next((at for at, found in enumerate(statements) if found.kind == "table" and found.names == names), None)
    if header is not None:
        result = _filled(text, statements, header, wanted, present or {}, lines)
    else:
        if present is not None and not _only_below(statements, names):
            raise _refused(names, "is not written as a table with a header of its own")
        result = _appended(text, names, list(lines.values()))
    return _checked(result, [_with_data(data, names, {**(present or {}), **wanted})], names)


def remove_table(text: str, names: tuple[str, ...]) -> str:
    """The text without the table of that name and the tables below it; as it is where there is none.

    Undoes what `set_table` appended. Comments between this table and the next one stay.
    """
    data = read_toml(text)
    if _at(data, names, any_kind=True) is None or not names:
        return text
    result = text
    statements = scan_toml(text)
    for begin, end in reversed(_extents(statements, names)):
        result = _cut(result, begin, end)
    return _checked(result, _without_data(data, names), names)


def _at(data: Any, names: Sequence[str], *, any_kind: bool = False) -> Any:
    """The table of that name; None where there is none, ValueError where something else has the name."""
    for depth, name in enumerate(names):
        if not isinstance(data, dict):
            if any_kind:
                return None
            raise _refused(names[:depth], "is not a table")
        if name not in data:
            return None
        data = data[name]
    if not isinstance(data, dict) and not any_kind:
        raise _refused(names, "is not a table")
    return data


def _only_below(statements: list[TomlStatement], names: tuple[str, ...]) -> bool:
    """Whether the table is there only because tables below it are."""
    below = [found for found in statements if found.names[: len(names)] == names]
    depth = len(names)
    return bool(below) and all(
        found.kind != "pair" or (found.table >= 0 and statements[found.table].names[:depth] == names) for found in below
    )


# -- adding ----------------------------------------------------------------------------------


def _appended(text: str, names: tuple[str, ...], lines: list[str]) -> str:
    """The table at the end, after an empty line. A text that ends within a line still does: removal can tell."""
    newline = newline_in(text)
    block = newline.join([f"[{'.'.join(map(_key, names))}]", *lines])
    if not text.removeprefix(BOM):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline * 2 + block


def _filled(
    text: str,
    statements: list[TomlStatement],
    header: int,
    wanted: Mapping[str, Any],
    present: Mapping[str, Any],
    lines: Mapping[str, str],
) -> str:
    """The text with these fields in a table that is there: values replaced, missing lines after its last one."""
    names = statements[header].names
    pairs = [found for found in statements if found.kind == "pair" and found.table == header]
    edits: list[tuple[int, int, str]] = []
    missing: list[str] = []
    for key, value in wanted.items():
        pair = next((found for found in pairs if found.names == (*names, key)), None)
        if key not in present:
            missing.append(lines[key])
        elif same(present[key], value):
            continue
        elif pair is None:
            raise _refused((*names, key), "is not written as one line of its table")
        else:
            edits.append((pair.value_begin, pair.value_end, _literal(value)))
    if missing:
        last = pairs[-1] if pairs else statements[header]
        edits.append((last.end, last.end, _added_lines(text, last, missing)))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _added_lines(text: str, last: TomlStatement, lines: list[str]) -> str:
    """New lines after this statement, indented as it is."""
    newline, indent = newline_in(text), _BLANKS.match(text, last.begin)
    added = newline.join((indent[0] if indent else "") + line for line in lines)
    return added + newline if text.endswith("\n", 0, last.end) else newline + added


def _key(name: str) -> str:
    return name if plain_key(name) else _literal(name)


def _literal(value: Any) -> str:
    """A value as it stands in a TOML text, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise ValueError("A text that is not Unicode cannot be written as TOML.")
        escaped = (
            _ESCAPES.get(char) or (f"\\u{ord(char):04X}" if char < " " or char == "\x7f" else char) for char in value
        )
        return '"' + "".join(escaped) + '"'
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_literal(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise ValueError(f"A value of the kind {type(value).__name__} cannot be written as TOML.")


# -- removing --------------------------------------------------------------------------------


def _extents(statements: list[TomlStatement], names: tuple[str, ...]) -> list[tuple[int, int]]:
    """The lines to take out: each header of the table or below it with its last pair, and pairs written elsewhere."""
    depth = len(names)
    found: list[tuple[int, int]] = []
    for at, statement in enumerate(statements):
        if statement.names[:depth] != names:
            continue
        if statement.kind != "pair":
            pairs = [inner for inner in statements if inner.kind == "pair" and inner.table == at]
            found.append((statement.begin, pairs[-1].end if pairs else statement.end))
        elif statement.table < 0 or statements[statement.table].names[:depth] != names:
            found.append((statement.begin, statement.end))
    return found


def _cut(text: str, begin: int, end: int) -> str:
    """The text without these lines, and without the line end that set off a header from what stood before it."""
    head, tail = text[:begin], text[end:]
    is_header = text[begin:end].lstrip(" \t").startswith("[")
    if is_header:
        head = _without_blank_line(head)
        if not tail and not text.endswith("\n"):
            head = _without_newline(head)
    return head + tail


def _without_blank_line(head: str) -> str:
    shorter = _without_newline(head)
    is_blank = shorter != head and (shorter.endswith("\n") or not shorter.removeprefix(BOM))
    return shorter if is_blank else head


def _without_newline(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


# -- data ------------------------------------------------------------------------------------


def _with_data(data: Any, names: Sequence[str], value: Any) -> Any:
    if not names:
        return value
    return {**data, names[0]: _with_data(data.get(names[0], {}), names[1:], value)}


def _without_data(data: dict[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """What may be left: tables above that hold nothing else are gone too, unless they have a header of their own."""
    name, inner = names[0], data[names[0]]
    bare = {key: value for key, value in data.items() if key != name}
    if len(names) == 1:
        return [bare]
    left = _without_data(inner, names[1:])
    return [{**data, name: value} for value in left] + ([bare] if {} in left else [])


def _checked(result: str, allowed: Sequence[Any], names: tuple[str, ...]) -> str:
    """Return the result if it parses as intended; a mistake of ours must not reach a file we do not own."""
    try:
        found = read_toml(result)
    except ValueError:
        raise _refused(names, "cannot be changed in the way this text is written") from None
    if not any(same(found, expected) for expected in allowed):
        raise _refused(names, "cannot be changed in the way this text is written")
    return result


def _refused(names: Sequence[str], reason: str) -> ValueError:
    shown = ".".join(map(_key, names))
    return ValueError(f"`{shown}` {reason}: change it by hand.")
