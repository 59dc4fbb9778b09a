"""Take the events of branches into the history."""

from __future__ import annotations

import os

import msgspec

from quire.files.digests import sha256
from quire.files.transaction import FileUpdate, apply_changes
from quire.files.world import World
from quire.files.write_access import RECOVERY
from quire.layers.journal.canonical import line_bytes
from quire.layers.journal.events import EventLine, encode_event, read_history
from quire.layers.journal.layout import EVENTS, EVENTS_BYTES, FOLDER
from quire.layers.journal.numbered_ids import allocate_ids
from quire.layers.journal.store import archived_names, held_file, held_log, removed_fragments


def fold_history(root: str, world: World) -> list[str]:
    """Fold every fragment; what was written, from the project's root. The caller holds the lock.

    An event whose id another one has gets the next free one. The order in which branches were merged makes no
    difference, and what was folded once is not folded again.
    """
    removed = removed_fragments(root)
    if not removed:
        return []
    before = held_file(root, EVENTS, EVENTS_BYTES)
    after = folded_history(before or b"", held_log(root) or b"", list(archived_names(root)))
    digest = None if before is None else sha256(before)
    changes = [FileUpdate(path=EVENTS, data=after, planned=digest)] if after != before else []
    folder = os.path.join(root, FOLDER)
    apply_changes(folder, os.path.join(folder, RECOVERY), [*changes, *removed], [], world.token(), whole=True)
    return sorted(f"{FOLDER}/{change.path}" for change in [*changes, *removed])


def folded_history(before: bytes, joined: bytes, archived: list[str]) -> bytes:
    """The history with the lines that only its fragments have, in the order of their time."""
    held = read_history(before)
    known = set(map(_without_id, held.lines))
    added = sorted(read_history(joined).lines, key=lambda line: line.raw, reverse=True)
    new = {said: line for line in added if (said := _without_id(line)) not in known}
    taken = [*held.ids(), *archived]
    lines = []
    for line in sorted(new.values(), key=_time_and_line):
        raw = line.raw
        if line.event is not None and line.event.id in taken:
            (name,) = allocate_ids([*taken, *(other.event.id for other in new.values() if other.event)])
            raw = line_bytes({**msgspec.json.decode(raw), "id": name})
            taken.append(name)
        elif line.event is not None:
            taken.append(line.event.id)
        lines.append(raw + b"\n")
    gap = b"\n" if lines and before and not before.endswith(b"\n") else b""
    return before + gap + b"".join(lines)


def _without_id(line: EventLine) -> bytes:
    """What a line says besides its id, which folding may have changed."""
    return line.raw if line.event is None else encode_event(msgspec.structs.replace(line.event, id=""))


def _time_and_line(line: EventLine) -> tuple[str, bytes]:
    return (line.event.created_at if line.event else "", line.raw)
