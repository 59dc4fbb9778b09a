"""First step of planning: match each entry of an intent with a node and draft its change."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from quire.files.digests import hex_digest
from quire.layers.graph.drafts import NodeDraft
from quire.layers.graph.inspect import similar_ids
from quire.layers.graph.plan_state import Planning
from quire.layers.graph.stamps import seals_in
from quire.layers.graph.types import EvidenceIn, NodeIn
from quire.layers.merge_record import noted_fields, settle_field
from quire.model.anchors import normal_anchor
from quire.model.contested import RECORD
from quire.model.ids import kind_of, slugify
from quire.model.seals import is_seal
from quire.model.text import has_front_matter
from quire.model.vocabulary import CREATABLE_KINDS

_SETTLING = ("title", "body", "stage", "status", "anchors", "tags", "evidence", "origin")


def draft_nodes(planning: Planning) -> None:
    for number, item in enumerate(planning.intent.nodes):
        planning.ids.append(_name(planning, number, item))
    for number, item in enumerate(planning.intent.nodes):
        node_id = planning.ids[number]
        if node_id:
            _draft_node(planning, number, item, node_id)


def _name(planning: Planning, number: int, item: NodeIn) -> str:
    """The id an entry speaks of: its own, that of the same node saved before, or a new one."""
    if item.id is not UNSET:
        if item.id in planning.ids:
            field = planning.draft.place("nodes", number, "id")
            planning.problem("MemoryDuplicateId", field, f"`{item.id}` occurs twice in this input")
            return ""
        return item.id
    if item.kind is UNSET or item.title is UNSET:
        _missing(planning, number, item)
        return ""
    base = f"{item.kind}.{slugify(item.title, hex_digest)}"
    taken = {other.id for other in planning.intent.nodes if other.id is not UNSET} | set(planning.ids)
    for suffix in range(1, 10_000):
        node_id = base if suffix == 1 else f"{base}-{suffix}"
        if node_id in taken:
            continue
        stored = planning.lookup(node_id)
        if stored is None or (stored.node.title == item.title and stored.body == item.body):
            return node_id
        if suffix == 1 and stored.node.title == item.title:
            field = planning.draft.place("nodes", number)
            planning.warn(
                "SimilarNode",
                field,
                f"`{node_id}` has the same title; this creates a second record",
                f'To change that one instead, send it with "id": "{node_id}".',
            )
    raise AssertionError("ten thousand nodes of one title")


def _missing(planning: Planning, number: int, item: NodeIn) -> None:
    """A new node lacks what every new node needs."""
    for name in ("kind", "title", "body"):
        if getattr(item, name) is UNSET:
            field = planning.draft.place("nodes", number, name)
            allowed = CREATABLE_KINDS if name == "kind" else ()
            planning.problem("SchemaRequired", field, "is required to create a record", allowed=allowed)


def _draft_node(planning: Planning, number: int, item: NodeIn, node_id: str) -> None:
    is_change = item.title is UNSET or item.body is UNSET
    stored = planning.needed(node_id) if is_change else planning.lookup(node_id)
    draft = NodeDraft.of(stored) if stored else _new_node(planning, number, item, node_id)
    if draft is None:
        return
    planning.nodes[node_id] = draft
    kind = draft.kind
    if stored and item.kind is not UNSET and item.kind != kind:
        field = planning.draft.place("nodes", number, "kind")
        planning.problem("KindMismatch", field, f"`{node_id}` is a {kind}, not a {item.kind}", allowed=(kind,))
    if item.stage is not UNSET and kind != "feature":
        field = planning.draft.place("nodes", number, "stage")
        planning.problem("StageNotAllowed", field, f"only a feature has a stage; `{node_id}` is a {kind}")
    _set_status(planning, number, item, draft)
    _set_fields(planning, number, item, draft)
    _settle(item, draft)
    if stored and item == NodeIn(id=item.id, kind=item.kind):
        planning.warn("NothingToChange", planning.draft.place("nodes", number), f"adds nothing new to `{node_id}`")


def _new_node(planning: Planning, number: int, item: NodeIn, node_id: str) -> NodeDraft | None:
    kind = kind_of(node_id)
    if kind not in CREATABLE_KINDS:
        field = planning.draft.place("nodes", number, "id" if item.kind is UNSET else "kind")
        message = f"a save creates {', '.join(CREATABLE_KINDS)}; `{kind}` is none of them"
        planning.problem("KindNotCreatable", field, message, allowed=CREATABLE_KINDS)
        return None
    if item.kind is not UNSET and item.kind != kind:
        field = planning.draft.place("nodes", number, "id")
        planning.problem("ObjectIdTypeMismatch", field, f"must begin with `{item.kind}.`, the record's kind")
        return None
    for name in ("title", "body"):
        if getattr(item, name) is UNSET:
            field = planning.draft.place("nodes", number, name)
            similar = similar_ids(planning.store, node_id)
            hint = f"To change an existing record: did you mean {' or '.join(similar)}?" if similar else None
            planning.problem("SchemaRequired", field, f"is required: `{node_id}` does not exist yet", hint=hint)
    return NodeDraft.new(node_id, planning.actor, planning.intent.task, planning.now)


def _set_status(planning: Planning, number: int, item: NodeIn, draft: NodeDraft) -> None:
    if item.status is UNSET:
        return
    field = planning.draft.place("nodes", number, "status")
    allowed = ("open", "closed") if draft.kind == "question" else ("active",)
    if item.status not in allowed:
        message = f"a {draft.kind} can be set to {' or '.join(allowed)} here"
        planning.problem("StatusNotAllowed", field, message, allowed=allowed)
        return
    if draft.id in planning.retired():
        planning.problem("Contradiction", field, f"`{draft.id}` is also retired in this input")
        return
    replaced_by = draft.fields.pop("superseded_by", None)
    draft.fields["status"] = item.status
    if replaced_by:
        planning.forget_replacement(draft.id, replaced_by)


def _set_fields(planning: Planning, number: int, item: NodeIn, draft: NodeDraft) -> None:
    if item.title is not UNSET:
        draft.fields["title"] = item.title
    if item.body is not UNSET:
        draft.body = item.body
        if has_front_matter(item.body):
            field = planning.draft.place("nodes", number, "body")
            message = "opens with a YAML block; put these fields into the input"
            planning.problem("FrontMatter", field, message, hint="Start the body with its first sentence.")
    if item.stage is not UNSET:
        draft.fields["stage"] = item.stage
    if item.anchors is not UNSET:
        _set_anchors(item.anchors, draft)
    if item.tags is not UNSET:
        draft.fields["tags"] = list(dict.fromkeys(item.tags))
    if item.evidence is not UNSET:
        _set_evidence(item.evidence, draft)
    if item.origin is not UNSET:
        draft.fields["origin"] = msgspec.to_builtins(item.origin)


def _settle(item: NodeIn, draft: NodeDraft) -> None:
    """What someone says of a field that branches disagree on is what counts."""
    given = {name for name in _SETTLING if getattr(item, name) is not UNSET}
    for name in noted_fields(draft.fields):
        if name in given or (name == RECORD and given):
            draft.fields = settle_field(draft.fields, name, draft.fields.get(name))


def _set_evidence(evidence: list[EvidenceIn], draft: NodeDraft) -> None:
    """What is given replaces what was given; seals are ours alone, and stay."""
    given = [item for item in dict.fromkeys(evidence) if not is_seal(item.kind, item.id)]
    draft.fields["evidence"] = [*map(msgspec.to_builtins, given), *seals_in(draft.fields)]


def _set_anchors(anchors: list[str], draft: NodeDraft) -> None:
    normal = list(dict.fromkeys(map(normal_anchor, anchors)))
    if normal:
        draft.fields["anchors"] = normal
    else:
        draft.fields.pop("anchors", None)
