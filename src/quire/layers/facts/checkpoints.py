"""Keep messages that a compaction removes, in full and on this machine."""

from __future__ import annotations

import contextlib
import os
import re

from quire.files import disk
from quire.files.local_files import ensure_local, place_of
from quire.files.paths import inside, storage_failed
from quire.layers.facts.layout import FOLDER

CHECKPOINTS = "checkpoints"
_KEPT = 50
_OURS = re.compile(r"\d{8}T\d{6}Z-\w+\.jsonl")


def keep_checkpoint(root: str, data: bytes, stamp: str, token: str) -> str:
    """Write it, and say where it is, from the project's root. Only the newest ones stay."""
    name = f"{stamp}-{token[-8:]}.jsonl"
    folder = inside(root, place_of(FOLDER, CHECKPOINTS))
    try:
        ensure_local(root, FOLDER, token, CHECKPOINTS)
        # A conversation may hold what its owner would show to nobody else on this machine.
        disk.create(inside(folder, name), data, 0o600)
        disk.sync_folder(folder)
        others = sorted(other for other in os.listdir(folder) if other != name and _OURS.fullmatch(other))
    except OSError as error:
        raise storage_failed(error, "keep what is compacted", root) from error
    for other in others[: -(_KEPT - 1)]:
        with contextlib.suppress(OSError):
            disk.remove(os.path.join(folder, other))
    return place_of(FOLDER, f"{CHECKPOINTS}/{name}")
