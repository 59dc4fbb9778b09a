"""Compute what remains of a fact's confidence: it decays from the last confirmation on."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from quire.layers.facts.layout import RECENT_WORK, SPECS
from quire.layers.facts.types import Connection, Fact
from quire.model.records import days_between, worn
from quire.model.times import instant

HALF_LIFE_MOST = 90.0
# Beyond this count every profile that grows has long reached the cap; the power must not overflow.
_COUNT_MOST = 64


class Profile(Struct, frozen=True):
    half_life: float
    """In days, for what was said once."""
    factor: float
    """By how much each confirmation lengthens it."""
    minimum: float
    """At or below it a fact may be swept into the archive."""


PROFILES = {
    "standard": Profile(half_life=14.0, factor=1.8, minimum=0.1),
    "global": Profile(half_life=30.0, factor=2.5, minimum=0.1),
    "recent_work": Profile(half_life=2.0, factor=1.0, minimum=0.01),
}


def temporal(profile: Profile, count: int, days: float) -> float:
    """The share that is left after so many days."""
    return worn(1.0, _half_life(profile, count), days)


def _half_life(profile: Profile, count: int) -> float:
    growth = profile.factor ** min(max(count, 1) - 1, _COUNT_MOST)
    return min(HALF_LIFE_MOST, profile.half_life * growth)


def profile_of(record: Fact | Connection) -> Profile:
    """The section decides before the stored profile: other writers store recent work with the standard one."""
    if isinstance(record, Connection):
        return PROFILES["standard"]
    if record.section == RECENT_WORK:
        return PROFILES["recent_work"]
    return PROFILES.get(record.decay_profile, PROFILES["standard"])


def prior_of(record: Fact | Connection) -> float:
    """What it counted when it was last confirmed."""
    return min(max(record.confidence, 0.0), 1.0)


def half_life_of(record: Fact | Connection) -> float:
    """In days; 0 where it does not wear."""
    if isinstance(record, Fact) and record.section == SPECS:
        return 0.0
    return _half_life(profile_of(record), record.reinforcement_count)


def last_seen(record: Fact | Connection) -> str:
    """The later of the last confirmation and the last reading; empty, which counts as now, where none is known."""
    confirmed = record.last_reinforced or record.created_at
    at = instant(confirmed)
    if at is None:
        return ""
    read = (record.last_accessed or "") if isinstance(record, Fact) else ""
    seen = instant(read) if read else None
    return read if seen is not None and seen > at else confirmed


def effective_confidence(record: Fact | Connection, now: datetime) -> float:
    """Between 0 and 1. Reading resets the timer, but never counts as a confirmation."""
    return worn(prior_of(record), half_life_of(record), days_between(last_seen(record), now))
