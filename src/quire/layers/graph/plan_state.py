"""The state of a plan under construction: lookups, drafts, problems."""

from __future__ import annotations

from quire.layers.graph.drafts import NodeDraft, RelationDraft
from quire.layers.graph.inspect import found_elsewhere, hint_for
from quire.layers.graph.intent import ParsedIntent
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode, StoredRelation
from quire.model.records import Problem
from quire.model.vocabulary import Actor


class Planning:
    """What a save would do: drafts of nodes and relations, and everything found wrong on the way.

    Shared by the steps of a plan.
    """

    def __init__(self, store: GraphStore, draft: ParsedIntent, actor: Actor, now: str) -> None:
        self.store = store
        self.draft = draft
        self.intent = draft.intent
        self.task = self.intent.task
        self.actor: Actor = actor
        self.now = now
        self.nodes: dict[str, NodeDraft] = {}
        self.relations: dict[tuple[str, str, str], RelationDraft] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = list(draft.warnings)
        self.already: list[str] = []
        """Ids whose deletion was asked for and had happened before."""
        self.ids: list[str] = []
        self.stored: dict[str, StoredNode | None] = {}
        self.deleted = {item.id for item in self.intent.delete}

    def finish(self) -> None:
        """Put what was wrong with the intent before the other problems, without those that only follow from it."""
        faulty = {problem.field or "" for problem in self.draft.problems}
        fresh = [problem for problem in self.problems if not _follows_from(problem, faulty)]
        self.problems = [*self.draft.problems, *fresh]

    def lookup(self, node_id: str) -> StoredNode | None:
        if node_id not in self.stored:
            self.stored[node_id] = self.store.find_node(node_id)
        return self.stored[node_id]

    def needed(self, node_id: str) -> StoredNode | None:
        """A node that is spoken of as one that is there: it may lie under another name than its id asks for."""
        if self.lookup(node_id) is None:
            self.stored[node_id] = found_elsewhere(self.store, node_id)
        return self.stored[node_id]

    def known(self, node_id: str) -> bool:
        return node_id in self.nodes or node_id in self.ids or self.needed(node_id) is not None

    def existing(self, node_id: str, field: str) -> NodeDraft | None:
        """The draft of a node that must exist; a problem where it does not."""
        if node_id not in self.nodes:
            stored = self.needed(node_id)
            if stored is None:
                self.unknown(node_id, field)
                return None
            self.nodes[node_id] = NodeDraft.of(stored)
        return self.nodes[node_id]

    def unknown(self, node_id: str, field: str) -> None:
        hint = hint_for(self.store, node_id)
        self.problem("MemoryObjectNotFound", field, f"`{node_id}` is not in the memory", hint=hint)

    def problem(
        self, code: str, field: str, message: str, *, hint: str | None = None, allowed: tuple[str, ...] = ()
    ) -> None:
        self.problems.append(Problem(code=code, field=field, message=message, hint=hint, allowed=allowed))

    def warn(self, code: str, field: str, message: str, hint: str | None = None) -> None:
        self.warnings.append(Problem(code=code, field=field, message=message, hint=hint, severity="warning"))

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

    def forget_replacement(self, node_id: str, replaced_by: str) -> None:
        """What replaced a node no longer does: the relation that says so does not hold any more."""
        relation = self.relation(replaced_by, "supersedes", node_id)
        if relation.stored is None:
            del self.relations[replaced_by, "supersedes", node_id]
        else:
            relation.fields["status"] = "stale"

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


def _follows_from(problem: Problem, faulty: set[str]) -> bool:
    """Whether a problem is only the echo of a field that could not be read, or of a node whose id could not."""
    parts = (problem.field or "").split(".")
    above = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    if not above.isdisjoint(faulty):
        return True
    return problem.code == "SchemaRequired" and ".".join([*parts[:2], "id"]) in faulty
