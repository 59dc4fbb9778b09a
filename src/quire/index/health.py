"""Check whether the index in a folder is usable and how it was made; writes nothing."""

from __future__ import annotations

import os

import apsw
import msgspec

from quire.index.database import FILE, open_in_memory
from quire.model.errors import StorageFailed


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """The database that every index is made with."""

    sqlite: str
    binding: str
    fault: str
    """Why no index can be made with it; empty where it can."""


def engine() -> Engine:
    """The engine, tried out: full text and vectors."""
    fault = ""
    try:
        open_in_memory().close()
    except (apsw.Error, StorageFailed, ImportError) as error:
        fault = error.message if isinstance(error, StorageFailed) else str(error)
    return Engine(sqlite=apsw.sqlite_lib_version(), binding=apsw.apsw_version(), fault=fault)


def index_fault(folder: str) -> str | None:
    """What is wrong with the index in this folder; empty where nothing is, None where there is no index."""
    path = os.path.join(folder, FILE)
    if not os.path.lexists(path):
        return None
    if os.path.islink(folder) or os.path.islink(path) or not os.path.isfile(path):
        return "it is not a regular file"
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        return str(error)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    except (apsw.BusyError, apsw.LockedError, apsw.CantOpenError, apsw.ReadOnlyError):
        return ""  # someone writes to it, or the disk takes nothing: that says nothing of the index
    except apsw.Error as error:
        return str(error)
    finally:
        connection.close()
    return "" if found == ["ok"] else (found or ["it has no description"])[0]
