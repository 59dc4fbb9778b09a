"""Registry of session sources: valid entries, unreadable ones, unique names."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from quire.files.digests import hex_digest
from quire.layers.journal.documents import damaged, record_from, value_of
from quire.layers.journal.layout import FOLDER, SOURCES
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


def source_id(kind: str, path: str, name: str = "") -> str:
    """The id of a new source: the name that was given, or its type and the last part of its path.

    A name without a letter or digit of ASCII is spelled in them, since an empty id would be nobody's.
    """
    wanted = name.strip() or f"{kind}-{path.rstrip('/').rpartition('/')[2]}"
    return _NOT_IN_IDS.sub("-", wanted.lower()).strip("-") or slugify(wanted, hex_digest)
