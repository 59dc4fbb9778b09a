"""The history of a record: commits, log entries, uncommitted changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec

from quire.files.git import Git
from quire.files.git_history import Commit, CommitChanges, GitFileChange, log_paths, or_else, read_blobs
from quire.files.git_snapshot import Blob, differs
from quire.files.paths import read_inside
from quire.layers.protocol import Holding
from quire.layers.table import layer_named
from quire.model.errors import GitRequired
from quire.model.records import Record
from quire.model.times import EPOCH, instant, timestamp
from quire.upkeep.views.change_words import changes_in_words

_FEW = 50
"""Up to so many records are asked for by name; of more, git lists the whole folder."""
_COMMITS = 5_000
_SEARCHED = 300
"""So many commits of a file with many records are looked through for one of them."""
_FILE_BYTES = 64 * 1024 * 1024
_AT_ONCE = 64 * 1024 * 1024
_BYTES = 1024 * 1024 * 1024
"""So much of older versions is looked through; of what comes after it is only said that it changed."""


class RecordChange(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a record."""

    at: str
    how: Literal["commit", "event", "uncommitted"]
    title: str
    by: str
    commit: Commit | None = None
    changes: tuple[str, ...] = ()
    """What changed, in words."""


class RecordHistory(msgspec.Struct, frozen=True, kw_only=True):
    ref: str
    entries: tuple[RecordChange, ...]
    """The newest first."""
    cut: bool = False
    """Whether older ones were left out."""


class _Pending(msgspec.Struct, frozen=True):
    """A file that is not as the last commit has it."""

    path: str
    held: str
    """The blob of the last commit; empty where it has none."""
    data: bytes | None
    at: float


def record_histories(
    root: str, git: Git, records: Iterable[Record], told: Mapping[str, Iterable[RecordChange]], limit: int
) -> dict[str, RecordHistory]:
    """The histories of records of one layer, however many, with the same few questions to git.

    `told` is what is known without git, by ref. Where git has no answer, that is all there is.
    """
    wanted = {record.ref: layer_named(record.layer).holding(record) for record in records}
    try:
        found = _from_git(root, git, wanted, limit) if git.available else {}
    except GitRequired:
        found = {}
    return {ref: _history(ref, *found.get(ref, ([], False)), told.get(ref, ()), limit) for ref in wanted}


def _history(
    ref: str, entries: list[RecordChange], is_cut: bool, told: Iterable[RecordChange], limit: int
) -> RecordHistory:
    every = [*entries, *told]
    # A commit comes after the save that it holds, also where both are noted at the same second.
    rank = {"uncommitted": 2, "commit": 1, "event": 0}
    every.sort(key=lambda entry: (rank[entry.how] == 2, instant(entry.at) or EPOCH, rank[entry.how]), reverse=True)
    return RecordHistory(ref=ref, entries=tuple(every[:limit]), cut=is_cut or len(every) > limit)


def _from_git(
    root: str, git: Git, wanted: Mapping[str, Holding], limit: int
) -> dict[str, tuple[list[RecordChange], bool]]:
    owners = {path: ref for ref, holding in wanted.items() for path in holding.paths}
    # Of very many files, git is asked for the folders that hold them.
    paths = list(owners) if len(wanted) <= _FEW else sorted({"/".join(path.split("/")[:2]) for path in owners})
    if not owners:
        return {}
    # Before the first commit there is nothing.
    pending = _uncommitted(root, wanted, or_else({}, git.committed, paths))
    most = _most(wanted, limit)
    log = or_else([], log_paths, git, paths, limit=most)
    steps = _steps(log, owners)
    parts = _parts(git, wanted, steps, pending)
    done = {}
    for ref, holding in wanted.items():
        entries = _pending_entry(holding, pending.get(ref, []), parts)
        is_cut = len(log) >= most
        for step in steps.get(ref, []):
            changes = _said(step, parts)
            if changes is None and holding.shared:
                is_cut = is_cut or not parts.keys() >= set(_ids(step))
            else:
                commit = step.commit
                entries.append(
                    RecordChange(
                        at=commit.date,
                        how="commit",
                        title=commit.subject,
                        by=commit.author,
                        commit=commit,
                        changes=changes or (),
                    )
                )
        done[ref] = entries, is_cut
    return done


