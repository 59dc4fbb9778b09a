"""Append lines to files of this machine: no lock, no waiting, bounded size.

What is added is one write, not forced to the disk: a power cut may take the last lines, which nobody was promised.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from time import sleep

import msgspec

from quire.files import disk
from quire.files.local_files import ensure_local, place_of, read_local
from quire.files.paths import inside, open_regular
from quire.files.world import World
from quire.model.times import timestamp

FOLDER = ".memory"
ENDED = "ended.jsonl"
"""Sessions that ended, or paused, and were not read yet."""
READ_MARKS = "collected.json"
RECEIPTS = "receipts.jsonl"
OLD_RECEIPTS = "receipts-old.jsonl"
CAPTURE = "capture.json"
"""Whether agents may be asked, on this machine, what should last."""
ASKED = "asked.json"
LOG = "hooks.log"
OLD_LOG = "hooks-old.log"


LINE_BYTES = 64 * 1024
_PAUSES = (0.001, 0.003, 0.009)


def add_line(root: str, name: str, line: bytes, token: str, *, most: int, old: str = "") -> bool:
    """Add a line; a file that is full makes way under the name `old`, or else gets no more. Whether it was added.

    Secrets in what a client said are left out of it.
    """
    line = _without_secrets(line)
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
    begin = b"\n" if _is_torn(path) else b""
    disk.append_lightly(path, begin + line.rstrip(b"\n") + b"\n")
    return True


def _without_secrets(line: bytes) -> bytes:
    from quire.guard.redaction import InputSecrets

    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = line.decode("utf-8", "backslashreplace")
    withheld = InputSecrets(value)
    if not withheld:
        return line
    said = withheld.value(value)
    return said.encode() if isinstance(said, str) else msgspec.json.encode(said)


def _is_torn(path: str) -> bool:
    """Whether the last line has no end: its writer was stopped, and what is added to it would be lost with it.

    Another writer may be in the middle of its line just now, so that is asked more than once. Who takes that one for
    stopped leaves a blank line, which nobody reads.
    """
    for pause in (*_PAUSES, 0.0):
        try:
            descriptor, found = open_regular(path)
        except FileNotFoundError:
            return False  # it is new, or made way
        try:
            if not found.st_size or os.pread(descriptor, 1, found.st_size - 1) == b"\n":
                return False
        finally:
            os.close(descriptor)
        sleep(pause)
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


_BYTES = 256 * 1024


def log_line(root: str, world: World, text: str) -> None:
    line = f"{timestamp(world.now())} {' '.join(text.split())}".encode("utf-8", "backslashreplace")
    add_line(root, LOG, line, world.token(), most=_BYTES, old=OLD_LOG)


def read_log(root: str, most: int) -> list[str]:
    """The latest lines, the oldest of them first."""
    return [line.decode("utf-8", "replace") for line in read_lines(root, OLD_LOG, LOG)][-most:]
