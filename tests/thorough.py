"""How thorough a run of the tests is: the same sample each time, or all there is where `QUIRE_LONG_TESTS=1` is set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["LONG", "either", "examples", "some"]

LONG = os.environ.get("QUIRE_LONG_TESTS", "") not in ("", "0")
T = TypeVar("T")


def either(short: T, long: T) -> T:
    """The one for everyday, or the one for a long run."""
    return long if LONG else short


def examples(many: int) -> int:
    """How many examples are drawn: so many in a long run, fewer otherwise and always the same ones."""
    return either(min(many, max(30, many * 2 // 10)), many)


def some(items: Sequence[T], most: int) -> list[T]:
    """The first one, the last one and as many between them at even distances; all of them in a long run."""
    if LONG or len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
