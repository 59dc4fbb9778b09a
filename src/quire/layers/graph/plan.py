"""From an intent to what will change: everything is checked against the store before anything is written.

The order of entries in an intent does not matter: ids are given first, then nodes are drafted, then
relations, then stale, supersede and delete. Drafts that equal what is stored change nothing.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from quire.files import hex_digest
from quire.layers.graph.drafts import NodeDraft, RelationDraft
from quire.layers.graph.intent import Draft
from quire.layers.graph.store import GraphStore, StoredNode, StoredRelation
from quire.layers.graph.types import DeleteIn, NodeIn, RelatedIn, UnrelatedIn
from quire.model import (
    CREATABLE_KINDS,
    Actor,
    Problem,
    anchor_fault,
    has_front_matter,
    kind_of,
    normal_anchor,
    slugify,
)

__all__ = ["Plan", "plan_save"]


class Plan(msgspec.Struct, kw_only=True):
    """What a save would do: drafts of nodes and relations, and everything found wrong on the way."""

    task: str
    actor: Actor
    now: str
    nodes: dict[str, NodeDraft]
    relations: dict[tuple[str, str, str], RelationDraft]
    problems: list[Problem]
    warnings: list[Problem]
    already: list[str]
    """Ids whose deletion was asked for and had happened before."""


def plan_save(store: GraphStore, draft: Draft, actor: Actor, now: str) -> Plan:
    """Plan the whole intent; the problems of the plan include those of the draft."""
    planner = _Planner(store, draft, actor, now)
    planner.draft_nodes()
    planner.draft_relations()
    planner.mark_stale()
    planner.supersede()
    planner.delete()
    return planner.result()


class _Planner:
    def __init__(self, store: GraphStore, draft: Draft, actor: Actor, now: str) -> None:
        self.store = store
        self.draft = draft
        self.intent = draft.intent
        self.actor: Actor = actor
        self.now = now
        self.nodes: dict[str, NodeDraft] = {}
        self.relations: dict[tuple[str, str, str], RelationDraft] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = list(draft.warnings)
        self.already: list[str] = []
        self.ids: list[str] = []
        self.stored: dict[str, StoredNode | None] = {}
        self.deleted = {item.id for item in self.intent.delete}

    def result(self) -> Plan:
        faulty = [problem.field or "" for problem in self.draft.problems]
        fresh = [
            problem
            for problem in self.problems
            if not any(problem.field == field or (problem.field or "").startswith(f"{field}.") for field in faulty)
        ]
        return Plan(
            task=self.intent.task,
            actor=self.actor,
            now=self.now,
            nodes=self.nodes,
            relations=self.relations,
            problems=[*self.draft.problems, *fresh],
            warnings=self.warnings,
            already=self.already,
        )

    # -- finding ----------------------------------------------------------------------------

    def lookup(self, node_id: str) -> StoredNode | None:
        if node_id not in self.stored:
            self.stored[node_id] = self.store.find_node(node_id)
        return self.stored[node_id]

    def known(self, node_id: str) -> bool:
        return node_id in self.nodes or node_id in self.ids or self.lookup(node_id) is not None

    def existing(self, node_id: str, field: str) -> NodeDraft | None:
        """The draft of a node that must exist; a problem where it does not."""
        if node_id not in self.nodes:
            stored = self.lookup(node_id)
            if stored is None:
                self.unknown(node_id, field)
                return None
            self.nodes[node_id] = NodeDraft.of(stored)
        return self.nodes[node_id]

    def unknown(self, node_id: str, field: str) -> None:
        similar = self.store.similar_ids(node_id)
        gone = self.store.deletion_of(node_id)
        hint = f"Did you mean {' or '.join(similar)}?" if similar else "`memory status` lists what there is."
        if gone is not None:
            hint = f"It was deleted on {gone.timestamp[:10]}."
        self.problem("MemoryObjectNotFound", field, f"`{node_id}` is not in the memory", hint=hint)

    def problem(
        self, code: str, field: str, message: str, *, hint: str | None = None, allowed: tuple[str, ...] = ()
    ) -> None:
        self.problems.append(Problem(code=code, field=field, message=message, hint=hint, allowed=allowed))

    def warn(self, code: str, field: str, message: str, hint: str | None = None) -> None:
        self.warnings.append(Problem(code=code, field=field, message=message, hint=hint, severity="warning"))

    # -- nodes ------------------------------------------------------------------------------

    def draft_nodes(self) -> None:
        for number, item in enumerate(self.intent.nodes):
            self.ids.append(self.name(number, item))
        for number, item in enumerate(self.intent.nodes):
            node_id = self.ids[number]
            if node_id:
                self.draft_node(number, item, node_id)

    def name(self, number: int, item: NodeIn) -> str:
        """The id an entry speaks of: its own, that of the same node saved before, or a new one."""
        if item.id is not UNSET:
            if item.id in self.ids:
                field = self.draft.place("nodes", number, "id")
                self.problem("MemoryDuplicateId", field, f"`{item.id}` stands in this intent twice")
                return ""
            return item.id
        if item.kind is UNSET or item.title is UNSET:
            self.missing(number, item)
            return ""
        base = f"{item.kind}.{slugify(item.title, hex_digest)}"
        taken = {other.id for other in self.intent.nodes if other.id is not UNSET} | set(self.ids)
        for suffix in range(1, 10_000):
            node_id = base if suffix == 1 else f"{base}-{suffix}"
            if node_id in taken:
                continue
            stored = self.lookup(node_id)
            if stored is None or (stored.node.title == item.title and stored.body == item.body):
                return node_id
            if suffix == 1 and stored.node.title == item.title:
                field = self.draft.place("nodes", number)
                self.warn(
                    "SimilarNode",
                    field,
                    f"`{node_id}` has the same title; this becomes another node",
                    f'To change that one instead, send it with "id": "{node_id}".',
                )
        raise AssertionError("ten thousand nodes of one title")

    def missing(self, number: int, item: NodeIn) -> None:
        """A new node lacks what every new node needs."""
        for name in ("kind", "title", "body"):
            if getattr(item, name) is UNSET:
                field = self.draft.place("nodes", number, name)
                allowed = CREATABLE_KINDS if name == "kind" else ()
                self.problem("SchemaRequired", field, "is required to create a node", allowed=allowed)

    def draft_node(self, number: int, item: NodeIn, node_id: str) -> None:
        stored = self.lookup(node_id)
        draft = NodeDraft.of(stored) if stored else self.new_node(number, item, node_id)
        if draft is None:
            return
        self.nodes[node_id] = draft
        kind = draft.kind
        if stored and item.kind is not UNSET and item.kind != kind:
            field = self.draft.place("nodes", number, "kind")
            self.problem("KindMismatch", field, f"`{node_id}` is a {kind}, not a {item.kind}", allowed=(kind,))
        if item.stage is not UNSET and kind != "feature":
            field = self.draft.place("nodes", number, "stage")
            self.problem("StageNotAllowed", field, f"only a feature has a stage; `{node_id}` is a {kind}")
        self.set_status(number, item, draft)
        self.set_fields(number, item, draft)
        if stored and item == NodeIn(id=item.id, kind=item.kind):
            self.warn("NothingToChange", self.draft.place("nodes", number), f"says nothing new of `{node_id}`")

    def new_node(self, number: int, item: NodeIn, node_id: str) -> NodeDraft | None:
        kind = kind_of(node_id)
        if kind not in CREATABLE_KINDS:
            field = self.draft.place("nodes", number, "id" if item.kind is UNSET else "kind")
            message = f"a save creates {', '.join(CREATABLE_KINDS)}; `{kind}` is none of them"
            self.problem("KindNotCreatable", field, message, allowed=CREATABLE_KINDS)
            return None
        if item.kind is not UNSET and item.kind != kind:
            field = self.draft.place("nodes", number, "id")
            self.problem("ObjectIdTypeMismatch", field, f"must begin with `{item.kind}.`, the node's kind")
            return None
        if item.title is UNSET or item.body is UNSET:
            for name in ("title", "body"):
                if getattr(item, name) is UNSET:
                    field = self.draft.place("nodes", number, name)
                    similar = self.store.similar_ids(node_id)
                    hint = f"To change an existing node: did you mean {' or '.join(similar)}?" if similar else None
                    self.problem("SchemaRequired", field, f"is required: `{node_id}` does not exist yet", hint=hint)
            return NodeDraft.new(node_id, self.actor, self.intent.task, self.now)
        return NodeDraft.new(node_id, self.actor, self.intent.task, self.now)

    def set_status(self, number: int, item: NodeIn, draft: NodeDraft) -> None:
        if item.status is UNSET:
            return
        field = self.draft.place("nodes", number, "status")
        allowed = ("open", "closed") if draft.kind == "question" else ("active",)
        if item.status not in allowed:
            message = f"a {draft.kind} can be set to {' or '.join(allowed)} here"
            self.problem("StatusNotAllowed", field, message, allowed=allowed)
            return
        if draft.id in self.retired():
            self.problem("Contradiction", field, f"`{draft.id}` is also retired in this intent")
            return
        draft.fields["status"] = item.status
        draft.fields.pop("superseded_by", None)

    def set_fields(self, number: int, item: NodeIn, draft: NodeDraft) -> None:
        if item.title is not UNSET:
            draft.fields["title"] = item.title
        if item.body is not UNSET:
            draft.body = item.body
            if has_front_matter(item.body):
                field = self.draft.place("nodes", number, "body")
                message = "opens with a YAML block; the fields belong into the intent"
                self.problem("FrontMatter", field, message, hint="Begin the body with its first sentence.")
        if item.stage is not UNSET:
            draft.fields["stage"] = item.stage
        if item.anchors is not UNSET:
            self.set_anchors(number, item.anchors, draft)
        if item.tags is not UNSET:
            draft.fields["tags"] = list(dict.fromkeys(item.tags))
        if item.evidence is not UNSET:
            draft.fields["evidence"] = list(map(msgspec.to_builtins, dict.fromkeys(item.evidence)))
        if item.origin is not UNSET:
            draft.fields["origin"] = msgspec.to_builtins(item.origin)

    def set_anchors(self, number: int, anchors: list[str], draft: NodeDraft) -> None:
        for place, anchor in enumerate(anchors):
            fault = anchor_fault(anchor)
            if fault:
                field = self.draft.place("nodes", number, "anchors", place)
                self.problem("AnchorNotAllowed", field, f"`{anchor[:120]}` {fault}")
        normal = list(dict.fromkeys(map(normal_anchor, anchors)))
        if normal:
            draft.fields["anchors"] = normal
        else:
            draft.fields.pop("anchors", None)

    # -- relations --------------------------------------------------------------------------

    def draft_relations(self) -> None:
        for number, item in enumerate(self.intent.nodes):
            node_id = self.ids[number]
            if not node_id:
                continue
            for place, related in enumerate(item.related):
                self.relate(node_id, related, self.draft.place("nodes", number, "related", place, "to"))
            for place, unrelated in enumerate(item.unrelated):
                self.unrelate(node_id, unrelated, self.draft.place("nodes", number, "unrelated", place, "to"))

    def relate(self, node_id: str, item: RelatedIn, field: str) -> None:
        if item.to == node_id:
            self.problem("MemoryInvalidRelation", field, "a node cannot be related to itself")
        elif item.to in self.deleted or node_id in self.deleted:
            self.problem("Contradiction", field, "one end of this relation is deleted in this intent")
        elif not self.known(item.to):
            self.unknown(item.to, field)
        else:
            draft = self.relation(node_id, item.predicate, item.to)
            draft.fields["status"] = "active"
            if item.confidence is not UNSET:
                draft.fields["confidence"] = item.confidence

    def unrelate(self, node_id: str, item: UnrelatedIn, field: str) -> None:
        key = (node_id, item.predicate, item.to)
        if key in self.relations:
            self.problem("Contradiction", field, "this relation is also made in this intent")
            return
        draft = self.relation(*key)
        if draft.stored is None:
            del self.relations[key]
            self.warn("NothingToChange", field, f"there is no relation {node_id} {item.predicate} {item.to}")
        else:
            draft.removed = True

    def relation(self, source: str, predicate: str, target: str) -> RelationDraft:
        key = (source, predicate, target)
        if key not in self.relations:
            found = self.store.find_relation(source, predicate, target)
            if isinstance(found, StoredRelation):
                self.relations[key] = RelationDraft.of(found)
            else:
                taken = {draft.path for draft in self.relations.values()}
                self.relations[key] = RelationDraft.new(key, found, taken, self.now)
        return self.relations[key]

    # -- retiring ---------------------------------------------------------------------------

    def mark_stale(self) -> None:
        for number, item in enumerate(self.intent.stale):
            field = self.draft.place("stale", number, "id")
            draft = self.retirable(item.id, field, "stale")
            if draft is not None and draft.fields["status"] != "stale":
                draft.fields["status"] = "stale"
                draft.fields.pop("superseded_by", None)
                draft.retire("memory.marked_stale", item.reason)

    def supersede(self) -> None:
        replaced = {item.id: item.superseded_by for item in self.intent.supersede}
        for number, item in enumerate(self.intent.supersede):
            field = self.draft.place("supersede", number, "id")
            by_field = self.draft.place("supersede", number, "superseded_by")
            draft = self.retirable(item.id, field, "supersede")
            if item.superseded_by == item.id:
                self.problem("ObjectSupersedesSelf", by_field, "a node cannot supersede itself")
            elif item.superseded_by in self.deleted:
                self.problem("Contradiction", by_field, f"`{item.superseded_by}` is deleted in this intent")
            elif not self.known(item.superseded_by):
                self.unknown(item.superseded_by, by_field)
            elif self.leads_back(item.id, item.superseded_by, replaced):
                message = f"`{item.superseded_by}` is itself superseded by `{item.id}`"
                self.problem("SupersedesCycle", by_field, message)
            elif draft is not None:
                self.replace(draft, item.superseded_by, item.reason)

    def replace(self, draft: NodeDraft, by: str, reason: str) -> None:
        if (draft.fields["status"], draft.fields.get("superseded_by")) != ("superseded", by):
            draft.fields["status"] = "superseded"
            draft.fields["superseded_by"] = by
            draft.retire("memory.superseded", reason)
        self.relation(by, "supersedes", draft.id).fields["status"] = "active"

    def leads_back(self, old: str, new: str, replaced: dict[str, str]) -> bool:
        """Whether following replacements from `new` arrives at `old`."""
        seen = set()
        current: str | None = new
        while current and current not in seen:
            if current == old:
                return True
            seen.add(current)
            stored = self.lookup(current)
            current = replaced.get(current) or (stored.node.superseded_by if stored else None)
        return False

    def delete(self) -> None:
        for number, item in enumerate(self.intent.delete):
            field = self.draft.place("delete", number, "id")
            if item.id in self.ids:
                self.problem("Contradiction", field, f"`{item.id}` is also written in this intent")
            elif self.lookup(item.id) is None and self.store.deletion_of(item.id) is not None:
                self.already.append(item.id)
            else:
                self.delete_node(item, field)

    def delete_node(self, item: DeleteIn, field: str) -> None:
        draft = self.retirable(item.id, field, "delete")
        if draft is None:
            return
        draft.removed = True
        draft.retire("memory.deleted", item.reason)
        for stored in self.store.relations_touching(item.id):
            relation = stored.relation
            self.relation(relation.source, relation.predicate, relation.target).removed = True
            if relation.predicate == "supersedes" and relation.source == item.id:
                message = f"`{relation.target}` stays superseded, by a node that no longer exists"
                self.warn("ObjectSupersededReplacementMissing", field, message, "Revive it or name another.")

    def retired(self) -> dict[str, list[str]]:
        """Which lists of the intent retire which node."""
        found: dict[str, list[str]] = {}
        for stale in self.intent.stale:
            found.setdefault(stale.id, []).append("stale")
        for superseded in self.intent.supersede:
            found.setdefault(superseded.id, []).append("supersede")
        for deleted in self.intent.delete:
            found.setdefault(deleted.id, []).append("delete")
        return found

    def retirable(self, node_id: str, field: str, how: str) -> NodeDraft | None:
        """The draft of a node that may be retired in this way; problems where it may not."""
        named = self.retired().get(node_id, [])
        if len(named) > 1:
            message = f"`{node_id}` is retired more than once in this intent: {', '.join(named)}"
            self.problem("Contradiction", field, message)
            return None
        draft = self.existing(node_id, field)
        if draft is not None and draft.kind == "project":
            message = f"the project's own node cannot be retired ({how})"
            self.problem("ProjectNodeStays", field, message, hint="Update its title or body instead.")
            return None
        return draft
