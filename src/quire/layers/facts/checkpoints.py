"""What a compaction takes out of a conversation, kept on this machine in full before anything is decided."""

from __future__ import annotations

import contextlib
import os

from quire.files import disk, inside
from quire.layers.facts.local import ensure_local, place_of

FOLDER = "checkpoints"
_KEPT = 50

__all__ = ["keep_checkpoint"]


def keep_checkpoint(root: str, data: bytes, stamp: str, token: str) -> str:
    """Write it, and say where it is, from the project's root. Only the newest ones stay."""
    ensure_local(root, FOLDER)
    place = place_of(f"{FOLDER}/{stamp}-{token[:8]}.jsonl")
    # A conversation may hold what its owner would show to nobody else on this machine.
    disk.create(inside(root, place), data, 0o600)
    disk.sync_folder(inside(root, place_of(FOLDER)))
    folder = inside(root, place_of(FOLDER))
    for name in sorted(os.listdir(folder))[:-_KEPT]:
        with contextlib.suppress(OSError):
            disk.remove(os.path.join(folder, name))
    return place
