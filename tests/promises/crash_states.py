"""When two failed writers left the same: then one judgement holds for both.

The same are all files with their modes, whatever the number of the process in them, and what the index holds. Of the
times in the index only counts whether they are those of the files. What is git's own no writer here changes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from hashlib import sha256

import apsw

from quire.files.freshness import stamp_of

__all__ = ["state_of"]

_INDEX = "quire.sqlite"
_TABLES = {
    "records": (
        "SELECT layer, path, ref, kind, title, text, status, stage, section, weight, since, updated, tags, anchors,"
        " origin, seen, commit_id, contested, raw FROM records"
    ),
    "edges": "SELECT layer, path, ref, source, predicate, target, status, confidence, raw FROM edges",
    "problems": "SELECT layer, path, code, message FROM problems",
    "tallies": "SELECT * FROM tallies WHERE number != 0",
    "names": "SELECT name, ref FROM names JOIN records ON records.id = record",
    "memos": "SELECT name, length(value) FROM memos",
    "words": "SELECT count(*) FROM words",
    "vectors": "SELECT record, space FROM vectors",
}


def state_of(space: str, process: int) -> str:
    """A digest of what a process left that ran in a space."""
    found = sha256()
    for line in sorted(_lines(space)):
        found.update(line.replace(str(process).encode(), b"<process>") + b"\n")
    return found.hexdigest()


def _lines(space: str) -> Iterator[bytes]:
    stamps: set[str] = set()
    indexes = []
    for folder, folders, files in os.walk(space):
        folders[:] = [name for name in folders if name != ".git"]
        stamps.add(str(os.lstat(folder).st_mtime_ns))
        shown = os.fsencode(os.path.relpath(folder, space))
        if os.path.basename(folder) == "index":
            indexes.append(folder)
            continue
        yield shown
        for name in files:
            path = os.path.join(folder, name)
            found = os.lstat(path)
            stamps.add(stamp_of(found))
            with open(path, "rb") as file:
                yield b"%s/%s %o %s" % (shown, os.fsencode(name), found.st_mode, file.read())
    for folder in indexes:
        yield from (row.encode() for row in _rows(folder, os.path.dirname(space), stamps))


def _rows(folder: str, room: str, stamps: set[str]) -> Iterator[str]:
    """What an index holds, read from a copy: whoever comes next finds it as it was left."""
    with tempfile.TemporaryDirectory(dir=room) as copied:
        away = shutil.copytree(folder, os.path.join(copied, "index"))
        yield f"{os.path.relpath(folder, room)}: {sorted(os.listdir(away))}"
        try:
            yield from _told(os.path.join(away, _INDEX), stamps)
        except apsw.Error as error:
            yield repr(error)


def _told(path: str, stamps: set[str]) -> Iterator[str]:
    if not os.path.exists(path):
        return
    connection = apsw.Connection(path)
    try:
        for table, query in _TABLES.items():
            yield from (f"{table} {row!r}" for row in connection.execute(query))
        for table in ("files", "folders"):
            for layer, name, stamp in connection.execute(f"SELECT * FROM {table}"):
                yield f"{table} {layer} {name} {stamps.issuperset(str(stamp).split('+'))}"
    finally:
        connection.close()
