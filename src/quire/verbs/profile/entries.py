"""Find and show entries: their records, their fields, and counts of reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.layers.profile.layout import CATEGORIES, FILE, FOLDER, READABLE, VERSION
from quire.model.errors import NotFound
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.verbs.profile.results import EntryView

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.access import Readings
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.source import ProfileOverview
    from quire.project import Project

_SAME = (
    *("ref", "category", "key", "value", "status", "importance", "confidence", "tags"),
    *("created_at", "updated_at", "access_count", "last_accessed"),
)
"""What a view has of an entry as it is."""


def profile_entries(project: Project, index: Index) -> list[Entry]:
    """Every record, by category and then in the order of the document."""
    from quire.layers.profile.records import entry_of

    return [entry_of(record) for record in entry_records(project, index)]


def entry_records(project: Project, index: Index, **parts: object) -> list[Record]:
    from quire.index.search import Filter
    from quire.layers.profile.source import document_order

    allowed = Filter(**{"layers": ("profile",), **parts})  # type: ignore[arg-type]
    places = document_order(project.profile_places())
    return sorted(index.page(allowed, CATEGORIES), key=lambda item: (places.get(item.ref, len(places)), item.ref))


def need_entry(project: Project, index: Index, category: str, key: str) -> Record:
    """The record of an entry; an error where there is none."""
    from quire.layers.profile.rules import allowed_category

    found = index.find(f"profile:{category}.{key}")
    if found is not None and found.layer == "profile":
        return found
    if not entry_records(project, index, sections=(category,)):
        allowed_category(category)
    raise NotFound(
        f"There is no record `{cut(f'{category}.{key}', 120)}`.",
        hint="`memory profile index` lists all records.",
        details={"id": f"profile:{category}.{key}"},
    )


def entry_readings(project: Project) -> Readings:
    from quire.layers.profile.access import pending_readings

    return pending_readings(project.root)


def note_entries_read(project: Project, overview: ProfileOverview, names: list[str]) -> bool:
    """Note that these were read, where it can ever be written down."""
    from quire.layers.profile.access import note_reading
    from quire.layers.profile.entries import time_text

    if overview.is_read_only or project.read_only or not names:
        return False
    return note_reading(project.root, names, time_text(project.world.now()), project.world.token())


def entry_view(entry: Entry, readings: Readings | None = None, **fields: object) -> EntryView:
    from quire.layers.profile.access import as_read

    before = entry.access_count
    entry = as_read(entry, readings) if readings else entry
    stored = dict(entry.fields)
    if entry.access_count != before:
        stored |= {"access_count": entry.access_count, "last_accessed": entry.last_accessed}
    known: dict[str, object] = {
        **{name: getattr(entry, name) for name in _SAME},
        "id": entry.name,
        "title": cut(one_line(entry.value), 80),
        "source": {"type": entry.source_type, "detail": entry.source_detail},
        "links": tuple({"target": link.target, "relation": link.relation} for link in entry.links),
        "private": entry.is_private,
        "entry": stored,
    }
    return EntryView(**{**known, **fields})  # type: ignore[arg-type]


def profile_warnings(project: Project, overview: ProfileOverview) -> list[Problem]:
    """What someone who reads should know of the documents."""
    found = []
    if overview.is_read_only:
        version = overview.version if overview.version in READABLE else overview.private_version
        found.append(
            Problem(
                code="ProfileReadOnly",
                severity="warning",
                path=f"{FOLDER}/{FILE}",
                message=f"A document has schema version {version}; this program writes {VERSION}, and only reads it.",
            )
        )
    if overview.unread:
        found.append(
            Problem(
                code="ProfileEntryInvalid",
                severity="warning",
                path=f"{FOLDER}/{FILE}",
                message=f"Values that cannot be read as records: {overview.unread:,}.",
                hint="`memory check` lists them.",
            )
        )
    problem = project.profile_places().problem
    return [*found, problem] if problem is not None else found
