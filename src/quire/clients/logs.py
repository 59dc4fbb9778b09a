"""Log hooks that failed or stayed silent; the log stays on this machine, outside git."""

from __future__ import annotations

from quire.clients.layout import LOG, OLD_LOG
from quire.clients.lines import add_line, read_lines
from quire.files.world import World
from quire.model.times import timestamp

_BYTES = 256 * 1024


def log_line(root: str, world: World, text: str) -> None:
    line = f"{timestamp(world.now())} {' '.join(text.split())}".encode("utf-8", "backslashreplace")
    add_line(root, LOG, line, world.token(), most=_BYTES, old=OLD_LOG)


def read_log(root: str, most: int) -> list[str]:
    """The latest lines, the oldest of them first."""
    return [line.decode("utf-8", "replace") for line in read_lines(root, OLD_LOG, LOG)][-most:]
