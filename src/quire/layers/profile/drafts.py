"""A planned change to the profile; nothing is written yet."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from quire.layers.profile.access import Readings, as_read
from quire.layers.profile.document import ProfileDocument, empty_document
from quire.layers.profile.entries import Entry, name_of, read_entry, split_name
from quire.layers.profile.forgotten import Forgotten
from quire.layers.profile.layout import ACTIVE, FILE, FOLDER
from quire.layers.profile.places import ProfilePlaces
from quire.layers.profile.records import entry_edges, entry_record, entry_ref
from quire.layers.profile.rules import allowed_category
from quire.layers.profile.source import seen_entries
from quire.model.errors import InvalidStore, NotFound
from quire.model.records import Edge, Record
from quire.model.text import cut


class ProfileDraft:
    """Both documents of a project, and what is to become of them."""

    def __init__(
        self, places: ProfilePlaces, shared: ProfileDocument | None, private: ProfileDocument | None, now: str
    ) -> None:
        self.places = places
        self.now = now
        self.forgotten: list[Forgotten] = []
        self.restored: list[Forgotten] = []
        """Entries that are taken back from what was forgotten."""
        self.is_removal = False
        """Whether the document as it is now is to be kept beside the new one."""
        self._shared, self._private = shared, private
        self._before: dict[tuple[str, str], Entry | None] = {}
        self._is_discarded = False
        self._is_told = False
        self._readings = Readings()

    # -- looking ----------------------------------------------------------------------------

    def documents(self) -> list[tuple[ProfileDocument, bool]]:
        """The documents that are there, and whether they are private; the one that counts more comes first."""
        pairs = ((self._private, True), (self._shared, False))
        return [(document, is_private) for document, is_private in pairs if document is not None]

    def find(self, category: str, key: str) -> Entry | None:
        for document, is_private in self.documents():
            fields = document.fields(category, key)
            if fields is not None:
                try:
                    return read_entry(category, key, fields, is_private=is_private)
                except ValueError:
                    continue
        return None

    def need(self, category: str, key: str, what: str = "entry") -> Entry:
        found = self.find(category, key)
        if found is None:
            if not any(category in document.categories() for document, _ in self.documents()):
                allowed_category(category)
            raise NotFound(
                f"There is no {what} `{cut(name_of(category, key), 120)}`.",
                hint="`memory profile index` lists all records.",
                details={"id": entry_ref(name_of(category, key))},
            )
        return found

    def is_taken(self, category: str, key: str) -> bool:
        """Whether something stands there, also what cannot be read as an entry."""
        return any(document.has(category, key) for document, _ in self.documents())

    def entries(self) -> list[Entry]:
        return seen_entries(self._shared, self._private).entries

    def linked_to(self, name: str) -> Iterator[Entry]:
        """The entries with a link to this one."""
        for document, is_private in self.documents():
            for category, key in document.holding(name):
                fields = document.fields(category, key)
                if fields is not None and name != name_of(category, key):
                    try:
                        entry = read_entry(category, key, fields, is_private=is_private)
                    except ValueError:
                        continue
                    if any(link.target == name for link in entry.links):
                        yield entry

    # -- changing ---------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether nobody changed anything; what was only read waits for the next change."""
        return self._is_discarded or not self._is_told

    @property
    def told(self) -> dict[str, str]:
        """The values that entries have from now on, by their names: new ones, changed ones, and those brought back."""
        found = {}
        for place, before in self._before.items():
            after = self.find(*place)
            if after is None:
                continue
            is_back = before is not None and before.status != ACTIVE and after.status == ACTIVE
            if is_back or before is None or before.value != after.value:
                found[after.name] = after.value
        return found

    def discard(self) -> None:
        """Nothing is to be written after all."""
        self._is_discarded = True

    @property
    def versions(self) -> tuple[str, str]:
        """Of the shared document and the private one; empty where there is none."""
        return (
            self._shared.version if self._shared else "",
            self._private.version if self._private else "",
        )

    @property
    def session_count(self) -> int:
        return self._shared.session_count if self._shared else 0

    def count_session(self) -> int:
        document = self._shared_document()
        document.set_session_count(document.session_count + 1)
        self._is_told = True
        return document.session_count

    def put(self, category: str, key: str, fields: dict[str, Any]) -> Entry:
        """Give an entry these fields: where it is, or a new one where its category is kept."""
        held = self.find(category, key)
        taken = [document for document, _ in self.documents() if document.has(category, key)]
        target = self._document(held) if held else taken[0] if taken else self._home_of(category)
        entry = self._put(category, key, fields, target)
        self._is_told = True
        return entry

    def _put(self, category: str, key: str, fields: dict[str, Any], target: ProfileDocument) -> Entry:
        entry = read_entry(category, key, fields, is_private=target is self._private)
        self._note(category, key)
        target.put(category, key, fields)
        return entry

    def _document(self, entry: Entry) -> ProfileDocument:
        """The document that an entry was read from."""
        return self._private_document() if entry.is_private else self._shared_document()

    def change(self, entry: Entry, *, touch: bool = True, **fields: Any) -> Entry:
        """Set these fields of an entry that is there; everything else stays as it is stored."""
        changed = {**entry.fields, **fields}
        if touch:
            changed["updated_at"] = self.now
        self._is_told = True
        return self._put(entry.category, entry.key, changed, self._document(entry))

    def remove(self, category: str, key: str) -> None:
        """Take an entry out of every document that has it."""
        self._is_told = True
        self._note(category, key)
        for document, _ in self.documents():
            if document.has(category, key):
                document.remove(category, key)
        self.is_removal = True

    def fold(self, readings: Readings) -> None:
        """Add what was read since the last change. An entry that is gone was read for nothing."""
        self._readings = readings
        for name in readings.counts:
            entry = self.find(*split_name(name))
            if entry is not None:
                read = as_read(entry, readings)
                self._put_read(entry, read.access_count, read.last_accessed)

    def settle(self, taken: Readings) -> None:
        """What was read turns out to be more or less than was folded in: readers go on while a change is planned."""
        known = self._readings.counts
        for name in {**known, **taken.counts}:
            more = taken.counts.get(name, 0) - known.get(name, 0)
            entry = self.find(*split_name(name)) if more else None
            if entry is not None:
                last = as_read(entry, taken).last_accessed if more > 0 else entry.last_accessed
                self._put_read(entry, max(entry.access_count + more, 0), last)

    def _put_read(self, entry: Entry, count: int, last: str | None) -> None:
        fields = {**entry.fields, "access_count": count, "last_accessed": last}
        # An entry that cannot be changed without a loss is not worth refusing another change for.
        with contextlib.suppress(InvalidStore):
            self._put(entry.category, entry.key, fields, self._document(entry))

    def _note(self, category: str, key: str) -> None:
        self._before.setdefault((category, key), self.find(category, key))

    def _home_of(self, category: str) -> ProfileDocument:
        return self._private_document() if self.places.is_private(category) else self._shared_document()

    def _shared_document(self) -> ProfileDocument:
        if self._shared is None:
            self._shared = empty_document(f"{FOLDER}/{FILE}")
        return self._shared

    def _private_document(self) -> ProfileDocument:
        if self._private is None:
            self._private = empty_document(self.places.private_name)
        return self._private

    # -- what the index is to make of it ----------------------------------------------------

    def gone(self) -> list[str]:
        """Refs of records and edges as they were."""
        found = [entry_ref(name_of(*place)) for place in self._before]
        return found + [edge.ref for entry in self._before.values() if entry for edge in entry_edges(entry)]

    def items(self) -> list[Record | Edge]:
        """The same as they are now."""
        found: list[Record | Edge] = []
        for place in self._before:
            entry = self.find(*place)
            if entry is not None:
                found += [entry_record(entry), *entry_edges(entry)]
        return found
