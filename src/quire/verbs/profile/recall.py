"""`memory profile recall`, the tool `recall`: show entries by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from quire.layers.profile.layout import ACTIVE, CATEGORIES
from quire.layers.profile.records import entry_of
from quire.layers.profile.rules import allowed_category
from quire.verbs.profile.document import ask_profile, usable_documents
from quire.verbs.profile.entries import (
    entry_readings,
    entry_records,
    entry_view,
    need_entry,
    note_entries_read,
    profile_warnings,
)
from quire.verbs.profile.options import EntryName, Everything, Name, split_entry
from quire.verbs.profile.results import EntryView, entry_lines, fitting, stored_fields, whole_entry
from quire.verbs.verb import Lines, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project


class RecallEntries(EntryName, frozen=True, kw_only=True):
    category: Annotated[Annotated[Name, Meta(description=", ".join(CATEGORIES))], Word()]
    everything: Everything = False


class EntriesRecalled(Result, kw_only=True):
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("is_one",)

    category: str
    results: list[EntryView]
    entries: dict[str, dict[str, Any]]
    """The same as they are stored, by their keys."""
    put_away: int = 0
    """Entries of the category that are archived or superseded, and not shown."""
    is_one: bool = False
    """Whether one entry was asked for by its name."""

    def tool_fields(self) -> dict[str, Any]:
        entries: dict[str, dict[str, Any]] = {}
        for view in fitting(self.results):
            fields = stored_fields(view)
            entries[view.key] = {**fields.pop("entry"), **fields}
        beyond = len(self.results) - len(entries)
        return {"category": self.category, "entries": entries, "beyond": beyond, "put_away": self.put_away}


def recall_entries(project: Project, given: RecallEntries, *, note: bool = True) -> EntriesRecalled:
    """Show one record, or all active ones of a category. This counts as reading them."""
    category, key = split_entry(given.category, given.key)

    def work(index: Index) -> EntriesRecalled:
        overview = usable_documents(index)
        if key is not None:
            found, away = [need_entry(project, index, category, key)], 0
        else:
            every = entry_records(project, index, sections=(category,))
            if not every:
                allowed_category(category)
            found = [record for record in every if given.everything or record.status == ACTIVE]
            away = len(every) - len(found)
        if note:
            note_entries_read(project, overview, [record.ref.partition(":")[2] for record in found])
        readings = entry_readings(project)
        views = [entry_view(entry_of(record), readings) for record in found]
        return EntriesRecalled(
            category=category,
            results=views,
            entries={view.key: view.entry for view in views},
            put_away=away,
            is_one=key is not None,
            warnings=profile_warnings(project, overview),
        )

    return ask_profile(project, work)


def lines(found: EntriesRecalled) -> Lines:
    if found.is_one:
        yield whole_entry(found.results[0])
    else:
        yield from entry_lines(found.results)
    if not found.results:
        name = found.category
        yield f'No records in {name}. `memory profile remember {name} KEY "…"` adds one.'
    if found.put_away:
        yield f"Archived or superseded, not shown: {found.put_away}; --all shows them."


VERB = Verb(
    takes=RecallEntries,
    run=recall_entries,
    lines=lines,
    examples="Examples:\n  memory profile recall user\n  memory profile recall user timezone\n",
    tool=Tool(
        title="Recall records by name",
        says="Profile: one record in full, or the active records of a category. Use it when you know the name. For "
        "questions use search.",
        gives={"entries": "object"},
    ),
)
