"""Which sessions wait in the spool, looked at without taking them."""

from __future__ import annotations

import os

import msgspec

from quire.clients.layout import ENDED, FOLDER
from quire.clients.spool import Ended
from quire.files import place_of, read_local

_END = ".jsonl"
_TAKEN = f"{ENDED.removesuffix(_END)}-"

__all__ = ["waiting_sessions"]


def waiting_sessions(root: str) -> list[Ended]:
    """The latest word of each session that nobody has read yet; bad lines do not count."""
    try:
        names = sorted(os.listdir(os.path.join(root, place_of(FOLDER, ""))))
    except OSError:
        return []
    found: dict[tuple[str, str], Ended] = {}
    decode = msgspec.json.Decoder(Ended).decode
    for name in names:
        if name != ENDED and not (name.startswith(_TAKEN) and name.endswith(_END)):
            continue
        for line in (read_local(root, FOLDER, name).data or b"").split(b"\n"):
            try:
                item = decode(line) if line.strip() else None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if item is not None and item.session:
                key = item.client, item.session
                if key not in found or found[key].at <= item.at:
                    found[key] = item
    return sorted(found.values(), key=lambda item: item.at)
