"""Find the records whose code a change touches, and those that it leaves out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from quire.anchors.commit_tree import parts_for
from quire.anchors.tree_change import TouchedPlace, TreeChange
from quire.files.git_snapshot import Blob
from quire.model.records import Record
from quire.model.seals import Seal, parse_seal
from quire.upkeep.review.closeness import Closeness
from quire.upkeep.review.findings import ReviewFinding, quoted

Effect = Literal["orphaned", "moved", "changed", "touched", "nearby", ""]
_CODES = {"orphaned": "M203", "moved": "M202", "changed": "M201", "touched": "M101"}
_SHOWN = 3


class _AnchorEffect(msgspec.Struct, frozen=True, kw_only=True):
    anchor: str
    effect: Effect
    to: tuple[str, ...] = ()
    place: TouchedPlace | None = None


def effects_on(
    change: TreeChange,
    listed: Callable[[list[str]], Mapping[str, Blob]],
    records: Mapping[str, Record],
    before: Mapping[str, Record | None],
    nearby: list[str],
) -> Iterator[ReviewFinding]:
    """A finding for each record, given by its file, whose code the change touched.

    `nearby` takes the refs of those that the change passes by: it touched other parts of what they are anchored to.
    `before` has the records that the change changed, as they were, and None for those it added. Only what the change
    did counts: what was out of date before is reported as a record about this code, no more. What the newer tree holds
    beside the files that differ is listed for those anchors alone that need it.
    """
    covered = {path: [one for one in record.anchors if change.paths.covers(one)] for path, record in records.items()}
    change.read_anchored({anchor for anchors in covered.values() for anchor in anchors})
    closeness = Closeness()
    passed = {
        (path, anchor)
        for path, anchors in covered.items()
        for anchor in anchors
        if change.stays(anchor) and not closeness.concerns(records[path], change.parts(anchor))
    }
    wanted = {anchor for path, anchors in covered.items() for anchor in anchors if (path, anchor) not in passed}
    if wanted:
        change.look(listed(parts_for(wanted)))
    for path, record in records.items():
        was = before.get(record.ref)
        is_new = was is None and record.ref in before
        found = [
            _beside(change, anchor)
            if (path, anchor) in passed
            else _effect(change, anchor, record, record if was is None else was, is_new=is_new)
            for anchor in covered[path]
        ]
        for effect, code in _CODES.items():
            told = [one for one in found if one.effect == effect]
            if told:
                yield _finding(code, record, told, path)
                break
        else:
            nearby += [record.ref] if any(one.effect == "nearby" for one in found) else []


def _beside(change: TreeChange, anchor: str) -> _AnchorEffect:
    is_nearby = change.touched(anchor) is not None and not change.only_minor(anchor)
    return _AnchorEffect(anchor=anchor, effect="nearby" if is_nearby else "")


def _effect(change: TreeChange, anchor: str, record: Record, was: Record, *, is_new: bool) -> _AnchorEffect:
    """What the change did to one anchor. What the record itself was brought up to date with is not held against it."""
    place = change.touched(anchor)
    touched = _AnchorEffect(anchor=anchor, effect="touched" if place else "", place=place)
    if change.is_unsure(anchor):
        return touched
    seals, old_seals = _seals(record), _seals(was)
    now = change.standing(change.after, anchor, seals)
    is_resealed = is_new or seals.get(anchor) != old_seals.get(anchor)
    if now == "gone":
        if not change.was_there(anchor):
            return _AnchorEffect(anchor=anchor, effect="")
        to = change.went(anchor, seals.get(anchor))
        return _AnchorEffect(anchor=anchor, effect="moved" if to else "orphaned", to=to, place=place)
    if now == "changed":
        then = "fresh" if is_resealed else change.standing(change.before, anchor, old_seals)
        made_here = then != "changed"
    else:
        # Nobody sealed it: then a record that is as it was is held against the code as it was.
        made_here = now == "unknown" and not seals and record == was and not is_new and change.differs(anchor)
    effect: Effect = "changed" if made_here else touched.effect
    if effect and change.only_minor(anchor):
        effect = ""
    return _AnchorEffect(anchor=anchor, effect=effect, place=place)


def _seals(record: Record) -> dict[str, Seal]:
    return {seal.anchor: seal for text in record.seen if (seal := parse_seal(text))}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def _finding(code: str, record: Record, told: list[_AnchorEffect], path: str) -> ReviewFinding:
    shown = _listed(one.anchor for one in told[:_SHOWN])
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    to = tuple(place for one in told for place in one.to)
    placed = next((one.place for one in told if one.place), None)
    moved = to[0].partition("#")[0] if to and not to[0].endswith("/") else ""
    said = {
        "M101": f"`{record.ref}` is about {shown}{more}.",
        "M201": f"`{record.ref}` is out of date with this change: {shown}{more} changed.",
        "M202": f"`{record.ref}` loses its code: {shown}{more} moved to {_listed(to[:_SHOWN])}.",
        "M203": f"`{record.ref}` loses its code: {shown}{more} is gone.",
    }
    return ReviewFinding(
        code=code,
        message=said[code],
        ref=record.ref,
        kind=record.kind,
        title=record.title,
        anchor=told[0].anchor,
        to=to,
        path=moved or (placed.path if placed else path),
        line=placed.line if placed and not moved else 1,
    )
