"""Digests of the records that a person wrote, confirmed or accepted on this machine.

A record that says something else afterwards has another digest, and counts as not reviewed again. Nothing of a record's
text is kept here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from quire.files import disk
from quire.files.digests import digest_of
from quire.files.local_files import ensure_local, place_of, read_local, remove_local, write_local
from quire.files.paths import inside
from quire.model.errors import QuireError
from quire.model.records import Record

REVIEWED = "reviewed"
"""Below the folder's `local/`, a digest on each line."""
_DIGITS = 32
_LINE = re.compile(rb"[0-9a-f]{%d}" % _DIGITS)
_MOST_BYTES = 1024 * 1024


def review_mark(record: Record) -> str:
    """The digest of what a record says. Notes are counted, and their numbers change: a note goes by its text."""
    name = "note" if record.kind == "note" else record.ref
    said = "\0".join((name, record.title, record.text))
    return digest_of(said.encode("utf-8", "surrogatepass")).hex()[:_DIGITS]


def read_reviewed(root: str, folder: str) -> frozenset[str]:
    """The digests; none where the file is missing or cannot be used."""
    try:
        data = read_local(root, folder, REVIEWED).data or b""
    except QuireError:
        return frozenset()
    return frozenset(line.decode() for line in data.splitlines() if _LINE.fullmatch(line))


def note_reviewed(root: str, folder: str, marks: Iterable[str], token: str) -> None:
    """Add digests. Where that fails, records count as not reviewed, which is safe."""
    known = read_reviewed(root, folder)
    new = [mark for mark in dict.fromkeys(marks) if mark not in known]
    if not new:
        return
    data = "".join(f"{mark}\n" for mark in new).encode()
    with contextlib.suppress(OSError, QuireError):
        path = inside(root, place_of(folder, REVIEWED))
        ensure_local(root, folder, token)
        found = read_local(root, folder, REVIEWED)
        before = found.data or b""
        if found.problem is not None:
            remove_local(root, found)
            before = b""
        if len(before) + len(data) > _MOST_BYTES:
            # The older half goes: most of that is committed now.
            lines = before.splitlines(keepends=True)
            write_local(root, found, b"".join(lines[len(lines) // 2 :]) + data, token)
            return
        disk.append_lightly(path, (b"\n" if before and not before.endswith(b"\n") else b"") + data)