def _most(wanted: Mapping[str, Holding], limit: int) -> int:
    """How many commits are asked for."""
    if len(wanted) > 1:
        return _COMMITS
    return _SEARCHED if next(iter(wanted.values())).shared else limit + 1


def _steps(log: list[CommitChanges], owners: Mapping[str, str]) -> dict[str, list[CommitChanges]]:
    """What the log says of each record."""
    found: dict[str, list[CommitChanges]] = {}
    for item in log:
        own: dict[str, list[GitFileChange]] = {}
        for change in item.changes:
            ref = owners.get(change.new)
            if ref is not None:
                own.setdefault(ref, []).append(change)
        for ref, changes in own.items():
            found.setdefault(ref, []).append(CommitChanges(item.commit, tuple(changes)))
    return found


def _ids(step: CommitChanges) -> list[str]:
    return [name for change in step.changes for name in (change.old_id, change.new_id) if name.strip("0")]


def _parts(
    git: Git,
    wanted: Mapping[str, Holding],
    steps: Mapping[str, list[CommitChanges]],
    pending: Mapping[str, list[_Pending]],
) -> dict[str, bytes | None]:
    """What blobs hold of the record that they belong to, by their ids; a blob that is not read is left out.

    A large file is not kept in memory in all its versions: only what is said of the record.
    """
    owners: dict[str, Holding] = {}
    for ref, holding in wanted.items():
        names = [name for step in steps.get(ref, []) for name in _ids(step)]
        owners.update(dict.fromkeys((*names, *(item.held for item in pending.get(ref, []))), holding))
    found: dict[str, bytes | None] = {}
    left = list(owners)
    room = _BYTES
    while left and room > 0:
        blobs = read_blobs(git, left, each=_FILE_BYTES, together=min(_AT_ONCE, room))
        if not blobs:
            break
        found.update((name, owners[name].part(data)) for name, data in blobs.items())
        left = [name for name in left if name and name not in blobs]
        room -= sum(map(len, blobs.values()))
    return found


def _said(step: CommitChanges, parts: Mapping[str, bytes | None]) -> tuple[str, ...] | None:
    """The changes of one commit in words; None where nothing of the record changed, or it cannot be known."""
    found: list[str] = []
    by_path: dict[str, list[GitFileChange]] = {}
    for change in step.changes:
        by_path.setdefault(change.new, []).append(change)
    differs = False
    for changes in by_path.values():
        before, *others = (_version(change.old_id, parts) for change in changes)
        after = _version(changes[0].new_id, parts)
        if isinstance(before, bool) or isinstance(after, bool):
            continue
        # What a merge took from one of its parents, it did not change.
        if after in (before, *others):
            continue
        differs = True
        found += changes_in_words(before, after)
    return tuple(dict.fromkeys(found)) if differs else None


def _version(name: str, parts: Mapping[str, bytes | None]) -> bytes | bool | None:
    """What a blob holds of a record: None for nothing, False where the blob could not be read."""
    return parts.get(name, False) if name.strip("0") else None


# -- what is not committed --------------------------------------------------------------------


def _uncommitted(root: str, wanted: Mapping[str, Holding], committed: Mapping[str, Blob]) -> dict[str, list[_Pending]]:
    found: dict[str, list[_Pending]] = {}
    for ref, holding in wanted.items():
        for path in holding.paths:
            blob = committed.get(path)
            try:
                data: bytes | None = read_inside(root, path, _FILE_BYTES)
                at = os.stat(os.path.join(root, path), follow_symlinks=False).st_mtime
            except FileNotFoundError:
                data, at = None, 0.0
            except OSError:
                continue  # it is there and cannot be read: nothing is known of it
            if differs(data, blob):
                found.setdefault(ref, []).append(_Pending(path, blob.id if blob else "", data, at))
    return found


def _pending_entry(holding: Holding, pending: list[_Pending], parts: Mapping[str, bytes | None]) -> list[RecordChange]:
    said: list[str] = []
    differs = False
    for item in pending:
        before = _version(item.held, parts)
        after = holding.part(item.data) if item.data is not None else None
        if isinstance(before, bool):
            continue
        differs = differs or before != after
        said += changes_in_words(before, after)
    if not differs:
        return []
    moment = datetime.fromtimestamp(max(item.at for item in pending), UTC)
    return [
        RecordChange(
            at=timestamp(moment),
            how="uncommitted",
            title="Not committed yet",
            by="",
            changes=tuple(dict.fromkeys(said)),
        )
    ]
