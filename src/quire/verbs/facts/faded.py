"""Tell whether most facts have lost their confidence because nobody used them, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.layers.facts.layout import ACTIVE
from quire.model.records import Problem, Record

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project

_FEW = 10
"""Of fewer facts whoever works with them takes care one by one."""


def faded_facts(project: Project) -> list[Problem]:
    """Warn that most facts have faded, where it is so, and name the command that makes them count from today."""
    return project.with_index(lambda index: most_faded(index, project.weigh()))


def most_faded(index: Index, weigh: Callable[[Record], float]) -> list[Problem]:
    from quire.index.search import Filter
    from quire.retrieval.current_records import FADED

    counts = index.section_counts("facts")
    active = sum(number for (kind, _, status), number in counts.items() if kind == "fact" and status == ACTIVE)
    allowed = Filter(layers=("facts",), kinds=("fact",), statuses=(ACTIVE,))
    # Where the one in the middle, by age, still counts, there is no need to look at all of them.
    middle = index.page(allowed, offset=active // 2, limit=1) if active >= _FEW else []
    if not middle or weigh(middle[0]) >= FADED:
        return []
    faded = [record for record in index.page(allowed) if weigh(record) < FADED]
    if len(faded) < max(_FEW, active // 2):
        return []
    since = min(record.since for record in faded)[:10]
    message = (
        f"{len(faded):,} of {active:,} active facts have faded: they were not confirmed for a long time. "
        f"`memory facts refresh --since {since}` makes them count from today."
    )
    return [Problem(code="FactsFaded", severity="warning", message=message)]
