"""Merge three versions of one stored object, field by field.

What one side changed is taken. Where both changed a field, its rule gives the value; a field without a rule keeps the
values of both, as contested, and shows the last of them. A side may be contested itself, so the result does not depend
on the order in which branches are merged, nor on which side is called ours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from quire.files.digests import hex_digest
from quire.files.json_files import compact, decode_object
from quire.model.contested import CONTESTED, KEPT, RECORD, SETTLED, ContestedField, disagreement
from quire.model.errors import InvalidStore
from quire.model.times import EPOCH, instant

Fields = dict[str, Any]
Rule = Callable[[Any, Any, Any], Any]
"""A value for what both sides changed, of the base's, ours and theirs; each may be None, where it has none."""
_GONE, _KEPT, _CHANGED = b"gone", b"kept", b"changed"
_DIGEST_CHARS = 16
_NOTES = (CONTESTED, SETTLED)


def one_sided(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes | None, bool]:
    """The file where only one side changed it, and whether this is so."""
    if ours == theirs or base == theirs:
        return ours, True
    return theirs, base == ours


def read_versions(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> tuple[Fields | None, Fields | None, Fields | None]:
    """The three versions of an object. A base that cannot be read is none: too much is kept then, never too little."""
    try:
        was = decode_object(base) if base is not None else None
    except ValueError:
        was = None
    try:
        mine, yours = (decode_object(side) if side is not None else None for side in (ours, theirs))
    except ValueError as error:
        raise InvalidStore(
            f"A version of `{path}` cannot be read: {error}.", hint="Repair it and merge again."
        ) from None
    return was, mine, yours


def merge_record(
    base: Fields | None,
    ours: Fields | None,
    theirs: Fields | None,
    rules: Mapping[str, Rule],
    unmeant: Collection[str] = (),
) -> Fields | None:
    """The one object; None where it is deleted. `unmeant` are fields that nobody changes on purpose."""
    merged = ours if theirs is None else theirs
    if ours is not None and theirs is not None:
        merged = _both(base or {}, ours, theirs, rules)
    if base is None or merged is None:
        return merged
    kept = _kept(*(_presence(side, base, unmeant) for side in (base, ours, theirs)))
    if kept == {_GONE}:
        return None
    contested = {name: values for name, values in _notes(merged, CONTESTED).items() if name != RECORD}
    if _GONE in kept:
        contested[RECORD] = [None, KEPT]
    ordered = {name: merged[name] for name in _names(base, merged) if name in merged}
    return _with_notes(ordered, contested, _notes(merged, SETTLED))


def _both(base: Fields, ours: Fields, theirs: Fields, rules: Mapping[str, Rule]) -> Fields:
    versions = base, ours, theirs
    settled = _merged_settled(*versions)
    contested: Fields = {}
    found: Fields = {}
    for name in _names(*versions):
        if name in rules:
            values = [_by_rule(rules[name], *(side.get(name) for side in versions))]
        else:
            values = _values(*(_given(side, name) for side in versions), settled=settled.get(name, ()))
        if len(values) > 1:
            contested[name] = values
        if values[-1] is not None or _is_null(name, *versions):
            found[name] = values[-1]
    return _with_notes(found, contested, settled)


def contested_fields(ref: str, fields: Fields, path: str = "") -> list[ContestedField]:
    """What branches disagree on in an object. A value that someone wrote by hand since settles it."""
    return [
        ContestedField(ref=ref, field=name, values=tuple(values), path=path)
        for name, values in sorted(_notes(fields, CONTESTED).items())
        if name == RECORD or same(fields.get(name), values[-1])
    ]


def disagreements(fields: Fields) -> tuple[str, ...]:
    """What branches disagree on in an object, as its record says it."""
    return tuple(map(disagreement, contested_fields("", fields))) if CONTESTED in fields else ()


def noted_fields(fields: Fields) -> list[str]:
    """The fields that something is noted of: that they are contested, or what was decided against."""
    return sorted({**_notes(fields, CONTESTED), **_notes(fields, SETTLED)})


def settle_field(fields: Fields, name: str, value: Any) -> Fields:
    """The object with one contested field settled; the other values are noted, so that no merge restores them."""
    contested, settled = dict(_notes(fields, CONTESTED)), dict(_notes(fields, SETTLED))
    values = contested.pop(name, [])
    found = dict(fields)
    if name != RECORD:
        found[name] = value
        against = {digest_of(other) for other in values} | set(settled.get(name, ()))
        settled[name] = sorted(against - {digest_of(value)})
        if value is None:
            found.pop(name)
    return _with_notes(found, contested, settled)


def without_notes(fields: Fields) -> Fields:
    """The object after a person gave all fields a value: nothing is contested or decided about them."""
    return _with_notes(fields, {}, {})


def as_deleted_elsewhere(fields: Fields) -> Fields:
    """The object with a note that another branch deleted it."""
    return _with_notes(fields, {**_notes(fields, CONTESTED), RECORD: [None, KEPT]}, _notes(fields, SETTLED))


def same(one: Any, other: Any) -> bool:
    """Whether both are the same JSON, whatever the order of keys. To Python, `1`, `1.0` and `true` are equal."""
    return one is other or bool(one == other and compact(one) == compact(other))


def digest_of(value: Any) -> str:
    return hex_digest(compact(value).decode())[:_DIGEST_CHARS]


# -- rules -------------------------------------------------------------------------------------


def latest(_: Any, ours: Any, theirs: Any) -> Any:
    return max(ours, theirs, key=_moment)


def earliest(_: Any, ours: Any, theirs: Any) -> Any:
    """The earlier of two times; one that names no moment yields."""
    timed = [value for value in (ours, theirs) if isinstance(value, str) and instant(value)]
    return min(timed or [ours, theirs], key=_moment)


def largest(_: Any, ours: Any, theirs: Any) -> Any:
    return max(ours, theirs, key=_amount)


def together(base: Any, ours: Any, theirs: Any) -> Any:
    """A list without what either side removed, with what either added; what is added comes last, in a fixed order."""
    was, mine, yours = (_by_item(side) for side in (base, ours, theirs))
    kept = [item for key, item in was.items() if key in mine and key in yours]
    added = {key: item for key, item in {**mine, **yours}.items() if key not in was}
    return [*kept, *(added[key] for key in sorted(added))]


def by_order(*values: Any) -> Rule:
    """Of two values, the one that stands later in this order; of two that it does not name, the larger text."""

    def later(_: Any, ours: Any, theirs: Any) -> Any:
        return max(ours, theirs, key=lambda value: (values.index(value) if value in values else -1, compact(value)))

    return later


def _moment(value: Any) -> tuple[float, bytes]:
    moment = instant(value) if isinstance(value, str) else None
    return ((moment or EPOCH) - EPOCH).total_seconds(), compact(value)


def _amount(value: Any) -> tuple[bool, float, bytes]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number, value if is_number else 0, compact(value)


def _by_item(value: Any) -> dict[bytes, Any]:
    return {compact(item): item for item in value} if isinstance(value, list) else {}


# -- fields ------------------------------------------------------------------------------------


def _names(base: Fields, *sides: Fields) -> list[str]:
    """The names of all fields: those of the base in their order, then the others."""
    if not base and all(list(side) == list(sides[0]) for side in sides):
        base = sides[0]
    added = {name for side in sides for name in side if name not in base and name not in _NOTES}
    return [*(name for name in base if name not in _NOTES), *sorted(added)]


def _is_null(name: str, base: Fields, ours: Fields, theirs: Fields) -> bool:
    """Whether nothing is written as `null` here, rather than not at all."""
    sides = [side for side in (ours, theirs) if name in side]
    return all(side[name] is None for side in sides) and (len(sides) == 2 or name not in base)


def _by_rule(rule: Rule, base: Any, ours: Any, theirs: Any) -> Any:
    if same(ours, theirs) or same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    return theirs if ours is None else ours if theirs is None else rule(base, ours, theirs)


def _values(base: list[Any], ours: list[Any], theirs: list[Any], *, settled: Collection[str]) -> list[Any]:
    """The values of a field that hold, in a fixed order."""
    was, mine, yours = ({compact(value): value for value in side} for side in (base, ours, theirs))
    found = {**was, **mine, **yours}
    kept = _kept(was, mine, yours)
    holding = {key for key in kept if digest_of(found[key]) not in settled} or kept
    return [found[key] for key in sorted(holding, key=lambda key: (found[key] is not None, key))]


def _kept(base: Collection[bytes], ours: Collection[bytes], theirs: Collection[bytes]) -> set[bytes]:
    """What neither side took out, and what either put in; all of it where each took out what the other kept."""
    either = {*ours, *theirs}
    return {item for item in either if (item in ours and item in theirs) or item not in base} or either


def _given(record: Fields, name: str) -> list[Any]:
    """All values that a version gives a field. One that someone wrote by hand since counts alone."""
    value, noted = record.get(name), _notes(record, CONTESTED).get(name)
    return noted if noted and same(noted[-1], value) else [value]


def _presence(side: Fields | None, base: Fields, unmeant: Collection[str]) -> set[bytes]:
    if side is None:
        return {_GONE}
    if RECORD in _notes(side, CONTESTED):
        return {_GONE, _CHANGED}
    meant = [{name: value for name, value in version.items() if name not in unmeant} for version in (side, base)]
    return {_KEPT if same(*meant) else _CHANGED}


def _merged_settled(base: Fields, ours: Fields, theirs: Fields) -> dict[str, list[str]]:
    notes = [_notes(side, SETTLED) for side in (base, ours, theirs)]
    return {name: together(*(side.get(name, []) for side in notes)) for name in {**notes[1], **notes[2]}}


def _notes(record: Fields, name: str) -> dict[str, list[Any]]:
    """What is noted by field; anything else that stands there is nobody's note."""
    found = record.get(name)
    if not isinstance(found, dict):
        return {}
    return {field: values for field, values in found.items() if isinstance(values, list) and values}


def _with_notes(fields: Fields, contested: Fields, settled: Mapping[str, list[str]]) -> Fields:
    found = {name: value for name, value in fields.items() if name not in _NOTES}
    decided = {name: digests for name, digests in settled.items() if digests}
    if contested:
        found[CONTESTED] = dict(sorted(contested.items()))
    if decided:
        found[SETTLED] = dict(sorted(decided.items()))
    return found
