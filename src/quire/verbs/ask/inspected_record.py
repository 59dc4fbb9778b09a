"""Show a record of any layer in full, as the index holds it: for layers that have no form of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.errors import NotFound
from quire.model.records import Record
from quire.model.text import cut
from quire.verbs.verb import Lines, Recalled

if TYPE_CHECKING:
    from quire.project import Project


class WholeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record in full."""

    ref: str
    kind: str
    section: str
    title: str
    text: str
    status: str
    created_at: str
    path: str
    stored: Any
    """As its file holds it."""


class WholeRecords(msgspec.Struct, kw_only=True):
    items: list[WholeRecord]
    connections: list[Any] = []


def inspect_record(project: Project, ref: str) -> WholeRecords:
    """The record of a ref."""
    project.ready_to_ask()
    record = project.with_index(lambda index: index.find(ref))
    if record is None:
        shown = cut(ref, 80)
        raise NotFound(f"There is no `{shown}`.", hint="`memory list` lists all records.", details={"id": shown})
    return WholeRecords(items=[whole_record(record, stored_value(record))])


def stored_value(record: Record) -> Any:
    """What the file holds of a record, where that is JSON."""
    from quire.files.json_files import json_value

    return json_value(record.raw)


def whole_record(record: Record, stored: Any) -> WholeRecord:
    from quire.layers.table import path_from_root

    names = ("ref", "kind", "section", "title", "text", "status", "created_at")
    path = path_from_root(record.layer, record.path)
    return WholeRecord(path=path, stored=stored, **{name: getattr(record, name) for name in names})


def record_lines(found: WholeRecords, origin: str) -> Lines:
    """Each record as it is read, with what its marks say."""
    if not found.items:
        yield "Nothing recorded yet."
    for item in found.items:
        state = f"  [{item.status}]" if item.status != "active" else ""
        since = [f"{item.kind}, {item.created_at}, {item.path}"] if item.created_at else []
        text = "\n".join((f"{item.ref} — {item.title}{state}", *since, "", item.text))
        yield Recalled(text=text, ref=item.ref, origin=origin)
        yield ""
