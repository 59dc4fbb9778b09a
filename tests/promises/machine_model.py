"""What must be there: a memory as plain values, and what its shown form follows from.

Everything carries a word that nothing else has. The model knows things by it; what ids they get is none of its
business, so that it can say what a crash may leave before anybody has looked.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Branch", "Connection", "Entry", "Fact", "Here", "Kept", "Model", "Node", "Proposal", "changed_nodes"]

LIVE = ("active", "open")


@dataclass(frozen=True)
class Node:
    kind: str
    title: str
    body: str
    status: str
    stage: str | None = None
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    by: str = ""
    """What superseded it."""

    @property
    def is_live(self) -> bool:
        return self.status in LIVE


@dataclass(frozen=True)
class Fact:
    section: str
    content: str
    status: str = "active"
    tags: tuple[str, ...] = ()
    replaces: str = ""
    """The word of the fact that it took the place of."""


@dataclass(frozen=True)
class Connection:
    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Entry:
    value: str
    status: str = "active"
    importance: int = 5
    tags: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Proposal:
    into: str
    text: str
    fields: dict[str, Any]
    status: str = "pending"


@dataclass
class Kept:
    """What git has: the same in every clone of this commit."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], str] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    episodes: dict[str, str] = field(default_factory=dict)
    """Sessions that ended, and what was told of them."""
    entries: dict[str, Entry] = field(default_factory=dict)
    sessions: int = 0
    sources: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    checkpoints: int = 1
    rejected: dict[str, bool] = field(default_factory=dict)
    """By text: whether it holds, or was lifted."""

    # -- facts as they are shown ----------------------------------------------------------------

    def live_for(self, word: str) -> set[str]:
        """The live facts that stand for one today: itself, or what its replacements have become."""
        found: set[str] = set()
        seen, waiting = {word}, [word]
        while waiting:
            name = waiting.pop()
            if name in self.facts and self.facts[name].status == "active":
                found.add(name)
                continue
            for other, fact in self.facts.items():
                if fact.replaces == name and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return found

    def end_of(self, name: str) -> str:
        """Where a connection leads that was made to this: a fact is followed to the one thing that replaced it."""
        fact = self.facts.get(name)
        live = self.live_for(name) if fact is not None and fact.status == "superseded" else set()
        return live.pop() if len(live) == 1 else name

    def shown_connections(self) -> set[tuple[str, str, str]]:
        found = set()
        for item in self.connections:
            source, target = self.end_of(item.source), self.end_of(item.target)
            if source == target:
                source, target = item.source, item.target
            found.add((source, item.relation, target))
        return found

    def is_refused(self, *texts: str) -> bool:
        """Whether one of these texts says what was rejected; in whole, since nothing is said in several sentences."""
        return any(holds and text in texts for text, holds in self.rejected.items())


@dataclass
class Here:
    """What only this machine has: gone when somebody cleans what git ignores."""

    notes: list[str] = field(default_factory=list)
    done: list[list[tuple[int, str]]] = field(default_factory=list)
    """What was taken off the list, by removal: the number that each had, and its text."""
    proposals: dict[str, Proposal] = field(default_factory=dict)
    pins: list[str] = field(default_factory=list)
    forgotten: list[tuple[str, Entry, tuple[tuple[str, str], ...]]] = field(default_factory=list)
    """Name, entry, and who was linked to it."""


@dataclass
class Model:
    kept: Kept = field(default_factory=Kept)
    here: Here = field(default_factory=Here)

    def copy(self) -> Model:
        return copy.deepcopy(self)

    def told(self) -> dict[str, Any]:
        """The form in which a memory is compared with it."""
        kept, here = self.kept, self.here
        pins = [word for name in here.pins if (word := self._pin(name))]
        return {
            "nodes": dict(kept.nodes),
            "relations": dict(kept.relations),
            "facts": dict(kept.facts),
            "connections": kept.shown_connections(),
            "episodes": dict(kept.episodes),
            "entries": dict(kept.entries),
            "sessions": kept.sessions,
            "sources": set(kept.sources),
            "imported": set(kept.imported),
            "checkpoints": kept.checkpoints,
            "rejected": dict(kept.rejected),
            "notes": list(here.notes),
            "proposals": {name: item.status for name, item in here.proposals.items()},
            "pins": sorted(set(pins)),
            "forgotten": [name for name, _, _ in here.forgotten],
        }

    def _pin(self, word: str) -> str:
        """The fact that a pin stands for today; nothing where it was put away."""
        live = self.kept.live_for(word)
        return min(live) if live else ""


@dataclass
class Branch:
    """A branch of the repository: what each of its commits holds, the latest last."""

    commits: list[Kept]

    def push(self, kept: Kept) -> None:
        self.commits.append(copy.deepcopy(kept))

    @property
    def tip(self) -> Kept:
        return copy.deepcopy(self.commits[-1])


def changed_nodes(before: Model, after: Model) -> set[str]:
    """Nodes that are other ones, new, or gone."""
    old, new = before.kept, after.kept
    return {name for name in {*old.nodes, *new.nodes} if old.nodes.get(name) != new.nodes.get(name)}


def with_status(node: Node, status: str, by: str = "") -> Node:
    return replace(node, status=status, by=by)
