"""List the entries that differ between two versions of a document."""

from __future__ import annotations

import contextlib
from typing import Any

from quire.layers.fragment_records import read_changes
from quire.layers.profile.document import parse_document
from quire.layers.profile.entries import name_of, told
from quire.layers.profile.layout import FILE, FOLDER
from quire.model.errors import QuireError


def changed_entries(before: bytes | None, after: bytes | None) -> list[str]:
    """Names of entries that are new, gone or say something else; a version that cannot be read holds none."""
    old, new = (_entries(data) for data in (before, after))
    return sorted(
        name
        for name in {*old, *new}
        if told(old.get(name) or {}) != told(new.get(name) or {}) or (name in old) != (name in new)
    )


def named_in_fragments(*versions: bytes | None) -> list[str]:
    """Names of the entries that a fragment speaks of."""
    return sorted({name_of(*one.name[:2]) for data in versions for one in read_changes(data or b"")[0] if one.name[1:]})


def _entries(data: bytes | None) -> dict[str, dict[str, Any] | None]:
    if not data:
        return {}
    with contextlib.suppress(QuireError):
        document = parse_document(data, f"{FOLDER}/{FILE}")
        return {
            name_of(category, key): document.fields(category, key)
            for category in document.categories()
            for key in document.keys(category)
        }
    return {}
