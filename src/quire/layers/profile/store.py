"""Read and write the profile documents: migrate, change all or nothing, keep a backup.

The caller holds the lock of the profile, and where the private document is in the user's home that one's, too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import msgspec

from quire.files.branches import checkout_at, writes_fragments
from quire.files.layout import LOCAL
from quire.files.local_files import ensure_local
from quire.files.paths import read_bytes
from quire.files.transaction import FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.files.write_access import LockedFolder, write_access
from quire.layers.fragment_records import fragment_with, held_changes, removals
from quire.layers.profile.access import GatheredReadings, pending_readings, take_readings
from quire.layers.profile.document import ProfileDocument, empty_document, parse_document
from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import time_text
from quire.layers.profile.forgotten import change_forgotten
from quire.layers.profile.layout import (
    BACKUP,
    FILE,
    FILE_BYTES,
    FOLDER,
    HOME_FOLDER,
    LOCK,
    MIGRATION_PREFIX,
    PATH,
    PRIVATE,
    VERSION,
)
from quire.layers.profile.places import AT_HOME, HERE, ProfilePlaces, stamp_now
from quire.layers.profile.source import read_document
from quire.model.errors import Conflict, InputError, InvalidStore, NotReady, StorageFailed

_LOOKS, _LOOK_SECONDS = 10, 0.02


class ProfileWritten(msgspec.Struct, frozen=True):
    """What the documents looked like before and after; `after` is empty where someone else wrote, too."""

    before: str
    after: str
    size: int
    """Bytes of both documents now."""


@contextlib.contextmanager
def profile_access(places: ProfilePlaces, world: World, operation: str) -> Iterator[None]:
    """The right to write to both documents."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(write_access(places.root, FOLDER, world, operation, written=(LOCAL,), lock=LOCK))
        if places.private == AT_HOME:
            if not places.home:
                raise NotReady("There is no home folder.", hint="Set MEMORY_HOME to a folder of yours.")
            stack.enter_context(write_access(places.home, HOME_FOLDER, world, operation, lock=LOCK))
        yield


def profile_folders(places: ProfilePlaces) -> list[LockedFolder]:
    """Where both documents lie, with their locks."""
    home = [LockedFolder(places.home, HOME_FOLDER, LOCK)] if places.private == AT_HOME and places.home else []
    return [LockedFolder(places.root, FOLDER, LOCK), *home]


def has_lock(places: ProfilePlaces) -> bool:
    """Whether someone wrote here before."""
    return os.path.lexists(os.path.join(places.root, FOLDER, LOCK))


def read_documents(places: ProfilePlaces) -> tuple[ProfileDocument | None, ProfileDocument | None]:
    """The shared document and the private one; an error where one of them cannot be used."""
    shared, private = (*(read_document(*place) for place in places.documents), None)[:2]
    return shared, private


def current_documents(places: ProfilePlaces) -> tuple[ProfileDocument | None, ProfileDocument | None]:
    """The same as if they had been brought up to our version; nothing is written."""
    shared, private = read_documents(places)
    return _brought_up(shared), _brought_up(private)


def _brought_up(document: ProfileDocument | None) -> ProfileDocument | None:
    versions = document.migrations() if document else []
    return parse_document(versions[-1][1], document.where) if document and versions else document


def migrate(places: ProfilePlaces, world: World) -> list[str]:
    """Bring documents up to our version, each step with its backup, all or nothing; the versions there were."""
    found = []
    for document, is_private in zip(read_documents(places), (False, True), strict=True):
        versions = document.migrations() if document else []
        if document is None or not versions:
            continue
        root, path = _place(places, is_private)
        prefix = path.removesuffix(FILE)
        changes = [
            change
            for version, data in versions[:-1]
            for change in _kept(root, f"{prefix}{MIGRATION_PREFIX}{version}.json", data)
        ]
        changes.append(update_of(path, document.data, versions[-1][1]))
        apply_changes(root, changes, [], world.token(), whole=True)
        found.append(document.version)
    return found


def _kept(root: str, path: str, data: bytes) -> list[FileUpdate]:
    """A backup in its place; an earlier one that says something else makes way for it, and stays."""
    earlier = held_bytes(os.path.join(root, path))
    if earlier == data:
        return []
    found = [update_of(path, earlier, data)]
    if earlier is not None:
        stem = path.removesuffix(".json")
        number = 1
        while os.path.lexists(os.path.join(root, f"{stem}.{number}.json")):
            number += 1
        found.insert(0, FileUpdate(path=f"{stem}.{number}.json", data=earlier, planned=None))
    return found


def open_draft(places: ProfilePlaces, world: World, *, dry_run: bool = False) -> tuple[ProfileDraft, str]:
    """The documents as they are now, to be changed, and their stamp. Only our own version is ever written to.

    What was read since the last change is in the entries already. For a dry run nothing is touched on the disk.
    """
    stamp, (shared, private) = _settled_documents(places, world, dry_run=dry_run)
    if stamp_now(places) != stamp:
        raise Conflict("The documents changed while they were read.", hint="Run the command again.")
    for document in (shared, private):
        if document is not None:
            if document.version != VERSION:
                raise document.refuse_version()
            document.refuse_loss()
    draft = ProfileDraft(places, shared, private, time_text(world.now()))
    if not _is_apart(places, world):
        draft.fold(pending_readings(places.root))
    return draft, stamp


