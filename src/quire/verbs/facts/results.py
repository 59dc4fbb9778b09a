"""Result types for facts, episodes and connections."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from quire.model.records import origin_shown
from quire.model.verdicts import Verdict
from quire.verbs.verb import View


class FactView(View, kw_only=True):
    """A fact as it is reported: its own words, where it stands, and how much it counts today."""

    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("kind", "title", "source", "last_said", "why", "scores", "mind")

    ref: str
    id: str
    kind: str = "fact"
    title: str
    section: str
    content: str
    status: str = "active"
    confidence: float
    created_at: str
    source: str
    score: float | None = None
    tier: str | None = None
    """Whether it answers a question or may do so: `answer`, `possible`."""
    last_said: str | None = None
    """The day on which it was stored, or last confirmed."""
    verdict: Verdict | None = None
    reviewed: bool | None = None
    """Whether a person has looked at it as it is now; None where nobody was asked."""
    tags: tuple[str, ...] = ()
    why: str = ""
    scores: dict[str, float] = {}
    """The parts of the score: lexical, cosine, fused, confidence, graph."""
    reason: str | None = None
    put_away_at: str | None = None
    replaced_by: tuple[str, ...] = ()
    supersedes: str | None = None
    mind: str = ""
    artifact: dict[str, str] | None = None
    reinforcements: int = 1

    def origin_for_tools(self) -> str:
        return origin_shown(self.source or "facts", reviewed=self.reviewed is not False)


class SimilarFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that says nearly the same, or the opposite, and how nearly."""

    ref: str
    id: str
    share: float
    section: str
    content: str
    opposite: bool = False


class ConnectionView(msgspec.Struct, frozen=True):
    ref: str
    source: str
    relation: str
    target: str
    title: str = ""
    description: str = ""


class EpisodeView(View, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("kind", "id")

    ref: str
    id: str
    kind: str = "episode"
    title: str
    narrative: str
    date: str
    tags: tuple[str, ...]
    facts: tuple[str, ...]
    session: str | None
    score: float | None = None
    verdict: Verdict | None = None

    def origin_for_tools(self) -> str:
        return "session"
