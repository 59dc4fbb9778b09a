"""Extract the part of a file that belongs to one record: all of it, a line, or a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from quire.files.json_files import decode_object, pretty
from quire.model.untyped import at_path

Part = Callable[[bytes], bytes | None]
"""What of a file belongs to a record; None where it holds nothing of it."""


def whole_file(data: bytes) -> bytes:
    return data


def line_of(*names: str) -> Part:
    """The line of this id; of several, which a merge may leave, the one with the highest version."""
    marks = [name.encode("utf-8", "surrogatepass") for name in names]

    def part(data: bytes) -> bytes | None:
        best: tuple[tuple[bool, float], dict[str, Any]] | None = None
        for line in _lines_with(data, marks):
            fields = fields_of(line)
            name, version = fields.get("id"), fields.get("version")
            if name not in names:
                continue
            rank = (name == names[0], version if isinstance(version, int | float) else 0)
            if best is None or rank >= best[0]:
                best = rank, fields
        return pretty(best[1]) if best else None

    return part


def _lines_with(data: bytes, marks: list[bytes]) -> Iterator[bytes]:
    """The lines that hold one of these; the others, which are nearly all, are not taken apart."""
    for mark in marks:
        at = data.find(mark)
        while at >= 0:
            begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            end = len(data) if end < 0 else end
            yield data[begin:end]
            at = data.find(mark, end)


def fields_of(data: bytes | None) -> dict[str, Any]:
    """The fields of a JSON object; none where it is none."""
    try:
        return decode_object(data) if data is not None else {}
    except ValueError:
        return {}


def value_at(data: bytes, *path: str) -> Any:
    """What stands at a place in a JSON document; None where there is nothing, or it is none."""
    return at_path(fields_of(data), *path)


def item_number(raw: bytes) -> int:
    """Which item of a list it is, by what its layer keeps of it; 0 where that says nothing."""
    number = fields_of(raw).get("number")
    return number if isinstance(number, int) else 0


def same_fields(one: bytes | None, other: bytes | None, names: tuple[str, ...]) -> bool:
    """Whether two objects say the same in these fields."""
    if one is None or other is None:
        return False
    old, new = fields_of(one), fields_of(other)
    return all(old.get(name) == new.get(name) for name in names)
