"""Add the .gitignore lines that keep generated files out of git."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from quire.files.durable_write import write_file
from quire.files.marked_sections import newline_of
from quire.files.paths import follow_inside, read_if_there
from quire.files.world import World
from quire.layers.protocol import MEMORY_HOME, Site
from quire.model.errors import Conflict, QuireError

_ATTEMPTS = 5


def ensure_ignored(
    root: str, world: World, entries: Sequence[str] = MEMORY_HOME.ignored, *, dry_run: bool = False
) -> bool:
    """Add what is missing to `.gitignore`; everything that is there stays byte for byte. True if it changed.

    The file is the user's, and every layer adds to it under a lock of its own: whoever is overtaken looks again.
    """
    path = follow_inside(root, ".gitignore")
    for attempt in range(1, _ATTEMPTS + 1):
        held = read_if_there(path)
        data = with_ignored(held or b"", entries)
        if data == (held or b""):
            return False
        try:
            if not dry_run:
                write_file(path, data, world.token(), held)
            return True
        except Conflict:
            if attempt == _ATTEMPTS:
                raise
    return False


def hide_generated(site: Site, entries: Sequence[str]) -> None:
    """Have git leave alone what belongs to this machine; what is in the way is for a check to say."""
    if site.git.available:
        with contextlib.suppress(QuireError, OSError):
            ensure_ignored(site.root, site.world, entries)


def with_ignored(data: bytes, entries: Sequence[str]) -> bytes:
    """The file with the lines that it lacks."""
    present = {line.strip() for line in data.decode("utf-8", "replace").split("\n")}
    missing = [
        entry for entry in entries if not present & {entry, f"/{entry}", entry.rstrip("/"), f"/{entry.rstrip('/')}"}
    ]
    if not missing:
        return data
    newline = newline_of(data)
    gap = b"" if not data else newline if data.endswith(b"\n") else newline * 2
    return data + gap + newline.join(map(str.encode, missing)) + newline
