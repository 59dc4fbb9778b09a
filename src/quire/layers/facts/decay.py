"""Compute what remains of a fact's confidence: it decays from the last confirmation on."""

from __future__ import annotations

from msgspec import Struct

from quire.layers.facts.layout import RECENT_WORK, SPECS
from quire.layers.facts.types import Fact
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


def _half_life(profile: Profile, count: int) -> float:
    growth = profile.factor ** min(max(count, 1) - 1, _COUNT_MOST)
    return min(HALF_LIFE_MOST, profile.half_life * growth)


def profile_of(fact: Fact) -> Profile:
    """The section decides before the stored profile: other writers store recent work with the standard one."""
    if fact.section == RECENT_WORK:
        return PROFILES["recent_work"]
    return PROFILES.get(fact.decay_profile, PROFILES["standard"])


def prior_of(fact: Fact) -> float:
    """What it counted when it was last confirmed."""
    return min(max(fact.confidence, 0.0), 1.0)


def half_life_of(fact: Fact) -> float:
    """In days; 0 where it does not wear."""
    if fact.section == SPECS:
        return 0.0
    return _half_life(profile_of(fact), fact.reinforcement_count)


def last_seen(fact: Fact) -> str:
    """The later of the last confirmation and the last reading; empty, which counts as now, where none is known."""
    confirmed = fact.last_reinforced or fact.created_at
    at = instant(confirmed)
    if at is None:
        return ""
    read = fact.last_accessed or ""
    seen = instant(read) if read else None
    return read if seen is not None and seen > at else confirmed
