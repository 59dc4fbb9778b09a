"""Merge three versions of a file of the journal, whichever side is ours, in whatever order branches are merged.

A bundle is made of events: of texts that both branches wrote the one that says more holds, lists are united, and the
next recall writes it anew. So nothing here is contested. Numbers that two branches gave are given anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quire.layers.fragment_records import RecordRules
from quire.layers.journal.canonical import (
    canonical_text,
    content_hash,
    declared_text,
    decode_json,
    file_bytes,
    is_same,
    line_bytes,
)
from quire.layers.journal.documents import parse_document, read_checkpoint, read_state
from quire.layers.journal.events import read_history
from quire.layers.journal.layout import (
    BATCH_MANIFEST,
    CHECKPOINT_PREFIX,
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    FOLDER,
    SOURCES,
    STATE,
)
from quire.layers.journal.numbered_ids import allocate_ids, moment_of, numbered_id, ordinal_of
from quire.layers.merge_lines import merge_lines
from quire.model.contested import MergedFile
from quire.model.times import EPOCH

COLLIDED = "collided"
"""The key of a checkpoint that keeps others of the same number, until folding gives them numbers of their own."""
_NAMES = ("title", "path", "label", "command")
"""By which of these an item of a bundle's list is known again, the first that it has."""
_SYNCED = ("lastSyncedAt", "lastSyncStatus", "lastSyncError", "lastImportedCount", "updatedAt")
_GENERATED = ("generatedAt", "generatorVersion", "provider")
_CURSORS = ("lastRecalledAt", "lastRecalledEventId", "recallCursors")

Fields = dict[str, Any]
Merge = Callable[[Any, Any, Any], Any]
"""Of base, ours and theirs; symmetrical in the last two."""


