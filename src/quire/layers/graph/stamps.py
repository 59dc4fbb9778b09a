"""Stamps of a node: what a save computes rather than someone says.

They are the time of the change, the digest of the body, the seals of the anchors and the commit. On the default branch
they stand in the sidecar. On another branch they stand in the event of the save, and the sidecar keeps the stamps that
it had: two branches that change different fields of one node then change different lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.layers.graph.codec import LoggedEvent, body_hash
from quire.model.records import Problem
from quire.model.seals import is_seal
from quire.model.times import instant

if TYPE_CHECKING:
    from quire.layers.graph.types import Event, Stamps

STAMPS = "stamps"
"""The key of an event's payload."""


def stamps_of(path: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The stamps in a sidecar's fields, as an event holds them."""
    return {
        "path": path,
        "updated_at": fields["updated_at"],
        "content_hash": fields["content_hash"],
        "seals": [item["id"] for item in seals_in(fields)],
        "commit": _source(fields).get("commit", ""),
    }


def with_stamps_of(fields: dict[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    """A sidecar's fields with the stamps of another version of it."""
    return _stamped(
        fields,
        updated_at=written["updated_at"],
        content_hash=written["content_hash"],
        seals=[item["id"] for item in seals_in(written)],
        commit=_source(written).get("commit", ""),
    )


def stamped_fields(fields: dict[str, Any], body: str, stamps: Sequence[Stamps]) -> dict[str, Any]:
    """A sidecar's fields with what saves on branches made of it.

    The latest save counts, also for the seals: where the code is another, the verdict says so. A body that branches
    changed may be made of several by git, so it has the digest that it has, unless git left it in conflict.
    """
    if not stamps:
        return fields
    digests = {stamp.content_hash for stamp in stamps}
    if digests != {fields.get("content_hash")} and ("<<<<<<<" not in body or body_hash(body) in digests):
        fields = {**fields, "content_hash": body_hash(body)}
    last = max(stamps, key=lambda stamp: (_moment(stamp.updated_at), msgspec.json.encode(stamp)))
    if _moment(last.updated_at) <= _moment(fields.get("updated_at")):
        return fields
    return _stamped(
        fields,
        updated_at=last.updated_at,
        content_hash=fields["content_hash"],
        seals=last.seals,
        commit=last.commit,
    )


def pending_stamps(events: Iterable[LoggedEvent]) -> dict[str, list[Stamps]]:
    """The stamps that events carry, by the sidecar that they belong to."""
    found: dict[str, list[Stamps]] = {}
    for _, _, event in events:
        for stamp in _stamps_in(event):
            found.setdefault(stamp.path, []).append(stamp)
    return found


def without_stamps(event: Event) -> Event:
    """The event as the log keeps it."""
    if not isinstance(event.payload, dict) or STAMPS not in event.payload:
        return event
    payload = {name: value for name, value in event.payload.items() if name != STAMPS}
    return msgspec.structs.replace(event, payload=payload)


def _stamps_in(event: Event | Problem) -> Iterator[Stamps]:
    from quire.layers.graph.types import Stamps

    if isinstance(event, Problem) or not isinstance(event.payload, dict) or STAMPS not in event.payload:
        return
    try:
        yield msgspec.convert(event.payload[STAMPS], Stamps)
    except msgspec.ValidationError:
        return


def _stamped(
    fields: dict[str, Any], *, updated_at: str, content_hash: str, seals: Sequence[str], commit: str
) -> dict[str, Any]:
    evidence = [*given_evidence(fields), *({"kind": "file", "id": seal} for seal in seals)]
    found = {**fields, "updated_at": updated_at, "content_hash": content_hash}
    if evidence or "evidence" in fields:
        found["evidence"] = evidence
    source = {name: value for name, value in _source(fields).items() if name != "commit"}
    if commit:
        source["commit"] = commit
    if source or "source" in fields:
        found["source"] = source
    return found


def given_evidence(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The evidence that someone gave."""
    return [item for item in fields.get("evidence", []) if not is_seal(item.get("kind"), item.get("id"))]


def seals_in(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The evidence that sealing added."""
    return [item for item in fields.get("evidence", []) if is_seal(item.get("kind"), item.get("id"))]


def _source(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = fields.get("source") or {}
    return found


def _moment(text: Any) -> float:
    found = instant(text) if isinstance(text, str) else None
    return found.timestamp() if found else 0.0
