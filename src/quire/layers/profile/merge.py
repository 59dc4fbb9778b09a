"""Merge two versions of the profile document against their common ancestor.

Nothing is lost in silence: what one side deleted stays deleted unless the other changed it, and every choice between
two versions of something is told. A side that cannot be read is an error, and nothing is merged. A base that cannot be
read is none: it stands in the history, where nobody can mend it, and without it too much is kept, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from quire.files.json_files import compact, parse_strict, pretty
from quire.layers.profile.entries import name_of
from quire.layers.profile.merge_fields import (
    ABSENT,
    READING,
    Disagreement,
    Judge,
    Side,
    by_item,
    decide,
    is_of_one_origin,
    judge_of,
    merge_counts,
    merge_fields,
    merge_values,
    merge_versions,
    ordered,
    same,
)
from quire.layers.profile.migration import migrated
from quire.model.errors import InvalidJson, InvalidStore
from quire.model.text import cut, one_line

_BOM = b"\xef\xbb\xbf"
_MARK = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |\r?$)", re.M)
_HINT = "Mend it by hand and merge again; nothing was merged."
_VERSION = "schema_version"
_SESSIONS = "session_count"
_MEMORIES = "memories"

Memories = dict[str, Any]
"""Categories with their entries by key, or with whatever stands there instead."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """The one document, as it is written, and everything the two sides did not agree on."""

    document: dict[str, Any]
    data: bytes
    disagreements: tuple[Disagreement, ...]


def merge_documents(base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    """Merge two versions of the document; without a base, or with an empty one, both sides added it."""
    mine, yours = _read_side(ours, "ours"), _read_side(theirs, "theirs")
    told: list[Disagreement] = []
    known = _read_base(base, told)
    if same(mine, yours) or same(known, yours):
        return _merged(mine, [])
    if same(known, mine):
        return _merged(yours, [])
    return _merged(_merge_top(known, mine, yours, told), told)


def _merged(document: dict[str, Any], told: list[Disagreement]) -> Merged:
    return Merged(document=document, data=pretty(document), disagreements=tuple(told))


def _merge_top(
    base: dict[str, Any] | None, ours: dict[str, Any], theirs: dict[str, Any], told: list[Disagreement]
) -> dict[str, Any]:
    known = base or {}
    judge = Judge(name="", told=told)
    found: dict[str, Any] = {}
    for field in ordered(ours, theirs):
        was, mine, yours = known.get(field, ABSENT), ours.get(field, ABSENT), theirs.get(field, ABSENT)
        if field == _VERSION:
            value: Any = merge_versions(was, mine, yours, told)
        elif field == _MEMORIES:
            value, differing = merge_memories(known.get(field, {}), mine, yours)
            told += differing
        elif field == _SESSIONS and not same(was, mine) and not same(was, yours):
            value = merge_counts(was, mine, yours, is_copy=base is None and _are_copies(ours, theirs))
            value = merge_values(was, mine, yours, field, judge) if value is None else value
        else:
            value = merge_values(was, mine, yours, field, judge)
        if value is not ABSENT:
            found[field] = value
    return found


def merge_memories(base: Memories, ours: Memories, theirs: Memories) -> tuple[Memories, list[Disagreement]]:
    """Merge what `memories` holds. Nothing of what is given is changed; the result shares parts with it."""
    told: list[Disagreement] = []
    before = _names(base)
    gone: dict[Side, set[str]] = {"ours": before - _names(ours), "theirs": before - _names(theirs)}
    found = {}
    for category in ordered(ours, theirs):
        versions = (base.get(category, ABSENT), ours.get(category, ABSENT), theirs.get(category, ABSENT))
        merged = _merge_category(category, *versions, gone, told)
        if merged is not ABSENT:
            found[category] = merged
    _settle_links(found, base, ours, theirs, told)
    return found, told


def _merge_category(
    category: str, base: Any, ours: Any, theirs: Any, gone: dict[Side, set[str]], told: list[Disagreement]
) -> Any:
    """Its entries, in an object of its own; ABSENT where it was deleted and nothing is left in it."""
    if not all(side is ABSENT or isinstance(side, dict) for side in (ours, theirs)):
        value = merge_values(base, ours, theirs, f"{_MEMORIES}.{category}", judge_of("", ours, theirs, told))
        return dict(value) if isinstance(value, dict) else value
    known, mine, yours = (side if isinstance(side, dict) else {} for side in (base, ours, theirs))
    found = {}
    for key in ordered(mine, yours):
        versions = (known.get(key, ABSENT), mine.get(key, ABSENT), yours.get(key, ABSENT))
        merged = _merge_entry(name_of(category, key), *versions, gone, told)
        if merged is not ABSENT:
            found[key] = merged
    is_deleted = base is not ABSENT and (ours is ABSENT or theirs is ABSENT)
    return ABSENT if is_deleted and not found else found


def _merge_entry(
    name: str, base: Any, ours: Any, theirs: Any, gone: dict[Side, set[str]], told: list[Disagreement]
) -> Any:
    judge = judge_of(name, ours, theirs, told)
    if ours is ABSENT or theirs is ABSENT:
        left, side = (theirs, gone["theirs"]) if ours is ABSENT else (ours, gone["ours"])
        if base is ABSENT:
            return left
        is_unchanged = same(_essence(base, side), _essence(left, side))
        return ABSENT if is_unchanged else decide(base, ours, theirs, "", judge)
    are_objects = isinstance(ours, dict) and isinstance(theirs, dict)
    if are_objects and not same(ours, theirs):
        return merge_fields(base, ours, theirs, judge)
    return merge_values(base, ours, theirs, "", judge)


def _essence(entry: Any, gone: set[str]) -> Any:
    """What somebody changes on purpose: not the readings, nor the links that went with the entry they led to."""
    if not isinstance(entry, dict):
        return entry
    found = {field: value for field, value in entry.items() if field not in READING}
    if isinstance(found.get("links"), list):
        found["links"] = [link for link in found["links"] if _target(link) not in gone]
    return found


def _settle_links(found: Memories, base: Memories, ours: Memories, theirs: Memories, told: list[Disagreement]) -> None:
    """Make the links of the merged entries fit to what was deleted, and to what stays although a side deleted it."""
    here, there, names = _names(ours), _names(theirs), _names(found)
    returned = (names & _names(base)) - (here & there)
    for category, key, entry in list(_entries(found)):
        links = by_item(entry.get("links")) if isinstance(entry, dict) else None
        if links is None or not (links or returned):
            continue
        was, mine, yours = (_links(side, category, key) for side in (base, ours, theirs))
        # A link that led nowhere on its own side was let be there, and is let be here.
        lost = {
            item: link
            for item, link in links.items()
            if (target := _target(link)) not in names
            if (item not in mine or target in here) and (item not in yours or target in there)
        }
        # It was removed with the entry it leads to, which stays.
        back = {
            item: link
            for item, link in was.items()
            if item not in links and (target := _target(link)) in returned
            if (item in mine and target not in there) or (item in yours and target not in here)
        }
        told += [
            _link_lost(name_of(category, key), link, "theirs" if item in mine else "ours")
            for item, link in lost.items()
            if item not in was
        ]
        if lost or back:
            kept = [link for item, link in links.items() if item not in lost]
            found[category][key] = {**entry, "links": [*kept, *back.values()]}


def _link_lost(name: str, link: Any, taken: Side) -> Disagreement:
    shown, target = cut(one_line(name), 100), cut(one_line(link["target"]), 100)
    other = "ours" if taken == "theirs" else "theirs"
    message = (
        f"`{shown}` was linked to `{target}` in {other}, which was deleted in {taken}: the link is left out. "
        f"Restore `{target}` if it is still needed."
    )
    values = {other: link, taken: None}
    return Disagreement(name=name, field="links", base=None, taken=taken, message=message, **values)


def _read_side(data: bytes, side: Side) -> dict[str, Any]:
    document = _read(data, side)
    version = document.get(_VERSION)
    if not isinstance(version, str) or not version.strip():
        raise _unusable(side, f"`{_VERSION}` is not there, or is no text")
    return migrated(document)


def _read_base(data: bytes | None, told: list[Disagreement]) -> dict[str, Any] | None:
    """The version both sides come from; None where there is none that can be read."""
    if data is None or not data.removeprefix(_BOM).strip():
        return None
    try:
        return migrated(_read(data, "base"))
    except InvalidStore as error:
        message = (
            f"{error.message} It was merged without what both sides have in common: "
            "look whether something is back that was deleted."
        )
        told.append(Disagreement(name="", field="", base=None, ours=None, theirs=None, taken="both", message=message))
        return None


def _read(data: bytes, side: str) -> dict[str, Any]:
    """A document with `memories`, all of which can be written again; InvalidStore that says what is in the way."""
    data = data.removeprefix(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unusable(side, "it is not UTF-8 text", _place(data[: error.start].decode("utf-8"))) from None
    try:
        document = parse_strict(text, f"The side `{side}`", bounded=False)
    except InvalidJson as error:
        mark = _MARK.search(text)
        if mark is not None:
            raise _unusable(side, "it holds the marks of a merge conflict", _place(text[: mark.start()])) from None
        raise InvalidStore(error.message, hint=_HINT, details={**error.details, "source": side}) from None
    if not isinstance(document, dict):
        raise _unusable(side, "the top level is no object")
    if not isinstance(document.get(_MEMORIES), dict):
        raise _unusable(side, f"it has no object `{_MEMORIES}`")
    if not _survives(document):
        raise _unusable(side, f"`{_odd(document)}` holds a number or a character that cannot be written again")
    return document


def _unusable(side: str, reason: str, place: tuple[int, int] | None = None) -> InvalidStore:
    details: dict[str, Any] = {"source": side}
    if place is not None:
        details |= {"line": place[0], "column": place[1]}
        reason = f"{reason}, line {place[0]}, column {place[1]}"
    return InvalidStore(f"The side `{side}` cannot be merged: {reason}.", hint=_HINT, details=details)


def _place(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _survives(value: Any) -> bool:
    """Whether it can be written and read again: `1e999` and half a character cannot."""
    try:
        return bool(msgspec.json.decode(compact(value)) == value)
    except (UnicodeEncodeError, msgspec.MsgspecError):
        return False


def _odd(value: Any) -> str:
    """The way to what does not survive, as far as objects lead."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        if not _survives(inner):
            return ".".join(part for part in (cut(one_line(name), 40), _odd(inner)) if part)
    return ""


def _are_copies(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    entries = {(category, key): entry for category, key, entry in _entries(ours[_MEMORIES])}
    others = _entries(theirs[_MEMORIES])
    return any(is_of_one_origin(entries.get((category, key)), entry) for category, key, entry in others)


def _entries(memories: Memories) -> Iterator[tuple[str, str, Any]]:
    for category, entries in memories.items():
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            yield category, key, entry


def _names(memories: Memories) -> set[str]:
    return {name_of(category, key) for category, key, _ in _entries(memories)}


def _links(memories: Memories, category: str, key: str) -> dict[bytes, Any]:
    entries = memories.get(category)
    entry = entries.get(key) if isinstance(entries, dict) else None
    return (by_item(entry.get("links")) if isinstance(entry, dict) else None) or {}


def _target(link: Any) -> str:
    target = link.get("target") if isinstance(link, dict) else None
    return target if isinstance(target, str) else ""
