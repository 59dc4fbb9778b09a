"""Cache of derived values such as verdicts, and reads from one state of the index."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import apsw
import msgspec

_PATIENCE_MS = 200
"""A question does not wait longer for others that write."""


class VerdictCache:
    """Derived values stored in the index while it is being read."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._due: dict[str, bytes] = {}

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Answer all queries inside from one state of the index, also while others write."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            # After some errors the database has ended it already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        due, self._due = self._due, {}
        if due:
            self.note(due)

    def memos(self, names: Iterable[str]) -> dict[str, bytes]:
        """What was noted under these names."""
        wanted = list(names)
        listed = msgspec.json.encode(wanted).decode()
        rows = self._rows("SELECT name, value FROM memos WHERE name IN (SELECT value FROM json_each(?))", listed)
        return dict(rows) | {name: self._due[name] for name in wanted if name in self._due}

    def memos_from(self, beginning: str) -> Iterator[bytes]:
        """Everything that was noted under names that begin with this text."""
        rows = self._rows("SELECT name, value FROM memos WHERE substr(name, 1, ?) = ?", len(beginning), beginning)
        due = {name: value for name, value in self._due.items() if name.startswith(beginning)}
        return iter((dict(rows) | due).values())

    def note(self, memos: dict[str, bytes]) -> None:
        """Store derived values; where that fails, they are computed again next time."""
        if self._connection.in_transaction:
            self._due |= memos
            return
        with contextlib.suppress(apsw.Error), self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO memos VALUES (?, ?)", memos.items())

    def note_at_once(self, memos: dict[str, bytes]) -> None:
        """The same in the midst of a question, for what took long: it stays, also if the process is killed."""
        path = self._connection.filename if self._connection.in_transaction else ""
        if not path:
            self.note(memos)
            return
        with contextlib.suppress(apsw.Error):
            # The question goes on in the state that it began with: another connection writes.
            beside = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                beside.set_busy_timeout(_PATIENCE_MS)
                beside.pragma("trusted_schema", False)
                beside.pragma("synchronous", 1)
                VerdictCache(beside).note(memos)
            finally:
                beside.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction, begun as a writer: a reader that turned writer half-way could only be refused."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> Iterator[Any]:
        return iter(self._connection.execute(query, values))
