"""Parse the history line by line into events and damaged lines; write an event as one line.

Reading never fails and never drops. A line that is no event keeps its place and its bytes, with what is wrong with it,
and so does a line with keys that we do not know: whoever writes the log anew writes the lines that were there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from quire.files.json_files import is_conflict_mark, lines
from quire.layers.journal import shapes
from quire.layers.journal.canonical import decode_json, line_bytes
from quire.layers.journal.documents import value_of
from quire.layers.journal.layout import EVENT_KINDS, EVENTS, FOLDER, LINE_BYTES
from quire.layers.journal.types import JournalEvent
from quire.layers.journal.value_shapes import find_faults
from quire.model.records import Problem
from quire.model.text import trim

_MARK = b"\xef\xbb\xbf"
_ID = re.compile(rb'"id"\s*:\s*"(evt-[0-9]{1,16})"')
_DECODE = msgspec.json.Decoder(JournalEvent).decode
_UNFINISHED = ("JsonInvalid", "NotUtf8")


class EventLine(Struct, frozen=True):
    """One line without its end, as it stands in the file: an event, or what is wrong with it."""

    number: int
    raw: bytes
    event: JournalEvent | None = None
    problem: Problem | None = None


class History(Struct, frozen=True):
    """The log, in the order of the file. Blank lines are not in it."""

    lines: tuple[EventLine, ...] = ()
    is_torn: bool = False
    """Whether the last line was cut off while it was written."""
    is_open: bool = False
    """Whether the last line has no end: what is appended must begin with one."""

    @property
    def events(self) -> list[JournalEvent]:
        return [line.event for line in self.lines if line.event is not None]

    @property
    def aside(self) -> list[EventLine]:
        """The lines that are no events."""
        return [line for line in self.lines if line.event is None]

    @property
    def problems(self) -> list[Problem]:
        return [line.problem for line in self.lines if line.problem is not None]

    def ids(self) -> Iterator[str]:
        """All ids that are taken, also those that only a damaged line still names."""
        for line in self.lines:
            if line.event is not None:
                yield line.event.id
            else:
                yield from (found.decode("ascii") for found in _ID.findall(line.raw[:LINE_BYTES]))


def read_history(data: bytes, path: str = f"{FOLDER}/{EVENTS}", most: int = LINE_BYTES) -> History:
    """The events of a log; a line of more than `most` bytes is set aside unread."""
    is_open = bool(data) and not data.endswith(b"\n")
    found: list[EventLine] = []
    for number, raw in lines(data):
        text = _bare(raw)
        if not text:
            continue
        event, code, message = _event(text, most)
        problem = None
        if event is None:
            problem = Problem(code=code, message=message, path=path, line=number)
        found.append(EventLine(number, text, event, problem))
    last = found[-1] if found else None
    is_torn = is_open and last is not None and last.problem is not None and last.problem.code in _UNFINISHED
    if is_torn and last is not None and last.problem is not None:
        problem = msgspec.structs.replace(
            last.problem,
            code="LineTorn",
            message="The last line is incomplete.",
            hint="It is kept. The next event starts on a new line.",
        )
        found[-1] = msgspec.structs.replace(last, problem=problem)
    return History(tuple(found), is_torn, is_open)


def encode_event(event: JournalEvent) -> bytes:
    """The line of a new event, without its end."""
    return line_bytes(value_of(event))


def appended_bytes(history: History, events: Iterable[JournalEvent]) -> bytes:
    """What is added to the end of a log for these events; a line that was left open is closed first."""
    added = b"".join(encode_event(event) + b"\n" for event in events)
    return b"\n" + added if added and history.is_open else added


def history_bytes(kept: Iterable[EventLine | JournalEvent]) -> bytes:
    """A whole log: lines as they stood, new events as they are written."""
    return b"".join((line.raw if isinstance(line, EventLine) else encode_event(line)) + b"\n" for line in kept)


def _bare(line: bytes) -> bytes:
    """Without what editors and concatenation leave at either end."""
    line = line.strip()
    while line.startswith(_MARK):
        line = line[len(_MARK) :].strip()
    return line


def _event(text: bytes, most: int) -> tuple[JournalEvent | None, str, str]:
    """The event of a line, or a code and a sentence."""
    if len(text) > most:
        return None, "LineTooLong", f"The line has {len(text):,} bytes; up to {most:,} are read."
    try:
        event = _DECODE(text)
        if event.kind in EVENT_KINDS and _says_something(event):
            return event, "", ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    return _event_or_fault(text)


def _says_something(event: JournalEvent) -> bool:
    texts = (event.id, event.source_id, event.created_at, event.content_hash, event.summary, event.source_ref)
    return all(map(_is_said, texts)) and (event.external_item_id is None or _is_said(event.external_item_id))


def _is_said(text: str) -> bool:
    # Nearly every text begins with a sign that is seen, and this is asked seven times for every event.
    return "!" <= text[:1] <= "~" or bool(trim(text))


def _event_or_fault(text: bytes) -> tuple[JournalEvent | None, str, str]:
    if is_conflict_mark(text):
        return None, "ConflictMarker", "A merge conflict mark; the lines of both sides are used."
    try:
        value: Any = decode_json(text)
    except ValueError as error:
        code = "NotUtf8" if str(error).startswith("not UTF-8") else "JsonInvalid"
        return None, code, f"The line is not JSON: {error}."
    faults = find_faults(shapes.EVENT, value, "event")
    if faults:
        return None, "EventInvalid", " ".join(faults)
    try:
        return msgspec.convert(value, JournalEvent), "", ""
    except UnicodeEncodeError:
        return None, "EventInvalid", "The name of a field is half a character."
