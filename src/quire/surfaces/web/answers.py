"""Arguments of the page's questions out of the address, and the JSON of what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.errors import InputError
from quire.model.text import cut, one_line
from quire.surfaces.web.prose import prose_of
from quire.upkeep.views.record import RecordDetail
from quire.verbs.page.search import PageFound

if TYPE_CHECKING:
    from quire.verbs.page.page_view import PageArguments
    from quire.verbs.page.undo import Acted


def read_arguments(takes: type[PageArguments], query: Mapping[str, str]) -> PageArguments:
    """What a query string asks for; lists are words with commas, and names that nobody knows are passed over."""
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(takes):
        text = query.get(field.name, "")
        if text:
            given[field.name] = [word for word in text.split(",") if word] if field.default == () else text
        elif field.required:
            raise InputError(f"`{field.name}` is missing.", hint="Say which record.", details={"field": field.name})
    try:
        return msgspec.convert(given, takes, strict=False)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$.")
        raise InputError(
            f"`{place.rstrip('`')}` does not fit: {said}.", hint="The page asks in the right form."
        ) from None


def fields_of(found: Any) -> dict[str, Any]:
    """The JSON of an answer; a record's text is a tree beside it."""
    if isinstance(found, PageFound):
        return _searched(found)
    fields: dict[str, Any] = msgspec.to_builtins(found)
    return {**fields, "prose": prose_of(found.body)} if isinstance(found, RecordDetail) else fields


def _searched(found: PageFound) -> dict[str, Any]:
    """The answer to a question with the parts of each score, each hit in the form of a list."""
    from quire.verbs.ask.query import answered
    from quire.verbs.plain import plain

    fields: dict[str, Any] = plain(answered(found.answer, explain=True))
    for hit, shown in zip(found.answer.hits, fields["results"], strict=True):
        record = hit.record
        shown["live"] = record.status in ("active", "open") and record.stage != "dead"
        shown["section"] = record.section
        shown["because"] = hit.verdict.because if hit.verdict else ""
        shown["created_at"] = record.created_at
        shown["excerpt"] = cut(one_line(shown.pop("text")), 600)
        shown["title"] = one_line(record.title) or cut(shown["excerpt"], 120)
    return {**fields, "milliseconds": found.milliseconds, "words_only": False}


def acted_fields(done: Acted, undo: str) -> dict[str, Any]:
    """What was done, and by which name it can be undone."""
    names = ("action", "ref", "title", "message", "at")
    said = {name: getattr(done, name) for name in names}
    return {"undo": undo, **said, "warnings": msgspec.to_builtins(done.warnings)}
