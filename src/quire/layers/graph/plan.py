"""Plan a save: check the whole intent against the store before anything is written.

The order of entries in an intent does not matter: ids are given first, then nodes are drafted, then
relations, then stale, supersede and delete, then what is confirmed. Drafts that equal what is stored change nothing.
"""

from __future__ import annotations

from msgspec import UNSET

from quire.layers.graph.intent import ParsedIntent
from quire.layers.graph.plan_nodes import draft_nodes
from quire.layers.graph.plan_retire import retire_nodes
from quire.layers.graph.plan_state import Planning, SavePlan
from quire.layers.graph.store import GraphStore
from quire.layers.graph.types import RelatedIn, UnrelatedIn
from quire.model.vocabulary import LIVE_STATUSES, Actor


def plan_save(store: GraphStore, draft: ParsedIntent, actor: Actor, now: str) -> SavePlan:
    """Plan the whole intent; the problems of the plan include those of the draft."""
    planning = Planning(store, draft, actor, now)
    draft_nodes(planning)
    draft_relations(planning)
    retire_nodes(planning)
    confirm_nodes(planning)
    return planning.result()


def confirm_nodes(planning: Planning) -> None:
    retired = planning.retired()
    for number, item in enumerate(planning.intent.confirm):
        field = planning.draft.place("confirm", number, "id")
        draft = planning.existing(item.id, field)
        if draft is None:
            continue
        status = draft.fields["status"]
        if item.id in retired:
            planning.problem("Contradiction", field, f"`{item.id}` is also retired in this intent")
        elif status not in (*LIVE_STATUSES, "closed"):
            hint = 'If it is true again, send it in `nodes` with "status": "active" or "open".'
            planning.problem(
                "StatusNotAllowed", field, f"`{item.id}` is {status}, so it cannot be confirmed", hint=hint
            )
        elif not draft.fields.get("anchors"):
            hint = "Give it anchors to the code that it speaks of."
            planning.warn("NothingToConfirm", field, f"`{item.id}` has no anchors; nothing of it can be checked", hint)
        else:
            draft.confirmed = True
            draft.reason = draft.reason if item.reason is UNSET else item.reason


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
