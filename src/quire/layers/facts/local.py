"""Files that belong to this machine alone, below `.memory/local/`: read, replaced, set aside.

Nothing here is shared, so nothing here may stop the rest: a file that cannot be used counts as empty and is reported.
Before it is replaced it is set aside as `<name>.damaged`; the first one set aside stays, since it holds the most.
"""

from __future__ import annotations

import errno
import os
from typing import Any

import msgspec

from quire.files import decode_object, disk, ensure_folder, inside, read_bytes, read_inside, storage_failed, write_file
from quire.layers.facts.layout import FOLDER, LOCAL
from quire.model import Problem, StorageFailed, UnsupportedVersion

ASIDE = ".damaged"
VERSION = 1
"""The version of the JSON files. A file of a later one is neither understood nor written."""
LOCAL_BYTES = 8 * 1024 * 1024
"""A larger file is not ours."""
_IGNORE = ".gitignore"
_EVERYTHING = b"*\n"

__all__ = [
    "ASIDE",
    "LOCAL_BYTES",
    "VERSION",
    "LocalFile",
    "ensure_local",
    "place_of",
    "read_local",
    "read_object",
    "remove_local",
    "spoiled",
    "write_local",
]


class LocalFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of this machine as it was found."""

    name: str
    data: bytes | None = None
    """None where it is missing, or could not be read at all."""
    fields: dict[str, Any] = {}
    problem: Problem | None = None
    is_newer: bool = False
    is_closed: bool = False
    """It is there and cannot be read: a link, a folder, a file of somebody else."""


def place_of(name: str) -> str:
    """The path below the project."""
    return f"{FOLDER}/{LOCAL}/{name}"


def read_local(root: str, name: str) -> LocalFile:
    """The bytes of a file; never an exception. No link is followed, and nothing but a plain file is read."""
    try:
        return LocalFile(name=name, data=read_inside(root, place_of(name), LOCAL_BYTES))
    except FileNotFoundError:
        return LocalFile(name=name)
    except OSError as error:
        found = LocalFile(name=name, is_closed=error.errno != errno.EFBIG)
        return spoiled(found, (error.strerror or str(error)).lower())


def read_object(root: str, name: str) -> LocalFile:
    """The JSON object that a file holds, if its version is ours."""
    found = read_local(root, name)
    if found.data is None:
        return found
    try:
        fields = decode_object(found.data)
    except ValueError as error:
        return spoiled(found, f"it is not a JSON object ({error})")
    version = fields.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return spoiled(found, "it does not say its version")
    if version > VERSION:
        problem = Problem(
            code="LocalStateNewer",
            severity="warning",
            path=place_of(name),
            message=f"It was written by a newer program (version {version}); it counts as empty here.",
            hint="Update this program.",
        )
        return msgspec.structs.replace(found, problem=problem, is_newer=True)
    return msgspec.structs.replace(found, fields=fields)


def spoiled(found: LocalFile, reason: str) -> LocalFile:
    """The file with the warning that it cannot be used as it is."""
    kept = f"Mend or remove it. The next change keeps it as `{os.path.basename(found.name)}{ASIDE}`."
    problem = Problem(
        code="LocalStateDamaged",
        severity="warning",
        path=place_of(found.name),
        message=f"It cannot be used: {reason}. It counts as empty.",
        hint="Put a plain, readable file there, or none." if found.is_closed else kept,
    )
    return msgspec.structs.replace(found, problem=problem)


def ensure_local(root: str, token: str, below: str = "") -> None:
    """The folder, which git ignores whatever else the project tells it, and whatever a repository brought there."""
    folder = inside(root, f"{FOLDER}/{LOCAL}")
    try:
        said = read_bytes(os.path.join(folder, _IGNORE))
    except OSError:
        said = b""
    if said != _EVERYTHING:
        ensure_folder(folder)
        write_file(inside(folder, _IGNORE), _EVERYTHING, token)
    if below:
        ensure_folder(inside(root, place_of(below)))


def write_local(root: str, found: LocalFile, data: bytes, token: str) -> None:
    """Replace a file by new bytes. What was found there and could not be used is set aside first."""
    try:
        path = _path_to_change(root, found)
        ensure_local(root, token, os.path.dirname(found.name))
        if found.problem is not None:
            _set_aside(path, found, token)
        write_file(path, data, token)
    except OSError as error:
        raise storage_failed(error, f"write `{place_of(found.name)}`", root) from error


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
        raise storage_failed(error, f"remove `{place_of(found.name)}`", root) from error
    return True


def _path_to_change(root: str, found: LocalFile) -> str:
    """The path of a file that may be changed: no link, nothing unread, nothing that a newer program wrote."""
    place = place_of(found.name)
    path = inside(root, place)
    if found.is_newer:
        raise UnsupportedVersion(
            f"`{place}` was written by a newer program; it was left as it is.",
            hint="Update this program, or move the file away.",
            details={"path": place, "supported": VERSION},
        )
    if found.is_closed:
        raise StorageFailed(
            f"`{place}` cannot be read as a plain file; it was left as it is.",
            hint="Move away what is there, or make it readable, and run the command again.",
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
