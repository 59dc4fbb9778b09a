"""What the page finds when somebody searches."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.query import answered
from quire.verbs.page.page_view import PageArguments
from quire.verbs.plain import plain


class SearchPage(PageArguments, frozen=True):
    q: str = ""
    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    all: bool = False
    limit: int = 20


def search_page(project: Project, given: SearchPage) -> dict[str, Any]:
    """The answer to a question with the parts of each score, each hit in the form of a list, and how long it took."""
    begun = perf_counter()
    found = answer_question(
        project, given.q, layers=given.layers, kinds=given.kinds, everything=given.all, limit=given.limit
    )
    milliseconds = round((perf_counter() - begun) * 1000)
    fields: dict[str, Any] = plain(answered(found, explain=True))
    for hit, shown in zip(found.hits, fields["results"], strict=True):
        record = hit.record
        shown["live"] = record.status in ("active", "open") and record.stage != "dead"
        shown["section"] = record.section
        shown["because"] = hit.verdict.because if hit.verdict else ""
        shown["created_at"] = record.created_at
        shown["excerpt"] = cut(one_line(shown.pop("text")), 600)
        shown["title"] = one_line(record.title) or cut(shown["excerpt"], 120)
    return {**fields, "milliseconds": milliseconds, "words_only": False}
