"""From a proposal to the record that it proposes: each layer by its own verb, so that every check of it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.model import InputError, Problem, cut
from quire.project.capturing import Capturing
from quire.project.keeping import Keeping
from quire.project.noting import Noting
from quire.project.profile_overview import ProfileOverview

if TYPE_CHECKING:
    from quire.inbox import Proposal

TASK = "accept a proposal"

__all__ = ["TASK", "Accepting"]


class Accepting(Noting, Capturing, ProfileOverview, Keeping):
    """What it takes to write the record of a proposal."""

    def _accepted(self, item: Proposal) -> tuple[str, list[Problem]]:
        """Write the record of a proposal; its ref."""
        makers: dict[str, Callable[[Proposal], tuple[str, list[Problem]]]] = {
            "graph": self._accepted_node,
            "facts": self._accepted_fact,
            "profile": self._accepted_entry,
            "notes": self._accepted_note,
            "episodes": self._accepted_episode,
        }
        return makers[item.into](item)

    def _accepted_node(self, item: Proposal) -> tuple[str, list[Problem]]:
        fields = dict(item.fields)
        kind = "file" if item.origin.startswith("file:") else "external"
        fields.setdefault("origin", {"kind": kind, "locator": cut(item.origin.removeprefix("file:"), 500)})
        named = fields.get("id")
        if isinstance(named, str):
            self._refuse_taken(named)
        related = fields.pop("related", [])
        present = [link for link in related if isinstance(link, dict) and self._is_node(str(link.get("to", "")))]
        if present:
            fields["related"] = present
        saved = self.save({"task": TASK, "nodes": [fields]}, actor="user")
        made = [*saved.memory_created, *saved.memory_updated, *saved.unchanged]
        return made[0] if made else "", saved.warnings

    def _refuse_taken(self, node_id: str) -> None:
        if self._is_node(node_id):
            raise InputError(
                f"`{node_id}` is there already; a proposal changes no record.",
                hint=f"Look at it with `memory inspect {node_id}`; reject the proposal, or save the change yourself.",
                details={"field": "id", "id": node_id},
            )

    def _is_node(self, node_id: str) -> bool:
        return bool(node_id) and self._with_index(lambda index: index.find(node_id)) is not None

    def _accepted_fact(self, item: Proposal) -> tuple[str, list[Problem]]:
        fields = item.fields
        done = self.memory_store(
            str(fields.get("section", "")),
            str(fields.get("content", item.text)),
            tags=[str(tag) for tag in fields.get("tags", ())],
            source=cut(str(fields.get("source") or item.origin), 100),
            confidence=float(fields.get("confidence", 1.0)),
        )
        return done.fact.ref, done.warnings

    def _accepted_entry(self, item: Proposal) -> tuple[str, list[Problem]]:
        from quire.layers.profile.layout import CODEBASE, STATED

        fields = item.fields
        category, key = str(fields.get("category", "")), str(fields.get("key", ""))
        taken = self._profile_asked(lambda index: index.find(f"profile:{category}.{key}"))
        if taken is not None:
            raise InputError(
                f"`{category}.{key}` is there already; a proposal changes no record.",
                hint=f"See `memory profile recall {category} {key}`; then reject the proposal, or edit its `key`.",
                details={"field": "key"},
            )
        done = self.profile_remember(
            category,
            key,
            str(fields.get("value", item.text)),
            tags=[str(tag) for tag in fields.get("tags", ())],
            importance=fields.get("importance"),
            source=STATED if item.by == "user" else CODEBASE,
            force=True,
        )
        return (done.entry.ref if done.entry else f"profile:{category}.{key}"), done.warnings

    def _accepted_note(self, item: Proposal) -> tuple[str, list[Problem]]:
        self.note(str(item.fields.get("text", item.text)))
        return "", []

    def _accepted_episode(self, item: Proposal) -> tuple[str, list[Problem]]:
        fields = item.fields
        _, episodes = self.memory_session(
            str(fields.get("session_id", "")),
            turns=int(fields.get("turns", 0)),
            title=str(fields.get("title", "")),
            narrative=str(fields.get("summary", item.text)),
            files=[str(path) for path in fields.get("files", ())],
            started_at=fields.get("started_at") or None,
            close=True,
        )
        return (f"episode:{episodes[-1].id}" if episodes else ""), []
