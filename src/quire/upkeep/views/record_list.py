"""A filtered, paged list of records with counts for each filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from quire.index.catalog import Index
from quire.layers.table import LAYERS, layer_named
from quire.model.records import Record
from quire.model.times import EPOCH, instant
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LAYER_NAMES, LayerName
from quire.upkeep.views.items import RecordItem, is_current, is_judged, items_of, stage_of

FACETS = ("layer", "kind", "status", "stage", "section", "verdict")

Verify = Callable[[Sequence[Record]], dict[str, Verdict]]
"""What gives verdicts: the caller knows how."""


class RecordFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are asked for; an empty part lets all through."""

    layer: str = ""
    kind: str = ""
    status: str = ""
    stage: str = ""
    section: str = ""
    verdict: str = ""
    live: bool | None = None
    text: str = ""
    """Somewhere in the title, the ref, the text or a tag, whatever its case."""


class RecordPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the records that were asked for, and how many there are of each value within the other choices."""

    total: int
    offset: int
    items: tuple[RecordItem, ...]
    facets: dict[str, dict[str, int]]


def all_records(
    index: Index, layers: Iterable[LayerName] = LAYER_NAMES, hidden: Collection[str] = frozenset()
) -> list[Record]:
    """What these layers hold, layer by layer, the newest of each first; of several with one ref, one.

    `hidden` are refs of what only this user has, which are left out.
    """
    found: dict[str, Record] = {}
    for layer in layers:
        for record in index.records(layer):
            if record.ref not in hidden or not layer_named(layer).has_private:
                found.setdefault(record.ref, record)
    return list(found.values())


def records_and_verdicts(
    index: Index,
    verify: Verify,
    layers: Iterable[LayerName] = LAYER_NAMES,
    hidden: Collection[str] = frozenset(),
) -> tuple[list[Record], dict[str, Verdict]]:
    """What these layers hold, and the verdict of all that is held against the code."""
    records = all_records(index, layers, hidden)
    return records, judged(records, verify)


def judged(records: Iterable[Record], verify: Verify) -> dict[str, Verdict]:
    """The verdicts of those that have one."""
    nodes = [record for record in records if is_judged(record)]
    return verify(nodes) if nodes else {}


def hidden_refs(index: Index, *, private: bool) -> frozenset[str]:
    """Refs of what only this user has, where that is not to be shown."""
    if private:
        return frozenset()
    layers = [layer for layer in LAYERS if layer.has_private]
    return frozenset(record.ref for layer in layers for record in index.records(layer.name) if layer.is_private(record))


def newest_first(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: (-(instant(record.updated_at) or EPOCH).timestamp(), record.ref))


def page_of_records(
    records: Iterable[Record], verdicts: dict[str, Verdict], choice: RecordFilter, offset: int, limit: int
) -> RecordPage:
    """Those that were asked for, the newest first."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    wanted = [getattr(choice, name) for name in FACETS]
    text = choice.text.casefold()
    chosen = []
    for record in records:
        if (choice.live is not None and is_current(record) is not choice.live) or (text and not _says(record, text)):
            continue
        values = _values(record, verdicts.get(record.ref))
        missed = [name for name, value, want in zip(FACETS, values, wanted, strict=True) if want and value != want]
        if not missed:
            chosen.append(record)
        if len(missed) <= 1:
            # A value is counted as if it were the one that is asked for: one that misses only there counts there.
            for name, value in zip(FACETS, values, strict=True):
                if value and (not missed or missed[0] == name):
                    counts[name][value] += 1
    page = newest_first(chosen)[offset : offset + limit]
    return RecordPage(
        total=len(chosen),
        offset=offset,
        items=items_of(page, verdicts),
        facets={name: dict(sorted(found.items())) for name, found in counts.items()},
    )


def _values(record: Record, verdict: Verdict | None) -> tuple[str, ...]:
    """In the order of `FACETS`; a feature without a stage is an idea."""
    state = verdict.verdict if verdict else ""
    return record.layer, record.kind, record.status, stage_of(record), record.section, state


def _says(record: Record, text: str) -> bool:
    return (
        text in record.title.casefold()
        or text in record.ref.casefold()
        or text in record.text.casefold()
        or any(text in tag.casefold() for tag in record.tags)
    )
