"""What every layer turns its holdings into: records and edges, the only things the index knows."""

from __future__ import annotations

import msgspec

from quire.model.words import Layer

__all__ = ["Edge", "Problem", "Record"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One thing remembered, whichever layer holds it."""

    ref: str
    layer: Layer
    kind: str
    title: str
    text: str
    status: str
    path: str
    stage: str | None = None
    weight: float = 1.0
    created_at: str = ""
    updated_at: str = ""
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    origin: str = ""
    seen: tuple[str, ...] = ()
    """Seals: what the anchors held when somebody last looked."""
    commit: str = ""
    """The commit that was current then."""


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A directed relation between two refs."""

    ref: str
    source: str
    predicate: str
    target: str
    status: str
    path: str
    confidence: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong, where it is, and what to do about it."""

    code: str
    message: str
    path: str = ""
    line: int | None = None
    field: str | None = None
    hint: str | None = None
    allowed: tuple[str, ...] = ()
    severity: str = "error"
