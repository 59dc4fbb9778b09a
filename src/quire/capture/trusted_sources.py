"""Which sources of sessions the user of this machine has agreed to read.

`sources.json` comes with the repository, and whoever wrote it may have named any folder of the reader's: what is found
there would go into files that others see. So a place counts only if it lies in the project, if it is where an agent
keeps its sessions and only those of this project are taken, or if the user named it on this machine. That is noted in
the user's own folder, where no repository can write.
"""

from __future__ import annotations

import os

import msgspec

from quire.capture.transcripts.types import HOMES
from quire.files.durable_write import ensure_folder, write_file
from quire.files.file_lock import Holder, held
from quire.files.json_files import pretty
from quire.files.paths import read_if_there, storage_failed
from quire.files.world import World
from quire.layers.journal.layout import ALL_FOLDERS
from quire.layers.journal.types import SessionSource
from quire.model.errors import InvalidStore, NotReady, UnsupportedVersion
from quire.model.times import timestamp

FILE = "journal-sources.json"
_LOCK = "journal-sources.lock"
_LOCK_SECONDS = 10.0


class _File(msgspec.Struct, frozen=True):
    version: int = 1
    projects: dict[str, list[list[str]]] = {}
    """By the project's root: type, path, and whether sessions of other folders count."""


def is_agreed(root: str, source: SessionSource, place: str, world: World) -> bool:
    """Whether a source may be read; `place` is where it leads to on this machine."""
    if "\0" in place:
        return False  # no path at all
    real, top = os.path.realpath(place), os.path.realpath(root)
    if real == top or real.startswith(top + os.sep):
        return True
    is_home = source.type in HOMES and place == os.path.join(world.home, HOMES[source.type])
    if is_home and world.home and source.extra.get(ALL_FOLDERS) is not True:
        return True
    try:
        return _entry(source) in _read(world).projects.get(root, [])
    except (InvalidStore, UnsupportedVersion):
        return False


def agree_to(root: str, source: SessionSource, world: World) -> None:
    """Note that the user named this source on this machine."""
    if not world.memory_home:
        raise NotReady("There is no home folder to note the source in.", hint="Set MEMORY_HOME to a folder of yours.")
    if _entry(source) in _read(world).projects.get(root, []):
        return
    folder = world.memory_home
    holder = Holder(pid=world.pid, operation="sources", created_at=timestamp(world.now()))
    try:
        ensure_folder(folder)
        with held(os.path.join(folder, _LOCK), holder, _LOCK_SECONDS, world.sleep):
            known = _read(world).projects
            entries = [item for item in known.get(root, []) if item != _entry(source)]
            fields = {"version": 1, "projects": {**known, root: [*entries, _entry(source)]}}
            write_file(os.path.join(folder, FILE), pretty(fields), world.token())
    except OSError as error:
        raise storage_failed(error, "note the source") from error


def _entry(source: SessionSource) -> list[str]:
    return [source.type, source.path, *([ALL_FOLDERS] if source.extra.get(ALL_FOLDERS) is True else [])]


def _read(world: World) -> _File:
    if not world.memory_home:
        return _File()
    try:
        data = read_if_there(os.path.join(world.memory_home, FILE))
        if data is None:
            return _File()
        found = msgspec.json.decode(data, type=_File)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidStore(
            f"`{FILE}` in your memory home cannot be read: {error}.",
            hint="Correct it, or move it away and add the sources again. It was not changed.",
        ) from error
    if found.version > 1:
        raise UnsupportedVersion(
            f"`{FILE}` in your memory home was written by a newer version of Quire (version {found.version}).",
            hint="Update Quire; the file was not changed.",
            details={"path": FILE, "supported": 1},
        )
    return found
