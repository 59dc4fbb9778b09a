"""Gather an export: records and relations, their order, their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from quire.files.git import Git
from quire.index.catalog import Index
from quire.layers.record_parts import item_number
from quire.layers.table import LAYERS, layer_named
from quire.model.records import Edge, Record
from quire.model.times import EPOCH, instant
from quire.model.verdicts import Verdict
from quire.model.vocabulary import FACT_KINDS
from quire.upkeep.verdicts import file_of
from quire.upkeep.views.items import is_current, is_judged

_EVENT = "event"
_TOLD_IN_ROW = ("checkpoint", _EVENT)
_BY_AGE = (*FACT_KINDS, *_TOLD_IN_ROW)


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into an export, in the order in which it is reported."""

    project: dict[str, str]
    exported_at: str
    records: tuple[Record, ...] = ()
    edges: tuple[Edge, ...] = ()
    private: frozenset[str] = frozenset()
    """Refs of the records among them that only this user has."""
    verdicts: dict[str, Verdict] = {}
    left_out: dict[str, int] = {}


def gather_holdings(
    index: Index,
    about: Holdings,
    layers: Sequence[str],
    is_private: Callable[[Record], bool],
    *,
    everything: bool,
    private: bool,
) -> Holdings:
    """What these layers hold; `is_private` says which records only this user has."""
    # Also of layers that are not asked for: nothing may name what is kept private.
    hidden = frozenset(
        record.ref
        for layer in LAYERS
        if layer.has_private
        for record in index.records(layer.name)
        if is_private(record)
    )
    records = [record for layer in LAYERS if layer.name in layers for record in index.records(layer.name)]
    edges = [edge for layer in LAYERS if layer.name in layers for edge in index.edges(layer.name)]
    return choose_holdings(about, records, edges, hidden, everything=everything, private=private)


def choose_holdings(
    about: Holdings,
    records: Iterable[Record],
    edges: Iterable[Edge],
    hidden: frozenset[str],
    *,
    everything: bool,
    private: bool,
) -> Holdings:
    """Of these records and edges, those that are asked for; `hidden` are the refs of what is private."""
    left_out = {"private": 0, "events": 0, "not_current": 0}
    kept: list[Record] = []
    for record in records:
        reason = _reason(record, hidden, everything=everything, private=private)
        if reason:
            left_out[reason] += 1
        else:
            kept.append(record)
    refs = {record.ref for record in kept}
    closed = frozenset() if private else hidden
    told = [
        edge
        for edge in edges
        if (everything or (edge.status == "active" and (edge.source in refs or edge.target in refs)))
        and edge.source not in closed
        and edge.target not in closed
    ]
    return msgspec.structs.replace(
        about,
        records=tuple(sorted(kept, key=_place)),
        edges=tuple(sorted(told, key=lambda edge: (edge.source, edge.predicate, edge.target, edge.ref))),
        private=hidden & refs,
        left_out=left_out,
    )


def judge_holdings(found: Holdings, root: str, git: Git) -> Holdings:
    """The same with the verdict on every node that is still said of the code."""
    from quire.anchors.verify import Verifier
    from quire.anchors.working_tree import read_working_tree

    # A dead feature's code is expected to be gone.
    nodes = [record for record in found.records if is_judged(record)]
    if not nodes:
        return found
    # Without an anchor there is nothing to look at.
    tree = read_working_tree(root, git) if any(record.anchors for record in nodes) else None
    return msgspec.structs.replace(found, verdicts=Verifier(root, git, file_of, tree).verify(nodes))


def _reason(record: Record, hidden: frozenset[str], *, everything: bool, private: bool) -> str:
    """Why a record stays out; empty where it does not."""
    if record.ref in hidden and layer_named(record.layer).has_private and not private:
        return "private"
    if everything:
        return ""
    if record.kind == _EVENT and record.layer == "journal":
        return "events"
    return "" if is_current(record) else "not_current"


def _place(record: Record) -> tuple[Any, ...]:
    """Where a record stands: by layer, kind and part, then by age where age says something, then by name."""
    number = next(place for place, layer in enumerate(LAYERS) if layer.name == record.layer)
    kinds, parts = LAYERS[number].kinds, LAYERS[number].sections
    part = record.stage or "idea" if record.kind == "feature" else record.section
    age = (instant(record.created_at) or EPOCH).timestamp() if record.kind in _BY_AGE else 0.0
    return (
        *(number, _at(kinds, record.kind), record.scope),
        *((_at(parts, part), part) if record.kind not in _TOLD_IN_ROW else (0, "")),
        *(item_number(record.raw) if record.kind == "bundle" else 0, age, record.ref, record.path, record.text),
    )


def _at(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