def merge_journal(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
    """The file of the journal's folder; None where a merge of texts is right. InvalidStore where a side is damaged."""
    if ours is None or theirs is None:
        # What one side removed, such as an archive, and the other only wrote anew, is gone with its reason.
        return None
    if ours in (theirs, base) or theirs == base:
        return MergedFile(data=theirs if ours == base else ours)
    if path == EVENTS:
        return MergedFile(data=_merge_history(base, ours, theirs))
    if path.endswith(".jsonl"):
        return MergedFile(data=merge_lines(base, ours, theirs, lambda line: line))
    merge = _merge_of(path)
    if merge is None:
        return None
    values = [None if side is None else parse_document(side, f"{FOLDER}/{path}") for side in (base, ours, theirs)]
    merged = merge(*values)
    if merged is None:
        return None
    return MergedFile(data=declared_text(merged).encode() + b"\n" if path == CONFIG else file_bytes(merged))


def _merge_of(path: str) -> Merge | None:
    if path.startswith(f"{CHECKPOINTS}/"):
        return _merge_checkpoints
    if path.endswith(f"/{BATCH_MANIFEST}"):
        return merge_values
    return {STATE: _merge_states, SOURCES: _merge_sources, CONFIG: merge_values}.get(path)


# -- the history --------------------------------------------------------------------------------------------------


def _merge_history(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    """The lines of the base that nobody removed, then new ones by their time, which get new numbers if both added."""
    was, mine, yours = _by_words(base or b""), _by_words(ours), _by_words(theirs)
    kept = [raw for said, raw in was.items() if said in mine and said in yours]
    new = [side for side in (mine, yours) if side.keys() - was.keys()]
    if len(new) < 2 or mine == yours:
        added = [raw for side in new[:1] for said, raw in side.items() if said not in was]
        return b"".join(raw + b"\n" for raw in (*kept, *added))
    found = {said: raw for side in new for said, raw in side.items() if said not in was}
    times = {said: event.created_at for said, raw in found.items() for event in read_history(raw).events}
    order = sorted(times, key=lambda said: (_moment(times[said]), said))
    first = min(map(_number_of, (raw for side in new for said, raw in side.items() if said in times)), default=0)
    names = allocate_ids([*read_history(base or b"").ids(), numbered_id(max(first - 1, 0))], len(order))
    added = [line_bytes({**decode_json(found[said]), "id": name}) for said, name in zip(order, names, strict=True)]
    return b"".join(raw + b"\n" for raw in (*kept, *added, *sorted(found.keys() - times.keys())))


def _by_words(data: bytes) -> dict[bytes, bytes]:
    """Lines by what they say besides their number."""
    lines = [line for line in read_history(data).lines if line.problem is None or line.problem.code != "ConflictMarker"]
    return {line_bytes({**decode_json(line.raw), "id": ""}) if line.event else line.raw: line.raw for line in lines}


def _number_of(raw: bytes) -> int:
    return ordinal_of(next(read_history(raw).ids(), None))


# -- values -------------------------------------------------------------------------------------------------------


def merge_values(base: Any, ours: Any, theirs: Any) -> Any:
    """Any value: objects by key, lists by item, of two others the one that has details."""
    if is_same(ours, theirs) or is_same(base, theirs):
        return ours
    if is_same(base, ours):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "validatedAt" in ours and "validatedAt" in theirs:
            return _newest("validatedAt", ours, theirs)
        return _merge_fields(base if isinstance(base, dict) else {}, ours, theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return _merge_items(base if isinstance(base, list) else [], ours, theirs)
    return max((ours, theirs), key=_weight)


def _merge_fields(base: Fields, ours: Fields, theirs: Fields, rules: Mapping[str, Merge] | None = None) -> Fields:
    found = {}
    for name in {**base, **ours, **theirs}:
        merge = (rules or _RULES).get(name, merge_values)
        value = merge(base.get(name), ours.get(name), theirs.get(name))
        if value is not None or (name in ours and name in theirs):
            found[name] = value
    return found


def _merge_items(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Items by their names: those of the base first, without what either side took out, then the others."""
    name_of = (
        _name_of if all(len(side) == len(set(map(_name_of, side))) for side in (base, ours, theirs)) else content_hash
    )
    was, mine, yours = ({name_of(item): item for item in side} for side in (base, ours, theirs))
    found = []
    for name in [*was, *sorted({**mine, **yours}.keys() - was.keys())]:
        if name in mine and name in yours:
            found.append(merge_values(was.get(name), mine[name], yours[name]))
        elif (left := mine.get(name, yours.get(name))) is not None and not is_same(left, was.get(name)):
            found.append(left)
    return found


def _merge_whole(base: Any, ours: Any, theirs: Any) -> Any:
    """A value that is made as a whole: of two new ones, the one that says more."""
    if is_same(ours, base) or is_same(theirs, base):
        return theirs if is_same(ours, base) else ours
    return max((ours, theirs), key=_weight)


_RULES: Mapping[str, Merge] = {"validationCommands": _merge_whole}
"""What a sync makes anew out of the repository, with a limit that two lists together would exceed."""


def _name_of(item: Any) -> str:
    named = next((item[name] for name in _NAMES if item.get(name)), item) if isinstance(item, dict) else item
    return content_hash(named)


def _weight(value: Any) -> tuple[bool, int, str]:
    text = canonical_text(value)
    return value is not None, len(text), text


def _moment(text: Any) -> float:
    found = moment_of(text) if isinstance(text, str) else None
    return ((found or EPOCH) - EPOCH).total_seconds()


def _newest(name: str, *sides: Fields) -> Fields:
    return max(sides, key=lambda side: (_moment(side.get(name)), _weight(side)))


def _added_up(base: Any, ours: Any, theirs: Any) -> Any:
    return (
        ours + theirs - base if all(isinstance(side, int | float) for side in (base, ours, theirs)) else ours or theirs
    )


def _taken_as_one(fields: Fields, names: tuple[str, ...]) -> Fields:
    """What belongs together, such as a status and when it was found."""
    return {name: fields[name] for name in names if name in fields}


# -- documents ----------------------------------------------------------------------------------------------------


def _merge_states(base: Any, ours: Fields, theirs: Fields) -> Fields:
    """The bundle item by item; events are counted, and cursors are where no event was passed by."""
    for side in (ours, theirs):
        read_state(side)
    known = base if isinstance(base, dict) else {}
    merged = _merge_fields(known, ours, theirs, {"maintenance": _merge_maintenance})
    generated = _three_way("generatedAt", *(_taken_as_one(side, _GENERATED) for side in (known, ours, theirs)))
    return {**merged, **generated, "bundleHash": content_hash(merged["bundle"])}


def _merge_maintenance(base: Any, ours: Any, theirs: Any) -> Any:
    known, mine, yours = (side if isinstance(side, dict) else {} for side in (base, ours, theirs))
    rules: dict[str, Merge] = {
        "historyEventCount": _added_up,
        "importSourceCount": _added_up,
        "latestCheckpointId": _later_checkpoint,
    }
    cursors = [_taken_as_one(side, _CURSORS) for side in (known, mine, yours)]
    mine_added, yours_added = (_count_of(side) > _count_of(known) for side in (mine, yours))
    if mine_added and yours_added:
        # Numbers were given twice: what either side recalled cannot be distinguished from what it did not.
        held = cursors[0] or dict.fromkeys(_CURSORS[:2])
    elif mine_added or yours_added:
        held = cursors[1 if mine_added else 2]
    else:
        held = _three_way("", *cursors)
    merged = _merge_fields(known, mine, yours, rules)
    return {**{name: value for name, value in merged.items() if name not in _CURSORS}, **held}


def _three_way(name: str, base: Fields, ours: Fields, theirs: Fields) -> Fields:
    """The newest by a time; without its name, the cursors that passed the fewest events."""
    if is_same(ours, base) or is_same(theirs, base):
        return theirs if is_same(ours, base) else ours
    if name:
        return _newest(name, ours, theirs)
    return min((ours, theirs), key=lambda side: (ordinal_of(side.get("lastRecalledEventId")), _weight(side)))


def _later_checkpoint(_: Any, ours: Any, theirs: Any) -> Any:
    return max((ours, theirs), key=lambda name: (ordinal_of(name, CHECKPOINT_PREFIX), name or ""))


def _count_of(side: Fields) -> float:
    count = side.get("historyEventCount", 0)
    return count if isinstance(count, int | float) else 0


def _merge_sources(base: Any, ours: Any, theirs: Any) -> list[Any] | None:
    """The registry by the ids of sources; None where an entry has none."""
    sides = [side if isinstance(side, list) else [] for side in (base, ours, theirs)]
    if not all(isinstance(item, dict) and isinstance(item.get("id"), str) for side in sides for item in side):
        return None
    was, mine, yours = ({item["id"]: item for item in side} for side in sides)
    found = []
    for name in [*was, *sorted({**mine, **yours}.keys() - was.keys())]:
        if name in mine and name in yours:
            found.append(_merge_source(was.get(name, {}), mine[name], yours[name]))
        elif name not in was:
            found.append(mine.get(name) or yours[name])
    return found


def _merge_source(base: Fields, ours: Fields, theirs: Fields) -> Fields:
    merged = _merge_fields(base, ours, theirs, {"createdAt": lambda _, *sides: min(sides, key=_moment)})
    return {**merged, **_three_way("lastSyncedAt", *(_taken_as_one(side, _SYNCED) for side in (base, ours, theirs)))}


def _source_on_branches(base: Any, ours: Any, theirs: Any) -> Any:
    """A source that one side removed and the other changed stays."""
    return _merge_source(base or {}, ours, theirs) if ours and theirs else ours or theirs


SOURCE_RULES = RecordRules(merge=_source_on_branches, created="createdAt", updated="updatedAt", unmeant=_SYNCED)
"""How sources are taken in that a branch keeps in fragments."""


def _merge_checkpoints(base: Any, ours: Fields, theirs: Fields) -> Fields:
    """Of two checkpoints of one number the later, with the other in it."""
    held = {content_hash(one): one for side in (ours, theirs) for one in held_checkpoints(side)}
    for one in held.values():
        read_checkpoint(one)
    *others, last = sorted(held.values(), key=lambda one: (_moment(one.get("createdAt")), _weight(one)))
    known = {content_hash(one) for one in held_checkpoints(base or {})}
    left = [one for one in others if content_hash(one) not in known]
    return {**last, COLLIDED: left} if left else last


def held_checkpoints(checkpoint: Fields) -> list[Fields]:
    """A checkpoint, and others that it keeps."""
    own = {name: value for name, value in checkpoint.items() if name != COLLIDED}
    collided = checkpoint.get(COLLIDED)
    return [own, *(one for one in (collided if isinstance(collided, list) else []) if isinstance(one, dict))]
