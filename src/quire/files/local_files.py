"""Read and write machine-local files in the `local/` of a layer's folder; set damaged ones aside.

The facts have theirs in `.memory/local/`, the profile in `.ai-state/local/`; the folder is the caller's to name.
Nothing here is shared, so nothing here may stop the rest: a file that cannot be used counts as empty and is reported.
Before it is replaced it is set aside as `<name>.damaged`; the first one set aside stays, since it holds the most.

A file that many processes add lines to is not written under a lock. Who adds holds it in place (`held_in_place`), and
who has moved it away can say when nobody adds to it any more (`is_at_rest`); neither ever waits for the other.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.json_files import decode_object
from quire.files.layout import LOCAL
from quire.files.paths import PASSING, inside, open_regular, read_inside, read_or_none, storage_failed
from quire.model.errors import StorageFailed, UnsupportedVersion
from quire.model.records import Problem

ASIDE = ".damaged"
LOCAL_VERSION = 1
"""The version of the JSON files. A file of a later one is neither understood nor written."""
LOCAL_BYTES = 8 * 1024 * 1024
"""A larger file is not ours."""
_IGNORE = ".gitignore"
_EVERYTHING = b"*\n"
_TRIES = 100


class LocalFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of this machine as it was found."""

    folder: str
    """The layer's folder, below the project."""
    name: str
    """Below the folder's `local/`."""
    data: bytes | None = None
    """None where it is missing, or could not be read at all."""
    fields: dict[str, Any] = {}
    problem: Problem | None = None
    is_newer: bool = False
    is_closed: bool = False
    """It is there and cannot be read: a link, a folder, a file of someone else."""

    @property
    def place(self) -> str:
        return place_of(self.folder, self.name)


def place_of(folder: str, name: str) -> str:
    """The path below the project."""
    return f"{folder}/{LOCAL}/{name}"


def read_local(root: str, folder: str, name: str, limit: int = LOCAL_BYTES) -> LocalFile:
    """Read the bytes of a plain file. Links are not followed; anything else is reported as a problem.

    An exception only where nothing is wrong with the file: taken for an empty one, it would be replaced by one.
    """
    try:
        return LocalFile(folder=folder, name=name, data=read_inside(root, place_of(folder, name), limit))
    except FileNotFoundError:
        return LocalFile(folder=folder, name=name)
    except OSError as error:
        if error.errno in PASSING:
            raise storage_failed(error, f"read `{place_of(folder, name)}`", root) from error
        found = LocalFile(folder=folder, name=name, is_closed=error.errno != errno.EFBIG)
        return spoiled(found, (error.strerror or str(error)).lower())


def read_object(root: str, folder: str, name: str, limit: int = LOCAL_BYTES) -> LocalFile:
    """The JSON object that a file holds, if its version is ours."""
    found = read_local(root, folder, name, limit)
    if found.data is None:
        return found
    try:
        fields = decode_object(found.data)
    except ValueError as error:
        return spoiled(found, f"it is not a JSON object ({error})")
    version = fields.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return spoiled(found, "it does not say its version")
    if version > LOCAL_VERSION:
        problem = Problem(
            code="LocalStateNewer",
            severity="warning",
            path=found.place,
            message=f"It was written by a newer version of Quire (version {version}); it counts as empty here.",
            hint="Update Quire.",
        )
        return msgspec.structs.replace(found, problem=problem, is_newer=True)
    return msgspec.structs.replace(found, fields=fields)


def spoiled(found: LocalFile, reason: str) -> LocalFile:
    """The file with the warning that it cannot be used as it is."""
    kept = f"Correct or remove it. The next change keeps it as `{os.path.basename(found.name)}{ASIDE}`."
    problem = Problem(
        code="LocalStateDamaged",
        severity="warning",
        path=found.place,
        message=f"It cannot be used: {reason}. It counts as empty.",
        hint="Remove it, or replace it with a readable file." if found.is_closed else kept,
    )
    return msgspec.structs.replace(found, problem=problem)


