"""Parse query strings into the arguments of views, and make JSON of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quire.model.errors import InputError
from quire.surfaces.web.prose import prose_of
from quire.verbs.page.undo import Acted


def read_arguments(takes: type[msgspec.Struct], query: Mapping[str, str]) -> msgspec.Struct:
    """What a query string asks for; lists are words with commas, and names that nobody knows are passed over."""
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(takes):
        text = query.get(field.name, "")
        if text:
            given[field.name] = [word for word in text.split(",") if word] if field.default == () else text
        elif field.required:
            raise InputError(f"`{field.name}` is missing.", hint="Name a record.", details={"field": field.name})
    try:
        return msgspec.convert(given, takes, strict=False)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`")
        raise InputError(
            f"`{name}` does not fit: {said}.", hint="Use the value as shown.", details={"field": name}
        ) from None


def fields_of(found: Any, *, has_body: bool = False) -> dict[str, Any]:
    """The JSON of an answer; beside a body in Markdown stands its tree."""
    fields: dict[str, Any] = msgspec.to_builtins(found)
    return {**fields, "prose": prose_of(found.body)} if has_body else fields


def acted_fields(done: Acted, undo: str) -> dict[str, Any]:
    """What was done, and by which name it can be undone."""
    names = ("action", "ref", "title", "message", "at")
    said = {name: getattr(done, name) for name in names}
    return {"undo": undo, **said, "warnings": msgspec.to_builtins(done.warnings)}
