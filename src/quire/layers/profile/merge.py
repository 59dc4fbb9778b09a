"""Merge three versions of the profile document by entry and field; what branches disagree on stays in the entry.

A link to an entry that another branch deleted stays: whoever reads it finds nothing there, and `memory check` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.files.json_files import decode_object, parse_strict, pretty
from quire.layers.fragment_records import RecordRules
from quire.layers.merge_record import (
    Fields,
    Rule,
    by_order,
    contested_fields,
    earliest,
    largest,
    latest,
    merge_record,
    one_sided,
    settle_field,
    together,
)
from quire.layers.profile.entries import name_of, time_text
from quire.layers.profile.layout import PATH, READ_FIELDS
from quire.layers.profile.migration import migrated
from quire.model.contested import CONTESTED, RECORD, Choice, ContestedField, MergedFile
from quire.model.errors import InvalidJson, InvalidStore
from quire.model.times import instant

_MEMORIES = "memories"


_ENTRY: dict[str, Rule] = {
    **dict.fromkeys(("created_at", "valid_at"), earliest),
    **dict.fromkeys(("updated_at", "last_accessed"), latest),
    **dict.fromkeys(("tags", "links"), together),
    "access_count": largest,
    "source": by_order(),
}


def merge_profile(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile:
    """The document; of a file that one side removed, what the other changed. InvalidStore where a side is damaged."""
    data, is_settled = one_sided(base, ours, theirs)
    if not is_settled:
        known = _base(base)
        data = pretty(_merged(known, *(_read(side) if side else {**known, _MEMORIES: {}} for side in (ours, theirs))))
    return MergedFile(data=data, contested=tuple(contested_entries(data)) if data else ())


def _merged(base: Fields, ours: Fields, theirs: Fields) -> Fields:
    memories = _merged_categories(*(side.get(_MEMORIES, {}) for side in (base, ours, theirs)))
    was, mine, yours = (
        {name: held for name, held in side.items() if name != _MEMORIES} for side in (base, ours, theirs)
    )
    rules = {**dict.fromkeys({**mine, **yours}, by_order()), "session_count": largest}
    found = {**(merge_record(was, mine, yours, rules) or {}), _MEMORIES: memories}
    first = list(base) or ["schema_version", "session_count"]
    rest = sorted(found.keys() - set(first) - {_MEMORIES})
    return {name: found[name] for name in dict.fromkeys([*first, *rest, _MEMORIES]) if name in found}


def _merged_categories(base: Fields, ours: Fields, theirs: Fields) -> Fields:
    found: Fields = {}
    for category in _names(base, ours, theirs):
        was, mine, yours = (side.get(category, {}) for side in (base, ours, theirs))
        if not all(isinstance(side, dict) for side in (was, mine, yours)):
            found[category] = _whole(base.get(category), ours.get(category), theirs.get(category))
            continue
        entries = _merged_entries(was, mine, yours)
        if entries or (category in ours and category in theirs) or category not in base:
            found[category] = entries
    return {category: entries for category, entries in found.items() if entries is not None}


def _merged_entries(base: Fields, ours: Fields, theirs: Fields) -> Fields:
    found = {}
    for key in _names(base, ours, theirs):
        was, mine, yours = (side.get(key) for side in (base, ours, theirs))
        if all(side is None or isinstance(side, dict) for side in (was, mine, yours)):
            found[key] = merge_entry(was, mine, yours)
        else:
            found[key] = _whole(was, mine, yours)
    return {key: entry for key, entry in found.items() if entry is not None}


def merge_entry(base: Fields | None, ours: Fields | None, theirs: Fields | None) -> Fields | None:
    return merge_record(base, ours, theirs, _ENTRY, READ_FIELDS)


ENTRY_RULES = RecordRules(merge=merge_entry, created="created_at", updated="updated_at", unmeant=READ_FIELDS)
"""How entries are taken in that a branch keeps in fragments."""


def _whole(*sides: Any) -> Any:
    """One of the values, where what stands there is not an entry."""
    was, mine, yours = (None if side is None else {"held": side} for side in sides)
    return (merge_record(was, mine, yours, {"held": by_order()}) or {}).get("held")


def _names(base: Fields, ours: Fields, theirs: Fields) -> list[str]:
    """Those of the base in their order, then the others in theirs."""
    return [*base, *sorted({**ours, **theirs}.keys() - base.keys())]


def _entries(memories: Fields) -> list[tuple[str, Fields]]:
    return [
        (name_of(category, key), entry)
        for category, entries in memories.items()
        for key, entry in (entries.items() if isinstance(entries, dict) else ())
        if isinstance(entry, dict)
    ]


# -- what branches disagree on ------------------------------------------------------------------------------------


def contested_entries(data: bytes) -> list[ContestedField]:
    if f'"{CONTESTED}"'.encode() not in data:
        return []
    entries = _entries(decode_object(data).get(_MEMORIES, {}))
    return [field for name, entry in entries for field in contested_fields(f"profile:{name}", entry, PATH)]


def settled_profile(data: bytes, choices: Sequence[Choice]) -> bytes:
    """The document with these fields settled; an entry whose deletion was chosen is gone."""
    document = decode_object(data)
    for choice in choices:
        for category, entries in document[_MEMORIES].items():
            for key, entry in list(entries.items() if isinstance(entries, dict) else ()):
                if choice.ref != f"profile:{name_of(category, key)}" or not isinstance(entry, dict):
                    continue
                if choice.field == RECORD and choice.value is None:
                    del entries[key]
                else:
                    decided = instant(choice.at)
                    at = {"updated_at": time_text(decided)} if decided else {}
                    entries[key] = settle_field({**entry, **at}, choice.field, choice.value)
    return pretty(document)


# -- reading ------------------------------------------------------------------------------------------------------


def _base(data: bytes | None) -> Fields:
    """The version both sides come from. One that cannot be read is none: too much is kept then, never too little."""
    try:
        return _read(data) if data and data.strip() else {}
    except InvalidStore:
        return {}


def _read(data: bytes) -> Fields:
    try:
        document = parse_strict(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"), f"`{PATH}`", bounded=False)
        memories = document.get(_MEMORIES) if isinstance(document, dict) else None
        version = document.get("schema_version") if isinstance(document, dict) else None
        if not isinstance(memories, dict) or not isinstance(version, str):
            raise ValueError("it has no memories or no version")
        pretty(document)
    except (InvalidJson, ValueError) as error:
        said = f"One side of `{PATH}` cannot be merged: {error}"
        raise InvalidStore(said, hint="Correct it by hand and merge again; nothing was merged.") from None
    return migrated(document)
