"""Merge three versions of one value field by field; report what both sides changed.

What only one side changed is taken as it is, whatever it says. Only where both did, a field has a rule: the later time,
the readings of both, the tags of both. Where no rule helps, the side that was written last is taken, and it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

import msgspec

from quire.files.json_files import compact
from quire.model.text import cut, one_line
from quire.model.times import EPOCH, instant

Side = Literal["ours", "theirs"]
ABSENT = msgspec.UNSET
"""What stands where nothing stands; `null` is something."""
_ACCESSES = "access_count"
_LAST_ACCESS = "last_accessed"
READING = (_ACCESSES, _LAST_ACCESS)
"""What reading an entry changes, and nobody means by changing it."""
_WHOLE = ("source",)
"""Taken from one side as a whole: a type with the detail of another would be an origin that nobody named."""
_NAME_CHARS = 100
_SHOWN_CHARS = 120


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Something that both sides changed, each in its way. None stands where a version has nothing."""

    name: str
    """`category.key`; empty for the top level of the document."""
    field: str
    """Empty for the entry as a whole; inner fields after a dot."""
    base: Any
    ours: Any
    theirs: Any
    taken: Literal["ours", "theirs", "both"]
    message: str


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """Which side is taken where both changed something, why, and where it is told."""

    name: str
    told: list[Disagreement]
    taken: Side = "ours"
    why: str = "as neither is newer"


def same(one: Any, other: Any) -> bool:
    """Whether both are the same JSON, whatever the order of keys. To Python, `1`, `1.0` and `true` are equal."""
    return one is other or bool(one == other and compact(one) == compact(other))


