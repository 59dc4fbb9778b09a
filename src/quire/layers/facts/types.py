"""Stored types of the facts: every field that any writer of such files has used, and unknown keys.

The order of the fields is the order of the keys in a line. A key with its default value is left out.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from quire.layers.facts.layout import ACTIVE, DEFAULT_MIND, ID_CHARS, VERSION_MOST

# An id is a name, not a text: no blanks, no control characters.
Id = Annotated[str, Meta(pattern=r"^[^\s\x00-\x1f\x7f]+\Z", max_length=ID_CHARS)]
Text = Annotated[str, Meta(min_length=1)]
Number = Annotated[int, Meta(ge=0, le=VERSION_MOST)]
Share = Annotated[float, Meta(ge=0)]


class Fact(Struct, frozen=True, kw_only=True):
    """One atom of knowledge."""

    id: Id
    mind: Id = DEFAULT_MIND
    section: Text
    content: Text
    status: Text = ACTIVE
    created_at: str = ""
    source: str = "manual"
    content_hash: str = ""
    supersedes: Id | None = None
    """The fact that this one replaces."""
    version: Number = 0
    """A Lamport counter: one more than the highest of the file at every change. Never a clock."""
    decay_profile: str = "standard"
    persona_id: str | None = None
    layer: str = "project"
    tags: tuple[str, ...] = ()
    confidence: Share = 1.0
    last_reinforced: str | None = None
    reinforcement_count: Number = 1
    evidence: tuple[str, ...] = ()
    """Who confirmed it, each once: the same source twice is no new evidence."""
    decay_rate: Share = 0.05
    """Carried for other writers; no formula uses it."""
    last_accessed: str | None = None
    created_session: str | None = None
    superseded_at: str | None = None
    archived_at: str | None = None
    updated_at: str | None = None
    reason: str | None = None
    """Why it was put away."""
    same_as: Id | None = None
    """Put away because it says the same as this fact: whoever names this id means that one."""
    jj_change_id: str | None = None
    extra: dict[str, Any] = {}

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE


class Connection(Struct, frozen=True, kw_only=True):
    """A directed, typed edge. Its ends are ids of facts, or refs of any layer."""

    id: Id
    source_id: Id
    target_id: Id
    relation: Text
    description: str = ""
    status: Text = ACTIVE
    created_at: str = ""
    version: Number = 0
    confidence: Share = 1.0
    last_reinforced: str | None = None
    reinforcement_count: Number = 1
    evidence: tuple[str, ...] = ()
    decay_rate: Share = 0.05
    created_session: str | None = None
    source_mind: str = DEFAULT_MIND
    target_mind: str = DEFAULT_MIND
    archived_at: str | None = None
    updated_at: str | None = None
    reason: str | None = None
    extra: dict[str, Any] = {}

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE


class Episode(Struct, frozen=True, kw_only=True):
    """What happened in a session, and why."""

    id: Id
    mind: Id = DEFAULT_MIND
    title: str
    narrative: str
    date: str = ""
    session_id: str | None = None
    created_at: str = ""
    version: Number = 0
    fact_ids: tuple[str, ...] = ()
    affected_nodes: tuple[str, ...] = ()
    affected_changes: tuple[str, ...] = ()
    files_changed: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tool_calls_count: Number | None = None
    updated_at: str | None = None
    jj_change_id: str | None = None
    extra: dict[str, Any] = {}


class Mind(Struct, frozen=True, kw_only=True):
    """A named store of facts that sees nothing of the others."""

    name: Annotated[str, Meta(min_length=1, max_length=ID_CHARS)]
    description: str = ""
    status: Text = ACTIVE
    origin_type: str = "local"
    origin_path: str | None = None
    origin_url: str | None = None
    readonly: bool = False
    parent: str | None = None
    created_at: str = ""
    version: Number = 0
    last_sync: str | None = None
    updated_at: str | None = None
    extra: dict[str, Any] = {}


Stored = Fact | Connection | Episode | Mind
StoredT = TypeVar("StoredT", Fact, Connection, Episode, Mind)


def name_of(record: Stored) -> str:
    """What tells a record from others of its kind."""
    return record.name if isinstance(record, Mind) else record.id
