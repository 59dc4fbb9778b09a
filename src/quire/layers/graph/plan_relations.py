"""Planning, second step: relations made, given a new confidence, revived or removed."""

from __future__ import annotations

from msgspec import UNSET

from quire.layers.graph.plan_state import Planning
from quire.layers.graph.types import RelatedIn, UnrelatedIn


def draft_relations(planning: Planning) -> None:
    for number, item in enumerate(planning.intent.nodes):
        node_id = planning.ids[number]
        if not node_id:
            continue
        for place, related in enumerate(item.related):
            _relate(planning, node_id, related, planning.draft.place("nodes", number, "related", place, "to"))
        for place, unrelated in enumerate(item.unrelated):
            _unrelate(planning, node_id, unrelated, planning.draft.place("nodes", number, "unrelated", place, "to"))


def _relate(planning: Planning, node_id: str, item: RelatedIn, field: str) -> None:
    if item.to == node_id:
        planning.problem("MemoryInvalidRelation", field, "a node cannot be related to itself")
    elif item.to in planning.deleted or node_id in planning.deleted:
        planning.problem("Contradiction", field, "one end of this relation is deleted in this intent")
    elif not planning.known(item.to):
        planning.unknown(item.to, field)
    else:
        draft = planning.relation(node_id, item.predicate, item.to)
        draft.fields["status"] = "active"
        if item.confidence is not UNSET:
            draft.fields["confidence"] = item.confidence


def _unrelate(planning: Planning, node_id: str, item: UnrelatedIn, field: str) -> None:
    key = (node_id, item.predicate, item.to)
    if key in planning.relations:
        planning.problem("Contradiction", field, "this relation is also made in this intent")
        return
    draft = planning.relation(*key)
    if draft.stored is None:
        del planning.relations[key]
        planning.warn("NothingToChange", field, f"there is no relation {node_id} {item.predicate} {item.to}")
    else:
        draft.removed = True
