"""Plan a save: check the whole intent against the store before anything is written.

The order of entries in an intent does not matter: ids are given first, then nodes are drafted, then
relations, then stale, supersede and delete, then what is confirmed. Drafts that equal what is stored change nothing.
"""

from __future__ import annotations

from msgspec import UNSET

from quire.layers.graph.drafts import NodeDraft
from quire.layers.graph.intent import ParsedIntent
from quire.layers.graph.plan_nodes import draft_nodes
from quire.layers.graph.plan_state import Planning
from quire.layers.graph.store import GraphStore
from quire.layers.graph.types import DeleteIn, RelatedIn, UnrelatedIn
from quire.model.vocabulary import LIVE_STATUSES, Actor


def _mark_stale(planning: Planning) -> None:
    for number, item in enumerate(planning.intent.stale):
        field = planning.draft.place("stale", number, "id")
        draft = _retirable(planning, item.id, field, "stale")
        if draft is not None and draft.fields["status"] != "stale":
            draft.fields["status"] = "stale"
            draft.fields.pop("superseded_by", None)
            draft.retire("memory.marked_stale", item.reason)


def _supersede(planning: Planning) -> None:
    replaced = {item.id: item.superseded_by for item in planning.intent.supersede}
    for number, item in enumerate(planning.intent.supersede):
        field = planning.draft.place("supersede", number, "id")
        by_field = planning.draft.place("supersede", number, "superseded_by")
        draft = _retirable(planning, item.id, field, "supersede")
        if item.superseded_by == item.id:
            planning.problem("ObjectSupersedesSelf", by_field, "a record cannot supersede itself")
        elif item.superseded_by in planning.deleted:
            planning.problem("Contradiction", by_field, f"`{item.superseded_by}` is deleted in this input")
        elif not planning.known(item.superseded_by):
            planning.unknown(item.superseded_by, by_field)
        elif _leads_back(planning, item.id, item.superseded_by, replaced):
            message = f"`{item.superseded_by}` is itself superseded by `{item.id}`"
            planning.problem("SupersedesCycle", by_field, message)
        elif draft is not None:
            _replace(planning, draft, item.superseded_by, item.reason)


def _replace(planning: Planning, draft: NodeDraft, by: str, reason: str) -> None:
    if (draft.fields["status"], draft.fields.get("superseded_by")) != ("superseded", by):
        before = draft.fields.get("superseded_by")
        if before and before != by:
            planning.forget_replacement(draft.id, before)
        draft.fields["status"] = "superseded"
        draft.fields["superseded_by"] = by
        draft.retire("memory.superseded", reason)
    planning.relation(by, "supersedes", draft.id).fields["status"] = "active"


def _leads_back(planning: Planning, old: str, new: str, replaced: dict[str, str]) -> bool:
    """Whether following replacements from `new` arrives at `old`."""
    seen = set()
    current: str | None = new
    while current and current not in seen:
        if current == old:
            return True
        seen.add(current)
        stored = planning.lookup(current)
        current = replaced.get(current) or (stored.node.superseded_by if stored else None)
    return False


def _delete(planning: Planning) -> None:
    for number, item in enumerate(planning.intent.delete):
        field = planning.draft.place("delete", number, "id")
        if item.id in planning.ids:
            planning.problem("Contradiction", field, f"`{item.id}` is also written in this input")
        elif planning.needed(item.id) is None and planning.store.deletion_of(item.id) is not None:
            planning.already.append(item.id)
        else:
            _delete_node(planning, item, field)


def _delete_node(planning: Planning, item: DeleteIn, field: str) -> None:
    draft = _retirable(planning, item.id, field, "delete")
    if draft is None:
        return
    draft.removed = True
    draft.retire("memory.deleted", item.reason)
    for stored in planning.store.relations_touching(item.id):
        relation = stored.relation
        planning.relation(relation.source, relation.predicate, relation.target).removed = True
        if relation.predicate == "supersedes" and relation.source == item.id:
            message = f"`{relation.target}` stays superseded, by a record that no longer exists"
            planning.warn("ObjectSupersededReplacementMissing", field, message, "Revive it or name another.")


def _retirable(planning: Planning, node_id: str, field: str, how: str) -> NodeDraft | None:
    """The draft of a node that may be retired in this way; problems where it may not."""
    named = planning.retired().get(node_id, [])
    if len(named) > 1:
        message = f"`{node_id}` is retired more than once in this input: {', '.join(named)}"
        planning.problem("Contradiction", field, message)
        return None
    draft = planning.existing(node_id, field)
    if draft is not None and draft.kind == "project":
        message = f"the project's own record cannot be retired ({how})"
        planning.problem("ProjectNodeStays", field, message, hint="Update its title or body instead.")
        return None
    return draft


def plan_save(store: GraphStore, draft: ParsedIntent, actor: Actor, now: str) -> Planning:
    """Plan the whole intent; the problems of the plan include those of the draft."""
    planning = Planning(store, draft, actor, now)
    draft_nodes(planning)
    draft_relations(planning)
    _mark_stale(planning)
    _supersede(planning)
    _delete(planning)
    confirm_nodes(planning)
    planning.finish()
    return planning


def confirm_nodes(planning: Planning) -> None:
    retired = planning.retired()
    for number, item in enumerate(planning.intent.confirm):
        field = planning.draft.place("confirm", number, "id")
        draft = planning.existing(item.id, field)
        if draft is None:
            continue
        status = draft.fields["status"]
        if item.id in retired:
            planning.problem("Contradiction", field, f"`{item.id}` is also retired in this input")
        elif status not in (*LIVE_STATUSES, "closed"):
            hint = 'To revive it, send it in `nodes` with "status": "active" or "open".'
            planning.problem(
                "StatusNotAllowed", field, f"`{item.id}` is {status}, so it cannot be confirmed", hint=hint
            )
        elif not draft.fields.get("anchors"):
            hint = "Give it anchors to the code it is about."
            planning.warn("NothingToConfirm", field, f"`{item.id}` has no anchors, so it cannot be checked", hint)
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
        planning.problem("MemoryInvalidRelation", field, "a record cannot be related to itself")
    elif item.to in planning.deleted or node_id in planning.deleted:
        planning.problem("Contradiction", field, "one end of this relation is deleted in this input")
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
        planning.problem("Contradiction", field, "this relation is also created in this input")
        return
    draft = planning.relation(*key)
    if draft.stored is None:
        del planning.relations[key]
        planning.warn("NothingToChange", field, f"there is no relation {node_id} {item.predicate} {item.to}")
    else:
        draft.removed = True
