"""Records and edges: the common form of what every layer stores and the index knows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from quire.model.times import instant
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.model.errors import QuireError

_DAY_SECONDS = 86_400.0
_TRUSTED = ("user", "user-stated", "system")
"""Origins that ask to be believed: whoever writes a record can write them."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One remembered item of any layer."""

    ref: str
    layer: LayerName
    kind: str
    title: str
    text: str
    status: str
    path: str
    stage: str | None = None
    section: str = ""
    """The part of its layer that it stands in, where the layer has such parts."""
    scope: str = ""
    """What keeps it apart from the rest of its layer; empty for what everybody sees."""
    weight: float = 1.0
    half_life: float = 0.0
    """In how many days its weight halves; 0 for what does not wear."""
    since: str = ""
    """When someone last confirmed it: from then on it wears."""
    created_at: str = ""
    updated_at: str = ""
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    origin: str = ""
    seen: tuple[str, ...] = ()
    """Seals: what the anchors held when someone last looked."""
    commit: str = ""
    """The commit that was current then."""
    contested: tuple[str, ...] = ()
    """What branches disagree on, each in a line such as `stage: paused | building`."""
    names: tuple[str, ...] = ()
    """What else it can be found by, besides its ref."""
    raw: bytes = b""
    """How its layer holds it; nobody else reads it."""


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A directed relation between two refs."""

    ref: str
    source: str
    predicate: str
    target: str
    status: str
    path: str
    confidence: str | None = None
    raw: bytes = b""


class RecordSummary(msgspec.Struct, frozen=True):
    """What a layer knows of its files as a whole, in a form of its own."""

    value: bytes


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong, where it is, and what to do about it."""

    code: str
    message: str
    path: str = ""
    line: int | None = None
    field: str | None = None
    hint: str | None = None
    allowed: tuple[str, ...] = ()
    severity: str = "error"
    fixed_by: str = ""
    """Who repairs it: `repair` (a command, without losing anything), `person`, `itself`; empty where nobody asked."""


class RepairStep(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that can be repaired, by its code and place, and the repair."""

    code: str
    path: str
    message: str
    line: int | None = None
    field: str | None = None


def origin_shown(origin: str, *, reviewed: bool) -> str:
    """Where a record says it comes from; that it was the user is a claim until a person has looked at the record."""
    return f"{origin} (claimed)" if origin.casefold() in _TRUSTED and not reviewed else origin


def worn(share: float, half_life: float, days: float) -> float:
    """The rest of a share after some days of exponential decay; all of it without a half-life."""
    return share * 0.5 ** (max(days, 0.0) / half_life) if half_life > 0 else share


def days_between(then: str, now: datetime) -> float:
    """Days since a time; none since one that names no instant."""
    moment = instant(then)
    return 0.0 if moment is None else (now - moment).total_seconds() / _DAY_SECONDS


def weight_at(record: Record, now: datetime, read_at: str = "") -> float:
    """What a record counts at this moment. Reading resets the timer, but confirms nothing."""
    if record.half_life <= 0:
        return record.weight
    days = days_between(record.since, now)
    if read_at and instant(record.since) is not None and instant(read_at) is not None:
        days = min(days, days_between(read_at, now))
    return worn(record.weight, record.half_life, days)


def warning_at(
    code: str, path: str, message: str, hint: str | None, *, line: int | None = None, field: str | None = None
) -> Problem:
    """A problem that stops nothing."""
    return Problem(code=code, path=path, message=message, hint=hint, line=line, field=field, severity="warning")


def as_warning(error: QuireError) -> Problem:
    return Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)


def note_record(number: int, text: str) -> Record:
    """A note in the form in which records are sent."""
    return Record(ref=f"note:{number}", layer="facts", kind="note", title=text, text="", status="active", path="")
