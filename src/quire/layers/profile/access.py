"""Count readings of entries: collected beside the document, added to it by its next change.

Reading never rewrites a file that git tracks. Readers add lines without a lock; whoever changes the document moves the
lines out of their way, adds them up, and has them removed by the very transaction that writes the sums. A process that
dies leaves them either uncounted and there, or counted and gone.

The file is never compacted. Rewriting it without the lock would lose what another reader adds in that moment, and here
that is a count, which would be wrong for ever. Every change of the document empties it, the start of a session among
them; where none comes for so long that it is full, readings are no longer noted.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from quire.files import disk
from quire.files.json_files import json_value, lines
from quire.files.layout import LOCAL
from quire.files.local_files import (
    ASIDE,
    LocalFile,
    damaged_lines,
    ensure_local,
    held_in_place,
    is_at_rest,
    place_of,
    read_local,
    remove_local,
)
from quire.files.paths import inside, is_text, read_from
from quire.files.transaction import FileUpdate, update_of
from quire.layers.profile.entries import Entry, time_text
from quire.layers.profile.layout import FOLDER
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.times import instant, instant_in_utc

ACCESS = "access.jsonl"
FOLDING = "access-folding.jsonl"
"""The lines that a change of the document has taken, until it is made."""
LINE_BYTES = 64 * 1024
"""A line stays below this, so that one write adds it as a whole."""
PENDING_BYTES = 4 * 1024 * 1024
"""A larger file gets no more lines. Well below what is read at all: several readers may find the last room at once."""


class Readings(msgspec.Struct, frozen=True):
    """How often entries were read, and when last, by `category.key`."""

    counts: dict[str, int] = {}
    last: dict[str, str] = {}


class GatheredReadings(msgspec.Struct, frozen=True):
    """Readings that are to be folded in now, and what removes them from where they were gathered."""

    readings: Readings = msgspec.field(default_factory=Readings)
    change: FileUpdate | None = None
    """Belongs into the transaction that writes the sums. None where there is nothing to fold in."""


class _Line(msgspec.Struct, frozen=True):
    at: str
    names: list[str]


def note_reading(root: str, names: Iterable[str], at: str, token: str) -> bool:
    """Note that these entries were read, each once; needs no lock. False where nothing was noted: it never raises.

    Nothing is made in a project that has no profile.
    """
    wanted = list(dict.fromkeys(names))
    noted = not wanted
    with contextlib.suppress(OSError, QuireError):
        found = list(_encoded(wanted, at))
        if found and os.path.isdir(inside(root, FOLDER)):
            path = inside(root, place_of(FOLDER, ACCESS))
            ensure_local(root, FOLDER, token)
            with held_in_place(path):
                for line in found:
                    disk.append_lightly(path, _gap(path, len(line)) + line)
                    noted = True
    return noted


def pending_readings(root: str, problems: list[Problem] | None = None) -> Readings:
    """What was gathered and is not folded in yet. What is wrong with the files is added to `problems`.

    Whoever adds it to a document reads that first: a change at the same moment may then hide a reading, but none is
    counted twice.
    """
    tally = _Tally()
    for name in (FOLDING, ACCESS):
        found = read_local(root, FOLDER, name)
        bad = tally.add(found.data or b"")
        if bad:
            found = damaged_lines(found, len(bad), "No action needed: the next change sets them aside.")
        if problems is not None and found.problem is not None:
            problems.append(found.problem)
    return tally.readings()


def take_readings(root: str) -> GatheredReadings:
    """Take what was gathered, to fold it into the document. The caller holds the profile's lock.

    What an earlier writer took and did not live to fold in comes first; what was gathered since waits for the next
    change. While a reader is still adding to the lines that were moved, they wait, too. Should anybody else add a line
    to them, the transaction finds another digest and raises Conflict, and taking again gives that line as well. Files
    that cannot be taken stop nothing: they stay as they are.
    """
    try:
        found = _moved(root)
        if found.data is None:
            return GatheredReadings()
        tally = _Tally()
        _keep_bad(root, tally.add(found.data), found.data)
    except (OSError, QuireError):
        return GatheredReadings()
    change = update_of(f"{LOCAL}/{FOLDING}", found.data, None)
    return GatheredReadings(tally.readings(), change)


def _moved(root: str) -> LocalFile:
    """The lines that are taken now, out of the readers' way and on the disk."""
    path = inside(root, place_of(FOLDER, FOLDING))
    found = _usable(root, FOLDING)
    if found.data is None:
        if not _usable(root, ACCESS).data:
            return found
        disk.rename(inside(root, place_of(FOLDER, ACCESS)), path)
    if not is_at_rest(path):
        return LocalFile(folder=FOLDER, name=FOLDING)
    found = read_local(root, FOLDER, FOLDING)
    # Lines are added without waiting for the disk. Were some of these lost, or back under their old name, once the
    # sums are written, nobody could tell any more that they are counted.
    disk.append(path, b"")
    disk.sync_folder(os.path.dirname(path))
    return found


