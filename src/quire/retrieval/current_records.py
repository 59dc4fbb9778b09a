"""Decide whether a record is current, why it is withheld, and which record replaced it."""

from __future__ import annotations

from collections.abc import Callable

from quire.model.records import Record
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LIVE_STATUSES
from quire.retrieval.answer import Withheld

_WEIGHTS = {"active": 1.0, "open": 1.0, "closed": 0.7, "stale": 0.5, "superseded": 0.4}
_DEAD = 0.4
_RETIRED = 0.4
_STEPS = 16
FADED = 0.1
"""What counts less was not confirmed for long: it is withheld unless everything is asked for."""
REPLACEABLE = ("superseded", "archived")
"""What is put away so may have been put away for another."""
_CURRENT = (*LIVE_STATUSES, "closed")
_TRUST = {"fresh": 1.0, "unanchored": 1.0, "unverifiable": 0.95, "moved": 0.95, "changed": 0.85, "orphaned": 0.6}


def current_weight(record: Record, weight: float) -> float:
    """Lower a weight by the record's status and stage."""
    weight *= _WEIGHTS.get(record.status, _RETIRED)
    return weight * _DEAD if record.stage == "dead" else weight


def trust(verdict: Verdict) -> float:
    """The factor of a verdict in the score: a doubtful record ranks lower and is never hidden."""
    return _TRUST[verdict.verdict]


def retirement(record: Record, successor: Record | None, weight: float = 1.0) -> Withheld | None:
    """The reason to withhold a record; None if it is current. An unknown status is not current."""
    if record.status == "superseded":
        reason = f"superseded by {successor.ref}" if successor else "superseded"
    elif record.status == "stale":
        reason = "stale"
    elif record.stage == "dead":
        reason = "a dead feature"
    elif record.status not in _CURRENT:
        reason = f"{record.status}, replaced by {successor.ref}" if successor else record.status
    elif weight < FADED:
        return Withheld(
            ref=record.ref, title=record.title, reason="faded: not confirmed for a long time", is_faded=True
        )
    else:
        return None
    return Withheld(ref=record.ref, title=record.title, reason=reason)


def replacement_of(record: Record, follow: Callable[[str], Record | None]) -> Record | None:
    """The last record in the chain of replacements; `follow` returns the next one."""
    seen = {record.ref}
    current = follow(record.ref)
    for _ in range(_STEPS):
        if current is None or current.ref in seen:
            return None
        if current.status not in REPLACEABLE:
            return current
        seen.add(current.ref)
        current = follow(current.ref)
    return None
