"""Parse one entry leniently; write it in the document's form."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import msgspec

from quire.layers.profile.layout import (
    ACTIVE,
    IMPORTANCE,
    IMPORTANCE_LEAST,
    IMPORTANCE_MOST,
    READ_FIELDS,
    SESSION,
    SUPERSEDED,
    USER,
)
from quire.model.times import instant
from quire.model.untyped import as_list, as_text


class ProfileLink(msgspec.Struct, frozen=True):
    """A one-way connection; the target is `category.key`."""

    target: str
    relation: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it is understood: where a field is missing or makes no sense, its default."""

    category: str
    key: str
    value: str
    created_at: str = ""
    updated_at: str = ""
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    importance: int = IMPORTANCE
    source_type: str = SESSION
    source_detail: str | None = None
    access_count: int = 0
    last_accessed: str | None = None
    status: str = ACTIVE
    links: tuple[ProfileLink, ...] = ()
    summary: str = ""
    """What later versions keep beside the value."""
    is_private: bool = False
    """Whether it stands in the document that is not shared."""
    fields: dict[str, Any] = {}
    """As it is stored: every field, also those nobody knows."""

    @property
    def name(self) -> str:
        return name_of(self.category, self.key)

    @property
    def ref(self) -> str:
        return f"profile:{self.name}"


def name_of(category: str, key: str) -> str:
    return f"{category}.{key}"


def split_name(name: str) -> tuple[str, str]:
    """`category.key`, cut at the first dot: a key may hold others."""
    category, _, key = name.partition(".")
    return category, key


def time_text(moment: datetime) -> str:
    """`2026-02-09T14:00:00Z`: whole seconds, UTC."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def new_fields(value: str, now: str, **given: Any) -> dict[str, Any]:
    """A new entry with every field, in the order in which documents hold them."""
    fields: dict[str, Any] = {
        "value": value,
        "created_at": now,
        "updated_at": now,
        "tags": [],
        "confidence": None,
        "importance": IMPORTANCE,
        "source": {"type": SESSION, "detail": None},
        "access_count": 0,
        "last_accessed": None,
        "status": ACTIVE,
        "links": [],
    }
    return {**fields, **given}


def read_entry(category: str, key: str, fields: dict[str, Any], *, is_private: bool = False) -> Entry:
    """Understand an entry; ValueError where there is no text in it."""
    value = fields.get("value")
    if not isinstance(value, str):
        raise ValueError("it has no text in `value`")
    source = fields.get("source")
    kind, detail = (source.get("type"), source.get("detail")) if isinstance(source, dict) else (None, source)
    status = fields.get("status")
    if not isinstance(status, str) or not status:
        status = ACTIVE
    if status == ACTIVE and as_text(fields.get("invalid_at")):
        status = SUPERSEDED
    return Entry(
        category=category,
        key=key,
        value=value,
        created_at=as_text(fields.get("created_at")),
        updated_at=as_text(fields.get("updated_at")) or as_text(fields.get("created_at")),
        tags=tuple(dict.fromkeys(tag for tag in as_list(fields.get("tags")) if isinstance(tag, str) and tag)),
        confidence=_share(fields.get("confidence")) if category != USER else None,
        importance=_importance(fields.get("importance")),
        source_type=kind if isinstance(kind, str) and kind else SESSION,
        source_detail=detail if isinstance(detail, str) else None,
        access_count=_count(fields.get("access_count")),
        last_accessed=as_text(fields.get("last_accessed")) or None,
        status=status,
        links=tuple(_links(fields.get("links"))),
        summary=as_text(fields.get("summary")),
        is_private=is_private,
        fields=fields,
    )


def told(fields: dict[str, Any]) -> dict[str, Any]:
    """An entry without what every reading of it changes."""
    return {name: value for name, value in fields.items() if name not in READ_FIELDS}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) != math.inf


def _share(value: Any) -> float | None:
    # The bounds first: a whole number may be too large to be a float.
    return float(min(max(value, 0), 1)) if _is_number(value) else None


def _importance(value: Any) -> int:
    return round(min(max(value, IMPORTANCE_LEAST), IMPORTANCE_MOST)) if _is_number(value) else IMPORTANCE


def _count(value: Any) -> int:
    whole = _is_number(value) and value == int(value)
    return max(int(value), 0) if whole else 0


def _links(value: Any) -> list[ProfileLink]:
    found = [
        ProfileLink(item["target"], item["relation"])
        for item in as_list(value)
        if isinstance(item, dict) and isinstance(item.get("target"), str) and isinstance(item.get("relation"), str)
    ]
    return list(dict.fromkeys(link for link in found if all(split_name(link.target)) and link.relation))


def last_touched(entry: Entry) -> datetime | None:
    """When someone last wrote it."""
    return instant(entry.updated_at) or instant(entry.created_at)
