"""Remember on this machine how far each client session has been read for proposals."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from quire.clients.lines import FOLDER, READ_MARKS
from quire.files.local_files import LOCAL_VERSION, LocalFile, read_object, write_local
from quire.model.errors import QuireError

_KEPT = 2_000


class ReadMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a session was read, and what was counted up to there."""

    offset: int = 0
    hash: str = ""
    at: str = ""
    turns: int = 0
    tool_calls: int = 0


def read_marks(root: str) -> tuple[LocalFile, dict[str, ReadMark]]:
    """The marks by `client:session`, and the file that they are from; bad ones do not count."""
    found = read_object(root, FOLDER, READ_MARKS)
    marks = {}
    held = found.fields.get("sessions")
    for key, value in held.items() if isinstance(held, dict) else ():
        with contextlib.suppress(msgspec.ValidationError):
            marks[key] = msgspec.convert(value, ReadMark)
    return found, marks


def write_marks(root: str, found: LocalFile, marks: dict[str, ReadMark], token: str) -> None:
    """Keep the latest marks; a disk that takes none has the sessions read again."""
    latest = sorted(marks.items(), key=lambda item: item[1].at)[-_KEPT:]
    value: dict[str, Any] = {"version": LOCAL_VERSION, "sessions": dict(latest)}
    with contextlib.suppress(QuireError):
        write_local(root, found, msgspec.json.encode(value) + b"\n", token)
