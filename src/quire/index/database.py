"""Open the SQLite file of the index; create it anew if it is missing, foreign or damaged."""

from __future__ import annotations

import contextlib
import os
from importlib.machinery import PathFinder

import apsw

from quire.files import disk
from quire.files.durable_write import ensure_folder
from quire.index.schema import APPLICATION_ID, TABLES, VERSION
from quire.model.errors import StorageFailed

FILE = "quire.sqlite"
_BUSY_MS = 10_000


def open_database(folder: str) -> apsw.Connection:
    """The index in this folder. On a disk that cannot be written to, one in memory that answers the same."""
    path = os.path.join(folder, FILE)
    if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
        return open_in_memory()  # nothing is written through a link that a repository may have brought
    try:
        ensure_folder(folder)
        return _ready(path)
    except (apsw.NotADBError, apsw.CorruptError, _Foreign):
        discard_database(folder)
    except (apsw.Error, OSError):
        return open_in_memory()
    try:
        return _ready(path)
    except (apsw.Error, OSError, _Foreign):
        return open_in_memory()


class _Foreign(Exception):
    """The file belongs to another program, another version of this one, or another place."""


def _extended(connection: apsw.Connection) -> apsw.Connection:
    """With the functions that compare vectors."""
    # The package's own loader would import the other SQLite binding; all we need of it is where the library lies.
    found = PathFinder.find_spec("sqlite_vec")
    if found is None or found.origin is None:
        raise ImportError("sqlite-vec is not installed")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(os.path.join(os.path.dirname(found.origin), "vec0"))
        connection.enable_load_extension(False)
    except apsw.Error as error:
        connection.close()
        raise StorageFailed(
            f"The functions that compare vectors could not be loaded: {error}.",
            hint="Run the command again. If that does not help, reinstall quire-memory.",
        ) from error
    return connection


def _ready(path: str) -> apsw.Connection:
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        raise _Foreign
    connection = _extended(apsw.Connection(path))
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("trusted_schema", False)
        connection.pragma("synchronous", 1)
        if connection.pragma("user_version") == 0 and connection.pragma("application_id") == 0:
            connection.pragma("journal_mode", "wal")
            _make(connection, path)
        if (connection.pragma("application_id"), connection.pragma("user_version")) != (APPLICATION_ID, VERSION):
            raise _Foreign
        if list(connection.execute("SELECT device, inode FROM home")) != [_home(path)]:
            raise _Foreign
    except BaseException:
        connection.close()
        raise
    return connection


def _home(path: str) -> tuple[int, int]:
    """Which file this is. A copy, also one that a repository brought along, is another file and is not trusted."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _make(connection: apsw.Connection, path: str | None = None) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made the tables while we waited for the right to.
        if connection.pragma("user_version") == 0:
            if connection.execute("SELECT count(*) FROM sqlite_schema").get:
                raise _Foreign
            connection.execute(TABLES)
            if path is not None:
                connection.execute("INSERT INTO home VALUES (?, ?)", _home(path))
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def open_in_memory() -> apsw.Connection:
    """An index that answers like any other and leaves nothing behind."""
    connection = _extended(apsw.Connection(":memory:"))
    _make(connection)
    return connection


def discard_database(folder: str) -> None:
    """Delete the index files, whatever they are."""
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
