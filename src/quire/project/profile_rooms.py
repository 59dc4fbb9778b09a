"""What all operations on the profile stand on: how it is asked, how a change is made, how an entry is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import msgspec

from quire.layers.profile.layout import FILE, FOLDER, READABLE, VERSION
from quire.model.errors import Conflict, InvalidStore, LockBusy, OutsideProject, QuireError, StorageFailed
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.project.asking import Asking
from quire.project.profile_results import EntryView

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.access import Readings
    from quire.layers.profile.drafts import Draft
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.places import Places
    from quire.layers.profile.source import Overview
    from quire.model.sources import Patch

Result = TypeVar("Result")
_ATTEMPTS = 5


class ProfileRooms(Asking):
    """The profile of one project. It needs no other layer."""

    # -- asking -----------------------------------------------------------------------------

    def _profile_ready(self) -> None:
        self._settle()

    def _profile_asked(self, work: Callable[[Index], Result], *, dry_run: bool = False) -> Result:
        """Ask the index about documents that can be used; older ones are brought up to our version first.

        In a dry run they are read as they are.
        """
        self._profile_ready()

        def attempt(index: Index) -> list[Result]:
            return [] if self._usable(index).is_older and not dry_run else [work(index)]

        found = self._with_index(attempt)
        if not found:
            # A disk that cannot be written to, a living writer, or what would be lost, keeps nobody from reading.
            with contextlib.suppress(LockBusy, StorageFailed, OutsideProject, InvalidStore):
                if not self.read_only:
                    self._migrate()
            found = self._with_index(lambda index: [work(index)] if self._usable(index) else [])
        return found[0]

    def _usable(self, index: Index) -> Overview:
        """What there is to know of the documents; an error where one cannot be used at all."""
        from quire.layers.profile.source import overview_of

        overview = overview_of(index.summary("profile"))
        error = overview.error()
        if error is not None:
            raise error
        return overview

    def _migrate(self) -> None:
        from quire.layers.profile.store import migrate

        with self._profile_locked("bring the profile up to date") as places:
            migrate(places, self.world)
        self._prepare_profile()

    @contextlib.contextmanager
    def _profile_locked(self, operation: str, place: str = "") -> Iterator[Places]:
        """The right to write to the documents, where they are once it is granted."""
        from quire.layers.profile.privacy import retarget
        from quire.layers.profile.store import profile_access

        for _ in range(_ATTEMPTS):
            places = self._places()
            with profile_access(retarget(places, place), self.world, operation):
                # Whoever held the lock before may have moved the private ones.
                if self._places() == places:
                    yield places
                    return
        raise self._overrun()

    def _overrun(self) -> Conflict:
        return Conflict(
            f"`{FOLDER}/{FILE}` is being changed by another program all the time.",
            hint="Wait until it has finished, and run the command again.",
        )

    # -- changing ---------------------------------------------------------------------------

    def _profile_change(
        self, operation: str, plan: Callable[[Draft, Index], Result], *, dry_run: bool = False
    ) -> Result:
        """Plan a change and write it, all or nothing; planned again where somebody else was faster."""
        from quire.index.opening import change_with_index
        from quire.layers.profile.source import overview_of
        from quire.layers.profile.store import has_lock, migrate, open_draft

        self._profile_ready()
        if dry_run:
            return self._rehearsed(plan)[0]
        if not has_lock(self._places()):
            # Before anything of ours is in the folder: what is refused, or changes nothing, must leave nothing behind.
            result, draft = self._rehearsed(plan)
            if draft.is_empty:
                return result
        with self._profile_locked(operation) as places:
            for _ in range(_ATTEMPTS):
                patches: list[Patch] = []

                def look(index: Index) -> tuple[Result, Draft, str, Overview]:
                    if overview_of(index.summary("profile")).error() is not None:
                        open_draft(places, self.world)  # raises, unless git or an editor was just writing it
                        raise Conflict("The documents changed while they were read.")
                    if self._usable(index).is_older:
                        migrate(places, self.world)
                        raise Conflict("The documents were brought up to our version.")
                    draft, stamp = open_draft(places, self.world)
                    if index.stamp("profile", FILE) != stamp:
                        raise Conflict("The documents changed while they were read.")
                    return self._allowed(plan(draft, index), draft), draft, stamp, self._usable(index)

                def write(planned: tuple[Result, Draft, str, Overview], done: list[Patch] = patches) -> Patch | None:
                    _, draft, stamp, overview = planned
                    if draft.is_empty:
                        return None
                    done.append(self._write_profile(draft, stamp, overview))
                    return done[0]

                with contextlib.suppress(Conflict):
                    # No look at the files of other layers: it would cost more than the change.
                    sources = [source for source in self._sources() if source.layer == "profile"]
                    planned = change_with_index(self._index_folder(), sources, look, write)
                    if patches:
                        self._prepare_profile()
                    return planned[0]
        raise self._overrun()

    def _rehearsed(self, plan: Callable[[Draft, Index], Result]) -> tuple[Result, Draft]:
        """What would be done. An older document is looked at as if it had been brought up to our version."""
        from quire.layers.profile.store import open_draft

        def look(index: Index) -> tuple[Result, Draft]:
            self._usable(index)
            draft, _ = open_draft(self._places(), self.world, dry_run=True)
            return self._allowed(plan(draft, index), draft), draft

        return self._with_index(look)

    def _allowed(self, result: Result, draft: Draft) -> Result:
        """What a plan gave, unless an entry would say what was rejected."""
        rejections = self._rejections()
        if rejections is not None:
            for value in draft.told.values():
                rejections.refuse({"value": value})
        return result

    def _write_profile(self, draft: Draft, stamp: str, overview: Overview) -> Patch:
        """Write a draft to the documents; what the index is to make of it."""
        from quire.layers.profile.store import commit
        from quire.model.sources import Patch

        done = commit(draft, self.world, stamp)
        version, private_version = draft.versions
        seen = msgspec.structs.replace(
            overview,
            version=version,
            private_version=private_version,
            session_count=draft.session_count,
            size=done.size,
        )
        # Where one entry hides another, or something is no entry, the index reads the documents for itself.
        is_plain = not overview.shadowed and not overview.unread
        return Patch(
            layer="profile",
            path=FILE,
            before=stamp,
            after=done.after if is_plain else "",
            gone=draft.gone(),
            items=[*draft.items(), seen.summary()],
        )

    def _prepare_profile(self) -> None:
        """On first use: git leaves alone what belongs to this machine."""
        from quire.layers.profile.layout import IGNORED
        from quire.upkeep.ignore import ensure_ignored

        if self.git.available:
            # Not worth refusing an entry for; `memory check` tells what is in the way.
            with contextlib.suppress(QuireError, OSError):
                ensure_ignored(self.root, self.world, IGNORED)

    # -- showing ----------------------------------------------------------------------------

    def _entries(self, index: Index) -> list[Entry]:
        """Every entry, by category and then in the order of the document."""
        from quire.layers.profile.records import entry_of

        return [entry_of(record) for record in self._entry_records(index)]

    def _entry_records(self, index: Index, **parts: object) -> list[Record]:
        from quire.index.search import Filter
        from quire.layers.profile.layout import CATEGORIES
        from quire.layers.profile.source import document_order

        allowed = Filter(**{"layers": ("profile",), **parts})  # type: ignore[arg-type]
        places = document_order(self._places())
        return sorted(index.page(allowed, CATEGORIES), key=lambda item: (places.get(item.ref, len(places)), item.ref))

    def _readings(self) -> Readings:
        from quire.layers.profile.access import pending_readings

        return pending_readings(self.root)

    def _note_entries(self, overview: Overview, names: list[str]) -> bool:
        """Note that these were read, where it can ever be written down."""
        from quire.layers.profile.access import note_reading
        from quire.layers.profile.entries import time_text

        if overview.is_read_only or self.read_only or not names:
            return False
        return note_reading(self.root, names, time_text(self.world.now()), self.world.token())

    def _entry_view(self, entry: Entry, readings: Readings | None = None, **fields: object) -> EntryView:
        from quire.layers.profile.access import as_read

        before = entry.access_count
        entry = as_read(entry, readings) if readings else entry
        stored = dict(entry.fields)
        if entry.access_count != before:
            stored |= {"access_count": entry.access_count, "last_accessed": entry.last_accessed}
        known: dict[str, object] = {
            "ref": entry.ref,
            "id": entry.name,
            "category": entry.category,
            "key": entry.key,
            "title": cut(one_line(entry.value), 80),
            "value": entry.value,
            "status": entry.status,
            "importance": entry.importance,
            "confidence": entry.confidence,
            "tags": entry.tags,
            "source": {"type": entry.source_type, "detail": entry.source_detail},
            "created_at": entry.created_at,
            "updated_at": entry.updated_at,
            "access_count": entry.access_count,
            "last_accessed": entry.last_accessed,
            "links": tuple({"target": link.target, "relation": link.relation} for link in entry.links),
            "private": entry.is_private,
            "entry": stored,
        }
        return EntryView(**{**known, **fields})  # type: ignore[arg-type]

    def _profile_warnings(self, overview: Overview) -> list[Problem]:
        """What somebody who reads should know of the documents."""
        found = []
        if overview.is_read_only:
            version = overview.version if overview.version in READABLE else overview.private_version
            found.append(
                Problem(
                    code="ProfileReadOnly",
                    severity="warning",
                    path=f"{FOLDER}/{FILE}",
                    message=f"A document has schema version {version}; this program writes {VERSION}, "
                    "and only reads it.",
                )
            )
        if overview.unread:
            found.append(
                Problem(
                    code="ProfileEntryInvalid",
                    severity="warning",
                    path=f"{FOLDER}/{FILE}",
                    message=f"What stands in the place of entries and cannot be read as one: {overview.unread:,}.",
                    hint="`memory check` names them.",
                )
            )
        problem = self._places().problem
        return [*found, problem] if problem is not None else found
