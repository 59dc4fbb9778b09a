"""What the operations on the profile give back: plain values that every surface prints in its own way."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.records import Problem
from quire.model.verdicts import Verdict


class EntryView(msgspec.Struct, kw_only=True):
    """An entry as it is told; what was read since the last change counts."""

    ref: str
    id: str
    """`category.key`"""
    category: str
    key: str
    kind: str = "entry"
    title: str
    value: str
    status: str
    importance: int
    confidence: float | None
    tags: tuple[str, ...]
    source: dict[str, str | None]
    created_at: str
    updated_at: str
    access_count: int
    last_accessed: str | None
    links: tuple[dict[str, str], ...]
    private: bool
    score: float | None = None
    tier: str | None = None
    """Whether it answers a question or may do so: `answer`, `possible`."""
    verdict: Verdict | None = None
    reviewed: bool | None = None
    """Whether a person has looked at it as it is now; None where nobody was asked."""
    why: str = ""
    scores: dict[str, float] = {}
    entry: dict[str, Any] = {}
    """Every field as it is stored."""


class EntryBrief(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in a line."""

    ref: str
    id: str
    category: str
    key: str
    kind: str = "entry"
    title: str
    importance: int


class ForgottenEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was removed on this machine, and when."""

    ref: str
    id: str
    category: str
    key: str
    kind: str = "entry"
    title: str
    value: str
    at: str
    score: float | None = None
    verdict: str | None = None


class Candidate(msgspec.Struct, frozen=True):
    """An entry that says the same, or nearly, and how nearly."""

    ref: str
    category: str
    key: str
    value: str
    tags: tuple[str, ...]
    share: float


class Remembered(msgspec.Struct, kw_only=True):
    action: str
    """`ADD`, `UPDATE`, `NOOP` (nothing is different), or `candidates`: nothing was written."""
    entry: EntryView | None = None
    candidates: list[Candidate] = []
    recommendation: str = ""
    """With candidates: `NOOP` where one says the same, else `UPDATE`."""
    linked: list[str] = []
    archived: list[str] = []
    dry_run: bool = False
    warnings: list[Problem] = []


class RecalledEntries(msgspec.Struct, kw_only=True):
    category: str
    results: list[EntryView]
    put_away: int = 0
    """Entries of the category that are archived or superseded, and not shown."""
    warnings: list[Problem] = []


class FoundEntries(msgspec.Struct, kw_only=True):
    query: str
    results: list[EntryView]
    beyond: int = 0
    """Matches after the last that is shown."""
    weak: bool = False
    """Nothing clearly answers; what came nearest is given all the same."""
    total: int = 0
    """Entries that were searched."""
    warnings: list[Problem] = []


class RemovedEntry(msgspec.Struct, kw_only=True):
    removed: EntryView
    links_removed: list[str]
    """The entries that had a link to it."""
    backup_path: str
    dry_run: bool = False


class RestoredEntry(msgspec.Struct, kw_only=True):
    entry: EntryView
    links_restored: int
    dry_run: bool = False


class EntryLink(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    target: str
    relation: str
    entry_summary: str
    """What the other entry says; empty where it is gone."""
    status: str = ""


class EntryConnections(msgspec.Struct, kw_only=True):
    entry: EntryView
    outgoing: list[EntryLink]
    incoming: list[EntryLink]


class Unlinked(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    target: str
    relations: tuple[str, ...]
    dry_run: bool = False


class SessionStarted(msgspec.Struct, kw_only=True):
    session_count: int
    counted: bool
    """False where the documents cannot be written to."""
    categories: dict[str, int]
    total: int
    schema_version: str
    matters: list[EntryBrief]
    """The most important entries of every category, as far as they fit into a few hundred tokens."""
    context: str
    """The same, to be read."""
    name_missing: bool
    """Whether the assistant had no name when the session began."""
    assistant_name: str
    name_assigned: bool
    contradictions: list[EntryLink]
    proposals: int
    """What `reflect` would propose."""
    warnings: list[Problem] = []


class Reflected(msgspec.Struct, kw_only=True):
    stale_entries: list[Any]
    archival_candidates: list[Any]
    confidence_updates: list[Any]
    summary: Any
    applied: list[str] = []
    """Entries that were changed."""
    dry_run: bool = False


class ProfileStatus(msgspec.Struct, kw_only=True):
    exists: bool
    path: str
    schema_version: str
    session_count: int
    file_size: str
    categories: dict[str, int]
    """Active entries."""
    statuses: dict[str, int]
    total: int
    """Entries, whatever their status."""
    links: int
    tags: dict[str, int]
    """The most frequent ones."""
    private: str
    """`shared`, `here` or `home`"""
    private_path: str
    private_entries: int
    shadowed: list[str]
    unread: int
    pending_readings: int
    forgotten: int
    backups: list[str]
    writable: bool
    warnings: list[Problem] = []


class Exported(msgspec.Struct, kw_only=True):
    format: str
    content: str
    entries: int
    private_entries: int


class Page(msgspec.Struct, kw_only=True):
    """A text to be shown as it is."""

    text: str
    entries: int
    """On the page."""
    put_away: int = 0
    """Archived or superseded ones that are left out of it."""
    warnings: list[Problem] = []


class MovedEntries(msgspec.Struct, kw_only=True):
    before: str
    after: str
    target: str
    moved: list[str]
    copied: list[str]
    differing: list[str]
    linked: list[str]
    committed: bool
    """Whether the last commit holds the shared document: its history keeps what leaves it."""
    applied: bool
