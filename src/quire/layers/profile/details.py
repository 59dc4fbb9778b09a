"""Show one entry in full: origin, fields."""

from __future__ import annotations

from quire.layers.profile.entries import new_fields
from quire.layers.profile.layout import FOLDER
from quire.layers.profile.records import entry_of
from quire.layers.record_details import RecordDetails, line_revision, other_fields, told_fields
from quire.model.records import Record

_ENTRY_KEYS = frozenset(new_fields("", ""))


def entry_details(record: Record, private_path: str) -> RecordDetails:
    """An entry. One that is not shared lies elsewhere."""
    entry = entry_of(record)
    return RecordDetails(
        path=private_path if entry.is_private else f"{FOLDER}/{record.path}",
        body=entry.value,
        provenance=told_fields(
            ("created", entry.created_at, "time"),
            ("updated", entry.updated_at, "time"),
            ("source", entry.source_type, "text"),
            ("detail", entry.source_detail, "text"),
        ),
        fields=(
            *told_fields(
                ("category", entry.category, "text"),
                ("key", entry.key, "text"),
                ("importance", entry.importance, "number"),
                ("confidence", entry.confidence, "number"),
                ("read", entry.access_count, "number"),
                ("last read", entry.last_accessed, "time"),
                ("private", entry.is_private, "text"),
            ),
            *other_fields(entry.fields.items(), _ENTRY_KEYS),
        ),
        revision=line_revision(record.raw),
    )
