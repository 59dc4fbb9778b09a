"""Check the profile documents: unreadable content, broken rules, and entries that should not be shared."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from quire.files.layout import RECOVERY
from quire.files.transaction import left_aside
from quire.guard.admission import stored_secrets
from quire.layers.fragment_records import held_changes
from quire.layers.profile.access import pending_readings
from quire.layers.profile.document import ProfileDocument
from quire.layers.profile.entries import Entry, ProfileLink, split_name
from quire.layers.profile.forgotten import read_forgotten
from quire.layers.profile.layout import (
    CATEGORIES,
    FILE,
    FILE_BYTES,
    FOLDER,
    PATH,
    READABLE,
    RELATIONS,
    SOURCES,
    STATUSES,
    TAG_CHARS,
    USER,
)
from quire.layers.profile.places import ProfilePlaces
from quire.layers.profile.source import read_document, seen_entries
from quire.model.errors import QuireError
from quire.model.records import Problem, warning_at
from quire.model.text import cut
from quire.model.times import instant

_KEY = re.compile(r"[a-z0-9_-]+")


def check_profile(places: ProfilePlaces) -> list[Problem]:
    """Everything that is wrong with the documents, and with each entry."""
    found: list[Problem] = []
    documents: list[ProfileDocument | None] = []
    for root, path, where in places.documents:
        try:
            documents.append(read_document(root, path, where))
        except QuireError as error:
            documents.append(None)
            message = error.message.removeprefix(f"`{where}` ").removeprefix(f"`{where}`: ")
            found.append(Problem(code=error.code, path=where, message=message, hint=error.hint))
    for path, (_, unread) in held_changes(places.root, PATH, FILE_BYTES).items():
        if unread:
            said = f"Lines that cannot be read: {unread:,}. They say what a branch added to the profile."
            found.append(
                warning_at("ProfileEntryInvalid", path, said, f"`git restore {path}` brings back a committed one.")
            )
    if places.problem is not None:
        found.append(places.problem)
    read_forgotten(places.root, found)
    pending_readings(places.root, found)
    for name in left_aside(os.path.join(places.root, FOLDER, RECOVERY)):
        said = "An interrupted change could not be completed, because the document was changed in the meantime."
        found.append(
            warning_at(
                "ProfileUnapplied",
                f"{FOLDER}/{RECOVERY}/{name}",
                said,
                "Copy by hand what is missing, then remove the folder.",
            )
        )
    shared, private = (*documents, None)[:2]
    seen = seen_entries(shared, private)
    names = {entry.name for entry in seen.entries}
    for document, is_private in ((shared, False), (private, True)):
        if document is not None:
            found += _document_faults(document)
            for item in document.read(is_private=is_private):
                if isinstance(item, str):
                    found.append(warning_at("ProfileEntryInvalid", document.where, item, "Correct it by hand."))
                else:
                    found += _entry_faults(item, document.where, names)
    for name in seen.shadowed:
        said = f"`{cut(name, 120)}` is in both documents; the private one counts."
        found.append(warning_at("ProfileEntryShadowed", f"{FOLDER}/{FILE}", said, "Remove it from the shared one."))
    return found


def _document_faults(document: ProfileDocument) -> list[Problem]:
    found = []
    if document.version in READABLE:
        said = f"It has schema version {document.version}: it is read, and nothing is written to it."
        hint = "Any change explains how to start a new document beside it."
        found.append(warning_at("ProfileReadOnly", document.where, said, hint))
    try:
        document.refuse_loss(thorough=True)
    except QuireError as error:
        found.append(Problem(code=error.code, path=document.where, message=error.message, hint=error.hint))
    for category in document.categories():
        if category not in CATEGORIES:
            said = f"`{cut(category, 40)}` is not one of the six categories; it is kept."
            found.append(warning_at("ProfileCategoryUnknown", document.where, said, None))
    return found


def _entry_faults(entry: Entry, where: str, names: set[str]) -> Iterator[Problem]:
    faults = [*_field_faults(entry), *_link_faults(entry, names)]
    for said in faults:
        hint = "Quire reads what it can. Correct it in the document if you like."
        yield warning_at("ProfileFieldInvalid", where, f"`{cut(entry.name, 120)}`: {said}.", hint)
    for text in (entry.key, entry.value, entry.summary, entry.source_detail or "", *entry.tags):
        yield from stored_secrets(where, text)


def _field_faults(entry: Entry) -> Iterator[str]:
    fields = entry.fields
    if entry.category in CATEGORIES and not _KEY.fullmatch(entry.key):
        yield "the key has other characters than lowercase letters, digits, `_` and `-`"
    for name in ("created_at", "updated_at"):
        if not isinstance(fields.get(name), str) or instant(fields[name]) is None:
            yield f"`{name}` is not a valid time"
    last = fields.get("last_accessed")
    if last is not None and (not isinstance(last, str) or instant(last) is None):
        yield "`last_accessed` is not a valid time"
    tags = fields.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) and _is_tag(tag) for tag in tags):
        yield "`tags` holds something that is not a lowercase word with hyphens, under 50 characters"
    yield from _number_faults(entry, fields)
    if fields.get("status", STATUSES[0]) not in STATUSES:
        yield f"`status` is none of {', '.join(STATUSES)}"
    source = fields.get("source", {"type": SOURCES[0]})
    if not isinstance(source, dict) or source.get("type") not in SOURCES:
        yield f"`source.type` is none of {', '.join(SOURCES)}"


def _number_faults(entry: Entry, fields: dict[str, Any]) -> Iterator[str]:
    confidence = fields.get("confidence")
    if confidence is not None and entry.category == USER:
        yield "`confidence` must be null here: what the user says of themselves is not weighed"
    elif confidence is not None and confidence != entry.confidence:
        yield "`confidence` is neither null nor a number from 0 to 1"
    if "importance" in fields and fields["importance"] != entry.importance:
        yield "`importance` is not a whole number from 1 to 10"
    if "access_count" in fields and fields["access_count"] != entry.access_count:
        yield "`access_count` is not a count"


def _link_faults(entry: Entry, names: set[str]) -> Iterator[str]:
    links = entry.fields.get("links", [])
    if not isinstance(links, list):
        yield "`links` is not a list"
        return
    for item in links:
        if (
            not isinstance(item, dict)
            or ProfileLink(str(item.get("target")), str(item.get("relation"))) not in entry.links
        ):
            yield "a link has no target `category.key`, or no relation"
        elif item["relation"] not in RELATIONS:
            yield f"a link says `{cut(item['relation'], 40)}`, which is not a relation"
        elif item["target"] not in names:
            yield f"a link leads to `{cut(item['target'], 80)}`, which is not here"
        elif split_name(item["target"]) == (entry.category, entry.key):
            yield "a link leads to the record itself"


def _is_tag(tag: str) -> bool:
    return bool(tag) and len(tag) <= TAG_CHARS and tag == tag.lower() and not any(char.isspace() for char in tag)
