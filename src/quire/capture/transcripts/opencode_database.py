"""Sessions of opencode since 1.2: rows of one SQLite database, which is only read, also while the program writes it.

What is in the rows has the form of the files that older versions wrote. The newest of it lies in the log beside the
database as long as the program runs; it is read through the memory that the two share, and no file remains.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from quire.capture.transcripts.file_walk import FILES_MOST, file_at, pass_over
from quire.capture.transcripts.lenient_json import label, moment, object_in
from quire.capture.transcripts.lines import Tally
from quire.capture.transcripts.opencode import PIECE_BYTES, TYPE, is_name
from quire.capture.transcripts.places import belongs
from quire.capture.transcripts.types import FILE_BYTES, PATH_CHARS, SessionFile, Skipped

if TYPE_CHECKING:
    import apsw

_BUSY_MS = 500
_WORD_BYTES = 4 * PATH_CHARS
_NANOSECONDS = 1_000_000
"""In a millisecond, which is what the program counts in."""
_COLUMNS = {
    "session": {"id", "parent_id", "directory", "title", "time_created", "time_updated"},
    "message": {"id", "session_id", "time_created", "time_updated", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
# Views, virtual tables and columns that are computed are not among these: reading them would run what a file says.
_TABLES = """
SELECT held.name, field.name FROM sqlite_schema AS held JOIN pragma_table_info(held.name) AS field
WHERE held.type = 'table' AND held.rootpage > 0 AND held.name IN ('session', 'message', 'part')
"""
# Bytes, since nobody knows what another program called text; and of each only as much as is of use.
_ABOUT = """
SELECT substr(CAST(id AS BLOB), 1, :most), substr(CAST(parent_id AS BLOB), 1, :most),
       substr(CAST(directory AS BLOB), 1, :most), substr(CAST(title AS BLOB), 1, :most), time_created, time_updated
FROM session
"""
_ALL = f"{_ABOUT} ORDER BY id LIMIT :rows"
_ONE = f"{_ABOUT} WHERE id = :name"
_GROWN = """
SELECT (SELECT count(*) FROM message WHERE session_id = :name),
       (SELECT count(*) FROM part WHERE session_id = :name),
       (SELECT max(time_updated) FROM message WHERE session_id = :name)