def _is_apart(places: ProfilePlaces, world: World) -> bool:
    """Whether counts stay on this machine: those of two branches would conflict."""
    return writes_fragments(checkout_at(places.root, world))


def _settled_documents(
    places: ProfilePlaces, world: World, *, dry_run: bool
) -> tuple[str, tuple[ProfileDocument | None, ProfileDocument | None]]:
    """The documents and their stamp. One that cannot be used may be on its way: git writes without our lock."""
    for _ in range(_LOOKS):
        stamp = stamp_now(places)
        try:
            return stamp, current_documents(places) if dry_run else read_documents(places)
        except InvalidStore:
            world.sleep(_LOOK_SECONDS)
            if stamp_now(places) == stamp:
                raise
    return stamp_now(places), current_documents(places) if dry_run else read_documents(places)


def commit(draft: ProfileDraft, world: World, before: str) -> ProfileWritten:
    """Write a draft: both documents, what was forgotten and what was read, all or nothing as far as one disk goes."""
    places = draft.places
    apart = _is_apart(places, world)
    taken = GatheredReadings() if apart else take_readings(places.root)
    draft.settle(taken.readings)
    here = os.path.join(places.root, FOLDER)
    ensure_local(places.root, FOLDER, world.token())
    written: list[tuple[str, bytes]] = []
    changes: list[FileUpdate] = []
    at_home: list[FileUpdate] = []
    size = 0
    for document, is_private in draft.documents():
        data, is_shared = document.data, document.is_changed and not is_private
        if is_shared and apart:
            data, beside, stale = document.parted()
            changes += [*fragment_with(PATH, beside, world), *removals(places.root, stale, FILE_BYTES)]
        elif document.is_changed:
            data = document.render()
            changes += folded(places.root) if is_shared else []
        size += len(data)
        if data == document.data:
            continue
        _refuse_beyond(document.where, len(data))
        root, path = _place(places, is_private)
        own = [update_of(path, document.data or None, data)]
        if draft.is_removal and document.data:
            backup = path.removesuffix(FILE) + BACKUP
            own.insert(0, update_of(backup, held_bytes(os.path.join(root, backup)), document.data))
        (changes if root == here else at_home).extend(own)
        written.append((os.path.join(root, path), data))
    changes += [
        change
        for change in (change_forgotten(places.root, draft.forgotten, draft.restored), taken.change)
        if change is not None
    ]
    # The user's home may be another disk, so that is another transaction. It comes last: what was read since the last
    # change is then at worst not counted, and never counted twice. What is restored must be there before it is struck
    # off the list of what was forgotten.
    batches = [(here, changes), (os.path.join(places.home, HOME_FOLDER), at_home)]
    for root, batch in reversed(batches) if draft.restored else batches:
        if batch:
            apply_changes(root, batch, [], world.token(), whole=True)
    after = stamp_now(places)
    # Another program may have put its own file there in between: then nobody knows what it holds.
    ours = all(held_bytes(path) == data for path, data in written) and stamp_now(places) == after
    return ProfileWritten(before, after if ours else "", size)


def fold_profile(places: ProfilePlaces, world: World) -> list[str]:
    """Take what branches added into the document; what was written. The caller holds the lock."""
    removed = folded(places.root)
    if not removed:
        return []
    migrate(places, world)
    document, _ = read_documents(places)
    assert document is not None, "with fragments there is one"
    data = document.render()
    changes = [update_of(FILE, document.data or None, data)] if data != document.data else []
    here = os.path.join(places.root, FOLDER)
    apply_changes(here, [*changes, *removed], [], world.token(), whole=True)
    return sorted(f"{FOLDER}/{change.path}" for change in (*changes, *removed))


def folded(root: str) -> list[FileUpdate]:
    """The removal of the fragments that can be read, once the document holds what they say."""
    held = held_changes(root, PATH, FILE_BYTES)
    return removals(root, (path for path, (_, unread) in held.items() if not unread), FILE_BYTES)


def create_document(root: str, world: World, *, dry_run: bool = False) -> list[str]:
    """An empty document where there is none; what was written, from the project's root."""
    path = os.path.join(root, FOLDER, FILE)
    if os.path.lexists(path):
        return []
    if not dry_run:
        document = empty_document(f"{FOLDER}/{FILE}")
        here = os.path.join(root, FOLDER)
        change = FileUpdate(path=FILE, data=document.render(), planned=None)
        apply_changes(here, [change], [], world.token())
    return [f"{FOLDER}/{FILE}"]


def _place(places: ProfilePlaces, is_private: bool) -> tuple[str, str]:
    """The folder whose transactions write a document, and its path there."""
    if is_private and places.private == AT_HOME:
        return os.path.join(places.home, HOME_FOLDER), FILE
    return os.path.join(places.root, FOLDER), PRIVATE if is_private and places.private == HERE else FILE


def held_bytes(path: str) -> bytes | None:
    try:
        return read_bytes(path, FILE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageFailed(
            f"`{os.path.basename(path)}` is in the way: {(error.strerror or str(error)).lower()}.",
            hint="Move it away, then run the command again. Nothing was changed.",
            details={"path": os.path.basename(path)},
        ) from error


def _refuse_beyond(where: str, size: int) -> None:
    if size > FILE_BYTES:
        raise InputError(
            f"`{where}` would have {size:,} bytes; the limit is {FILE_BYTES:,}.",
            hint="Forget what is no longer needed.",
        )
