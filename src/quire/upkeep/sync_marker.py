"""Read and advance the sync marker: the commit of the last sync, if a diff may start from it.

On other branches than the default one the marker is kept for this machine alone, since two branches that both sync
would conflict in it. The later of the two markers counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from quire.files.digests import sha256
from quire.files.git import Git
from quire.files.git_history import common_ancestor, full_commit, is_ancestor, is_on_a_branch, is_shallow
from quire.files.json_files import decode_object, pretty
from quire.files.local_files import read_object, write_local
from quire.files.paths import storage_failed
from quire.files.transaction import FileUpdate, apply_changes
from quire.files.world import World
from quire.layers.graph.layout import FOLDER, SYNC_STATE
from quire.layers.graph.store import GraphStore
from quire.model.records import Problem
from quire.model.times import instant, timestamp

_COMMIT = re.compile(r"[0-9a-fA-F]{6,64}")


class Marker(msgspec.Struct, frozen=True):
    commit: str
    at: str


class Start(msgspec.Struct, frozen=True):
    """Where the diff begins; without a commit everything is verified, and `why` says why."""

    base: str | None
    why: str = ""


def read_marker(store: GraphStore) -> Marker | str:
    """The marker; or why there is none."""
    shared = _read_shared(store)
    local = read_object(store.root, FOLDER, SYNC_STATE).fields
    found = _marker_in(local)
    if found is None or (isinstance(shared, Marker) and _moment(shared) >= _moment(found)):
        return shared
    return found


def _moment(marker: Marker) -> float:
    found = instant(marker.at)
    return found.timestamp() if found else 0.0


def _read_shared(store: GraphStore) -> Marker | str:
    try:
        found = decode_object(store.read(SYNC_STATE))
    except FileNotFoundError:
        return "this is the first sync"
    except (OSError, ValueError):
        return f"`{FOLDER}/{SYNC_STATE}` cannot be read"
    if newer_marker(store):
        return f"`{FOLDER}/{SYNC_STATE}` was written by a newer version of Quire"
    return _marker_in(found) or f"`{FOLDER}/{SYNC_STATE}` does not hold a valid commit id"


def _marker_in(found: Mapping[str, Any]) -> Marker | None:
    commit, at = found.get("last_sync_commit"), found.get("last_sync_at")
    if found.get("version") != 1 or not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        return None
    return Marker(commit, at if isinstance(at, str) else "")


def newer_marker(store: GraphStore) -> Problem | None:
    """That the marker is of a newer version, which we leave as it is."""
    try:
        version = decode_object(store.read(SYNC_STATE)).get("version")
    except (OSError, ValueError):
        return None
    if not isinstance(version, int) or version <= 1:
        return None
    return Problem(
        code="LocalStateNewer",
        severity="warning",
        path=f"{FOLDER}/{SYNC_STATE}",
        message=f"It was written by a newer version of Quire (version {version}); the marker stays as it is.",
        hint="Update Quire.",
    )


def start_of(marker: Marker | str, git: Git, head: str | None) -> Start:
    if isinstance(marker, str):
        return Start(None, marker)
    if head is None:
        return Start(None, "there is no commit yet")
    if marker.commit == head:
        return Start(head)
    base = full_commit(git, marker.commit)
    if base is None:
        reason = "it belongs to another repository, or was pruned after the history was rewritten"
        if is_shallow(git):
            reason = "this is a shallow clone, which does not reach back to it"
        return Start(None, f"the commit of the last sync, {marker.commit[:9]}, is not here: {reason}")
    if base == head or is_ancestor(git, base):
        return Start(base)
    if is_on_a_branch(git, base):
        # The last sync was on another branch: what parts the two is what may be new.
        parted = common_ancestor(git, base, head)
        return Start(parted, "" if parted else "this branch has nothing in common with the last sync")
    return Start(None, f"the history was rewritten: {base[:9]}, the commit of the last sync, is no longer in it")


def advance_marker(store: GraphStore, world: World, head: str, *, apart: bool = False) -> None:
    """Write the marker, with `apart` for this machine alone; the caller holds the lock."""
    fields = {"version": 1, "last_sync_commit": head, "last_sync_at": timestamp(world.now())}
    if apart:
        write_local(store.root, read_object(store.root, FOLDER, SYNC_STATE), pretty(fields), world.token())
        return
    store.path(SYNC_STATE)  # refused where it is a link
    try:
        planned = sha256(store.read(SYNC_STATE))
    except FileNotFoundError:
        planned = None
    except OSError as error:
        raise storage_failed(error, "write the marker", store.root) from error
    change = FileUpdate(path=SYNC_STATE, data=pretty(fields), planned=planned)
    apply_changes(store.folder, [change], [], world.token())
