"""Whether an agent may be asked what should last, and which sessions were asked: both for this machine alone.

The setting names the folder it was made in, so that a repository cannot bring one with it.
"""

from __future__ import annotations

import os
from typing import Literal, get_args

import msgspec

from quire.clients.lines import ASKED, CAPTURE, FOLDER
from quire.files.local_files import LOCAL_VERSION, LocalFile, ensure_local, place_of, read_object, write_local
from quire.files.paths import inside
from quire.files.world import World
from quire.model.errors import LockBusy, QuireError
from quire.model.times import timestamp

Capture = Literal["none", "agent"]
ASKABLE = ("claude", "codex", "gemini")
"""Clients whose agent goes on when a hook asks it to, and whose sessions can be read."""
CAPTURES: tuple[Capture, ...] = get_args(Capture)
_KEPT = 500
_GROWTH = 1.25
"""A session is looked at again when it is longer by a quarter, so that all looks together cost a few times the last."""
_LOCK = "asked.lock"
_WAIT_SECONDS = 0.5


def capture_of(root: str) -> Capture:
    """What someone chose on this machine for this folder; by default `none`."""
    held = read_object(root, FOLDER, CAPTURE).fields
    is_here = held.get("root") == os.path.realpath(root)
    return "agent" if is_here and held.get("capture") == "agent" else "none"


def set_capture(root: str, capture: Capture, token: str) -> None:
    found = read_object(root, FOLDER, CAPTURE)
    value = {"version": LOCAL_VERSION, "root": os.path.realpath(root), "capture": capture}
    write_local(root, found, msgspec.json.encode(value) + b"\n", token)


def is_due(root: str, session: str, size: int) -> bool:
    """Whether a session of this length is to be looked at: never again once it was asked."""
    last = _sizes(read_object(root, FOLDER, ASKED)).get(session, 1)
    return last > 0 and size >= last * _GROWTH


def note_look(root: str, session: str, size: int, world: World) -> bool:
    """Note how long a session was when it was looked at, or 0 when it is asked; whether nobody had noted a 0."""
    from quire.files.file_lock import Holder, held

    holder = Holder(pid=world.pid, operation="hook", created_at=timestamp(world.now()))
    try:
        ensure_local(root, FOLDER, world.token())
        with held(inside(root, place_of(FOLDER, _LOCK)), holder, _WAIT_SECONDS, world.sleep, keep=True):
            found = read_object(root, FOLDER, ASKED)
            sizes = _sizes(found)
            if sizes.pop(session, 1) == 0:
                return False
            latest = dict([*sizes.items(), (session, size)][-_KEPT:])
            value = {"version": LOCAL_VERSION, "sessions": latest}
            write_local(root, found, msgspec.json.encode(value) + b"\n", world.token())
    except (LockBusy, QuireError, OSError):
        return False
    return True


def _sizes(found: LocalFile) -> dict[str, int]:
    held = found.fields.get("sessions")
    return {key: size for key, size in (held if isinstance(held, dict) else {}).items() if isinstance(size, int)}
