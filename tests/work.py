"""How much work a call does, counted and not timed: a busy machine counts the same."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType

__all__ = ["calls_made"]


def calls_made(work: Callable[[], object]) -> int:
    """How many functions are called while this runs, ours and those of the interpreter."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count
