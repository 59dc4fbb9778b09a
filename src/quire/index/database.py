"""Opening the index: as it is where it is ours and whole, made anew in every other case."""

from __future__ import annotations

import contextlib
import os

import apsw

from quire.files import disk, ensure_folder
from quire.index.schema import APPLICATION_ID, TABLES, VERSION

FILE = "quire.sqlite"
_BUSY_MS = 10_000

__all__ = ["FILE", "discard_database", "open_database"]


def open_database(folder: str) -> apsw.Connection:
    """The index in this folder. On a disk that cannot be written to, one in memory that answers the same."""
    path = os.path.join(folder, FILE)
    if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
        return _in_memory()  # nothing is written through a link that a repository may have brought
    try:
        ensure_folder(folder)
        return _ready(path)
    except (apsw.NotADBError, apsw.CorruptError, _Foreign):
        discard_database(folder)
    except (apsw.Error, OSError):
        return _in_memory()
    try:
        return _ready(path)
    except (apsw.Error, OSError, _Foreign):
        return _in_memory()


class _Foreign(Exception):
    """The file belongs to another program or another version of this one."""


def _ready(path: str) -> apsw.Connection:
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        raise _Foreign
    connection = apsw.Connection(path)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("synchronous", 1)
        if connection.pragma("user_version") == 0 and connection.pragma("application_id") == 0:
            connection.pragma("journal_mode", "wal")
            _make(connection)
        if (connection.pragma("application_id"), connection.pragma("user_version")) != (APPLICATION_ID, VERSION):
            raise _Foreign
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made the tables while we waited for the right to.
        if connection.pragma("user_version") == 0:
            if connection.execute("SELECT count(*) FROM sqlite_schema").get:
                raise _Foreign
            connection.execute(TABLES)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _in_memory() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    _make(connection)
    return connection


def discard_database(folder: str) -> None:
    """Throw the index away, whatever lies in its place."""
    path = os.path.join(folder, FILE)
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            if os.path.isdir(path + suffix) and not os.path.islink(path + suffix):
                _discard_folder(path + suffix)
            else:
                disk.remove(path + suffix)


def _discard_folder(path: str) -> None:
    for folder, _, files in os.walk(path, topdown=False):
        for name in files:
            disk.remove(os.path.join(folder, name))
        disk.remove_folder(folder)
