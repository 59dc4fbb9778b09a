"""Limits in seconds are meant for a quiet machine: `patience` says what they come to on this one, just now.

They are there to notice what never ends, or takes a hundred times as long; not to measure. What something costs is
asserted by counting work, or measured in `benchmarks/`.
"""

from __future__ import annotations

import os
import time

_ROUNDS, _LOOP = 5, 20_000
_TOLERANCE = 2.0

__all__ = ["patience"]


def patience(seconds: float) -> float:
    """So many seconds on a quiet machine, here and now."""
    return seconds * _TOLERANCE * max(1.0, _waiting(), _slowness())


def _waiting() -> float:
    """How many processes wanted each core in the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _slowness() -> float:
    """How much longer a piece of work takes by the clock on the wall than by that of the processor."""
    worst = 1.0
    for _ in range(_ROUNDS):
        wall, own = time.perf_counter(), time.process_time()
        sum(range(_LOOP))
        worst = max(worst, (time.perf_counter() - wall) / max(time.process_time() - own, 1e-6))
    return min(worst, 100.0)
