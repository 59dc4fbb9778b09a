"""Files of this machine that hooks add lines to: no lock, no waiting, and bounded in size.

What is added is one write, not forced to the disk: a power cut may take the last lines, which nobody was promised.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator

from quire.clients.layout import FOLDER
from quire.files import disk, ensure_local, inside, open_regular, place_of, read_local

LINE_BYTES = 64 * 1024

__all__ = ["LINE_BYTES", "add_line", "read_lines"]


def add_line(root: str, name: str, line: bytes, token: str, *, most: int, old: str = "") -> bool:
    """Add a line; a file that is full makes way under the name `old`, or else gets no more. Whether it was added."""
    if len(line) >= LINE_BYTES or not os.path.isdir(os.path.join(root, FOLDER)):
        return False
    path = inside(root, place_of(FOLDER, name))
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        ensure_local(root, FOLDER, token)
    else:
        if not stat.S_ISREG(found.st_mode):
            return False
        if found.st_size + len(line) > most:
            if not old:
                return False
            with contextlib.suppress(FileNotFoundError):
                _make_way(path, inside(root, place_of(FOLDER, old)), found)
    disk.append_lightly(path, line.rstrip(b"\n") + b"\n")
    return True


def _make_way(path: str, old: str, full: os.stat_result) -> None:
    """Move a full file away, if it is still the one that was found full: another process may have been faster."""
    descriptor, _ = open_regular(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another process is at it, and nobody waits for it
        except OSError:
            pass  # a disk that knows no such locks
        if os.path.samestat(full, os.stat(path, follow_symlinks=False)):
            disk.rename(path, old)
    finally:
        os.close(descriptor)


def read_lines(root: str, *names: str) -> Iterator[bytes]:
    """The lines of these files, in this order; a missing or unreadable one has none."""
    for name in names:
        yield from (line for line in (read_local(root, FOLDER, name).data or b"").split(b"\n") if line.strip())
