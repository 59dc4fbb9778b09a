"""Note that a client's session ended or paused, so that a later process reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.files.world import World
from quire.model.times import timestamp

if TYPE_CHECKING:
    from quire.clients.hooks.types import HookEvent

ENDING = ("before-compaction", "turn-end", "session-end")
"""Events at which nothing is passed on, and something may have been said that is worth reading."""
_READABLE = ("claude", "codex", "gemini", "opencode")
"""Clients whose sessions lie in files that can be read later."""


def note_session(root: str, event: HookEvent, world: World) -> bool:
    """Leave a pointer to a session, where the event is one after which it is worth reading; whether it was left."""
    if event.agent or not event.session or event.client not in _READABLE:
        return False
    if event.event not in ENDING and not event.summary:
        return False
    from quire.clients.spool import Ended, note_ended

    ended = Ended(
        client=event.client,
        session=event.session[:200],
        transcript=event.transcript[:4_000],
        at=timestamp(world.now()),
        event=event.event,
        summary=event.summary[:8_000],
    )
    return note_ended(root, ended, world.token())