def damaged_lines(found: LocalFile, count: int, hint: str) -> LocalFile:
    """The file with the warning that so many of its lines do not count."""
    problem = Problem(
        code="LocalStateDamaged",
        severity="warning",
        path=found.place,
        message=f"Lines that could not be read and do not count: {count:,}.",
        hint=hint,
    )
    return msgspec.structs.replace(found, problem=problem)


def ensure_local(root: str, folder: str, token: str, below: str = "") -> None:
    """Its `local/`, which git ignores whatever else the project tells it, and whatever a repository brought there."""
    path = inside(root, f"{folder}/{LOCAL}")
    if read_or_none(os.path.join(path, _IGNORE)) != _EVERYTHING:
        ensure_folder(path)
        write_file(inside(path, _IGNORE), _EVERYTHING, token)
    if below:
        ensure_folder(inside(root, place_of(folder, below)))


def write_local(root: str, found: LocalFile, data: bytes, token: str) -> None:
    """Replace a file by new bytes. What was found there and could not be used is set aside first."""
    try:
        path = _path_to_change(root, found)
        ensure_local(root, found.folder, token, os.path.dirname(found.name))
        if found.problem is not None:
            _set_aside(path, found, token)
        write_file(path, data, token)
    except OSError as error:
        raise storage_failed(error, f"write `{found.place}`", root) from error


def remove_local(root: str, found: LocalFile) -> bool:
    """Remove a file, or set it aside where it could not be used; False where there is none."""
    try:
        path = _path_to_change(root, found)
        if not os.path.lexists(path):
            return False
        if found.problem is not None and not os.path.lexists(path + ASIDE):
            disk.rename(path, path + ASIDE)
        else:
            disk.remove(path)
        disk.sync_folder(os.path.dirname(path))
    except OSError as error:
        raise storage_failed(error, f"remove `{found.place}`", root) from error
    return True


@contextlib.contextmanager
def held_in_place(path: str) -> Iterator[None]:
    """While lines are added to a file, which is made if missing. It may still be moved, but is then not at rest.

    What is added meanwhile goes to the file that is held or, once that was moved, to a new one in its place.
    """
    descriptor = _hold(path)
    try:
        yield
    finally:
        os.close(descriptor)


def is_at_rest(path: str) -> bool:
    """Whether no writer appends to a file any more after it was moved away."""
    descriptor, _ = open_regular(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a disk that knows no such locks: nobody could hold it
    finally:
        os.close(descriptor)
    return True


def _hold(path: str) -> int:
    for _ in range(_TRIES):
        try:
            descriptor, found = open_regular(path)
        except FileNotFoundError:
            disk.append_lightly(path, b"")
            continue
        try:
            with contextlib.suppress(FileNotFoundError):
                if _is_shared(descriptor) and os.path.samestat(found, os.stat(path, follow_symlinks=False)):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise OSError(errno.EBUSY, "it is repeatedly moved away", path)


def _is_shared(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a disk that knows no such locks
    return True


def _path_to_change(root: str, found: LocalFile) -> str:
    """The path of a file that may be changed: no link, nothing unread, nothing that a newer program wrote."""
    place = found.place
    path = inside(root, place)
    if found.is_newer:
        raise UnsupportedVersion(
            f"`{place}` was written by a newer version of Quire; it was not changed.",
            hint="Update Quire, or move the file away.",
            details={"path": place, "supported": LOCAL_VERSION},
        )
    if found.is_closed:
        raise StorageFailed(
            f"`{place}` cannot be read as a regular file; it was not changed.",
            hint="Move it away or make it readable, then run the command again.",
            details={"path": place},
        )
    return path


def _set_aside(path: str, found: LocalFile, token: str) -> None:
    """Keep a file that cannot be used beside its place, unless an earlier one is kept there."""
    aside = path + ASIDE
    if os.path.lexists(aside) or not os.path.lexists(path):
        return
    if found.data is None:
        disk.rename(path, aside)
    else:
        write_file(aside, found.data, token)
