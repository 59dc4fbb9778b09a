"""Keep copies of hand-written text that a save overwrites and git could not restore."""

from __future__ import annotations

import contextlib
import os
import re

import msgspec

from quire.files import disk
from quire.files.digests import blob_id
from quire.files.durable_write import ensure_folder
from quire.files.git import Git
from quire.files.layout import RECOVERY
from quire.files.paths import read_bytes
from quire.layers.graph.layout import FOLDER
from quire.layers.graph.store import GraphStore
from quire.model import limits
from quire.model.errors import GitRequired

_OURS = re.compile(r"^\d{4}-\d{2}-\d{2}T[0-9-]+$")


class RecoveryCopy(msgspec.Struct, frozen=True):
    """A file as it was before a save, and why it was kept."""

    path: str
    recovery_path: str
    reason: str


def keep_dirty_files(
    store: GraphStore, git: Git, overwritten: dict[str, bool], edited: set[str], now: str
) -> list[RecoveryCopy]:
    """Copy tracked files whose bytes are in no commit and not staged, and `edited` ones that git does not track.

    `overwritten` says True for a file that will be removed.
    """
    paths = [path for path in sorted(overwritten) if os.path.lexists(store.path(path))]
    known = _known_blobs(git, [f"{FOLDER}/{path}" for path in paths]) if paths else {}
    folder = ""
    copies = []
    for path in paths:
        name = f"{FOLDER}/{path}"
        blobs = known.get(name, [])
        data = read_bytes(store.path(path))
        if blob_id(data, blobs[0]) in blobs if blobs else path not in edited:
            continue
        folder = folder or _new_folder(store, now)
        target = os.path.join(folder, *path.split("/"))
        ensure_folder(os.path.dirname(target))
        disk.create(target, data)
        disk.sync_folder(os.path.dirname(target))
        reason = "dirty_delete" if overwritten[path] else "dirty_overwrite"
        copies.append(RecoveryCopy(name, os.path.relpath(target, store.root), reason))
    if copies:
        _prune(os.path.join(store.folder, RECOVERY))
    return copies


def _known_blobs(git: Git, names: list[str]) -> dict[str, list[str]]:
    """The versions of each file that git could bring back. A broken repository must not stop a save."""
    found: dict[str, list[str]] = {}
    if git.available:
        with contextlib.suppress(GitRequired):
            for blobs in (git.staged(names), git.committed(names)):
                for name, blob in blobs.items():
                    found.setdefault(name, []).append(blob.id)
    return found


def _new_folder(store: GraphStore, now: str) -> str:
    stem = re.sub(r"[^0-9A-Za-z.-]", "-", now)
    base = os.path.join(store.folder, RECOVERY, stem)
    folder, number = base, 2
    while os.path.lexists(folder):
        folder, number = f"{base}-{number}", number + 1
    return folder


def _prune(recovery: str) -> None:
    """Only the newest sets stay; nothing else in the folder is touched."""
    sets = sorted(name for name in os.listdir(recovery) if _OURS.match(name))
    for name in sets[: -limits.RECOVERY_SETS]:
        for folder, _, files in os.walk(os.path.join(recovery, name), topdown=False):
            for file in files:
                disk.remove(os.path.join(folder, file))
            disk.remove_folder(folder)
