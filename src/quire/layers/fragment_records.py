"""Records of one document that a branch adds, in fragments beside it.

Two branches that add to one place of a document conflict as text. So on other branches than the default one, a record
that the document does not hold yet stands in fragments: a line for each change, with what the record was and what it is
now. Whoever reads or folds takes one change in after the other, by field, whichever branch was merged first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from quire.files.fragments import fragments_of, new_fragment
from quire.files.json_files import json_value
from quire.files.paths import read_inside
from quire.files.transaction import FileUpdate, update_of
from quire.files.world import World
from quire.layers.merge_record import Fields, as_deleted_elsewhere, digest_of, same
from quire.model.limits import is_too_deep
from quire.model.times import EPOCH, instant

Name = tuple[str, ...]
Merge = Callable[[Fields | None, Fields | None, Fields | None], Fields | None]
"""Of base, ours and theirs."""


class BranchChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a branch did to one record."""

    name: Name
    was: Fields | str | None
    """None where it is new; where it was removed the digest alone, so that its text is gone."""
    now: Fields | None


class RecordRules(msgspec.Struct, frozen=True, kw_only=True):
    """What distinguishes the records of one document from those of another."""

    merge: Merge
    created: str
    """The field that two versions of one record have in common."""
    updated: str
    """The field by which the later of two versions is known."""
    unmeant: Collection[str]
    """Fields that nobody changes on purpose."""


def read_changes(data: bytes) -> tuple[list[BranchChange], int]:
    """The changes in a fragment, and how many of its lines cannot be read."""
    found: list[BranchChange] = []
    unread = 0
    for line in data.split(b"\n"):
        if line.strip():
            change = json_value(line, BranchChange)
            if change is None or is_too_deep([change.was, change.now]):
                unread += 1
            else:
                found.append(change)
    return found, unread


def change_of(name: Name, was: Fields | None, now: Fields | None, rules: RecordRules) -> BranchChange:
    gone = _digest(was, rules) if now is None and was is not None else was
    return BranchChange(name=name, was=gone, now=now)


def taken_in(
    held: Mapping[Name, Fields], changes: Iterable[BranchChange], rules: RecordRules
) -> dict[Name, Fields | None]:
    """The records that changes speak of, as they are after all of them; None for one that is gone."""
    by_name: dict[Name, list[BranchChange]] = {}
    for change in changes:
        by_name.setdefault(change.name, []).append(change)
    return {name: _after_all(held.get(name), rest, rules) for name, rest in by_name.items()}


def _after_all(record: Fields | None, rest: list[BranchChange], rules: RecordRules) -> Fields | None:
    """One change after the other: the one that was made of the record as it is now comes first."""
    while rest:
        change = next((one for one in rest if _follows(one, record, rules)), rest[0])
        rest.remove(change)
        record = _after(record, change, rules)
    return record


def _follows(change: BranchChange, record: Fields | None, rules: RecordRules) -> bool:
    if isinstance(change.was, str):
        return record is not None and change.was == _digest(record, rules)
    return same(change.was, record)


def _after(record: Fields | None, change: BranchChange, rules: RecordRules) -> Fields | None:
    if change.now is None:
        is_gone = record is None or _follows(change, record, rules)
        return None if is_gone else as_deleted_elsewhere(record or {})
    was = change.was if isinstance(change.was, dict) else None
    if was is None and record is not None and _is_later(record, change.now, rules):
        return record  # it was taken in before, and changed since
    return rules.merge(was, record, change.now)


def _is_later(record: Fields, other: Fields, rules: RecordRules) -> bool:
    times = [instant(value) if isinstance(value := side.get(rules.updated), str) else None for side in (record, other)]
    now, then = (moment or EPOCH for moment in times)
    return same(record.get(rules.created), other.get(rules.created)) and now > then


def _digest(record: Fields, rules: RecordRules) -> str:
    return digest_of({name: value for name, value in sorted(record.items()) if name not in rules.unmeant})


# -- files --------------------------------------------------------------------------------------------------------


def held_changes(root: str, log: str, most: int) -> dict[str, tuple[list[BranchChange], int]]:
    """The changes of each fragment, by its path from the project's root, and how many lines cannot be read."""
    found = {}
    for path in fragments_of(root, log):
        try:
            found[path] = read_changes(read_inside(root, path, most))
        except OSError:
            found[path] = [], 1
    return found


def fragment_with(log: str, changes: Sequence[BranchChange], world: World) -> list[FileUpdate]:
    """A new fragment with these changes."""
    data = b"".join(msgspec.json.encode(change) + b"\n" for change in changes)
    return [FileUpdate(path=new_fragment(log, world).partition("/")[2], data=data, planned=None)] if changes else []


def removals(root: str, paths: Iterable[str], most: int) -> list[FileUpdate]:
    """The removal of fragments whose lines stand elsewhere then."""
    return [update_of(path.partition("/")[2], read_inside(root, path, most), None) for path in paths]
