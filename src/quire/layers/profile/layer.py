"""Implements `Layer` for the profile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from quire.files.json_files import pretty
from quire.files.layout import LOCAL, RECOVERY
from quire.files.write_access import LockedFolder, recover_folder
from quire.layers.profile.layout import (
    ACTIVE,
    BACKUP,
    CATEGORIES,
    FOLDER,
    FORGOTTEN,
    FRAGMENTS,
    HOME_FOLDER,
    IGNORED,
    LOCK,
    MIGRATED,
    PATH,
    READ_FIELDS,
    READABLE,
    RELATIONS,
    STATUSES,
    VERSION,
)
from quire.layers.protocol import Holding, Home, Layer, Site, Storage, document_storage
from quire.model.contested import Choice, ContestedField, MergedFile
from quire.model.records import Edge, Problem, Record
from quire.model.sources import IndexSource
from quire.model.vocabulary import PROFILE_KINDS

if TYPE_CHECKING:
    from quire.layers.profile.places import ProfilePlaces
    from quire.layers.record_details import RecordDetails
    from quire.layers.record_parts import Part

_SAID = ("value", "summary")


def _sound_forgotten(data: bytes) -> bytes:
    from quire.layers.profile.forgotten import sound_forgotten

    return sound_forgotten(data)


_SET_ASIDE = {f"{FOLDER}/{FORGOTTEN}": _sound_forgotten}

_WORDS = {"categories": CATEGORIES, "statuses": STATUSES, "relations": RELATIONS}


class ProfileLayer(Layer):
    """Who works here, and how: a document of the project, and a private one."""

    name = "profile"
    heading = "Profile"
    home = Home(
        folder=FOLDER,
        part="profile",
        generated=(LOCAL, RECOVERY, LOCK, BACKUP),
        ignored=IGNORED,
        untracked=tuple(f"{FOLDER}/{name}" for name in (LOCK, BACKUP, LOCAL)),
        code="ProfileNotIgnored",
        ignored_by="remembering anything",
    )
    tracked = (PATH, FRAGMENTS)
    logs = (PATH,)
    live = (ACTIVE,)
    kinds = PROFILE_KINDS
    sections = CATEGORIES
    words = _WORDS
    changed_lists = ("changed_profile_entries",)
    has_private = True
    set_aside = _SET_ASIDE
    sets_itself_aside = (f"{FOLDER}/{LOCAL}/access.jsonl", f"{FOLDER}/{LOCAL}/access-folding.jsonl")

    def source(self, site: Site) -> IndexSource:
        from quire.layers.profile.source import ProfileSource

        return ProfileSource(_places(site))

    def access(self, site: Site, operation: str) -> AbstractContextManager[None]:
        from quire.layers.profile.store import profile_access

        return profile_access(_places(site), site.world, operation)

    def recover(self, site: Site) -> None:
        if os.path.isdir(self.home.path(site.root)):
            from quire.layers.profile.places import AT_HOME

            places = _places(site)
            recover_folder(places.root, FOLDER, site.world, written=(LOCAL,), lock=LOCK)
            if places.private == AT_HOME:
                recover_folder(places.home, HOME_FOLDER, site.world, lock=LOCK)

    def places(self, site: Site) -> list[LockedFolder]:
        from quire.layers.profile.store import profile_folders

        return profile_folders(_places(site))

    def storage(self, site: Site) -> Storage | None:
        known = (VERSION, *MIGRATED, *READABLE)
        return document_storage(site.root, PATH, "schema_version", known)

    def check(self, site: Site) -> Iterable[Problem]:
        from quire.layers.profile.checks import check_profile

        return check_profile(_places(site))

    def count_files(self, site: Site) -> int:
        places = _places(site)
        return sum(os.path.isfile(path) for path in (places.shared_path, places.private_path))

    def outside(self, site: Site) -> LockedFolder | None:
        """Where private entries of any project are in the user's home."""
        home = _places(site).home
        return (
            LockedFolder(home, HOME_FOLDER, LOCK) if home and os.path.isdir(os.path.join(home, HOME_FOLDER)) else None
        )

    def changed(self, site: Site, path: str, before: bytes | None, after: bytes | None) -> Mapping[str, Sequence[str]]:
        from quire.layers.profile.changed import changed_entries, named_in_fragments

        names = changed_entries(before, after) if path == PATH else named_in_fragments(before, after)
        return {"changed_profile_entries": names}

    def fold(self, site: Site) -> list[str]:
        from quire.layers.profile.store import fold_profile

        return fold_profile(_places(site), site.world)

    def is_fragment(self, path: str) -> bool:
        return path.startswith(f"{FRAGMENTS}/")

    def files_in_fragment(self, data: bytes) -> Sequence[str]:
        return (PATH,)

    def read_together(self, path: str) -> tuple[str, ...]:
        return (PATH, path) if self.is_fragment(path) else (path,)

    def merge(self, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
        from quire.layers.profile.merge import merge_profile

        return merge_profile(base, ours, theirs) if path == PATH else None

    def contested_in(self, path: str, data: bytes) -> list[ContestedField]:
        from quire.layers.profile.merge import contested_entries

        return contested_entries(data) if path == PATH else []

    def settled(self, path: str, data: bytes, choices: Sequence[Choice]) -> bytes | None:
        from quire.layers.profile.merge import settled_profile

        return settled_profile(data, choices)

    def holding(self, record: Record) -> Holding:
        is_private = self.is_private(record)
        return Holding(paths=() if is_private else (PATH,), part=_entry(record), fragments="" if is_private else PATH)

    def records_in(self, files: Mapping[str, bytes]) -> Iterable[Record | Edge | Problem]:
        from quire.layers.profile.source import items_in

        return items_in(files.get(PATH), PATH, {path: data for path, data in files.items() if path != PATH})

    def says_the_same(self, record: Record, now: bytes | None, then: Sequence[bytes]) -> bool:
        from quire.layers.record_parts import same_fields

        part = _entry(record)
        return now is not None and same_fields(part(now), part(then[0]), _SAID)

    def is_private(self, record: Record) -> bool:
        from quire.layers.profile.records import entry_of

        return entry_of(record).is_private

    def says(self, record: Record) -> list[str]:
        from quire.layers.profile.records import entry_of

        return [entry_of(record).value]

    def details(self, site: Site, record: Record, weight: float) -> RecordDetails:
        from quire.layers.profile.records import entry_details

        return entry_details(record, _places(site).private_name)

    def how_to_retire(self, record: Record) -> str:
        return f"`memory profile forget {' '.join(record.ref.partition(':')[2].split('.', 1))}` takes it out."


def _places(site: Site) -> ProfilePlaces:
    from quire.layers.profile.places import find_places

    return find_places(site.root, site.world.memory_home, site.world.home)


def _entry(record: Record) -> Part:
    """An entry, without what every reading of it changes. Behind the document its fragments may stand."""
    from quire.layers.profile.source import entry_in

    key = record.ref.removeprefix(f"profile:{record.section}.")

    def part(data: bytes) -> bytes | None:
        found = entry_in(data, record.section, key)
        if found is None:
            return None
        return pretty({name: value for name, value in found.items() if name not in READ_FIELDS})

    return part
