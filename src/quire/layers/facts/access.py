"""Record when facts were last read on this machine: appended without a lock, compacted now and then.

What another process adds in the very moment of compacting is lost, which costs one time of reading.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import datetime

import msgspec

from quire.files import disk
from quire.files.json_files import json_value, lines
from quire.files.local_files import (
    damaged_lines,
    ensure_local,
    place_of,
    read_local,
    remove_local,
    spoiled,
    write_local,
)
from quire.files.paths import inside, is_text
from quire.layers.facts.layout import FOLDER
from quire.layers.facts.types import Id
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.times import instant

ACCESS = "access.jsonl"
COMPACT_BYTES = 256 * 1024
COMPACT_IDS = 5_000
# Room until the next time: were the file filled up again, every reading would rewrite it.
_COMPACTED_BYTES = COMPACT_BYTES * 3 // 4


class _Line(msgspec.Struct, frozen=True):
    id: Id
    at: str


_Latest = dict[str, tuple[datetime, str, bytes]]


def read_access(root: str, problems: list[Problem] | None = None) -> dict[str, str]:
    """When each fact was last read on this machine. What is wrong with the file is added to `problems`."""
    found = read_local(root, FOLDER, ACCESS)
    latest, damaged = _times(found.data or b"")
    if damaged:
        found = damaged_lines(found, damaged, "No action needed: they are removed when the file is compacted.")
    if problems is not None and found.problem is not None:
        problems.append(found.problem)
    return {name: at for name, (_, at, _) in latest.items()}


def note_access(root: str, ids: Iterable[str], at: str, token: str) -> bool:
    """Note that these facts were read; needs no lock. False where nothing was noted: a reader has better to do."""
    names = set(ids)
    data = _encoded(names, at)
    if not data:
        return not names
    try:
        path = inside(root, place_of(FOLDER, ACCESS))
        ensure_local(root, FOLDER, token)
        before = _held(root)
        # A writer that was killed may have left half a line: what follows must not be joined to it.
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        disk.append_lightly(path, gap + data)
    except (OSError, QuireError):
        return False
    if len(before) + len(gap) + len(data) > COMPACT_BYTES:
        with contextlib.suppress(OSError, QuireError):
            _compact(root, token)
    return True


def _encoded(names: Iterable[str], at: str) -> bytes:
    """The lines to add; without those that could not be read back."""
    texts = [name for name in sorted(names) if is_text(name) and is_text(at)]
    latest, _ = _times(b"".join(msgspec.json.encode(_Line(name, at)) + b"\n" for name in texts))
    return b"".join(line + b"\n" for _, _, line in latest.values())


def _held(root: str) -> bytes:
    """What the file holds now. One that has grown beyond all reason is moved aside."""
    found = read_local(root, FOLDER, ACCESS)
    if found.problem is not None:
        remove_local(root, found)
    return found.data or b""


def _compact(root: str, token: str) -> None:
    """Rewrite the file with the last line of each id, as many of the newest as there is room for."""
    found = read_local(root, FOLDER, ACCESS)
    if found.data is None:
        return
    # Behind the last end of a line another process may be in the middle of writing: that is no damage.
    latest, damaged = _times(found.data[: found.data.rfind(b"\n") + 1])
    kept: list[bytes] = []
    size = 0
    # By time, then by id: the same lines in another order give the same file.
    for _, (_, _, line) in sorted(latest.items(), key=lambda item: (item[1][0], item[0]), reverse=True):
        size += len(line) + 1
        if len(kept) == COMPACT_IDS or size > _COMPACTED_BYTES:
            break
        kept.append(line)
    if damaged:
        found = spoiled(found, "some lines could not be read")
    write_local(root, found, b"".join(line + b"\n" for line in reversed(kept)), token)


def _times(data: bytes) -> tuple[_Latest, int]:
    """The last line of each id, and how many lines could not be read."""
    latest: _Latest = {}
    moments: dict[str, datetime | None] = {}  # facts that are read together share their time
    damaged = 0
    for _, line in lines(data):
        if not line or line.isspace():
            continue
        entry = json_value(line, _Line)
        if entry is not None and entry.at not in moments:
            moments[entry.at] = instant(entry.at)
        moment = moments[entry.at] if entry is not None else None
        if entry is None or moment is None:
            damaged += 1
        elif entry.id not in latest or latest[entry.id][0] <= moment:
            latest[entry.id] = (moment, entry.at, line)
    return latest, damaged
