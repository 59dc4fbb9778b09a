"""Write records into the index and remove them, many rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import apsw

from quire.index.schema import RECORD_COLUMNS, row_of_record
from quire.index.text_analysis import passages, searched_fields
from quire.index.vector_table import embedder
from quire.model.records import Edge, Record, RecordSummary
from quire.model.sources import Item
from quire.model.times import EPOCH, instant

_BATCH = 256
_TALLIED = "kind, status, stage, section, scope"
_INSERTS = {
    "records": f"INSERT INTO records (id, updated, {RECORD_COLUMNS}) VALUES ({','.join('?' * 24)})",
    "words": "INSERT INTO words (rowid, title, names, body) VALUES (?,?,?,?)",
    "vectors": "INSERT INTO vectors VALUES (?,?,?,?)",
    "signs": "INSERT INTO signs VALUES (?,?)",
    "spaces": "INSERT OR IGNORE INTO spaces VALUES (?,'')",
    "names": "INSERT OR IGNORE INTO names VALUES (?,?)",
    "edges": "INSERT INTO edges VALUES (NULL,?,?,?,?,?,?,?,?,?)",
    "problems": "INSERT INTO problems VALUES (?,?,?,?)",
    "tallies": "INSERT INTO tallies VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET number = number + excluded.number",
    "summaries": "INSERT OR REPLACE INTO summaries VALUES (?,?)",
}


class Writer:
    """Writes one layer's records within a transaction of the caller's; `finish` leaves nothing behind."""

    def __init__(self, connection: apsw.Connection, layer: str) -> None:
        self._connection = connection
        self._layer = layer
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INSERTS}
        self._tally: Counter[tuple[str, ...]] = Counter()
        self._waiting: dict[str, tuple[int, str, bytes, list[str]]] = {}
        self._record = self._last("records")
        self._vector = self._last("vectors")

    def forget(self, path: str) -> None:
        """Everything that came from a file; what is then added again as it was, stays."""
        where = "layer = ? AND path = ?"
        source = (self._layer, path)
        found = f"SELECT id, ref, scope, raw, {_TALLIED} FROM records WHERE {where}"
        for record, ref, scope, raw, *tallied in list(self._connection.execute(found, source)):
            if raw:
                # A layer that says how it holds a record lets us see that nothing changed: most of a large file.
                self._waiting[ref] = (record, scope, raw, tallied)
            else:
                self._forget_record(record, *tallied)
        for table in ("files", "edges", "problems"):
            self._connection.execute(f"DELETE FROM {table} WHERE {where}", source)

    def _stays(self, item: Record) -> bool:
        """Whether a record is in the index as it is; one that changed goes."""
        known = self._waiting.pop(item.ref, None)
        if known is None:
            return False
        record, scope, raw, tallied = known
        if (scope, raw) == (item.scope, item.raw):
            return True
        self._forget_record(record, *tallied)
        return False

    def forget_refs(self, refs: Iterable[str]) -> None:
        """These records and edges."""
        where = "layer = ? AND ref = ?"
        for ref in refs:
            source = (self._layer, ref)
            for found in list(self._connection.execute(f"SELECT id, {_TALLIED} FROM records WHERE {where}", source)):
                self._forget_record(*found)
            self._connection.execute(f"DELETE FROM edges WHERE {where}", source)

    def _forget_record(self, record: int, *tallied: str) -> None:
        self._tally[tallied] -= 1
        self._connection.execute("DELETE FROM words WHERE rowid = ?", (record,))
        vectors = "SELECT id FROM vectors WHERE record = ?"
        self._connection.execute(f"DELETE FROM signs WHERE id IN ({vectors})", (record,))
        self._connection.execute("DELETE FROM vectors WHERE record = ?", (record,))
        self._connection.execute("DELETE FROM names WHERE record = ?", (record,))
        self._connection.execute("DELETE FROM records WHERE id = ?", (record,))

    def add(self, item: Item) -> None:
        if isinstance(item, Record):
            if not self._stays(item):
                self._add_record(item)
        elif isinstance(item, Edge):
            ends = (item.source, item.predicate, item.target, item.status, item.confidence, item.raw)
            self._rows["edges"].append((self._layer, item.path, item.ref, *ends))
        elif isinstance(item, RecordSummary):
            self._rows["summaries"].append((self._layer, item.value))
        else:
            self._rows["problems"].append((self._layer, item.path, item.code, item.message))
        if len(self._rows["records"]) + len(self._rows["edges"]) >= _BATCH:
            self._flush()

    def finish(self) -> None:
        for record, _, _, tallied in self._waiting.values():
            self._forget_record(record, *tallied)
        self._waiting.clear()
        self._rows["tallies"] = [(self._layer, *key, number) for key, number in self._tally.items() if number]
        self._rows["spaces"] = [(embedder().revision,)]
        self._flush()

    def _add_record(self, item: Record) -> None:
        self._record += 1
        self._tally[item.kind, item.status, item.stage or "", item.section, item.scope] += 1
        self._rows["names"] += [(name, self._record) for name in item.names]
        updated = (instant(item.updated_at) or EPOCH).timestamp()
        self._rows["records"].append((self._record, updated, *row_of_record(item)))
        self._rows["words"].append((self._record, *searched_fields(item)))
        for passage in passages(item):
            vector = embedder().embed(passage)
            if vector is not None:
                self._vector += 1
                self._rows["vectors"].append((self._vector, self._record, embedder().revision, vector.values))
                self._rows["signs"].append((self._vector, vector.bits))

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            if rows:
                self._connection.executemany(_INSERTS[table], rows)
                rows.clear()

    def _last(self, table: str) -> int:
        return int(self._connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").get)
