"""Closed lists of kinds, statuses and layers, in display order."""

from __future__ import annotations

from typing import Literal, get_args

LayerName = Literal["graph", "facts", "profile", "journal"]
Kind = Literal["project", "feature", "decision", "gotcha", "question"]
Stage = Literal["idea", "building", "shipped", "paused", "dead"]
Status = Literal["active", "stale", "superseded", "open", "closed"]
Predicate = Literal["affects", "depends_on", "supersedes", "related_to"]
Confidence = Literal["low", "medium", "high"]
RelationStatus = Literal["active", "stale", "rejected"]
Actor = Literal["agent", "user", "cli", "mcp", "system"]
EvidenceKind = Literal["memory", "relation", "file", "commit", "task", "source"]
OriginKind = Literal["file", "url", "user", "external"]
EventName = Literal[
    "memory.created",
    "memory.updated",
    "memory.marked_stale",
    "memory.superseded",
    "memory.deleted",
    "relation.created",
    "relation.updated",
    "relation.deleted",
    "index.rebuilt",
]

LAYER_NAMES: tuple[LayerName, ...] = get_args(LayerName)
KINDS: tuple[str, ...] = get_args(Kind)
FACT_KINDS: tuple[str, ...] = ("fact", "episode")
PROFILE_KINDS: tuple[str, ...] = ("entry",)
JOURNAL_KINDS: tuple[str, ...] = ("bundle", "event", "checkpoint")
RECORD_KINDS: tuple[str, ...] = (*KINDS, *FACT_KINDS, *PROFILE_KINDS, *JOURNAL_KINDS)
"""The kinds of the records of all layers."""
CREATABLE_KINDS: tuple[str, ...] = tuple(kind for kind in KINDS if kind != "project")
STAGES: tuple[str, ...] = get_args(Stage)
SHOWN_STAGES = ("building", "shipped", "paused", "idea")
"""The stages of features that are not over, in the order in which they are shown."""
PREDICATES: tuple[str, ...] = get_args(Predicate)
ACTORS: tuple[str, ...] = get_args(Actor)
LIVE_STATUSES: tuple[str, ...] = ("active", "open")
QUESTION_STATUSES: tuple[str, ...] = ("open", "closed", "stale", "superseded")
OTHER_STATUSES: tuple[str, ...] = ("active", "stale", "superseded")


def statuses_of(kind: str) -> tuple[str, ...]:
    """The statuses a node of this kind may have."""
    return QUESTION_STATUSES if kind == "question" else OTHER_STATUSES


def live_status(kind: str) -> Status:
    """The status of a new or revived node of this kind."""
    return "open" if kind == "question" else "active"
