"""Check the checkpoints, and that the state descends from the one it names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quire.layers.journal.canonical import content_hash
from quire.layers.journal.checks.findings import REPAIRS_IT, RESTORES, document_at, failed, passed, warned
from quire.layers.journal.documents import read_checkpoint
from quire.layers.journal.layout import CHECKPOINTS, FOLDER
from quire.layers.journal.store import checkpoint_ids, checkpoint_path
from quire.layers.journal.types import State
from quire.model.errors import QuireError
from quire.model.records import Problem

_FOLDER = f"{FOLDER}/{CHECKPOINTS}"


class CheckedCheckpoint(Struct, frozen=True, kw_only=True):
    """A checkpoint as it was found; without a hash where it cannot be read."""

    id: str
    bundle_hash: str = ""
    fault: str = ""
    said: str = ""
    own_name: str = ""

    @property
    def path(self) -> str:
        return f"{FOLDER}/{checkpoint_path(self.id)}"


def look_at_checkpoints(root: str) -> list[CheckedCheckpoint]:
    """All checkpoints by their number. What they hold is not kept."""
    return [_look_at(root, name) for name in checkpoint_ids(root)]


def _look_at(root: str, name: str) -> CheckedCheckpoint:
    value, fault, said = document_at(root, checkpoint_path(name))
    if fault:
        return CheckedCheckpoint(id=name, fault="read", said=said)
    try:
        found = read_checkpoint(value, f"{FOLDER}/{checkpoint_path(name)}")
    except QuireError as error:
        return CheckedCheckpoint(id=name, fault="schema", said=error.message)
    if content_hash(found.bundle) == found.bundle_hash:
        return CheckedCheckpoint(id=name, bundle_hash=found.bundle_hash, own_name=found.id)
    said = f"The hash of the checkpoint `{name}` is not that of its bundle."
    return CheckedCheckpoint(id=name, bundle_hash=found.bundle_hash, own_name=found.id, fault="bundle-hash", said=said)


def check_checkpoints(root: str, looked: list[CheckedCheckpoint]) -> Iterator[Problem]:
    path = os.path.join(root, _FOLDER)
    if os.path.islink(path) or not os.path.isdir(path):
        said = f"`{_FOLDER}` is not a folder." if os.path.lexists(path) else f"`{_FOLDER}` is missing."
        hint = f"{RESTORES} {REPAIRS_IT}" if not os.path.lexists(path) else "Move it away."
        yield failed("checkpoints:missing", said, _FOLDER, hint)
        return
    if not looked:
        yield failed(
            "checkpoints:empty", f"There are no checkpoints in `{_FOLDER}`.", _FOLDER, f"{RESTORES} {REPAIRS_IT}"
        )
        return
    for one in looked:
        if one.fault:
            yield failed(f"checkpoints:{one.fault}:{one.id}", one.said, one.path, RESTORES)
        elif one.own_name != one.id:
            said = f"The checkpoint in `{one.path}` has the id `{one.own_name}`; the name of its file counts."
            yield warned(f"checkpoints:name:{one.id}", said, one.path)
    if not any(one.fault for one in looked):
        yield passed("checkpoints:all", f"All {len(looked):,} checkpoints can be read.", _FOLDER)


def check_latest(state: State, looked: list[CheckedCheckpoint]) -> Iterator[Problem]:
    """Whether the checkpoint that the state names is there, is the state's own, and is the last."""
    named = state.maintenance.latest_checkpoint_id
    held = next((one for one in _readable(looked) if one.id == named), None)
    if held is None:
        said = f"The state names the checkpoint `{named}`, which is not there or cannot be read."
        if named is None:
            said = "The state names no checkpoint."
        yield failed("checkpoints:latest", said, _FOLDER, REPAIRS_IT)
        return
    if held.bundle_hash == state.bundle_hash:
        yield passed("checkpoints:latest", f"The checkpoint `{named}` holds what the state holds.", held.path)
    else:
        said = f"The checkpoint `{named}` holds another bundle than the state."
        hint = "`memory journal update` writes a new checkpoint; `memory journal restore` goes back to one."
        yield warned("checkpoints:bundle-drift", said, held.path, hint)
    newest = _readable(looked)[-1]
    if newest.id != named:
        said = f"The state names the checkpoint `{named}`, but `{newest.id}` is newer."
        is_own = latest_of(state, looked) == named
        hint = "A write was interrupted before it saved the state. `memory journal restore` uses the newer checkpoint."
        yield warned("checkpoints:newer", said, newest.path, hint if is_own else REPAIRS_IT)


def _readable(looked: Iterable[CheckedCheckpoint]) -> list[CheckedCheckpoint]:
    return [one for one in looked if one.bundle_hash]


def latest_of(state: State, looked: list[CheckedCheckpoint]) -> str | None:
    """The checkpoint that the state should name; None where none can be read.

    One that holds what the state holds is the state's own even where a newer one was left by a writer that died.
    """
    readable = _readable(looked)
    if not readable:
        return None
    named, newest = state.maintenance.latest_checkpoint_id, readable[-1].id
    own = [one.id for one in readable if one.bundle_hash == state.bundle_hash]
    if named == newest:
        return named
    return own[-1] if own else newest
