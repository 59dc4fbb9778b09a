"""Registry of session sources: valid entries, unreadable ones, unique names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quire.files.digests import hex_digest
from quire.layers.fragment_records import BranchChange, change_of, taken_in
from quire.layers.journal.documents import damaged, record_from, value_of
from quire.layers.journal.layout import FOLDER, SOURCES
from quire.layers.journal.merge import SOURCE_RULES
from quire.layers.journal.types import Fields, SessionSource
from quire.layers.journal.value_shapes import find_faults, shape_of
from quire.model.ids import slugify

_NOT_IN_IDS = re.compile(r"[^a-z0-9-]+")


class Unread(Struct, frozen=True):
    """An entry that is no source, as it was, and why."""

    value: Any
    faults: tuple[str, ...]


class SourceRegistry(Struct, frozen=True):
    """All entries in their order."""

    entries: tuple[SessionSource | Unread, ...] = ()

    @property
    def sources(self) -> list[SessionSource]:
        return [entry for entry in self.entries if isinstance(entry, SessionSource)]

    @property
    def unread(self) -> list[Unread]:
        return [entry for entry in self.entries if isinstance(entry, Unread)]

    def find(self, source: str) -> SessionSource | None:
        return next((entry for entry in self.sources if entry.id == source), None)


def read_sources(value: Any, where: str = f"{FOLDER}/{SOURCES}") -> SourceRegistry:
    if not isinstance(value, list):
        raise damaged(where, "it must hold an array of sources")
    return SourceRegistry(tuple(_entry(item, number) for number, item in enumerate(value)))


def _entry(value: Any, number: int) -> SessionSource | Unread:
    faults = find_faults(shape_of(SessionSource), value, f"sources[{number}]")
    return Unread(value, tuple(faults)) if faults else record_from(SessionSource, value)


def registry_value(registry: SourceRegistry) -> list[Any]:
    """What is stored; an entry that could not be read stands where it stood."""
    return [entry.value if isinstance(entry, Unread) else value_of(entry) for entry in registry.entries]


def with_source(registry: SourceRegistry, source: SessionSource) -> SourceRegistry:
    """With this source in the place of the one of its id, or at the end."""
    is_held = False
    entries: list[SessionSource | Unread] = []
    for entry in registry.entries:
        if isinstance(entry, SessionSource) and entry.id == source.id and not is_held:
            is_held, entry = True, source
        entries.append(entry)
    return msgspec.structs.replace(registry, entries=tuple(entries if is_held else [*entries, source]))


def with_synced(registry: SourceRegistry, synced: Fields) -> SourceRegistry:
    """With what is noted on this machine of later syncs: by id, fields of a source."""
    for source in registry.sources:
        noted = synced.get(source.id)
        if isinstance(noted, dict):
            later = {**value_of(source), **noted}
            found = record_from(SessionSource, later) if not find_faults(shape_of(SessionSource), later, "") else source
            if (found.last_synced_at or "") > (source.last_synced_at or ""):
                registry = with_source(registry, found)
    return registry


def without_source(registry: SourceRegistry, source: str) -> SourceRegistry:
    kept = tuple(entry for entry in registry.entries if not (isinstance(entry, SessionSource) and entry.id == source))
    return msgspec.structs.replace(registry, entries=kept)


# -- on other branches than the default one -----------------------------------------------------------------------


def with_added(held: SourceRegistry, changes: Sequence[BranchChange]) -> SourceRegistry:
    """The registry of the file with what branches did to it."""
    found = taken_in({(one.id,): value_of(one) for one in held.sources}, changes, SOURCE_RULES)
    registry = held
    for (name,), fields in sorted((name[:1], fields) for name, fields in found.items() if len(name) == 1):
        if fields is None:
            registry = without_source(registry, name)
        elif not find_faults(shape_of(SessionSource), fields, ""):
            registry = with_source(registry, record_from(SessionSource, fields))
    return registry


def parted(
    held: SourceRegistry, changes: Sequence[BranchChange], before: SourceRegistry, now: SourceRegistry
) -> tuple[list[Any], list[BranchChange]]:
    """What of a registry stays in its file, and what goes into a fragment: what is not there, or fragments speak of."""
    was, wanted = ({one.id: value_of(one) for one in side.sources} for side in (before, now))
    apart = {change.name[0] for change in changes} | wanted.keys() - {one.id for one in held.sources}
    value = []
    for entry in held.entries:
        if isinstance(entry, Unread):
            value.append(entry.value)
        elif entry.id in apart or wanted.get(entry.id) == was.get(entry.id):
            value.append(value_of(entry))
        elif entry.id in wanted:
            value.append(wanted[entry.id])
    names = [name for name in sorted(apart) if was.get(name) != wanted.get(name)]
    return value, [change_of((name,), was.get(name), wanted.get(name), SOURCE_RULES) for name in names]


def source_id(kind: str, path: str, name: str = "") -> str:
    """The id of a new source: the name that was given, or its type and the last part of its path.

    A name without a letter or digit of ASCII is spelled in them, since an empty id would be nobody's.
    """
    wanted = name.strip() or f"{kind}-{path.rstrip('/').rpartition('/')[2]}"
    return _NOT_IN_IDS.sub("-", wanted.lower()).strip("-") or slugify(wanted, hex_digest)