def ordered(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The keys of both: ours in their order, then what only theirs has."""
    return list({**ours, **theirs})


def judge_of(name: str, ours: Any, theirs: Any, told: list[Disagreement]) -> Judge:
    """The side that was written last; whatever stands where an object should be yields to one."""
    mine, yours = _age(ours), _age(theirs)
    if mine == yours:
        return Judge(name=name, told=told)
    why = "which is newer" if mine[0] == yours[0] else "which is an object"
    return Judge(name=name, told=told, taken="theirs" if yours > mine else "ours", why=why)


def merge_values(base: Any, ours: Any, theirs: Any, field: str, judge: Judge) -> Any:
    """Any value: what one side changed, objects key by key, else the side that the judge takes."""
    if same(ours, theirs) or same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return decide(base, ours, theirs, field, judge)
    known = base if isinstance(base, dict) else {}
    found = {
        name: merge_values(
            known.get(name, ABSENT),
            ours.get(name, ABSENT),
            theirs.get(name, ABSENT),
            f"{field}.{name}" if field else name,
            judge,
        )
        for name in ordered(ours, theirs)
    }
    return {name: value for name, value in found.items() if value is not ABSENT}


def merge_fields(base: Any, ours: dict[str, Any], theirs: dict[str, Any], judge: Judge) -> dict[str, Any]:
    """The fields of an entry that is on both sides; `base` is ABSENT where both added it."""
    known = base if isinstance(base, dict) else {}
    # Without a base, only the moment of creation tells a copy from an entry that somebody else happened to write.
    is_copy = base is ABSENT and is_of_one_origin(ours, theirs)
    # Equal to the moment of the last reading: one side took them over from the other.
    is_copy = is_copy or all(same(ours.get(name, ABSENT), theirs.get(name, ABSENT)) for name in READING)
    found = {}
    for field in ordered(ours, theirs):
        versions = (known.get(field, ABSENT), ours.get(field, ABSENT), theirs.get(field, ABSENT))
        value = _merge_field(field, *versions, judge, is_copy=is_copy)
        if value is not ABSENT:
            found[field] = value
    return found


def _merge_field(field: str, base: Any, ours: Any, theirs: Any, judge: Judge, *, is_copy: bool) -> Any:
    if same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    if field == _ACCESSES:
        # Equal numbers are no reason to count only one of them: both sides may have read it as often.
        value: Any = merge_counts(base, ours, theirs, is_copy=is_copy)
    elif same(ours, theirs):
        return ours
    else:
        value = _RULES[field](ours, theirs, base) if field in _RULES else None
    if value is not None:
        return value
    if field in _WHOLE:
        return decide(base, ours, theirs, field, judge)
    return merge_values(base, ours, theirs, field, judge)


def decide(base: Any, ours: Any, theirs: Any, field: str, judge: Judge) -> Any:
    """One of the two, and it is told. What one side deleted and the other changed stays: it can be deleted again."""
    taken: Side = "theirs" if ours is ABSENT else "ours" if theirs is ABSENT else judge.taken
    judge.told.append(
        Disagreement(
            name=judge.name,
            field=field,
            base=_or_none(base),
            ours=_or_none(ours),
            theirs=_or_none(theirs),
            taken=taken,
            message=_sentence(base, ours, theirs, field, taken, judge),
        )
    )
    return ours if taken == "ours" else theirs


def _sentence(base: Any, ours: Any, theirs: Any, field: str, taken: Side, judge: Judge) -> str:
    names = [f"`{cut(one_line(name), _NAME_CHARS)}`" for name in (field, judge.name) if name]
    subject = " of ".join(names)
    if ours is ABSENT or theirs is ABSENT:
        gone = "theirs" if taken == "ours" else "ours"
        return f"{subject} was deleted in {gone} and changed in {taken}: it stays. Delete it again if it is to go."
    done = "added" if base is ABSENT else "changed"
    other, value = ("theirs", theirs) if taken == "ours" else ("ours", ours)
    shown = cut(one_line(compact(value).decode()), _SHOWN_CHARS)
    return (
        f"{subject} was {done} on both sides; {taken} was taken, {judge.why}. "
        f"Change it if {other} is right, which says: {shown}"
    )


def _or_none(value: Any) -> Any:
    return None if value is ABSENT else value


def merge_versions(base: Any, ours: str, theirs: str, told: list[Disagreement]) -> str:
    """The version of the document: where they differ, the higher one, and it is told."""
    if ours == theirs:
        return ours
    taken: Side = "ours" if _by_number(ours) > _by_number(theirs) else "theirs"
    versions = f"`schema_version` is `{cut(ours, 40)}` in ours and `{cut(theirs, 40)}` in theirs"
    told.append(
        Disagreement(
            name="",
            field="schema_version",
            base=_or_none(base),
            ours=ours,
            theirs=theirs,
            taken=taken,
            message=f"{versions}: the higher one is kept, with the entries of both. "
            "Open the document with the program of that version before you go on.",
        )
    )
    return ours if taken == "ours" else theirs


def _by_number(version: str) -> tuple[list[tuple[int, str]], str]:
    """Versions in their order: `10.0` after `2.0`. However long a number is, it is not computed."""
    parts = [part.lstrip("0") if part.isdecimal() else part for part in version.split(".")]
    return [(len(part) if part.isdecimal() or not part else -1, part) for part in parts], version


def merge_counts(base: Any, ours: Any, theirs: Any, *, is_copy: bool) -> int | None:
    """What both sides counted since the base, which is nothing where there is none; None where neither is a number.

    Of copies nobody knows how much they counted together: at least as much as the larger one says.
    """
    was, mine, yours = _number(base), _number(ours), _number(theirs)
    if mine is None and yours is None:
        return None
    mine, yours = mine or 0, yours or 0
    return max(mine, yours, 0 if is_copy else mine + yours - (was or 0))


def is_of_one_origin(ours: Any, theirs: Any) -> bool:
    """Whether two entries were created at the same moment, and so are one that was copied."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return False
    mine = _moment(ours.get("created_at"))
    return mine is not None and mine == _moment(theirs.get("created_at"))


def by_item(value: Any) -> dict[bytes, Any] | None:
    """The items of a list by what they say; None for what is no list."""
    if value is None or value is ABSENT:
        return {}
    return {compact(item): item for item in value} if isinstance(value, list) else None


def _merge_lists(ours: Any, theirs: Any, base: Any) -> list[Any] | None:
    """Without what either removed, with what either added; None where a side has no list."""
    was, mine, yours = by_item(base) or {}, by_item(ours), by_item(theirs)
    if mine is None or yours is None:
        return None
    kept = {item: value for item, value in mine.items() if item in yours or item not in was}
    added = {item: value for item, value in yours.items() if item not in mine and item not in was}
    return [*kept.values(), *added.values()]


def _later(ours: Any, theirs: Any, _: Any) -> Any:
    times = _times(ours, theirs)
    return max(times)[1] if times else None


def _earlier(ours: Any, theirs: Any, _: Any) -> Any:
    times = _times(ours, theirs)
    return min(times)[1] if times else None


def _times(*values: Any) -> list[tuple[datetime, str]]:
    """Those of the values that name a moment. Two ways to write the same one are told apart by their text alone."""
    return [(moment, value) for value in values if (moment := _moment(value)) is not None]


_RULES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "created_at": _earlier,
    "valid_at": _earlier,
    "updated_at": _later,
    _LAST_ACCESS: _later,
    "tags": _merge_lists,
    "links": _merge_lists,
}
"""For what both sides changed; a rule that gives None has nothing to say."""


def _moment(value: Any) -> datetime | None:
    return instant(value) if isinstance(value, str) else None


def _age(entry: Any) -> tuple[bool, bool, datetime]:
    if not isinstance(entry, dict):
        return (False, False, EPOCH)
    moment = _moment(entry.get("updated_at")) or _moment(entry.get("created_at"))
    return (True, moment is not None, moment or EPOCH)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return max(int(value), 0)
