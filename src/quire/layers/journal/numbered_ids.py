"""Compare numbered ids, such as `evt-000042` and `chk-000007`, by number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from quire.layers.journal.layout import CHECKPOINT_PREFIX, EVENT_PREFIX, ID_DIGITS, ORDINAL_MOST
from quire.model.times import EPOCH, instant

_NUMBER = re.compile(r"[0-9]{1,16}")
_MILLISECONDS = re.compile(r"[0-9]{12,14}")
_SECONDS = re.compile(r"[0-9]{9,10}")


def ordinal_of(name: str | None, prefix: str = EVENT_PREFIX) -> int:
    """The number of an id; 0 for what is no such id."""
    if name is None or not name.startswith(prefix):
        return 0
    digits = name[len(prefix) :]
    number = int(digits) if _NUMBER.fullmatch(digits) else 0
    return number if number <= ORDINAL_MOST else 0


def numbered_id(number: int, prefix: str = EVENT_PREFIX) -> str:
    """At least six digits; wider when needed."""
    return f"{prefix}{number:0{ID_DIGITS}d}"


def allocate_ids(taken: Iterable[str | None], count: int = 1, prefix: str = EVENT_PREFIX) -> list[str]:
    """The next ids above all that are or were taken.

    Those count too that only a cursor or a damaged line still names.
    """
    highest = max((ordinal_of(name, prefix) for name in taken), default=0)
    return [numbered_id(highest + step, prefix) for step in range(1, count + 1)]


def next_checkpoint_id(taken: Iterable[str | None]) -> str:
    return allocate_ids(taken, 1, CHECKPOINT_PREFIX)[0]


def moment_of(created_at: str | None) -> datetime | None:
    """When something happened; None for what names no time.

    Importers of other programs wrote the milliseconds since 1970 as they found them.
    """
    if not created_at:
        return None
    if created_at.isdigit():
        if _MILLISECONDS.fullmatch(created_at):
            return EPOCH + timedelta(milliseconds=int(created_at))
        return EPOCH + timedelta(seconds=int(created_at)) if _SECONDS.fullmatch(created_at) else None
    return instant(created_at)
