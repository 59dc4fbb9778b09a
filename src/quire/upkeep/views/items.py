"""Turn a record into a list item, the same in every view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from quire.model.records import Record
from quire.model.text import cut, one_line, without_marks
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LIVE_STATUSES, LayerName

_EXCERPT = 240
_TABLE = r"(?m)^\s*\|.*\|\s*$"
"""A row of a table: in one line it is no sentence."""
_READ = 800


class RecordItem(msgspec.Struct, frozen=True, kw_only=True):
    """One record in a list."""

    ref: str
    layer: LayerName
    kind: str
    title: str
    status: str
    live: bool
    stage: str | None
    section: str
    verdict: str | None
    because: str
    created_at: str
    updated_at: str
    tags: tuple[str, ...]
    excerpt: str


def item_of(record: Record, verdict: Verdict | None = None) -> RecordItem:
    title = one_line(record.title) or one_line(record.text)
    return RecordItem(
        ref=record.ref,
        layer=record.layer,
        kind=record.kind,
        title=cut(title, _EXCERPT),
        status=record.status,
        live=is_current(record),
        stage=stage_of(record) or None,
        section=record.section,
        verdict=verdict.verdict if verdict else None,
        because=verdict.because if verdict else "",
        created_at=record.created_at,
        updated_at=record.updated_at,
        tags=record.tags,
        excerpt=_excerpt(_without_heading(record.text, title)[:_READ]),
    )


def _excerpt(text: str) -> str:
    return cut(one_line(without_marks(re.sub(_TABLE, "", text))), _EXCERPT)


def _without_heading(text: str, title: str) -> str:
    """A text without a heading that is only the title again, which stands beside it."""
    first, _, rest = text.partition("\n")
    return rest if rest.strip() and first.startswith("#") and one_line(first.lstrip("#")) == title else text


def items_of(records: Iterable[Record], verdicts: Mapping[str, Verdict]) -> tuple[RecordItem, ...]:
    return tuple(item_of(record, verdicts.get(record.ref)) for record in records)


def stage_of(record: Record) -> str:
    """How far a feature is: one that does not say is an idea. Of anything else nothing."""
    return record.stage or ("idea" if record.kind == "feature" else "")


def is_current(record: Record) -> bool:
    """Whether a record is said of the product as it is now: neither retired, nor of a feature that was given up."""
    return record.status in LIVE_STATUSES and record.stage != "dead"


def is_judged(record: Record) -> bool:
    """Whether a record is held against the code."""
    return record.layer == "graph" and record.kind != "project" and is_current(record)
