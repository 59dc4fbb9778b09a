"""Parse the file of facts line by line into records and problems; write a record as one line.

Reading never fails and never drops: a line that is no record is set aside as it was, with what is wrong with it.
Only the marks of a merge conflict are not kept; they say nothing of the facts on either side.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from quire.files.json_files import has_key_twice, is_conflict_mark, lines
from quire.layers.facts.layout import FILE, LINE_BYTES
from quire.layers.facts.objects import OTHER_NAMES, Fields, NotUnderstood, record_from
from quire.layers.facts.types import Connection, Episode, Fact, Mind, Stored
from quire.model import limits
from quire.model.records import Problem, warning_at

_MARK = b"\xef\xbb\xbf"
_DECODE = msgspec.json.Decoder().decode
_HINT = "It is kept, and all other lines are used. Correct or remove it in an editor."
_TAGS: dict[type[Stored], str] = {Fact: "fact", Connection: "edge", Episode: "episode", Mind: "mind"}
# Said even where they could be left out: a reader must not have to guess what a line is, or whether it holds.
_ALWAYS = {"status", "content_hash"}


class UnreadLine(msgspec.Struct, frozen=True):
    """A line that is no record, without its end."""

    number: int
    raw: bytes
    problem: Problem


class FactLines(msgspec.Struct, frozen=True):
    """What a file holds, in the order of its lines; nothing is decided yet."""

    facts: list[Fact] = []
    connections: list[Connection] = []
    episodes: list[Episode] = []
    minds: list[Mind] = []
    aside: list[UnreadLine] = []
    problems: list[Problem] = []
    """Everything worth telling, also of the lines that were set aside."""

    @property
    def records(self) -> list[Stored]:
        return [*self.facts, *self.connections, *self.episodes, *self.minds]


def read_lines(data: bytes, path: str = FILE, most: int = LINE_BYTES) -> FactLines:
    """The records of a file; a line of more than `most` bytes is set aside."""
    reading = FactLines()
    doubts: list[Problem] = []
    for number, line in lines(data):
        text = _bare(line)
        if not text or text.isspace():
            continue
        fault = _mark_of_conflict(text)
        if fault is None:
            try:
                record = record_from(_object(text, most), doubts.append)
            except NotUnderstood as error:
                fault = Problem(code=error.code, message=error.message, field=error.field, hint=_HINT)
            else:
                _keep(reading, record)
        if fault is not None:
            fault = _placed(fault, path, number)
            reading.problems.append(fault)
            if fault.code != "ConflictMarker":
                reading.aside.append(UnreadLine(number, text, fault))
            doubts.clear()
        elif doubts:
            reading.problems.extend(_placed(doubt, path, number) for doubt in doubts)
            doubts.clear()
    return reading


def encode_record(record: Stored) -> bytes:
    """The one line of a record, without its end: known keys in their order, then the others in theirs."""
    kind = type(record)
    fields: Fields = {"_type": _TAGS[kind]}
    said = _said_anyway(record) if record.extra else _ALWAYS
    for name, default in defaults_of(kind):
        value = getattr(record, name)
        if value != default or name in said:
            fields[name] = value
    for name, value in record.extra.items():
        fields.setdefault(name, value)
    return msgspec.json.encode(fields)


def _said_anyway(record: Stored) -> set[str]:
    """Also what a key of another writer would be taken for, if ours were left out."""
    others = OTHER_NAMES.get(type(record), {})
    return _ALWAYS | {ours for other, ours in others.items() if other in record.extra and ours not in record.extra}


def time_and_line(line: bytes) -> tuple[str, bytes]:
    """What lines are sorted by: when the record was last changed, then its bytes."""
    records = read_lines(line).records
    return (records[0].updated_at or records[0].created_at if records else "", line)


def _keep(reading: FactLines, record: Stored) -> None:
    if isinstance(record, Fact):
        reading.facts.append(record)
    elif isinstance(record, Connection):
        reading.connections.append(record)
    elif isinstance(record, Episode):
        reading.episodes.append(record)
    else:
        reading.minds.append(record)


def _bare(line: bytes) -> bytes:
    """Without what editors and concatenation leave at either end; every one of them, so that it is done once."""
    line = line.rstrip(b"\r")
    while line.startswith(_MARK):
        line = line[len(_MARK) :]
    return line


def is_mark(line: bytes) -> bool:
    """Whether a line is the mark of a merge conflict."""
    return is_conflict_mark(_bare(line))


def doubled_lines(lines: list[bytes]) -> list[int]:
    """The numbers of records that stood there before, byte for byte."""
    seen: set[bytes] = set()
    found = []
    for number, line in enumerate(lines, start=1):
        bare = line.removesuffix(b"\r")
        if bare in seen:
            found.append(number)
        elif bare and not bare.isspace():
            seen.add(bare)
    return [number for number in found if not is_mark(lines[number - 1]) and not read_lines(lines[number - 1]).aside]


def _mark_of_conflict(text: bytes) -> Problem | None:
    hint = "`memory facts normalize --write` removes it. The attribute `merge=union` prevents such marks."
    said = "A merge conflict mark; the lines of both sides are used."
    return warning_at("ConflictMarker", "", said, hint) if is_conflict_mark(text) else None


def _object(text: bytes, most: int) -> Fields:
    if len(text) > most:
        raise NotUnderstood("LineTooLong", f"The line has {len(text):,} bytes; up to {most:,} are read.")
    try:
        value = _DECODE(text)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise NotUnderstood("NotUtf8", f"Not UTF-8 text: {error.reason}.") from None
    except msgspec.DecodeError as error:
        raise NotUnderstood("JsonInvalid", f"{error}.") from None
    if not isinstance(value, dict):
        raise NotUnderstood("NotAnObject", "The line holds JSON, but not an object.")
    if limits.is_too_deep(value):
        raise _too_deep()
    if has_key_twice(text, value):
        raise NotUnderstood("KeyTwice", "A key occurs twice in one object.")
    return value


def _too_deep() -> NotUnderstood:
    return NotUnderstood("JsonTooDeep", f"Nested too deeply: the limit is {limits.JSON_DEPTH} levels.")


def _placed(problem: Problem, path: str, number: int) -> Problem:
    return msgspec.structs.replace(problem, path=path, line=number)


@cache
def defaults_of(kind: type[Stored]) -> list[tuple[str, Any]]:
    """The fields that are stored, and what each is where a line leaves it out."""
    return [(field.name, field.default) for field in msgspec.structs.fields(kind) if field.name != "extra"]
