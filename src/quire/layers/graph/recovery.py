"""Copies of what a save is about to overwrite, where git could not bring it back; kept for a while."""

from __future__ import annotations

import os
import re

import msgspec

from quire.files import Git, blob_id, disk, ensure_folder, read_bytes
from quire.layers.graph.layout import FOLDER, RECOVERY
from quire.layers.graph.store import GraphStore
from quire.model import GitRequired, limits

_OURS = re.compile(r"^\d{4}-\d{2}-\d{2}T[0-9-]+$")

__all__ = ["RecoveryCopy", "keep_dirty_files"]


class RecoveryCopy(msgspec.Struct, frozen=True):
    """A file as it was before a save, and why it was kept."""

    path: str
    recovery_path: str
    reason: str


def keep_dirty_files(store: GraphStore, git: Git, overwritten: dict[str, bool], now: str) -> list[RecoveryCopy]:
    """Copy tracked files whose bytes are in no commit and not staged; `overwritten` says True for a removal."""
    paths = [path for path in sorted(overwritten) if os.path.lexists(store.path(path))]
    if not paths or not git.available:
        return []
    shown = [f"{FOLDER}/{path}" for path in paths]
    try:
        staged, committed = git.staged(shown), git.committed(shown)
    except GitRequired:
        return []  # a broken repository must not stop a save; its files are not tracked in any useful sense
    folder = ""
    copies = []
    for path, name in zip(paths, shown, strict=True):
        known = [blobs[name].id for blobs in (staged, committed) if name in blobs]
        data = read_bytes(store.path(path))
        if not known or blob_id(data, known[0]) in known:
            continue
        folder = folder or _new_folder(store, now)
        target = os.path.join(folder, *path.split("/"))
        ensure_folder(os.path.dirname(target))
        disk.create(target, data)
        reason = "dirty_delete" if overwritten[path] else "dirty_overwrite"
        copies.append(RecoveryCopy(name, os.path.relpath(target, store.root), reason))
    if copies:
        _prune(os.path.join(store.folder, RECOVERY))
    return copies


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
