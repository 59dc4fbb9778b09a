"""What the operations on facts give back: plain values that every surface prints in its own way."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.records import Problem
from quire.model.verdicts import Verdict


class FactView(msgspec.Struct, kw_only=True):
    """A fact as it is told: its own words, where it stands, and how much it counts today."""

    ref: str
    id: str
    kind: str = "fact"
    title: str
    section: str
    content: str
    status: str
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


class SimilarFact(msgspec.Struct, frozen=True):
    """A fact that says nearly the same, or the opposite, and how nearly."""

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


class FactStored(msgspec.Struct, kw_only=True):
    action: str
    """`stored`, `reinforced`, `tagged`, `unchanged`"""
    fact: FactView
    similar: list[SimilarFact] = []
    equal_archived: list[FactView] = []
    warnings: list[Problem] = []


class FactSuperseded(msgspec.Struct, kw_only=True):
    old: FactView
    new: FactView
    equal_archived: list[FactView] = []
    warnings: list[Problem] = []


class Recalled(msgspec.Struct, kw_only=True):
    query: str
    results: list[FactView]
    connected: list[ConnectionView] = []
    weak: bool = False
    """Nothing clearly answers; what came nearest is given all the same."""
    faded: int = 0
    """Matches that have not been confirmed for so long that they are left out."""
    reason: str = ""
    """Why there is nothing: `nothing stored`, `nothing matched`; or `all faded`, and then that is what is given."""
    mind: str = ""
    unread: int = 0
    """Lines of the file that could not be read."""
    others: dict[str, int] = {}
    """Facts of other minds, which were not searched."""
    warnings: list[Problem] = []


class FactPage(msgspec.Struct, kw_only=True):
    results: list[FactView]
    total: int
    offset: int
    sections: dict[str, int]
    more: int = 0
    """How many there are after this page."""
    unread: int = 0
    """Lines of the file that could not be read."""
    mind: str = ""
    warnings: list[Problem] = []


class ArchiveChanged(msgspec.Struct, kw_only=True):
    outcomes: list[Any]
    changed: int
    dry_run: bool = False


class Refreshed(msgspec.Struct, kw_only=True):
    since: str
    refreshed: int
    """Facts that count from today."""
    active: int
    mind: str
    dry_run: bool = False


class EpisodeView(msgspec.Struct, kw_only=True):
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


class Episodes(msgspec.Struct, kw_only=True):
    query: str
    results: list[EpisodeView]
    total: int


class PinsChanged(msgspec.Struct, kw_only=True):
    outcomes: dict[str, str]
    pins: list[FactView]
    recent: list[FactView]
    """What was read of late and fills the slots that are left."""
    slots: int
    used: int
    missing: list[str] = []
    """Pins whose facts were put away, or are not here."""
    session: str = ""
    warnings: list[Problem] = []


class FactStats(msgspec.Struct, kw_only=True):
    exists: bool
    path: str
    by_section: dict[str, dict[str, int]]
    by_status: dict[str, int]
    facts: int
    active: int
    faded: int
    episodes: int
    edges: int
    pins: int
    slots: int
    notes: int
    minds: dict[str, int]
    mind: str
    version: int
    lines: int
    size: int
    bad_lines: int
    conflicts: int
    contradictions: int
    parked: int
    duplicates: int
    """Lines that say nothing new: what `normalize` would take out."""
    markers: int
    """Marks of a merge conflict."""
    state: str
    """`empty`, `in order`, `to normalize`, `needs a look`"""
    by_source: dict[str, int] = {}
    warnings: list[Problem] = []


class Normalized(msgspec.Struct, kw_only=True):
    dry_run: bool
    changed: bool
    lines_before: int
    lines_after: int
    facts: int
    removed: int
    kept_aside: int
    conflicts: int
    contradictions: int
    uncommitted: bool
    diff: str = ""


class Imported(msgspec.Struct, kw_only=True):
    dry_run: bool
    source: str
    lines: int
    added: int
    known: int
    refused: int
    """Lines with a credential in them."""
    set_aside: int
    """Lines that could not be read."""
    warnings: list[Problem] = []


class Ingested(msgspec.Struct, kw_only=True):
    dry_run: bool
    documents: int
    counts: dict[str, int]
    steps: list[dict[str, Any]]
    pending: list[FactView] = []
    fact_ids: list[str] = []
    warnings: list[Problem] = []
