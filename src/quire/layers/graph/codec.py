"""Encode nodes and relations as bytes, and compute their digests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from quire.files.digests import sha256
from quire.files.json_files import compact, lines, pretty
from quire.model.records import Problem
from quire.model.text import plain_newlines

if TYPE_CHECKING:
    from quire.layers.graph.types import Event, Node, Relation


_APART = (
    *("anchors", "body_path", "evidence", "content_hash", "origin", "created_at", "source"),
    *("stage", "id", "status", "superseded_by", "type", "tags", "updated_at", "title"),
)
"""The order of the fields of a node: those that people change are kept apart by those that a branch does not change.
Git merges changes of two lines only where they are not neighbours."""

ANY_BODY = "sha256:" + "0" * 64
"""The digest of a node whose text was merged: it stands for any text, until someone writes the right one."""


@cache
def node_decoder() -> msgspec.json.Decoder[Node]:
    """Reads sidecars. Made when the first one is read: most questions are answered from the index."""
    from quire.layers.graph.types import Node

    return msgspec.json.Decoder(Node)


class Anchored(msgspec.Struct, frozen=True):
    """What of a sidecar is read where thousands are looked through for their anchors."""

    status: str
    anchors: list[str] = []


@cache
def relation_decoder() -> msgspec.json.Decoder[Relation]:
    from quire.layers.graph.types import Relation

    return msgspec.json.Decoder(Relation)


@cache
def event_decoder() -> msgspec.json.Decoder[Event]:
    from quire.layers.graph.types import Event

    return msgspec.json.Decoder(Event)


def body_text(data: bytes) -> str:
    """A body file's text; ends of lines do not depend on how git checked it out."""
    return plain_newlines(data.decode("utf-8"))


def body_hash(body: str) -> str:
    """The digest we write: of the body's bytes, as `sha256sum` prints it."""
    return sha256(body.encode("utf-8"))


def node_hash_holds(fields: dict[str, Any], body: str) -> bool:
    """Whether the stored digest fits: the body's own, or the one over sidecar and body that the
    original program writes."""
    stored = fields.get("content_hash")
    if stored in (ANY_BODY, body_hash(body)):
        return True
    rest = {name: value for name, value in fields.items() if name != "content_hash"}
    return stored == sha256(compact(rest) + b"\n" + body.encode("utf-8"))


def relation_hash(fields: dict[str, Any]) -> str:
    return sha256(compact({name: value for name, value in fields.items() if name != "content_hash"}))


def encode_fields(fields: dict[str, Any], before: dict[str, Any] | None = None) -> bytes:
    """Encode a sidecar, a relation or a schema: new sidecars in the order of `_APART`, other new files sorted.

    A file that was there keeps its order of keys.
    """
    names = list(before or ())
    if (before is None and "body_path" in fields) or (names and names == sorted(names, key=_place)):
        order = sorted(fields, key=_place)
    elif names == sorted(names):
        order = sorted(fields)
    else:
        order = [name for name in names if name in fields] + [name for name in fields if name not in names]
    return pretty({name: _sorted(fields[name]) for name in order})


def merged_layout(sides: Sequence[dict[str, Any]], merged: dict[str, Any]) -> dict[str, Any]:
    """The object whose order of keys a merged file has: that of its sides where they have one of ours."""
    for key in (None, _place):
        if all(list(side) == sorted(side, key=key) for side in sides):
            return sides[0]
    return merged


def _place(name: str) -> tuple[int, str]:
    return (_APART.index(name) if name in _APART else len(_APART), name)


def encode_event(event: Event) -> bytes:
    return compact(msgspec.to_builtins(event)) + b"\n"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


class LoggedEvent(NamedTuple):
    """A line of the log, or of one of its fragments."""

    path: str
    number: int
    event: Event | Problem


def logged_events(path: str, data: bytes) -> Iterator[LoggedEvent]:
    """The lines of a log, good and bad."""
    for number, line in lines(data):
        try:
            yield LoggedEvent(path, number, event_decoder().decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problem = Problem(
                code="EventJsonlInvalid" if line.strip() else "EventJsonlBlankLine",
                message=f"Line {number} is not an event: {error}." if line.strip() else "Blank line.",
                path=path,
                line=number,
                hint="Remove the line; no other file depends on the log.",
            )
            yield LoggedEvent(path, number, problem)
