"""Show a part of the bundle, an event or a checkpoint in full."""

from __future__ import annotations

from typing import Any

from quire.files.json_files import json_value
from quire.layers.journal.layout import FOLDER
from quire.layers.record_details import As, RecordDetails, line_revision, told_fields
from quire.model.records import Record


def journal_details(record: Record) -> RecordDetails:
    """A part of the bundle, an event or a checkpoint."""
    held = json_value(record.raw) or {}
    about: list[tuple[str, Any, As]] = [("section", record.section, "text")]
    if record.kind == "event":
        names = (("kind", "kind"), ("source", "sourceId"), ("session", "externalItemId"), ("from", "sourceRef"))
        about = [(name, held.get(key), "text") for name, key in names]
        about.append(("content", held.get("contentHash"), "code"))
    elif record.kind == "checkpoint":
        event = held.get("eventId")
        about = [("event", f"event:{event}" if event else "", "ref"), ("content", held.get("bundleHash"), "code")]
    return RecordDetails(
        path=f"{FOLDER}/{record.path}",
        body=record.text,
        provenance=told_fields(("created", record.created_at, "time"), ("written by", record.origin, "text")),
        fields=told_fields(*about),
        revision=line_revision(record.raw or record.text.encode("utf-8", "replace")),
    )
