"""What all operations on the profile stand on: how it is asked, how a change is made, how an entry is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import msgspec

from quire.layers.profile.layout import FILE, FOLDER, READABLE, VERSION
from quire.model.errors import (
    Conflict,
    InvalidStore,
    LockBusy,
    NotFound,
    OutsideProject,
    QuireError,
    StorageFailed,
)
from quire.model.records import Problem, Record
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.profile.results import EntryView

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.access import Readings
    from quire.layers.profile.drafts import ProfileDraft
    from quire.layers.profile.entries import Entry
    from quire.layers.profile.places import ProfilePlaces
    from quire.layers.profile.source import ProfileOverview
    from quire.model.sources import Patch

Result = TypeVar("Result")
_ATTEMPTS = 5


# -- asking -----------------------------------------------------------------------------


def ask_profile(project: Project, work: Callable[[Index], Result], *, dry_run: bool = False) -> Result:
    """Ask the index about documents that can be used; older ones are brought up to our version first.

    In a dry run they are read as they are.
    """
    project.recover()

    def attempt(index: Index) -> list[Result]:
        return [] if usable_documents(index).is_older and not dry_run else [work(index)]

    found = project.with_index(attempt)
    if not found:
        # A disk that cannot be written to, a living writer, or what would be lost, keeps nobody from reading.
        with contextlib.suppress(LockBusy, StorageFailed, OutsideProject, InvalidStore):
            if not project.read_only:
                _migrate(project)
        found = project.with_index(lambda index: [work(index)] if usable_documents(index) else [])
    return found[0]


def usable_documents(index: Index) -> ProfileOverview:
    """What there is to know of the documents; an error where one cannot be used at all."""
    from quire.layers.profile.source import overview_of

    overview = overview_of(index.summary("profile"))
    error = overview.error()
    if error is not None:
        raise error
    return overview


def _migrate(project: Project) -> None:
    from quire.layers.profile.store import migrate

    with profile_locked(project, "bring the profile up to date") as places:
        migrate(places, project.world)
    prepare_profile(project)


@contextlib.contextmanager
def profile_locked(project: Project, operation: str, place: str = "") -> Iterator[ProfilePlaces]:
    """The right to write to the documents, where they are once it is granted."""
    from quire.layers.profile.privacy import retarget
    from quire.layers.profile.store import profile_access

    for _ in range(_ATTEMPTS):
        places = project.profile_places()
        with profile_access(retarget(places, place), project.world, operation):
            # Whoever held the lock before may have moved the private ones.
            if project.profile_places() == places:
                yield places
                return
    raise _overrun()


def _overrun() -> Conflict:
    return Conflict(
        f"`{FOLDER}/{FILE}` is being changed by another program all the time.",
        hint="Wait until it has finished, and run the command again.",
    )


# -- changing ---------------------------------------------------------------------------


def change_profile(
    project: Project, operation: str, plan: Callable[[ProfileDraft, Index], Result], *, dry_run: bool = False
) -> Result:
    """Plan a change and write it, all or nothing; planned again where somebody else was faster."""
    from quire.index.open_index import change_with_index
    from quire.layers.profile.source import overview_of
    from quire.layers.profile.store import has_lock, migrate, open_draft

    project.recover()
    if dry_run:
        return _rehearsed(project, plan)[0]
    if not has_lock(project.profile_places()):
        # Before anything of ours is in the folder: what is refused, or changes nothing, must leave nothing behind.
        result, draft = _rehearsed(project, plan)
        if draft.is_empty:
            return result
    with profile_locked(project, operation) as places:
        for _ in range(_ATTEMPTS):
            patches: list[Patch] = []

            def look(index: Index) -> tuple[Result, ProfileDraft, str, ProfileOverview]:
                if overview_of(index.summary("profile")).error() is not None:
                    open_draft(places, project.world)  # raises, unless git or an editor was just writing it
                    raise Conflict("The documents changed while they were read.")
                if usable_documents(index).is_older:
                    migrate(places, project.world)
                    raise Conflict("The documents were brought up to our version.")
                draft, stamp = open_draft(places, project.world)
                if index.stamp("profile", FILE) != stamp:
                    raise Conflict("The documents changed while they were read.")
                return _allowed(project, plan(draft, index), draft), draft, stamp, usable_documents(index)

            def write(
                planned: tuple[Result, ProfileDraft, str, ProfileOverview], done: list[Patch] = patches
            ) -> Patch | None:
                _, draft, stamp, overview = planned
                if draft.is_empty:
                    return None
                done.append(_write_profile(project, draft, stamp, overview))
                return done[0]

            with contextlib.suppress(Conflict):
                # No look at the files of other layers: it would cost more than the change.
                sources = [source for source in project.sources() if source.layer == "profile"]
                planned = change_with_index(project.index_folder(), sources, look, write)
                if patches:
                    prepare_profile(project)
                return planned[0]
    raise _overrun()


def _rehearsed(project: Project, plan: Callable[[ProfileDraft, Index], Result]) -> tuple[Result, ProfileDraft]:
    """What would be done. An older document is looked at as if it had been brought up to our version."""
    from quire.layers.profile.store import open_draft

    def look(index: Index) -> tuple[Result, ProfileDraft]:
        usable_documents(index)
        draft, _ = open_draft(project.profile_places(), project.world, dry_run=True)
        return _allowed(project, plan(draft, index), draft), draft

    return project.with_index(look)


def _allowed(project: Project, result: Result, draft: ProfileDraft) -> Result:
    """What a plan gave, unless an entry would say what was rejected."""
    rejections = project.rejections()
    if rejections is not None:
        for value in draft.told.values():
            rejections.refuse({"value": value})
    return result


def _write_profile(project: Project, draft: ProfileDraft, stamp: str, overview: ProfileOverview) -> Patch:
    """Write a draft to the documents; what the index is to make of it."""
    from quire.layers.profile.store import commit
    from quire.model.sources import Patch

    done = commit(draft, project.world, stamp)
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


def prepare_profile(project: Project) -> None:
    """On first use: git leaves alone what belongs to this machine."""
    from quire.layers.profile.layout import IGNORED
    from quire.upkeep.ignore import ensure_ignored

    if project.git.available:
        # Not worth refusing an entry for; `memory check` tells what is in the way.
        with contextlib.suppress(QuireError, OSError):
            ensure_ignored(project.root, project.world, IGNORED)


# -- showing ----------------------------------------------------------------------------


def profile_entries(project: Project, index: Index) -> list[Entry]:
    """Every entry, by category and then in the order of the document."""
    from quire.layers.profile.records import entry_of

    return [entry_of(record) for record in entry_records(project, index)]


def entry_records(project: Project, index: Index, **parts: object) -> list[Record]:
    from quire.index.search import Filter
    from quire.layers.profile.layout import CATEGORIES
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
        f"There is no entry `{cut(f'{category}.{key}', 120)}`.",
        hint="`memory profile index` shows what there is.",
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


def profile_warnings(project: Project, overview: ProfileOverview) -> list[Problem]:
    """What somebody who reads should know of the documents."""
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
                message=f"What stands in the place of entries and cannot be read as one: {overview.unread:,}.",
                hint="`memory check` names them.",
            )
        )
    problem = project.profile_places().problem
    return [*found, problem] if problem is not None else found
