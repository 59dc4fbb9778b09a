"""What the page finds when somebody searches."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.page.page_view import PageArguments

if TYPE_CHECKING:
    from quire.retrieval.answer import Answer


class SearchPage(PageArguments, frozen=True):
    q: str = ""
    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    all: bool = False
    limit: int = 20


class PageFound(msgspec.Struct, frozen=True):
    answer: Answer
    milliseconds: int


def search_page(project: Project, given: SearchPage) -> PageFound:
    """The answer to a question, and how long it took."""
    begun = perf_counter()
    found = answer_question(
        project, given.q, layers=given.layers, kinds=given.kinds, everything=given.all, limit=given.limit
    )
    return PageFound(found, round((perf_counter() - begun) * 1000))
