"""All records and relations as one graph, in columns to keep it small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from quire.index.catalog import Index
from quire.model.records import Edge, Record
from quire.model.text import cut, one_line
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LAYER_NAMES
from quire.upkeep.views.items import is_current, stage_of

SAME_FILE = "same file"
_DEPTH = 2
_TITLE = 120
_NONE = -1


class GraphWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words that numbers of the columns stand for."""

    layer: tuple[str, ...]
    kind: tuple[str, ...]
    status: tuple[str, ...]
    stage: tuple[str, ...]
    verdict: tuple[str, ...]
    folder: tuple[str, ...]
    predicate: tuple[str, ...]


class GraphEdges(msgspec.Struct, frozen=True, kw_only=True):
    """Where each edge begins and ends, by the places of the records."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    predicate: tuple[int, ...]
    live: tuple[int, ...]


class GraphData(msgspec.Struct, frozen=True, kw_only=True):
    """Records and edges in columns; -1 where there is no stage or verdict."""

    words: GraphWords
    refs: tuple[str, ...]
    titles: tuple[str, ...]
    layer: tuple[int, ...]
    kind: tuple[int, ...]
    status: tuple[int, ...]
    stage: tuple[int, ...]
    verdict: tuple[int, ...]
    folder: tuple[int, ...]
    """The folder of the first anchor."""
    live: tuple[int, ...]
    edges: GraphEdges
    total: int
    """How many records there are; more than are given, where `cut`."""
    cut: bool


class _Column:
    """Words by number, in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers)) if word else _NONE

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.numbers)


def all_edges(index: Index) -> list[Edge]:
    """What every layer ties together."""
    return [edge for layer in LAYER_NAMES for edge in index.edges(layer)]


def network_of(records: Iterable[Record], verdicts: dict[str, Verdict], edges: Iterable[Edge], limit: int) -> GraphData:
    """The records by layer, kind and ref, at most so many, and the edges between those that are given."""
    ordered = sorted(records, key=lambda record: (LAYER_NAMES.index(record.layer), record.kind, record.ref))
    shown = ordered[:limit]
    layer, kind, status, stage, verdict, folder, predicate = (_Column() for _ in range(7))
    edges = list(edges)
    if len(edges) < sum(bool(record.anchors) for record in shown):
        edges += _same_file(shown)
    states = (verdicts.get(record.ref) for record in shown)
    return GraphData(
        refs=tuple(record.ref for record in shown),
        titles=tuple(cut(one_line(record.title) or one_line(record.text), _TITLE) for record in shown),
        layer=tuple(layer(record.layer) for record in shown),
        kind=tuple(kind(record.kind) for record in shown),
        status=tuple(status(record.status) for record in shown),
        stage=tuple(stage(stage_of(record)) for record in shown),
        verdict=tuple(verdict(found.verdict if found else "") for found in states),
        folder=tuple(folder(_folder(record)) for record in shown),
        live=tuple(int(is_current(record)) for record in shown),
        edges=_edges(shown, edges, predicate),
        # Last: the columns above fill them.
        words=GraphWords(
            layer=layer.words,
            kind=kind.words,
            status=status.words,
            stage=stage.words,
            verdict=verdict.words,
            folder=folder.words,
            predicate=predicate.words,
        ),
        total=len(ordered),
        cut=len(ordered) > len(shown),
    )


def _same_file(records: Iterable[Record]) -> list[Edge]:
    """Tie records that name the same file, each to the one before it."""
    last: dict[str, str] = {}
    found = []
    for record in records:
        for file in dict.fromkeys(anchor.partition("#")[0] for anchor in record.anchors if not anchor.endswith("/")):
            if file in last:
                found.append(
                    Edge(ref="", source=last[file], predicate=SAME_FILE, target=record.ref, status="active", path="")
                )
            last[file] = record.ref
    return found


def _folder(record: Record) -> str:
    """The first two folders of the first anchor; empty for what has none."""
    path = record.anchors[0].partition("#")[0] if record.anchors else ""
    return "/".join(path.split("/")[:-1][:_DEPTH]) or ("." if path else "")


def _edges(shown: Sequence[Record], edges: Iterable[Edge], predicate: _Column) -> GraphEdges:
    """Each tie once, by its ends and its predicate; it is live where one that says so is."""
    places = {record.ref: place for place, record in enumerate(shown)}
    found: dict[tuple[int, int, str], bool] = {}
    for edge in edges:
        source, target = places.get(edge.source), places.get(edge.target)
        if source is not None and target is not None:
            tie = (source, target, edge.predicate)
            found[tie] = found.get(tie, False) or edge.status == "active"
    ties = sorted(found)
    return GraphEdges(
        source=tuple(source for source, _, _ in ties),
        target=tuple(target for _, target, _ in ties),
        predicate=tuple(predicate(name) for _, _, name in ties),
        live=tuple(int(found[tie]) for tie in ties),
    )
