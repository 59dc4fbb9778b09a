"""Turn one JSON object of any writer into a record, keeping unknown fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

import msgspec

from quire.layers.facts.content import content_hash, normal_relation
from quire.layers.facts.layout import CONTENT_CHARS, SECTIONS, STATUSES
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored, StoredT
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import is_timestamp

Note = Callable[[Problem], None]
Fields = dict[str, Any]

_KNOWN = {kind: frozenset(kind.__struct_fields__) - {"extra"} for kind in (Fact, Connection, Episode, Mind)}
_MUST = {
    Fact: ("id", "section", "content"),
    Connection: ("id", "source_id", "target_id", "relation"),
    Episode: ("id", "title", "narrative"),
    Mind: ("name",),
}
# A status of another kind than text says that the fact may be gone: the line is then not understood at all.
_NEVER_DROPPED = ("status",)
_SECTIONS = {name.lower(): name for name in SECTIONS}
# What other writers call the same thing. Our name wins where a line has both.
OTHER_NAMES: dict[type[Stored], dict[str, str]] = {
    Connection: {
        "source_fact_id": "source_id",
        "source": "source_id",
        "target_fact_id": "target_id",
        "target": "target_id",
        "weight": "confidence",
    },
    Fact: {"ts": "created_at"},
}


class NotUnderstood(Exception):
    """The object is no record; says why."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


def record_from(fields: Fields, note: Note) -> Stored:
    """The record that an object describes. Takes the object over. Doubts go to `note`; no record is an exception."""
    kind = fields.pop("_type", None)
    if kind == "fact":
        return _fact(fields, note)
    if kind == "episode":
        return _episode(fields, note)
    if kind == "edge":
        return _connection(fields, note)
    if kind == "mind":
        return _convert(Mind, fields, note)
    if kind is None:
        # The earliest files had facts only and did not say so.
        if all(isinstance(fields.get(name), str) for name in _MUST[Fact]):
            return _fact(fields, note)
        raise NotUnderstood("TypeMissing", "The line does not say what it is: `_type` is missing.", "_type")
    raise NotUnderstood("TypeUnknown", f"`_type` is {_shown(kind)}, not fact, edge, episode or mind.", "_type")


def _fact(fields: Fields, note: Note) -> Fact:
    content = fields.get("content")
    stored = fields.get("content_hash")
    if isinstance(content, str):
        fields["content_hash"] = digest = content_hash(content)
        if stored is not None and stored != digest:
            note(
                _doubt(
                    "HashMismatch", "The stored digest did not match the content; it was recomputed.", "content_hash"
                )
            )
        if not content.strip():
            raise NotUnderstood("FieldInvalid", "`content` is empty.", "content")
        if len(content) > CONTENT_CHARS:
            said = f"The content has {len(content):,} characters; the limit for a new fact is {CONTENT_CHARS:,}."
            note(_doubt("ContentLong", said, "content"))
    section = fields.get("section")
    if isinstance(section, str) and section not in SECTIONS:
        usual = _SECTIONS.get(" ".join(section.lower().split()))
        if usual:
            fields["section"] = usual
        else:
            said = f"{_shown(section)} is not a known section; the fact is kept there."
            note(_doubt("SectionUnknown", said, "section", SECTIONS))
    _usual_status(fields, note)
    if str(fields.get("id")).startswith("fact:"):
        raise NotUnderstood("FieldInvalid", "`id` begins like a ref and would be ambiguous.", "id")
    fact = _convert(Fact, fields, note)
    if not is_timestamp(fact.created_at):
        said = f"`created_at` is {_shown(fact.created_at)}, which is not a time." if fact.created_at else _NO_TIME
        note(_doubt("TimeInvalid", said, "created_at"))
    return fact


_NO_TIME = "`created_at` is missing."


def _connection(fields: Fields, note: Note) -> Connection:
    _usual_status(fields, note)
    connection = _convert(Connection, fields, note)
    relation = normal_relation(connection.relation)
    if not relation:
        raise NotUnderstood("FieldInvalid", "`relation` is empty.", "relation")
    if relation == connection.relation:
        return connection
    return msgspec.structs.replace(connection, relation=relation)


def _episode(fields: Fields, note: Note) -> Episode:
    episode = _convert(Episode, fields, note)
    if not episode.title.strip() and not episode.narrative.strip():
        raise NotUnderstood("FieldInvalid", "The episode has neither a title nor a narrative.", "narrative")
    return episode


def _usual_status(fields: Fields, note: Note) -> None:
    status = fields.get("status")
    if not isinstance(status, str) or status in STATUSES:
        return
    if status.lower() in STATUSES:
        fields["status"] = status.lower()
    else:
        note(
            _doubt("StatusUnknown", f"The status {_shown(status)} is not known; it is not active.", "status", STATUSES)
        )


def _convert(kind: type[StoredT], fields: Fields, note: Note) -> StoredT:
    """The record with its unknown keys; a field that has no usable value stands among them, as it was."""
    known = _KNOWN[kind]
    if not fields.keys() <= known:
        for other, ours in OTHER_NAMES.get(kind, {}).items():
            if other in fields and fields.get(ours) is None:
                # In the place of the old one, so that the order of the others stays.
                fields.pop(ours, None)
                fields = {ours if name == other else name: value for name, value in fields.items()}
        extra = {name: value for name, value in fields.items() if name not in known}
        fields = {name: value for name, value in fields.items() if name in known}
        if extra:
            fields["extra"] = extra
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError:
        return msgspec.convert(_usable(kind, fields, note), kind)


def _usable(kind: type[Stored], fields: Fields, note: Note) -> Fields:
    extra = fields.pop("extra", {})
    usable: Fields = {}
    unusable: Fields = {}
    for name, value in fields.items():
        if value is None:
            continue  # the same as saying nothing
        if name == "version" and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 17:
            value = int(value)
        fault = _fault(kind, name, value)
        if fault is None:
            usable[name] = value
        elif name in _MUST[kind] or name in _NEVER_DROPPED:
            raise NotUnderstood("FieldInvalid", f"`{name}`: {fault}.", name)
        else:
            unusable[name] = value
            note(_doubt("FieldUnusable", f"`{name}` was not used: {fault}.", name))
    for name in _MUST[kind]:
        if name not in usable:
            raise NotUnderstood("FieldMissing", f"`{name}` is missing.", name)
    if extra or unusable:
        usable["extra"] = {**unusable, **extra}
    return usable


def _fault(kind: type[Stored], name: str, value: Any) -> str | None:
    try:
        msgspec.convert(value, _hints(kind)[name])
    except msgspec.ValidationError as error:
        return str(error)[:1].lower() + str(error)[1:]
    return None


@cache
def _hints(kind: type[Stored]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _doubt(code: str, message: str, field: str, allowed: tuple[str, ...] = ()) -> Problem:
    return Problem(code=code, message=message, field=field, allowed=allowed, severity="warning")


def _shown(value: Any) -> str:
    return f"`{cut(value, 40)}`" if isinstance(value, str) else f"a {type(value).__name__}"
