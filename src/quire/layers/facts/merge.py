"""Merge three versions of the file of facts, by id and field.

Lines that all sides have are not taken apart. Of several lines about one thing each side has its winner. The winners
are merged, and lines that say something else stay as history. A line that is no record is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from quire.files.json_files import json_value
from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import OTHER_RANK, PATH, STATUS_RANK
from quire.layers.facts.lines import encode_record, is_mark, read_lines, time_and_line
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored, StoredT
from quire.layers.facts.winners import settle
from quire.layers.merge_lines import log_lines, three_way
from quire.layers.merge_record import (
    Fields,
    Rule,
    contested_fields,
    earliest,
    largest,
    latest,
    merge_record,
    settle_field,
    together,
)
from quire.model.contested import CONTESTED, RECORD, Choice, ContestedField, MergedFile

_KINDS: dict[str, type[Stored]] = {"fact": Fact, "edge": Connection, "episode": Episode, "mind": Mind}
_MARK = f'"{CONTESTED}"'.encode()


def _status_rank(status: str) -> tuple[int, str]:
    """Whatever puts a thing further away holds."""
    return STATUS_RANK.get(status, OTHER_RANK), status


_RULES: dict[str, Rule] = {
    "status": lambda _, *sides: max(sides, key=_status_rank),
    "content_hash": lambda _, *sides: max(sides),  # made anew
    "created_at": earliest,
    **dict.fromkeys(("version", "confidence", "reinforcement_count", "tool_calls_count"), largest),
    **dict.fromkeys(
        ("updated_at", "last_reinforced", "last_accessed", "superseded_at", "archived_at", "last_sync"), latest
    ),
    **dict.fromkeys(("tags", "evidence", "fact_ids", "affected_nodes", "affected_changes", "files_changed"), together),
}

Key = tuple[Any, ...]
"""What a line is about: a kind and an id, or the line itself where it is no record."""


class _Named(msgspec.Struct, rename={"kind": "_type"}):
    kind: Any = None
    id: Any = None
    name: Any = None


def merge_facts(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile:
    """The file with what either side wrote; what one side removed and the other did not change is gone."""
    sides = [_lines(side) for side in (base, ours, theirs)]
    keys = {line: _key(line) for side in sides for line in side}
    common = set(sides[0]).intersection(*sides[1:])
    touched = {key for line, key in keys.items() if line not in common}
    groups = [_grouped(side, keys, touched) for side in sides]
    placed = {key: _merged(key, *(side.get(key, []) for side in groups)) for key in touched}
    lines: list[bytes] = []
    for line in sides[0]:
        key = keys[line]
        lines += placed.pop(key, []) if key in touched else [line]
    lines += sorted((line for group in placed.values() for line in group), key=time_and_line)
    data = b"".join(line + b"\n" for line in dict.fromkeys(lines))
    return MergedFile(data=data, contested=tuple(contested_facts(data)))


def _lines(data: bytes | None) -> list[bytes]:
    return [line for line in log_lines(data) if not is_mark(line)]


def _key(line: bytes) -> Key:
    named = json_value(line, _Named)
    if named is None:
        return ("line", line)
    name = named.name if named.kind == "mind" else named.id
    return (named.kind or "fact", name) if isinstance(name, str) else ("line", line)


def _grouped(lines: Sequence[bytes], keys: Mapping[bytes, Key], touched: set[Key]) -> dict[Key, list[bytes]]:
    found: dict[Key, list[bytes]] = {}
    for line in lines:
        if keys[line] in touched:
            found.setdefault(keys[line], []).append(line)
    return found


def _merged(key: Key, base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """The lines about one thing: history first, then what holds."""
    was, mine, yours = set(base), set(ours), set(theirs)
    if mine in (yours, was) or yours == was:
        return sorted(yours if mine == was else mine)
    versions = [_version(side) for side in (base, ours, theirs)]
    if key[0] == "line" or any(version is None for version in versions):
        return sorted(three_way(was, mine, yours))
    (past, old), (our_past, mine_now), (their_past, yours_now) = (version or ([], None) for version in versions)
    fields = merge_record(old, mine_now, yours_now, _RULES)
    history = three_way(past, our_past, their_past)
    now = _encoded(key[0], fields)
    return [*sorted(history - set(now)), *now]


def _version(lines: list[bytes]) -> tuple[list[bytes], Fields | None] | None:
    """The history and the fields of what holds on one side; None where a line is no record."""
    reading = read_lines(b"\n".join(lines))
    if reading.aside:
        return None
    return (
        _settled(reading.facts)
        or _settled(reading.connections)
        or _settled(reading.episodes)
        or (_settled(reading.minds) or ([], None))
    )


def _settled(records: Sequence[StoredT]) -> tuple[list[bytes], Fields] | None:
    if not records:
        return None
    winners, conflicts = settle(records)
    ((name, winner),) = winners.items()
    losers = conflicts[name].losers if name in conflicts else ()
    return [encode_record(loser) for loser in losers], _fields_of(winner)


def _fields_of(record: Stored) -> Fields:
    """All fields, also those that a line leaves out; what other writers say stands among them."""
    fields = msgspec.to_builtins({name: getattr(record, name) for name in record.__struct_fields__ if name != "extra"})
    return {**fields, **{name: value for name, value in record.extra.items() if name not in fields}}


def _encoded(kind: str, fields: Fields | None) -> list[bytes]:
    if fields is None:
        return []
    known = _KINDS[kind]
    names = set(known.__struct_fields__) - {"extra"}
    extra = {name: value for name, value in fields.items() if name not in names}
    record = msgspec.convert({name: fields[name] for name in fields.keys() & names} | {"extra": extra}, known)
    if isinstance(record, Fact):
        record = msgspec.structs.replace(record, content_hash=content_hash(record.content))
    return [encode_record(record)]


# -- what branches disagree on ------------------------------------------------------------------------------------


def contested_facts(data: bytes) -> Iterable[ContestedField]:
    for line in _contested_lines(data):
        kind, name = _key(line)
        yield from contested_fields(f"{kind}:{name}", msgspec.json.decode(line), PATH)


def settled_facts(data: bytes, choices: Sequence[Choice]) -> bytes:
    """The file with these fields settled, each by a new version of its fact."""
    found = data
    for line in _contested_lines(data):
        kind, name = _key(line)
        version = _version([line])
        fields = version[1] if version else None
        for choice in choices:
            if fields is not None and choice.ref == f"{kind}:{name}":
                is_gone = choice.field == RECORD and choice.value is None
                fields = None if is_gone else settle_field(fields, choice.field, choice.value)
        if version and fields != version[1]:
            at = {"updated_at": choices[0].at} if choices[0].at else {}
            fields = fields and {**fields, **at, "version": fields["version"] + 1}
            now = b"".join(after + b"\n" for after in _encoded(kind, fields))
            found = found.replace(line + b"\n", now)
    return found


def _contested_lines(data: bytes) -> list[bytes]:
    if _MARK not in data:
        return []
    return [line for line in _lines(data) if _MARK in line and _key(line)[0] != "line"]
