"""What many processes did in one project, and when: the history that a checker judges afterwards.

An act is one call. It is noted before it begins, with what it means to do, and after it ended, with what came of it:
so an act of a process that was killed is known as well. What an act did and saw is a list of effects on things, and
each value is written once only: whoever sees it knows who wrote it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["GONE", "OK", "PENDING", "TORN", "Act", "Effect", "counted", "read_history", "seen", "torn_or"]

GONE = ""
"""What is read of a thing that is not there, and what a removal writes."""
OK, PENDING = "ok", "pending"
TORN = "torn: "


class Effect(NamedTuple):
    """One thing that an act did or saw.

    write    the thing has this value now; `before` is the value that it was made from, where only that may be replaced
    read     the thing had this value
    list     all things whose names begin so, and their values: one that is not among them was not there
    count    a number that every such act gets one more of
    grow     a number that never falls
    maybe    a process that was killed may have written this value, under a name that nobody was told
    """

    kind: str
    key: str
    value: Any = GONE
    before: str | None = None


class Act(NamedTuple):
    """One call of one process, from its beginning to its end."""

    process: int
    number: int
    verb: str
    begin: float
    end: float
    outcome: str
    """`ok`, the code of an error, `pending` where the process was killed, or what was no error of ours."""
    effects: tuple[Effect, ...] = ()
    said: str = ""

    @property
    def name(self) -> str:
        return f"{self.verb} ({self.process}.{self.number})"


def torn_or(*pieces: str) -> str:
    """The value that all pieces of a thing show; where they differ, what was seen is torn."""
    return pieces[0] if len(set(pieces)) == 1 else TORN + " | ".join(pieces)


def seen(key: str, value: str) -> Effect:
    return Effect("read", key, value)


def counted(kind: str, key: str, number: int) -> Effect:
    return Effect(kind, key, number)


def read_history(files: Iterable[Path]) -> list[Act]:
    """The acts that processes noted, in the order in which they began."""
    acts: dict[tuple[int, int], Act] = {}
    for path in files:
        for line in path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue  # it was killed in the middle of a line: the act has not ended for anybody
            found = json.loads(line)
            effects = tuple(Effect(*item) for item in found.pop("effects"))
            act = Act(**{"end": math.inf, "outcome": PENDING, **found}, effects=effects)
            acts[act.process, act.number] = act
    return sorted(acts.values(), key=lambda act: act.begin)
