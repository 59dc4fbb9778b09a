"""What a quality benchmark is made of: records, questions about them, and an index built from nothing but those."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator

import msgspec

from quire.index.catalog import Index
from quire.index.open_index import open_index
from quire.model.records import Edge, Record
from quire.model.vocabulary import LayerName

__all__ = ["Corpus", "Question", "plain_record", "searchable"]


class Question(msgspec.Struct, frozen=True):
    """A question and the refs of the records that answer it."""

    text: str
    relevant: frozenset[str]


class Corpus(msgspec.Struct, frozen=True):
    """Records that share one index, and what is asked of them."""

    name: str
    records: list[Record]
    questions: list[Question]


def plain_record(ref: str, text: str) -> Record:
    """A text that is neither titled nor tagged, as the outside sets have them."""
    return Record(ref=ref, layer="graph", kind="gotcha", title="", text=text, status="active", path=ref)


@contextlib.contextmanager
def searchable(records: Iterable[Record], edges: Iterable[Edge] = ()) -> Iterator[Index]:
    """A real index over these, in a folder that is gone afterwards."""
    items: list[Record | Edge] = [*records, *edges]
    sources = [_Listed(layer, items) for layer in sorted({item.layer for item in items if isinstance(item, Record)})]
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        index = open_index(folder, sources or [_Listed("graph", [])])
        try:
            yield index
        finally:
            index.close()


class _Listed:
    """A layer whose files are a list. Edges belong to the graph."""

    def __init__(self, layer: LayerName, items: list[Record | Edge]) -> None:
        self.layer = layer
        mine = [item for item in items if (item.layer if isinstance(item, Record) else "graph") == layer]
        self._items = {item.path: item for item in mine}
        if len(self._items) != len(mine):
            raise ValueError("two items share a path")

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return dict.fromkeys(self._items if paths is None else paths, "1")

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge]:
        return (self._items[path] for path in paths)
