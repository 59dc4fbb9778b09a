"""Connect two things by a directed, typed edge: facts, or any two refs."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.guard.admission import admit
from quire.layers.facts.content import normal_relation
from quire.layers.facts.drafts import FactsDraft, find_fact
from quire.layers.facts.layout import RELATIONS, SUPERSEDED
from quire.layers.facts.records import connection_of, fact_ref
from quire.layers.facts.store_fact import check_name
from quire.layers.facts.types import Connection
from quire.layers.facts.winners import replacements_of
from quire.model import limits
from quire.model.errors import InputError, NotFound
from quire.model.records import Edge, Problem
from quire.model.refs import parse_ref
from quire.model.text import cut

_RELATION_CHARS = 60
_EVIDENCE = 64


class MadeConnection(msgspec.Struct, frozen=True, kw_only=True):
    """The edge, and whether it is new."""

    action: str
    """`connected`, `reinforced`, `unchanged`"""
    edge: Edge
    warnings: list[Problem] = []


def connect(
    draft: FactsDraft,
    edge_id: str,
    source: str,
    target: str,
    relation: str,
    *,
    description: str = "",
    session: str | None = None,
) -> MadeConnection:
    name, warnings = _relation(relation)
    check_name(session, "session")
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
    wanted = (*ends, name, "active")
    edges = draft.edges_of(ends[0])
    known = next((one for one in edges if (one.source, one.target, one.predicate, one.status) == wanted), None)
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
        return MadeConnection(action="connected", edge=edge, warnings=warnings)
    return _again(draft, known, description, session, warnings)


def _again(
    draft: FactsDraft, edge: Edge, description: str, session: str | None, warnings: list[Problem]
) -> MadeConnection:
    """One confirmation more, and what the connection means, if nobody said so before."""
    connection = connection_of(edge)
    if connection is None:
        return MadeConnection(action="unchanged", edge=edge, warnings=warnings)
    witness = session or draft.now[:10]
    changes: dict[str, Any] = {}
    if description and not connection.description:
        changes["description"] = description
    if witness not in (connection.created_session, connection.created_at[:10], *connection.evidence):
        changes["reinforcement_count"] = connection.reinforcement_count + 1
        changes["last_reinforced"] = draft.now
        changes["evidence"] = (*connection.evidence, witness)[-_EVIDENCE:]
    if not changes:
        return MadeConnection(action="unchanged", edge=edge, warnings=warnings)
    edge = draft.change_connection(edge, draft.renewed(connection, **changes))
    return MadeConnection(action="reinforced", edge=edge, warnings=warnings)


def _relation(text: str) -> tuple[str, list[Problem]]:
    name = normal_relation(text)
    details = {"field": "relation", "allowed": list(RELATIONS)}
    if not name or len(name) > _RELATION_CHARS or not name.replace("_", "").isalnum():
        raise InputError(
            f"Unknown relation `{cut(text, 40)}`.", hint=f"Use one of {', '.join(RELATIONS)}.", details=details
        )
    if name in RELATIONS:
        return name, []
    said = f"`{name}` is not a usual relation; it is kept, with little weight in searches."
    doubt = Problem(code="RelationUnknown", severity="warning", field="relation", message=said, allowed=RELATIONS)
    return name, [doubt]


def _end(draft: FactsDraft, text: str, field: str) -> str:
    """The ref of an end that exists. A bare word is the id of a fact."""
    text = text.strip()
    try:
        ref = parse_ref(text)
    except InputError:
        return _fact_end(draft, text, field)
    if ref.kind == "fact":
        return _fact_end(draft, ref.id, field)
    if draft.has(str(ref)):
        return str(ref)
    if ref.layer == "graph" and draft.fact(text) is not None:
        return _fact_end(draft, text, field)
    raise NotFound(
        f"There is no `{cut(text, 60)}` in this memory.",
        hint="Name a fact by its id, or anything else by its ref, such as feature.retry-queue.",
        details={"field": field, "id": text},
    )


def _fact_end(draft: FactsDraft, name: str, field: str) -> str:
    """The fact that is meant, or what replaced it, where that is one thing."""
    fact = find_fact(draft, name, field).fact
    now = replacements_of(draft, fact.id) if fact.status == SUPERSEDED else []
    return fact_ref(now[0].id if len(now) == 1 else fact.id)
