"""Which files hold a record, and what in them is said of it alone: a whole file, a line, an entry of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from quire.files.json_files import decode_object, pretty
from quire.layers.facts.layout import FILE as FACTS
from quire.layers.graph.layout import FOLDER
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import SECTION_KEYS, STATE
from quire.layers.profile.layout import FILE as PROFILE
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.layout import READ_FIELDS
from quire.model.records import Record

Part = Callable[[bytes], bytes | None]
"""What of a file belongs to a record; None where it holds nothing of it."""


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """Where a record is kept."""

    paths: tuple[str, ...]
    """Files that git may know, from the project's root."""
    part: Part
    shared: bool = True
    """Whether the files hold other records, too."""


def holding_of(record: Record) -> Holding:
    if record.layer == "graph":
        sidecar = f"{FOLDER}/{record.path}"
        return Holding(paths=(sidecar, f"{sidecar.removesuffix('.json')}.md"), part=_everything, shared=False)
    if record.layer == "facts":
        names = _fact_names(record)
        return Holding(paths=(f"{FOLDER}/{FACTS}",), part=_line_of(names))
    if record.layer == "profile":
        from quire.layers.profile.records import entry_of

        is_private = entry_of(record).is_private
        paths = () if is_private else (f"{PROFILE_FOLDER}/{PROFILE}",)
        return Holding(paths=paths, part=_entry_of(record))
    path = f"{JOURNAL_FOLDER}/{record.path}"
    if record.kind == "event":
        name = record.ref.partition(":")[2].partition("~")[0]
        return Holding(paths=(path,), part=_line_of((name,)))
    if record.kind == "checkpoint":
        return Holding(paths=(path,), part=_everything, shared=False)
    return Holding(paths=(f"{JOURNAL_FOLDER}/{STATE}",), part=_section_of(record))


def _everything(data: bytes) -> bytes:
    return data


def _fact_names(record: Record) -> tuple[str, ...]:
    from quire.layers.facts.records import held_of

    if record.kind != "fact":
        return (record.ref.partition(":")[2],)
    held = held_of(record)
    return (held.fact.id, *(twin.id for twin in held.twins))


def _line_of(names: tuple[str, ...]) -> Part:
    """The line of this id; of several, which a merge may leave, the one with the highest version."""
    marks = [name.encode("utf-8", "surrogatepass") for name in names]

    def part(data: bytes) -> bytes | None:
        best: tuple[tuple[bool, float], dict[str, Any]] | None = None
        for line in _lines_with(data, marks):
            try:
                fields = decode_object(line)
            except ValueError:
                continue
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


def _entry_of(record: Record) -> Part:
    """An entry of the profile, without what every reading of it changes."""
    key = record.ref.removeprefix(f"profile:{record.section}.")

    def part(data: bytes) -> bytes | None:
        found = _at(data, "memories", record.section, key)
        if not isinstance(found, dict):
            return None
        return pretty({name: value for name, value in found.items() if name not in READ_FIELDS})

    return part


def _section_of(record: Record) -> Part:
    """A section of the bundle, or one item of it: the one with the same title."""
    key = SECTION_KEYS.get(record.section, "")
    title = ""
    if record.raw and record.ref != f"bundle:{record.section}":
        held = _at(record.raw, "value")
        title = held.get("title", "") if isinstance(held, dict) else ""

    def part(data: bytes) -> bytes | None:
        found = _at(data, "bundle", key)
        if title and isinstance(found, list):
            found = next((item for item in found if isinstance(item, dict) and item.get("title") == title), None)
        return None if found in (None, [], {}) else pretty(found)

    return part


def _at(data: bytes, *path: str) -> Any:
    """What stands at a place in a JSON document; None where there is nothing, or it is none."""
    try:
        found: Any = decode_object(data)
    except ValueError:
        return None
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found