def _usable(root: str, name: str) -> LocalFile:
    """A file as it is; one that has grown beyond all reason is moved aside, and what is not a regular file is an
    error."""
    found = read_local(root, FOLDER, name)
    if found.problem is None:
        return found
    remove_local(root, found)
    return LocalFile(folder=FOLDER, name=name)


def _keep_bad(root: str, bad: list[bytes], data: bytes) -> None:
    """Keep lines that say nothing to us before they go, unless earlier ones are kept there."""
    if bad and not data.endswith(b"\n") and data.endswith(bad[-1]):
        bad = bad[:-1]  # its writer was killed, or is in the middle of it: then it is whole when we come again
    path = inside(root, place_of(FOLDER, ACCESS)) + ASIDE
    if bad and not os.path.lexists(path):
        disk.create(path, b"".join(line + b"\n" for line in bad))


def _encoded(names: Iterable[str], at: str) -> Iterator[bytes]:
    """The lines to add, as few as there may be; without names that could not be read back."""
    moment = _moment(at)
    if moment is None:
        return
    written = time_text(moment)
    room = LINE_BYTES - len(_line(written, [])) - 1  # with a gap before it, a line is still below
    part: list[str] = []
    size = 0
    for name in names:
        length = len(msgspec.json.encode(name)) + 1 if name and is_text(name) else room + 1
        if length > room:
            continue
        if size + length > room:
            yield _line(written, part)
            part, size = [], 0
        part.append(name)
        size += length
    if part:
        yield _line(written, part)


def _line(at: str, names: list[str]) -> bytes:
    return msgspec.json.encode(_Line(at, names)) + b"\n"


def _gap(path: str, length: int) -> bytes:
    """What must stand before a new line: a writer that was killed may have left half of one. OSError where it is full.

    Only the end is read: this is on the way of every reading.
    """
    try:
        size = os.stat(path, follow_symlinks=False).st_size
    except FileNotFoundError:
        return b""
    if size + length > PENDING_BYTES:
        raise OSError(errno.EFBIG, "further readings are not noted", path)
    end = read_from(path, max(size - 1, 0))
    return b"\n" if end and not end.endswith(b"\n") else b""


class _Tally:
    """Readings while they are added up."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._last: dict[str, datetime] = {}
        self._moments: dict[str, datetime | None] = {}

    def add(self, data: bytes) -> list[bytes]:
        """Count these lines; those that could not be read."""
        bad: list[bytes] = []
        for _, line in lines(data):
            if not line or line.isspace():
                continue
            found = json_value(line, _Line)
            if found is None or not self._count(found):
                bad.append(line)
        return bad

    def _count(self, line: _Line) -> bool:
        if line.at not in self._moments:
            self._moments[line.at] = _moment(line.at)
        moment = self._moments[line.at]
        if moment is None:
            return False
        for name in set(line.names):
            self._counts[name] = self._counts.get(name, 0) + 1
            last = self._last.get(name)
            if last is None or last < moment:
                self._last[name] = moment
        return True

    def readings(self) -> Readings:
        return Readings(self._counts, {name: time_text(moment) for name, moment in self._last.items()})


def _moment(text: str) -> datetime | None:
    return instant_in_utc(text) if is_text(text) else None


def as_read(entry: Entry, readings: Readings) -> Entry:
    """The entry with what was read of it since the last change; a time in the document that is later stays."""
    number = readings.counts.get(entry.name, 0)
    if not number:
        return entry
    last = readings.last.get(entry.name, "")
    before, after = instant(entry.last_accessed or ""), instant(last)
    if before is not None and (after is None or before >= after):
        last = entry.last_accessed or ""
    return msgspec.structs.replace(entry, access_count=entry.access_count + number, last_accessed=last or None)
