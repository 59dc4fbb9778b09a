"""Convert entries and links to the records and edges of the index."""

from __future__ import annotations

import unicodedata
from typing import Any

import msgspec

from quire.files.digests import sha256
from quire.layers.merge_record import disagreements
from quire.layers.profile.entries import Entry, new_fields, read_entry
from quire.layers.profile.layout import FILE, FOLDER
from quire.layers.record_details import RecordDetails, line_revision, other_fields, told_fields
from quire.model.records import Edge, Record
from quire.model.text import cut, one_line

KIND = "entry"
_TITLE_CHARS = 80
_DASHES = "-–—"
_PUNCTUATION = ".,;:!?…\"'`“”„«»()[]{}"
"""What may stand around a word and say nothing: not the signs of `C++`, `<=` or `-1`."""
_LEAST, _EACH = 0.9, 0.01
"""What an entry counts: a little more with each point of importance, so that it decides between equals only."""
_SURE = 0.1
"""How much of its weight an entry loses that nobody is sure of at all."""


def entry_ref(name: str) -> str:
    return f"profile:{name}"


def tag_name(tag: str) -> str:
    """The name by which all entries with a tag are found."""
    return f"profile-tag:{tag.casefold()}"


def text_name(value: str) -> str:
    """The name by which an entry is found that says exactly this, whatever its case, spacing and punctuation."""
    text = unicodedata.normalize("NFKC", value).casefold()
    parts = (part.strip(_PUNCTUATION) for part in text.replace("_", " ").split())
    words = " ".join(part for part in parts if part.strip(_DASHES)) or one_line(text)
    return f"profile-text:{sha256(words.encode('utf-8', 'replace'))[:32]}"


def entry_record(entry: Entry) -> Record:
    summary = entry.summary if entry.summary.rstrip(".… ") not in entry.value else ""
    # A value such as `fish` says little without the name of what it is the value of.
    text = f"{entry.key}: {entry.value}"
    sure = 1.0 if entry.confidence is None else 1.0 - _SURE * (1.0 - entry.confidence)
    return Record(
        ref=entry.ref,
        layer="profile",
        kind=KIND,
        title=cut(one_line(text), _TITLE_CHARS),
        text=f"{text}\n{summary}" if summary else text,
        status=entry.status,
        path=FILE,
        section=entry.category,
        weight=(_LEAST + _EACH * entry.importance) * sure,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        tags=tuple(dict.fromkeys(tag.casefold() for tag in entry.tags)),
        origin=entry.source_type,
        contested=disagreements(entry.fields),
        names=(entry.name, text_name(entry.value), *dict.fromkeys(map(tag_name, entry.tags))),
        raw=msgspec.json.encode((entry.is_private, entry.fields)),
    )


def entry_of(record: Record) -> Entry:
    """The entry behind a record."""
    held: tuple[bool, dict[str, Any]] = msgspec.json.decode(record.raw)
    is_private, fields = held
    key = record.ref.removeprefix(entry_ref(f"{record.section}."))
    return read_entry(record.section, key, fields, is_private=is_private)


def entry_edges(entry: Entry) -> list[Edge]:
    """One for each link; a link to something that is not there leads nowhere, and does no harm."""
    return [
        Edge(
            ref=f"{entry.ref} {link.relation} {entry_ref(link.target)}",
            source=entry.ref,
            predicate=link.relation,
            target=entry_ref(link.target),
            status="active",
            path=FILE,
        )
        for link in entry.links
    ]


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
            *other_fields(entry.fields.items(), new_fields("", "")),
        ),
        revision=line_revision(record.raw),
    )
