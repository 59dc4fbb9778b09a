"""The board: features by stage, and decisions, gotchas and questions, newest first."""

from __future__ import annotations

import msgspec

from quire.index.catalog import Index
from quire.model.records import Record
from quire.model.vocabulary import STAGES
from quire.upkeep.views.items import RecordItem, item_of, items_of
from quire.upkeep.views.record_list import Verify, judged, newest_first

_Part = tuple[int, list[Record]]


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """How many there are, and the first of them."""

    total: int
    items: tuple[RecordItem, ...]


class StageShelf(msgspec.Struct, frozen=True, kw_only=True):
    """The features of one stage."""

    stage: str
    total: int
    items: tuple[RecordItem, ...]


class ProductMap(msgspec.Struct, frozen=True, kw_only=True):
    """The product at a glance."""

    project: RecordItem | None
    stages: tuple[StageShelf, ...]
    decisions: Shelf
    gotchas: Shelf
    questions: Shelf
    """Open ones first, then those that are closed."""


def product_board(index: Index, verify: Verify, limit: int) -> ProductMap:
    """What is current, at most so many on each shelf; only what is shown is held against the code."""
    counts = index.counts("graph")

    def part(kind: str, status: str, *stages: str, room: int = limit) -> _Part:
        total = sum(
            number
            for (held, state, stage), number in counts.items()
            if (held, state) == (kind, status) and (not stages or stage in stages)
        )
        found: list[Record] = []
        for stage in stages or (None,):
            found += index.records("graph", kind, (status,), stage, room) if room > 0 else []
        # Of a feature without a stage, and of one that says it is an idea, the shelf is the same.
        return total, (found if len(stages) < 2 else newest_first(found))[:room]

    features = {stage: part("feature", "active", *((stage, "") if stage == "idea" else (stage,))) for stage in STAGES}
    decisions, gotchas = part("decision", "active"), part("gotcha", "active")
    opened = part("question", "open")
    closed = part("question", "closed", room=limit - len(opened[1]))
    questions = (opened[0] + closed[0], [*opened[1], *closed[1]])
    shelves = (*features.values(), decisions, gotchas, questions)
    verdicts = judged([record for _, records in shelves for record in records], verify)

    def shelf(found: _Part) -> Shelf:
        return Shelf(total=found[0], items=items_of(found[1], verdicts))

    projects = index.records("graph", "project", ("active",), limit=1)
    return ProductMap(
        project=item_of(projects[0]) if projects else None,
        stages=tuple(
            StageShelf(stage=stage, total=found[0], items=items_of(found[1], verdicts))
            for stage, found in features.items()
        ),
        decisions=shelf(decisions),
        gotchas=shelf(gotchas),
        questions=shelf(questions),
    )
