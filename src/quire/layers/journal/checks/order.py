"""Check that ids in the log rise and are unique; compute the corrected order."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from quire.layers.journal.canonical import decode_json, line_bytes
from quire.layers.journal.events import EventLine
from quire.layers.journal.numbered_ids import allocate_ids, ordinal_of
from quire.layers.journal.types import JournalEvent


def repeated(events: Iterable[JournalEvent]) -> list[str]:
    """The ids that more than one event has, by their number."""
    seen: set[int] = set()
    twice: dict[int, str] = {}
    for event in events:
        number = ordinal_of(event.id)
        if number and number in seen:
            twice.setdefault(number, event.id)
        seen.add(number)
    return list(twice.values())


def disordered(events: Iterable[JournalEvent]) -> str | None:
    """The first id that is not above those before it, or has no number. One that was there before is not told again."""
    highest = 0
    seen: set[int] = set()
    for event in events:
        number = ordinal_of(event.id)
        if not number or (number < highest and number not in seen):
            return event.id
        seen.add(number)
        highest = max(highest, number)
    return None


class Ordered(Struct, frozen=True, kw_only=True):
    """The lines of a log in order, and what had to be done for it."""

    lines: list[EventLine]
    copies: int
    """How many lines stood there twice, byte for byte."""
    names: list[str]
    """The new ids."""
    is_moved: bool


def set_in_order(
    lines: Iterable[EventLine], taken: Iterable[str | None], foreign: Collection[int] = frozenset()
) -> Ordered | None:
    """An event keeps its id wherever it stood. A second one of the same id gets another above all taken, at the end.

    `foreign` are the numbers of other events elsewhere, which nobody here may have. Lines that are no events stay
    behind the one they followed. None where no numbers are left.
    """
    held: dict[int, list[EventLine]] = {0: []}
    later: list[list[EventLine]] = []
    raws: set[bytes] = set()
    copies, follows = 0, held[0]
    for line in lines:
        if line.event is None:
            follows.append(line)
        elif line.raw in raws:
            copies += 1
        else:
            raws.add(line.raw)
            number, follows = ordinal_of(line.event.id), [line]
            if not number or number in held or number in foreign:
                later.append(follows)
            else:
                held[number] = follows
    names = allocate_ids(taken, len(later))
    if names and not ordinal_of(names[-1]):
        return None
    order = sorted(held)
    renamed = [[_renamed(group[0], name), *group[1:]] for group, name in zip(later, names, strict=True)]
    return Ordered(
        lines=[line for group in [*(held[number] for number in order), *renamed] for line in group],
        copies=copies,
        names=names,
        is_moved=list(held) != order,
    )


def _renamed(line: EventLine, name: str) -> EventLine:
    """The same line under another id; keys that nobody knows stay."""
    if line.event is None:
        return line
    return replace(line, raw=line_bytes({**decode_json(line.raw), "id": name}), event=replace(line.event, id=name))
