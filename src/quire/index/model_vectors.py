"""Replace vectors of the static table by those of the sentence model, in batches that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import apsw
import msgspec

from quire.index.text_analysis import passages
from quire.index.vector_table import embedder
from quire.model.errors import LockBusy, StorageFailed
from quire.model.records import Record

if TYPE_CHECKING:
    from quire.index.sentence_model import SentenceModel

_RECORDS_AT_ONCE = 64
_AGAIN = "Fix the cause, then run the command again: it continues."

Told = Callable[[int, int], None]


class _Passage(msgspec.Struct, frozen=True):
    """A passage whose vector is still another's."""

    id: int
    vector: bytes
    text: str


def store_model_vectors(
    connection: apsw.Connection,
    teacher: SentenceModel,
    folder: str,
    by_ids: Callable[[list[int]], dict[int, Record]],
    progress: Told | None,
) -> None:
    """Replace every vector that is not the teacher's; the folder is noted beside the name of its space.

    The network runs outside of transactions, so that nobody waits for it. A passage that was changed meanwhile keeps
    the vector that it was given then; the next run finds it.
    """
    if not connection.db_filename("main"):
        raise StorageFailed(
            "The index is not writable, so the vectors would be lost.",
            hint="The folder .memory/index has to be a real one on a disk that can be written to.",
        )
    left = "SELECT record, count(*) FROM vectors WHERE space != ? GROUP BY record ORDER BY record"
    try:
        note = folder.encode("utf-8", "replace").decode()
        connection.execute("REPLACE INTO spaces VALUES (?, ?)", (teacher.space, note))
        total = int(connection.execute("SELECT count(*) FROM vectors").get)
        found = list(connection.execute(left, (teacher.space,)))
        done = total - sum(number for _, number in found)
        for at in range(0, len(found), _RECORDS_AT_ONCE):
            part = dict(found[at : at + _RECORDS_AT_ONCE])
            _teach(connection, teacher, by_ids(list(part)))
            done += sum(part.values())
            if progress is not None:
                progress(done, total)
    except (apsw.BusyError, apsw.LockedError) as error:
        raise LockBusy("Another process is writing to the index.", hint=_AGAIN) from error
    except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError) as error:
        raise StorageFailed(f"The index could not be written to: {error}.", hint=_AGAIN) from error


def _teach(connection: apsw.Connection, teacher: SentenceModel, records: dict[int, Record]) -> None:
    """The vectors of these records, in one transaction."""
    untaught = [
        passage
        for number, record in records.items()
        for passage in _untaught(connection, teacher.space, number, record)
    ]
    vectors = teacher.embed([passage.text for passage in untaught])
    connection.execute("BEGIN IMMEDIATE")
    try:
        for passage, vector in zip(untaught, vectors, strict=True):
            # Only where the old vector is still there: a number may belong to another passage now.
            connection.execute(
                "UPDATE vectors SET space = ?, vector = ? WHERE id = ? AND vector = ?",
                (teacher.space, vector.values, passage.id, passage.vector),
            )
            if connection.changes():
                connection.execute("UPDATE signs SET bits = ? WHERE id = ?", (vector.bits, passage.id))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _untaught(connection: apsw.Connection, space: str, number: int, record: Record) -> list[_Passage]:
    """The passages of a record that have another's vector; a passage without known words has none."""
    rows = list(connection.execute("SELECT id, space, vector FROM vectors WHERE record = ? ORDER BY id", (number,)))
    texts = [text for text in passages(record) if embedder().embed(text) is not None]
    if len(rows) != len(texts):
        return []  # changed between two looks
    pairs = zip(rows, texts, strict=True)
    return [_Passage(row, vector, text) for (row, held, vector), text in pairs if held != space]
