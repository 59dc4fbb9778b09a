"""Looking at the components and writing them: each file by itself, so that one that is damaged stops no other."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from quire.clients.wiring_journal.types import (
    Action,
    Component,
    ComponentDone,
    ComponentSeen,
    State,
)
from quire.files.durable_write import ensure_folder, write_file
from quire.files.paths import follow_inside, read_bytes
from quire.files.world import World
from quire.model.errors import Conflict, QuireError

_TRIES = 3
_NO_HOME = "there is no home folder to look for it in"
_BY_HAND = "Mend the file by hand, then run the command again. It was not touched."
_KEPT = "It was changed since it was written; --repair writes it anew."
_SKIPPED = "It is yours, not the project's, and was left alone: say --yes to have it changed."
_NOTES: dict[State, str] = {
    "present": "is there.",
    "missing": "is missing.",
    "managed_mismatch": "is not as it was written.",
    "unreadable": "cannot be looked for",
}


def look_at(components: Iterable[Component], root: str) -> tuple[ComponentSeen, ...]:
    """Each of them as it is now. What cannot be read is told, never raised."""
    return tuple(_seen(one, root) for one in components)


def wire(
    components: Sequence[Component], root: str, world: World, *, repair: bool, dry_run: bool, user: bool
) -> tuple[ComponentDone, ...]:
    """Write what is missing or not as it should be; with `repair` only the latter.

    Files in the user's home are changed only with `user`. What the user changed in a file that is ours alone stays
    unless it is to be repaired.
    """
    found = (_wire_one(one, root, world, repair=repair, dry_run=dry_run, user=user) for one in components)
    return tuple(done for done in found if done is not None)


class _Unusable(Exception):
    """A file that is left alone: why, and what to do about it."""

    def __init__(self, action: Action, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.action = action
        self.reason = reason.rstrip(".")
        self.hint = hint


def _seen(one: Component, root: str) -> ComponentSeen:
    reason = ""
    try:
        status = _look(one, root)[2]
    except _Unusable as error:
        status, reason = "unreadable", f": {error.reason}."
    return ComponentSeen(
        component=one.name,
        client=one.client,
        key=one.key,
        label=one.label,
        status=status,
        path=one.shown,
        scope=one.scope,
        note=f"{one.subject} {_NOTES[status]}{reason}",
    )


def _wire_one(
    one: Component, root: str, world: World, *, repair: bool, dry_run: bool, user: bool
) -> ComponentDone | None:
    for attempt in range(_TRIES):
        try:
            return _attempt(one, root, world, repair=repair, dry_run=dry_run, user=user)
        except Conflict as error:
            if attempt == _TRIES - 1:
                return _done(one, "FAILED", reason=error.message.rstrip("."), hint=error.hint or "")
        except _Unusable as error:
            return _done(one, error.action, reason=error.reason, hint=error.hint)
    raise AssertionError("unreachable")


def _attempt(
    one: Component, root: str, world: World, *, repair: bool, dry_run: bool, user: bool
) -> ComponentDone | None:
    real, current, state = _look(one, root)
    if repair and state != "managed_mismatch":
        return None
    if state == "present":
        return _done(one, "UNCHANGED")
    if one.is_whole and state == "managed_mismatch" and not repair:
        return _done(one, "KEPT", note=_KEPT)
    after = _applied(one, current)
    if one.scope == "user" and not user and not dry_run:
        return _done(one, "SKIPPED", note=_SKIPPED)
    if not dry_run:
        _write(real, current, after, world)
    return _done(one, "CREATE" if current is None else "UPDATE")


def _done(one: Component, action: Action, *, note: str = "", reason: str = "", hint: str = "") -> ComponentDone:
    return ComponentDone(
        component=one.name,
        client=one.client,
        scope=one.scope,
        action=action,
        path=one.shown,
        note=note or one.purpose,
        reason=reason,
        hint=hint,
    )


def _look(one: Component, root: str) -> tuple[str, bytes | None, State]:
    """The real file, what it holds, and what that says."""
    if not one.path:
        raise _Unusable("UNREADABLE", _NO_HOME, "Set HOME, or name the file with AGENT_MEMORY_CODEX_CONFIG_PATH.")
    try:
        real = os.path.realpath(one.path) if one.scope == "user" else follow_inside(root, one.shown)
        current = _read(real)
        return real, current, one.look(current)
    except ValueError as error:
        raise _Unusable("UNREADABLE", f"{error}", _BY_HAND) from error
    except QuireError as error:
        raise _Unusable("UNREADABLE", error.message, error.hint or "") from error
    except OSError as error:
        reason = f"it cannot be read ({error.strerror or error})"
        raise _Unusable("UNREADABLE", reason, "Check who owns it, and what it is.") from error


def _applied(one: Component, current: bytes | None) -> bytes:
    try:
        after = one.apply(current)
        if one.look(after) == "present":
            return after
    except ValueError as error:
        raise _Unusable("UNREADABLE", f"{error}", _BY_HAND) from error
    raise _Unusable("FAILED", "it is laid out in a way that cannot be changed safely", _BY_HAND)


def _write(real: str, current: bytes | None, after: bytes, world: World) -> None:
    try:
        if current is not None and not os.stat(real).st_mode & stat.S_IWUSR:
            raise _Unusable("FAILED", "it is read-only", "Make it writable, then run the command again.")
        ensure_folder(os.path.dirname(real))
        write_file(real, after, world.token(), expects=current)
    except Conflict:
        raise
    except QuireError as error:
        raise _Unusable("FAILED", error.message, error.hint or "") from error
    except OSError as error:
        reason = f"it cannot be written ({error.strerror or error})"
        raise _Unusable("FAILED", reason, "Check who owns the folder, and what it is.") from error


def _read(real: str) -> bytes | None:
    try:
        return read_bytes(real)
    except FileNotFoundError:
        return None
