"""Fields of what people look at: the same words as in `viewer/src/data/types.ts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.fields.envelope import all_fields, problem_fields
from quire.fields.graph import answer_fields

if TYPE_CHECKING:
    from quire.retrieval.answer import Answer
    from quire.verbs.page.undo import Acted


def viewed_fields(found: Any) -> dict[str, Any]:
    """What a `view_…` of the project gave."""
    return all_fields(found)


def searched_fields(found: Answer, *, milliseconds: int) -> dict[str, Any]:
    """The answer to a question with the parts of each score, each hit in the form of a list."""
    from quire.model.text import cut, one_line

    fields = answer_fields(found, explain=True)
    for hit, told in zip(found.hits, fields["results"], strict=True):
        record = hit.record
        told["live"] = record.status in ("active", "open") and record.stage != "dead"
        told["section"] = record.section
        told["because"] = hit.verdict.because if hit.verdict else ""
        told["created_at"] = record.created_at
        told["excerpt"] = cut(one_line(told.pop("text")), 600)
        told["title"] = one_line(record.title) or cut(told["excerpt"], 120)
    return {**fields, "milliseconds": milliseconds, "words_only": False}


def acted_fields(done: Acted, undo: str) -> dict[str, Any]:
    """What was done, and by which name it can be undone."""
    return {
        "undo": undo,
        "action": done.action,
        "ref": done.ref,
        "title": done.title,
        "message": done.message,
        "at": done.at,
        "warnings": [problem_fields(item) for item in done.warnings],
    }
