"""Upgrade older documents to version 1.2 step by step; existing values win over defaults."""

from __future__ import annotations

from typing import Any

from quire.layers.profile.layout import ACTIVE, IMPORTANCE, SESSION, VERSION

_FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "1.0": (
        "1.1",
        {
            "importance": IMPORTANCE,
            "source": {"type": SESSION, "detail": None},
            "access_count": 0,
            "last_accessed": None,
            "status": ACTIVE,
        },
    ),
    "1.1": ("1.2", {"links": []}),
}
"""By version: the next one, and what every entry gets that does not have it."""


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The document after each step up to ours; none where it is ours, or none of those we bring up.

    Nothing of the document given is changed. What is no entry stays as it is.
    """
    found = []
    while (step := _FIELDS.get(_version(document))) is not None:
        document = _stepped(document, *step)
        found.append(document)
    return found


def migrated(document: dict[str, Any]) -> dict[str, Any]:
    """The document in our version; itself where there is nothing to do."""
    return (steps(document) or [document])[-1]


def _version(document: dict[str, Any]) -> str:
    version = document.get("schema_version")
    return version if isinstance(version, str) else ""


def _stepped(document: dict[str, Any], version: str, defaults: dict[str, Any]) -> dict[str, Any]:
    from copy import deepcopy

    found = deepcopy(document)
    found["schema_version"] = version
    if version != VERSION:
        found.setdefault("session_count", 0)
    memories = found.get("memories")
    for entries in memories.values() if isinstance(memories, dict) else ():
        for entry in entries.values() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                for name, default in defaults.items():
                    entry.setdefault(name, deepcopy(default))
    return found
