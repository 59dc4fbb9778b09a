"""Suggest reviews: unread entries, entries to archive, and confidence values that no longer fit.

Nothing is changed here, and no two proposals contradict each other: an entry that may be put away gets no other
proposal, one whose confidence should rise is not called stale, and nothing that is proposed would be undone by the next
reflection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import msgspec

from quire.layers.profile.entries import Entry, last_touched
from quire.layers.profile.layout import ACTIVE, ARCHIVED, ASSISTANT, NAME, STATED, SUPERSEDED, USER

STALE_DAYS = 7.0
"""How long an entry may stand before it says something that nobody read it."""
UNIMPORTANT = 3
"""Entries up to this importance are put away where nobody reads them."""
OFTEN = 5
STATED_CONFIDENCE, READ_CONFIDENCE, LEAST_CONFIDENCE = 0.9, 0.8, 0.3
_STEP = 0.15
_DAY_SECONDS = 86_400.0


class UnreadEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that nobody has read since it was last written."""

    category: str
    key: str
    created_at: str
    days_old: float
    """Since it was last written."""
    reason: str


class Archival(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that matters little and that nobody reads."""

    category: str
    key: str
    importance: int
    reason: str


class ConfidenceUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """A confidence that says too much or too little."""

    category: str
    key: str
    current_confidence: float
    proposed_confidence: float
    reason: str


class ReflectionSummary(msgspec.Struct, frozen=True, kw_only=True):
    total_entries: int
    active: int
    archived: int
    superseded: int
    stale_count: int
    archival_candidate_count: int
    confidence_update_count: int


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """All proposals, each list in the order of the entries."""

    stale_entries: tuple[UnreadEntry, ...]
    archival_candidates: tuple[Archival, ...]
    confidence_updates: tuple[ConfidenceUpdate, ...]
    summary: ReflectionSummary


def reflect(entries: Sequence[Entry], now: datetime) -> Reflection:
    """What to do about these entries at this moment. Only those that are active get proposals."""
    stale: list[UnreadEntry] = []
    archival: list[Archival] = []
    updates: list[ConfidenceUpdate] = []
    for entry in entries:
        if entry.status != ACTIVE:
            continue
        days = _age(entry, now)
        is_unread = entry.access_count == 0 and days >= STALE_DAYS
        if is_unread and _may_go(entry):
            reason = f"importance {entry.importance}, {_unread(days)}"
            going = Archival(category=entry.category, key=entry.key, importance=entry.importance, reason=reason)
            archival.append(going)
            continue
        update = _confidence(entry, is_unread)
        if update:
            updates.append(update)
        if is_unread and not (update and update.proposed_confidence > update.current_confidence):
            stale.append(
                UnreadEntry(
                    category=entry.category,
                    key=entry.key,
                    created_at=entry.created_at,
                    days_old=round(days, 1),
                    reason=_unread(days),
                )
            )
    statuses = Counter(entry.status for entry in entries)
    return Reflection(
        stale_entries=tuple(stale),
        archival_candidates=tuple(archival),
        confidence_updates=tuple(updates),
        summary=ReflectionSummary(
            total_entries=len(entries),
            active=statuses[ACTIVE],
            archived=statuses[ARCHIVED],
            superseded=statuses[SUPERSEDED],
            stale_count=len(stale),
            archival_candidate_count=len(archival),
            confidence_update_count=len(updates),
        ),
    )


def _age(entry: Entry, now: datetime) -> float:
    """Days since someone last wrote it; none where that is unknown or lies ahead."""
    touched = last_touched(entry)
    return max((now - touched).total_seconds() / _DAY_SECONDS, 0.0) if touched else 0.0


def _may_go(entry: Entry) -> bool:
    # The assistant's name has to be there: putting it away would only bring a new one.
    return entry.importance <= UNIMPORTANT and (entry.category, entry.key) != (ASSISTANT, NAME)


def _confidence(entry: Entry, is_unread: bool) -> ConfidenceUpdate | None:
    """The one change of confidence that fits best; what the user is and wants is not a matter of confidence."""
    current = entry.confidence
    if entry.category == USER or current is None:
        return None
    is_stated = entry.source_type == STATED
    if is_stated and current < STATED_CONFIDENCE:
        proposed, reason = STATED_CONFIDENCE, "user-stated fact"
    elif entry.access_count >= OFTEN and current < READ_CONFIDENCE:
        proposed, reason = READ_CONFIDENCE, "frequently accessed"
    # What the user stated is not lowered: the next reflection would raise it again.
    elif is_unread and not is_stated and current > LEAST_CONFIDENCE:
        proposed, reason = max(round(current - _STEP, 2), LEAST_CONFIDENCE), "never accessed"
    else:
        return None
    return ConfidenceUpdate(
        category=entry.category,
        key=entry.key,
        current_confidence=current,
        proposed_confidence=proposed,
        reason=reason,
    )


def _unread(days: float) -> str:
    return f"never accessed, last written {days:.1f} days ago"
