"""Connecting two things: a directed, typed edge between facts, or between any two refs."""

from __future__ import annotations

import msgspec

from quire.guard import admit
from quire.layers.facts.content import is_canonical_relation, normal_relation
from quire.layers.facts.drafts import Draft, find_fact
from quire.layers.facts.layout import RELATIONS
from quire.layers.facts.records import connection_of, fact_ref
from quire.layers.facts.types import Connection
from quire.model import Edge, InputError, NotFound, Problem, cut, limits, parse_ref

_RELATION_CHARS = 60

__all__ = ["Connected", "connect"]


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """The edge, and whether it is new."""

    action: str
    """`connected`, `reinforced`, `unchanged`"""
    edge: Edge
    warnings: list[Problem] = []


def connect(
    draft: Draft,
    edge_id: str,
    source: str,
    target: str,
    relation: str,
    *,
    description: str = "",
    session: str | None = None,
) -> Connected:
    name, warnings = _relation(relation)
    ends = [_end(draft, text, field) for text, field in ((source, "source"), (target, "target"))]
    if ends[0] == ends[1]:
        raise InputError(
            f"`{ends[0]}` cannot be connected to itself.",
            hint="Name two different things.",
            details={"field": "target"},
        )
    if description:
        description, doubts = admit(description, "description", most=limits.REASON_CHARS)
        warnings += doubts
    known = next((edge for edge in draft.edges_of(ends[0]) if _is(edge, ends, name)), None)
    if known is None:
        connection = Connection(
            id=edge_id,
            source_id=ends[0].removeprefix("fact:"),
            target_id=ends[1].removeprefix("fact:"),
            relation=name,
            description=description,
            created_at=draft.now,
            version=draft.next_version(),
            created_session=session,
        )
        edge = draft.add_connection(connection, ends[0], ends[1])
        return Connected(action="connected", edge=edge, warnings=warnings)
    return _again(draft, known, session, warnings)


def _again(draft: Draft, edge: Edge, session: str | None, warnings: list[Problem]) -> Connected:
    connection = connection_of(edge)
    witness = session or draft.now[:10]
    if connection is None or witness in (connection.created_session, connection.created_at[:10], *connection.evidence):
        return Connected(action="unchanged", edge=edge, warnings=warnings)
    confirmed = msgspec.structs.replace(
        connection,
        reinforcement_count=connection.reinforcement_count + 1,
        last_reinforced=draft.now,
        updated_at=draft.now,
        evidence=(*connection.evidence, witness),
        version=draft.next_version(),
    )
    return Connected(action="reinforced", edge=draft.change_connection(edge, confirmed), warnings=warnings)


def _relation(text: str) -> tuple[str, list[Problem]]:
    name = normal_relation(text)
    details = {"field": "relation", "allowed": list(RELATIONS)}
    if not name or len(name) > _RELATION_CHARS or not name.replace("_", "").isalnum():
        raise InputError(
            f"`{cut(text, 40)}` is no relation.", hint=f"Use one of {', '.join(RELATIONS)}.", details=details
        )
    if is_canonical_relation(name):
        return name, []
    said = f"`{name}` is none of the usual relations; it is kept, and counts little in a search."
    doubt = Problem(code="RelationUnknown", severity="warning", field="relation", message=said, allowed=RELATIONS)
    return name, [doubt]


def _end(draft: Draft, text: str, field: str) -> str:
    """The ref of an end that exists. A bare word is the id of a fact."""
    text = text.strip()
    try:
        ref = parse_ref(text)
    except InputError:
        return fact_ref(find_fact(draft, text, field).fact.id)
    if ref.kind == "fact":
        return fact_ref(find_fact(draft, ref.id, field).fact.id)
    if draft.has(str(ref)):
        return str(ref)
    if ref.layer == "graph" and draft.fact(text) is not None:
        return fact_ref(find_fact(draft, text, field).fact.id)
    raise NotFound(
        f"There is no `{cut(text, 60)}` in this memory.",
        hint="Name a fact by its id, or anything else by its ref, such as feature.retry-queue.",
        details={"field": field, "id": text},
    )


def _is(edge: Edge, ends: list[str], relation: str) -> bool:
    return [edge.source, edge.target] == ends and edge.predicate == relation and edge.status == "active"
