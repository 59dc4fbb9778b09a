"""Read the lines of the event log, or of a fragment of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from quire.files.json_files import lines
from quire.layers.graph.codec import event_decoder
from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.layers.graph.types import Event


class LoggedEvent(NamedTuple):
    """A line of the log, or of one of its fragments."""

    path: str
    number: int
    event: Event | Problem


def logged_events(path: str, data: bytes) -> Iterator[LoggedEvent]:
    """The lines of a log, good and bad."""
    for number, line in lines(data):
        try:
            yield LoggedEvent(path, number, event_decoder().decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problem = Problem(
                code="EventJsonlInvalid" if line.strip() else "EventJsonlBlankLine",
                message=f"Line {number} is not an event: {error}." if line.strip() else "Blank line.",
                path=path,
                line=number,
                hint="Remove the line; the log is a record, no other file depends on it.",
            )
            yield LoggedEvent(path, number, problem)
