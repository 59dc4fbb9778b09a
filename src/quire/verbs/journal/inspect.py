"""Show a part of the bundle, an event or a checkpoint in full, for `memory inspect`."""

from __future__ import annotations

from typing import Any

from quire.index.catalog import Index
from quire.index.search import Filter
from quire.layers.journal.documents import value_of
from quire.layers.journal.layout import SECTION_KEYS
from quire.model.errors import InputError, NotFound
from quire.model.records import Record
from quire.model.refs import parse_ref
from quire.model.text import cut
from quire.project import Project
from quire.verbs.ask.inspected_record import WholeRecords, stored_value, whole_record
from quire.verbs.journal.checkpoints import journal_checkpoint
from quire.verbs.journal.journal_state import read_journal


def journal_inspect(project: Project, ref: str) -> WholeRecords:
    """The record of a ref; of a section all its items."""
    parsed = parse_ref(ref)
    if parsed.layer != "journal":
        raise InputError(f"`{ref[:80]}` is not part of the journal.", hint="See `memory inspect`.")
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
            hint="`memory journal log` lists earlier states, with --events sessions; sections are "
            + ", ".join(f"bundle:{name}" for name in SECTION_KEYS)
            + ".",
            details={"id": cut(ref, 80)},
        )
    return WholeRecords(items=[whole_record(record, _stored(project, record)) for record in records])


def _stored(project: Project, record: Record) -> Any:
    if record.kind == "checkpoint":
        return value_of(journal_checkpoint(project, record.ref.partition(":")[2]))
    held = stored_value(record)
    return held["value"] if record.kind == "bundle" else held
