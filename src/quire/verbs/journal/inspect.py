"""Show a part of the bundle, an event or a checkpoint in full, for `memory inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.journal.layout import FOLDER, SECTION_KEYS
from quire.model.errors import InputError, NotFound
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.model.text import cut
from quire.verbs.journal.checkpoints import journal_checkpoint
from quire.verbs.journal.journal_state import read_journal
from quire.verbs.verb import Lines, Recalled

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class JournalItem(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the bundle, an event or a checkpoint in full."""

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


class InspectedJournal(msgspec.Struct, kw_only=True):
    items: list[JournalItem]
    connections: list[Any] = []


def journal_inspect(project: Project, ref: str) -> InspectedJournal:
    """The record of a ref; of a section all its items."""
    from quire.index.search import Filter

    parsed = parse_ref(ref)
    if parsed.layer != "journal":
        raise InputError(f"`{ref[:80]}` belongs to another layer.", hint="See `memory inspect`.")
    read_journal(project)

    def look(index: Index) -> list[Record]:
        found = index.find(str(parsed))
        if found is not None:
            return [found]
        section = Filter(layers=("journal",), kinds=("bundle",), sections=(parsed.id,))
        return index.page(section) if parsed.kind == "bundle" else []

    records = project.with_index(look)
    if not records and parsed.id not in SECTION_KEYS:
        raise NotFound(
            f"There is no `{cut(ref, 80)}` in the journal.",
            hint="`memory journal log` lists checkpoints, with --events events; sections are "
            + ", ".join(f"bundle:{name}" for name in SECTION_KEYS)
            + ".",
            details={"id": cut(ref, 80)},
        )
    return InspectedJournal(items=[_item(project, record) for record in records])


def _item(project: Project, record: Record) -> JournalItem:
    return JournalItem(
        ref=record.ref,
        kind=record.kind,
        section=record.section,
        title=record.title,
        text=record.text,
        status=record.status,
        created_at=record.created_at,
        path=f"{FOLDER}/{record.path}",
        stored=_stored(project, record),
    )


def _stored(project: Project, record: Record) -> Any:
    from quire.layers.journal.documents import value_of

    if record.kind == "checkpoint":
        return value_of(journal_checkpoint(project, record.ref.partition(":")[2]))
    held = msgspec.json.decode(record.raw)
    return held["value"] if record.kind == "bundle" else held


def item_lines(found: InspectedJournal) -> Lines:
    """Each item as it is read, with what its marks say."""
    if not found.items:
        yield "Nothing recorded yet."
    for item in found.items:
        state = f"  [{item.status}]" if item.status != "active" else ""
        since = [f"{item.kind}, {item.created_at}, {item.path}"] if item.created_at else []
        text = "\n".join((f"{item.ref} — {item.title}{state}", *since, "", item.text))
        yield Recalled(text=text, ref=item.ref, origin="journal")
        yield ""
