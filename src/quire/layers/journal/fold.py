"""Take the events of branches into the history."""

from __future__ import annotations

import os

import msgspec
from msgspec.structs import replace

from quire.files.transaction import FileUpdate, apply_changes, update_of
from quire.files.world import World
from quire.layers.journal.canonical import file_bytes, line_bytes
from quire.layers.journal.cursors import cursors_before
from quire.layers.journal.documents import parse_document, read_state, value_of
from quire.layers.journal.events import EventLine, encode_event, read_history
from quire.layers.journal.layout import EVENTS, EVENTS_BYTES, FOLDER, SOURCES, STATE
from quire.layers.journal.merge import COLLIDED, held_checkpoints
from quire.layers.journal.numbered_ids import allocate_ids, next_checkpoint_id, ordinal_of
from quire.layers.journal.sources import registry_value, with_added
from quire.layers.journal.store import (
    added_sources,
    archived_names,
    checkpoint_ids,
    checkpoint_path,
    folded_sources,
    held_file,
    held_log,
    load_sources,
    removed_fragments,
    stored_sources,
)
from quire.model.errors import QuireError


def fold_history(root: str, world: World) -> list[str]:
    """Fold every fragment; what was written, from the project's root. The caller holds the lock.

    An event whose id another one has gets the next free one. The order in which branches were merged makes no
    difference, and what was folded once is not folded again. Checkpoints that a merge put into one file are parted.
    """
    removed = removed_fragments(root)
    before, joined = held_file(root, EVENTS, EVENTS_BYTES), held_log(root) or b""
    after = folded_history(before or b"", joined, list(archived_names(root))) if removed else joined
    changes = [update_of(EVENTS, before, after)] if removed and after != before else []
    changes += [*_whole_registry(root), *_counted_state(root, joined, after), *_parted_checkpoints(root), *removed]
    folder = os.path.join(root, FOLDER)
    if not changes:
        return []
    apply_changes(folder, changes, [], world.token(), whole=True)
    return sorted(f"{FOLDER}/{change.path}" for change in changes)


def _whole_registry(root: str) -> list[FileUpdate]:
    """The registry with the sources that branches added."""
    removed = folded_sources(root)
    if not removed:
        return []
    held, digest = stored_sources(root)
    added = [change for changes, unread in added_sources(root).values() if not unread for change in changes]
    now = registry_value(with_added(held, added))
    same = [] if now == registry_value(held) else [FileUpdate(path=SOURCES, data=file_bytes(now), planned=digest)]
    return [*same, *removed]


def _counted_state(root: str, joined: bytes, after: bytes) -> list[FileUpdate]:
    """The state with the events counted, and its cursors before the first event that got another id."""
    data = held_file(root, STATE)
    try:
        state = read_state(parse_document(data or b"", STATE))
    except QuireError:
        return []  # `memory check` says what is wrong with it
    history = read_history(after)
    names = {_without_id(line): line.event.id for line in history.lines if line.event}
    lines = [line for line in read_history(joined).lines if line.event]
    moved = [ordinal_of(line.event.id) for line in lines if line.event and names[_without_id(line)] != line.event.id]
    maintenance = replace(
        state.maintenance,
        history_event_count=len(history.events),
        import_source_count=len(load_sources(root)[0].entries),
    )
    if moved:
        maintenance = cursors_before(maintenance, history.events, min(moved))
    if maintenance == state.maintenance:
        return []
    return [update_of(STATE, data, file_bytes(value_of(replace(state, maintenance=maintenance))))]


def _parted_checkpoints(root: str) -> list[FileUpdate]:
    taken = [*checkpoint_ids(root), *archived_names(root)]
    changes = []
    for name in checkpoint_ids(root):
        data = held_file(root, checkpoint_path(name)) or b""
        if COLLIDED.encode() not in data:
            continue
        own, *others = held_checkpoints(parse_document(data, checkpoint_path(name)))
        changes.append(update_of(checkpoint_path(name), data, file_bytes(own)))
        for other in others:
            taken.append(next_checkpoint_id(taken))
            changes.append(update_of(checkpoint_path(taken[-1]), None, file_bytes({**other, "id": taken[-1]})))
    return changes


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
    lines.sort(key=lambda raw: ordinal_of(next(read_history(raw).ids(), None)))
    gap = b"\n" if lines and before and not before.endswith(b"\n") else b""
    return before + gap + b"".join(lines)


def _without_id(line: EventLine) -> bytes:
    """What a line says besides its id, which folding may have changed."""
    return line.raw if line.event is None else encode_event(msgspec.structs.replace(line.event, id=""))


def _time_and_line(line: EventLine) -> tuple[str, bytes]:
    return (line.event.created_at if line.event else "", line.raw)
