"""The lines that keep generated files out of git."""

from __future__ import annotations

from collections.abc import Sequence

from quire.files import World, follow_inside, newline_of, read_bytes, write_file
from quire.layers.graph.layout import BACKUP, FOLDER, INDEX, LOCAL, LOCK, RECOVERY

ENTRIES = (
    f"{FOLDER}/{INDEX}/",
    f"{FOLDER}/{LOCAL}/",
    f"{FOLDER}/{RECOVERY}/",
    f"{FOLDER}/{BACKUP}/",
    f"{FOLDER}/{LOCK}",
)

__all__ = ["ENTRIES", "ensure_ignored"]


def ensure_ignored(root: str, world: World, entries: Sequence[str] = ENTRIES, *, dry_run: bool = False) -> bool:
    """Add what is missing to `.gitignore`; everything that is there stays byte for byte. True if it changed."""
    path = follow_inside(root, ".gitignore")
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        data = b""
    present = {line.strip() for line in data.decode("utf-8", "replace").split("\n")}
    missing = [
        entry for entry in entries if not present & {entry, f"/{entry}", entry.rstrip("/"), f"/{entry.rstrip('/')}"}
    ]
    if not missing:
        return False
    newline = newline_of(data)
    gap = b"" if not data else newline if data.endswith(b"\n") else newline * 2
    if not dry_run:
        write_file(path, data + gap + newline.join(map(str.encode, missing)) + newline, world.token())
    return True
