"""Merge three versions of a log, whose lines are records that nobody changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

_BOM = b"\xef\xbb\xbf"


def merge_lines(base: bytes | None, ours: bytes | None, theirs: bytes | None, order: Callable[[bytes], Any]) -> bytes:
    """The lines of the base that nobody removed, then what either side added, each once, in an order."""
    was, mine, yours = (log_lines(side) for side in (base, ours, theirs))
    kept = three_way(was, mine, yours)
    added = sorted(kept.difference(was), key=lambda line: (order(line), line))
    return b"".join(line + b"\n" for line in (*(line for line in was if line in kept), *added))


def log_lines(data: bytes | None) -> list[bytes]:
    """The lines that say something, without their ends."""
    found = (data or b"").removeprefix(_BOM).split(b"\n")
    return [line for raw in found if (line := raw.removesuffix(b"\r")).strip()]


def three_way(was: Collection[bytes], mine: Collection[bytes], yours: Collection[bytes]) -> set[bytes]:
    """What neither side took out, and what either put in."""
    known, here, there = set(was), set(mine), set(yours)
    return (here & there) | ((here | there) - known)
