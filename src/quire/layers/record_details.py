"""Types for showing one record in full: body, evidence, origin, fields, possible actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from quire.files.digests import digest_of
from quire.model.text import cut, one_line

As = Literal["text", "time", "ref", "path", "commit", "code", "number"]
MOST_CHARS = 2_000
MOST_LISTED = 100
_REVISION_CHARS = 16


class Field(msgspec.Struct, frozen=True):
    """One thing that is known of a record, and how to show it."""

    name: str
    value: str
    shown: As = msgspec.field(default="text", name="as")


class RecordEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a record rests on, and where that leads."""

    kind: str
    label: str
    ref: str = ""
    path: str = ""
    commit: str = ""


class RecordDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A record as its layer keeps it."""

    path: str
    body: str
    evidence: tuple[RecordEvidence, ...] = ()
    provenance: tuple[Field, ...] = ()
    fields: tuple[Field, ...] = ()
    superseded_by: str = ""
    may: tuple[str, ...] = ()
    revision: str = ""


def told_fields(*given: tuple[str, Any, As]) -> tuple[Field, ...]:
    """The fields that say something."""
    return tuple(
        Field(name, cut(_text(value), MOST_CHARS), shown)
        for name, value, shown in given
        if value not in (None, "", (), [], {}) and value is not msgspec.UNSET
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ", ".join(value[:MOST_LISTED]) + ("…" if len(value) > MOST_LISTED else "")
    if isinstance(value, dict | list | tuple):
        return msgspec.json.encode(value).decode()
    return str(value)


def other_fields(fields: Iterable[tuple[str, Any]], known: Iterable[str] = ()) -> tuple[Field, ...]:
    """Keys that no field of ours tells of, as they are stored."""
    left = [(cut(one_line(name), 80), value) for name, value in fields if name not in known][:MOST_LISTED]
    return told_fields(*((name, value, "code" if isinstance(value, dict | list) else "text") for name, value in left))


def node_revision(sidecar: bytes, body: bytes) -> str:
    """Of a node, by the bytes of its two files."""
    return line_revision(sidecar + b"\0" + body)


def line_revision(line: bytes) -> str:
    """Of a record that is a line of a file, by that line."""
    return digest_of(line).hex()[:_REVISION_CHARS]
