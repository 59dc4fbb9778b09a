"""Read JSON of other programs leniently: broken UTF-8, values of any type, times in any notation."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

import msgspec

from quire.guard.hostile_text import safe_line
from quire.model.text import cut
from quire.model.times import EPOCH, instant, is_timestamp
from quire.model.untyped import as_text

TITLE_CHARS = 200
_TIME_CHARS = 40
_DIGITS_LEAST = 10
# From which number on it counts what fraction of a second; smaller ones are no times of a transcript.
_SCALES = ((1e17, 1_000_000_000), (1e14, 1_000_000), (1e11, 1_000), (1e9, 1))
_TOO_LATE = 1e20


def decoded(data: bytes) -> Any:
    """A JSON value; ValueError where it is none. Bytes that are no UTF-8 are replaced, lone surrogates stay."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    import json  # the one decoder here that takes what JavaScript writes beyond the standard

    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def object_in(data: bytes | None) -> dict[str, Any] | None:
    """The object in some JSON; None where there is none."""
    try:
        value = None if data is None else decoded(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def label(value: Any) -> str:
    """A name or a title: one line of ordinary length, nothing hostile in it."""
    return cut(safe_line(as_text(value)[: TITLE_CHARS * 4]), TITLE_CHARS)


def moment(value: Any) -> str:
    """A time as ISO 8601, whatever it was written as; empty where it names none."""
    if isinstance(value, str):
        if len(value) > _TIME_CHARS:
            return ""
        if not (value.isascii() and value.isdigit() and len(value) >= _DIGITS_LEAST):
            return value if is_timestamp(value) else _written(value)
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if not value < _TOO_LATE:
        return ""
    scale = next((scale for least, scale in _SCALES if value >= least), 0)
    try:
        return _iso(timedelta(microseconds=int(value) * 1_000_000 // scale)) if scale else ""
    except OverflowError:
        return ""


def _written(text: str) -> str:
    found = instant(text)
    try:
        return _iso(found.astimezone(UTC) - EPOCH) if found else ""
    except OverflowError:
        return ""


def _iso(since: timedelta) -> str:
    return (EPOCH + since).isoformat(timespec="milliseconds").replace("+00:00", "Z")
