"""Take the events of branches into the log, and the stamps that they carry into the sidecars."""

from __future__ import annotations

from quire.files.transaction import FileUpdate, update_of
from quire.files.world import World
from quire.layers.graph.codec import encode_event, encode_fields
from quire.layers.graph.layout import EVENTS, FOLDER
from quire.layers.graph.save import apply_with_events
from quire.layers.graph.stamps import pending_stamps, without_stamps
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode
from quire.model.records import Problem


def fold_events(store: GraphStore, world: World) -> list[str]:
    """Fold every fragment that can be read; what was written, from the project's root. The caller holds the lock.

    The order in which branches were merged makes no difference, and what was folded once is not folded again. The
    stamps of a node that a merge left in conflict stay in their fragment until it can be read.
    """
    fragments = set(store.fragments())
    if not fragments:
        return []
    logged: dict[bytes, str] = {}
    known: set[bytes] = set()
    there = store.stamps().keys() & set(store.node_paths())
    unread = {path for path in there if isinstance(store.read_node(path), Problem)}
    for line in store.events():
        path, _, event = line
        if path != EVENTS and not unread.isdisjoint(pending_stamps([line])):
            fragments.discard(path)
        if isinstance(event, Problem):
            fragments.discard(path)  # `memory check` says what is wrong with it
        elif path == EVENTS:
            known.add(encode_event(without_stamps(event)))
        else:
            logged[encode_event(without_stamps(event))] = event.timestamp
    if not fragments:
        return []
    new = sorted(logged.keys() - known, key=lambda line: (logged[line], line))
    changes = _stamped_sidecars(store) + [update_of(path, store.read(path), None) for path in sorted(fragments)]
    apply_with_events(store, world, changes, b"".join(new), EVENTS)
    written = [change.path for change in changes] + ([EVENTS] if new else [])
    return sorted(f"{FOLDER}/{path}" for path in written)


def _stamped_sidecars(store: GraphStore) -> list[FileUpdate]:
    found = []
    for path in sorted(store.stamps()):
        stored = store.read_node(path)
        if isinstance(stored, StoredNode) and stored.fields != stored.written:
            data = encode_fields(stored.fields, stored.written)
            found.append(update_of(path, stored.data, data))
    return found
