"""Attributes of a clone for files outside of our folders that are partly ours: a section in `info/attributes`."""

from __future__ import annotations

import os
import re

from quire.files import disk
from quire.files.durable_write import ensure_folder, write_file
from quire.files.git import Git
from quire.files.paths import read_if_there
from quire.files.world import World
from quire.upkeep.merge.shared_files import SHARED

SHOWN = ".git/info/attributes"
_OPEN = b"# quire: start, after an open line\n"
_SECTION = b"# quire: start\n" + b"".join(f"{path} merge=quire\n".encode() for path in SHARED) + b"# quire: end\n"
_FOUND = re.compile(rb"(\n?)# quire: start(, after an open line)?\n.*?# quire: end\n", re.DOTALL)


def clone_rules(git: Git) -> tuple[bytes, bytes]:
    """The attributes of the clone, as they are and with our section."""
    now = read_if_there(_path(git)) or b""
    bare = without_section(now)
    if not bare or bare.endswith(b"\n"):
        return now, bare + _SECTION
    return now, bare + b"\n" + _SECTION.replace(b"# quire: start\n", _OPEN)


def without_section(data: bytes) -> bytes:
    """The attributes as they were before us."""
    return _FOUND.sub(lambda found: found[1] if found[1] and not found[2] else b"", data)


def write_clone_rules(git: Git, world: World, data: bytes) -> None:
    """Write the attributes; without any there is no file."""
    path = _path(git)
    if data:
        ensure_folder(os.path.dirname(path))
        write_file(path, data, world.token())
    elif os.path.lexists(path):
        disk.remove(path)


def _path(git: Git) -> str:
    return os.path.join(git.common_folder(), "info", "attributes")