"""
_MESSAGES = """
SELECT substr(CAST(id AS BLOB), 1, :most) FROM message WHERE session_id = :name ORDER BY time_created, id LIMIT :rows
"""
_MESSAGE = "SELECT CASE WHEN octet_length(data) <= :most THEN CAST(data AS BLOB) END FROM message WHERE id = :message"
_PARTS = """
SELECT substr(CAST(id AS BLOB), 1, :most), CASE WHEN octet_length(data) <= :most THEN CAST(data AS BLOB) END
FROM part WHERE message_id = :message AND session_id = :name ORDER BY id LIMIT :rows
"""
_REASONS = {
    "BusyError": "it is locked by another program",
    "CantOpenError": "it cannot be opened",
    "CorruptError": "it is damaged",
    "LockedError": "it is locked by another program",
    "NotADBError": "it is not a database",
    "PermissionsError": "permission was denied",
    "SQLError": "its tables are of a version that is not known",
}


class _Row(Struct, frozen=True, kw_only=True):
    """What a database tells about a session."""

    name: str
    parent: str
    folder: str
    title: str
    created: int
    updated: int


class _Unreadable(Exception):
    """The database is not read, and why."""


# -- finding --------------------------------------------------------------------------------------


def database_sessions(path: str, root: str, skipped: list[Skipped]) -> Iterator[SessionFile]:
    """The sessions of a database, the newest first, as the ids of this program sort."""
    if file_at(path, skipped) is None:
        return
    try:
        with _opened(path) as database:
            rows = [_row(found) for found in database.execute(_ALL, {"most": _WORD_BYTES, "rows": FILES_MOST + 1})]
            if len(rows) > FILES_MOST:
                pass_over(skipped, path, f"some of it: there are more than {FILES_MOST:,} sessions")
            for row in rows[:FILES_MOST]:
                if not is_name(row.name):
                    pass_over(skipped, path, "a row of it is not about a session")
                elif not (root and row.folder) or belongs(row.folder, root):
                    yield _session(database, path, row)
    except _Unreadable as error:
        pass_over(skipped, path, str(error))


def _row(found: tuple[Any, ...]) -> _Row:
    name, parent, folder, title = map(_text, found[:4])
    created, updated = map(_number, found[4:])
    return _Row(name=name, parent=parent, folder=folder, title=title, created=created, updated=updated)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _number(value: Any) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _session(database: apsw.Connection, path: str, row: _Row) -> SessionFile:
    # A part that grows is noticed by its message in the end, so the parts, which are many, are only counted.
    messages, parts, said = next(iter(database.execute(_GROWN, {"name": row.name})))
    changed = max(row.updated, _number(said)) * _NANOSECONDS
    return SessionFile(
        source_type=TYPE,
        external_id=row.name,
        path=path,
        started_at=moment(row.created),
        title=label(row.title),
        stamp=f"{changed}.{messages}.{parts}",
    )


# -- reading --------------------------------------------------------------------------------------


def database_records(session: SessionFile, tally: Tally) -> Iterator[dict[str, Any]]:
    """What is reported about a session, then each message with its parts, as they were said."""
    skipped: list[Skipped] = []
    if file_at(session.path, skipped) is None:
        raise OSError(errno.EINVAL, skipped[0].reason, session.path)
    name = session.external_id.partition("@")[0]
    try:
        with _opened(session.path) as database:
            yield _about(database, name, tally)
            # Each message is asked for alone: a reader that takes its time must not hold an old state of the database.
            given = {"most": _WORD_BYTES, "name": name, "rows": FILES_MOST}
            for said in [_text(found[0]) for found in database.execute(_MESSAGES, given)]:
                record = _message(database, name, said, tally) if is_name(said) else {}
                if record:
                    yield record
    except _Unreadable as error:
        raise OSError(errno.EIO, str(error), session.path) from None


def _about(database: apsw.Connection, name: str, tally: Tally) -> dict[str, Any]:
    found = list(database.execute(_ONE, {"most": _WORD_BYTES, "name": name}))
    if not found:
        return tally.piece(None)
    row = _row(found[0])
    about = {
        "id": name,
        "directory": row.folder,
        "title": row.title,
        "time": {"created": row.created, "updated": row.updated},
    }
    return tally.piece({**about, "parentID": row.parent} if row.parent else about)


def _message(database: apsw.Connection, name: str, said: str, tally: Tally) -> dict[str, Any]:
    """A message with its parts; nothing where it was taken back since, or cannot be read."""
    found = list(database.execute(_MESSAGE, {"most": PIECE_BYTES, "message": said}))
    message = tally.piece(object_in(found[0][0])) if found else {}
    if not message:
        return {}
    given = {"most": PIECE_BYTES, "message": said, "name": name, "rows": FILES_MOST}
    parts = []
    for part, data in database.execute(_PARTS, given):
        piece = tally.piece(object_in(data))
        if piece:
            parts.append({**piece, "id": _text(part), "messageID": said, "sessionID": name})
    return {"message": {**message, "id": said, "sessionID": name}, "parts": parts}


# -- the database ---------------------------------------------------------------------------------


@contextmanager
def _opened(path: str) -> Iterator[apsw.Connection]:
    """A database with the tables that are read. Whatever is wrong with it is reported as one reason."""
    import apsw

    connection = None
    try:
        connection = _connected(path)
        yield connection
    except apsw.Error as error:
        raise _Unreadable(_REASONS.get(type(error).__name__, "it cannot be read")) from None
    except (MemoryError, ValueError):
        raise _Unreadable("it cannot be read") from None
    finally:
        if connection is not None:
            connection.close()


def _connected(path: str) -> apsw.Connection:
    import apsw

    if _is_beside(path, "-wal") and _is_beside(path, "-shm"):
        try:
            # With its shared memory, in which the program notes what is in the log; neither is written to.
            return _looked_at(path, "mode=ro&readonly_shm=1")
        except (apsw.CantOpenError, apsw.IOError, apsw.PermissionsError, apsw.ReadOnlyError):
            pass
    # Asked for in any other way, SQLite would make the two files that it misses.
    return _looked_at(path, "mode=ro&immutable=1")


def _is_beside(path: str, suffix: str) -> bool:
    try:
        found = os.lstat(path + suffix)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= FILE_BYTES


def _looked_at(path: str, options: str) -> apsw.Connection:
    from urllib.parse import quote

    import apsw

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(f"file:{quote(os.fsencode(path))}?{options}", flags=flags)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        held: dict[str, set[str]] = {}
        for table, column in connection.execute(_TABLES):
            held.setdefault(table, set()).add(column)
        if not all(columns <= held.get(table, set()) for table, columns in _COLUMNS.items()):
            raise _Unreadable(_REASONS["SQLError"])
    except BaseException:
        connection.close()
        raise
    return connection
