"""A time that a test can move."""

from __future__ import annotations

from datetime import datetime


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-03-02T11:19:00+00:00")

    def __call__(self) -> datetime:
        return self.now
