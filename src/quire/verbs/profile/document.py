"""Read and change the documents of the profile: shared by the verbs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import msgspec

from quire.layers.profile.layout import FILE, FOLDER, IGNORED
from quire.model.errors import Conflict, InvalidStore, LockBusy, OutsideProject, StorageFailed

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.profile.drafts import ProfileDraft
    from quire.layers.profile.places import ProfilePlaces
    from quire.layers.profile.source import ProfileOverview
    from quire.model.sources import Patch
    from quire.project import Project

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

    with profile_locked(project, "update the profile") as places:
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
        f"`{FOLDER}/{FILE}` keeps being changed by another program.",
        hint="Wait until it has finished, then run the command again.",
    )


# -- changing ---------------------------------------------------------------------------


def change_profile(
    project: Project, operation: str, plan: Callable[[ProfileDraft, Index], Result], *, dry_run: bool = False
) -> Result:
    """Plan a change and write it, all or nothing; planned again where someone else was faster."""
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
                    raise Conflict("The documents were migrated to the current version.")
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
    from quire.upkeep.ignore import hide_generated

    hide_generated(project, IGNORED)
