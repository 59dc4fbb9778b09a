"""Parse, write and compare timestamps: ISO 8601 with an offset, written in UTC."""

from __future__ import annotations

import re
from datetime import MINYEAR, UTC, datetime

TIMESTAMP_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(moment: datetime) -> str:
    """`2026-03-02T11:19:00+00:00`: whole seconds, UTC."""
    return _in_utc(moment).replace(microsecond=0).isoformat()


def time_text(moment: datetime) -> str:
    """`2026-03-02T11:19:00.000Z`: milliseconds, UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stamp(moment: datetime) -> str:
    """The same instant as part of a file name: `20260302T111900Z`."""
    return _in_utc(moment).strftime("%Y%m%dT%H%M%SZ")


def _in_utc(moment: datetime) -> datetime:
    """The same instant in UTC; the first or the last that there is, where it lies a few hours beyond."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        beyond = datetime.min if moment.year == MINYEAR else datetime.max  # noqa: DTZ901
        return beyond.replace(tzinfo=UTC)


def is_timestamp(text: str) -> bool:
    return re.match(TIMESTAMP_PATTERN, text) is not None and instant(text) is not None


def instant(text: str) -> datetime | None:
    """The instant a timestamp names, or None when it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def instant_in_utc(text: str) -> datetime | None:
    """The same in UTC; None also where that lies before the first year or after the last one."""
    found = instant(text)
    try:
        return None if found is None else found.astimezone(UTC)
    except OverflowError:
        return None
