"""How much a fact still counts: its prior, worn by the time since somebody last confirmed it. One rule for all."""

from __future__ import annotations

import math
from datetime import datetime

from msgspec import Struct

from quire.layers.facts.layout import RECENT_WORK, SPECS
from quire.layers.facts.types import Connection, Fact
from quire.model import instant

FLOOR = 0.1
"""What counts less is left out of answers unless it is asked for."""
HALF_LIFE_MOST = 90.0
_DAY_SECONDS = 86_400.0
# Beyond this count every profile that grows has long reached the cap; the power must not overflow.
_COUNT_MOST = 64

__all__ = ["FLOOR", "HALF_LIFE_MOST", "PROFILES", "Profile", "effective_confidence", "profile_of", "temporal"]


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
    growth = profile.factor ** min(max(count, 1) - 1, _COUNT_MOST)
    half_life = min(HALF_LIFE_MOST, profile.half_life * growth)
    return math.exp(-math.log(2) * max(days, 0.0) / half_life)


def profile_of(record: Fact | Connection) -> Profile:
    """The section decides before the stored profile: other writers store recent work with the standard one."""
    if isinstance(record, Connection):
        return PROFILES["standard"]
    if record.section == RECENT_WORK:
        return PROFILES["recent_work"]
    return PROFILES.get(record.decay_profile, PROFILES["standard"])


def effective_confidence(record: Fact | Connection, now: datetime) -> float:
    """Between 0 and 1. Reading resets the timer, but never counts as a confirmation."""
    prior = min(max(record.confidence, 0.0), 1.0)
    if isinstance(record, Fact) and record.section == SPECS:
        return prior
    since = _last_seen(record)
    days = 0.0 if since is None else (now - since).total_seconds() / _DAY_SECONDS
    return prior * temporal(profile_of(record), record.reinforcement_count, days)


def _last_seen(record: Fact | Connection) -> datetime | None:
    """The later of the last confirmation and the last reading; a time that names no instant counts as now."""
    confirmed = instant(record.last_reinforced or record.created_at)
    if confirmed is None:
        return None
    read = instant(record.last_accessed) if isinstance(record, Fact) and record.last_accessed else None
    return confirmed if read is None else max(confirmed, read)
