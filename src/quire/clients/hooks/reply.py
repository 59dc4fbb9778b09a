"""The reply to a hook: text for the model, or one request at the end of a turn; never a decision about a tool."""

from __future__ import annotations

import msgspec

from quire.clients.hooks.dialects import dialect_of
from quire.clients.hooks.types import HookEvent, Room, Wired

_NOTHING = Room(0, 0)
_BEGINNING = Room(2_000, 8_000)
# Below what the strictest client takes: 10,000 characters for a text, 2,500 tokens before it goes into a file.
_ROOMS = {
    "session-start": _BEGINNING,
    "prompt": Room(400, 1_500),
    "before-edit": Room(500, 2_000),
    "before-compaction": Room(500, 2_000),
    "after-compaction": _BEGINNING,
}


def reply(event: HookEvent, text: str) -> bytes:
    """Exactly what goes to standard output; what adds nothing, where there is no text or no room for one."""
    dialect = dialect_of(event.client)
    if not text.strip() or room_for(event) == _NOTHING:
        return dialect.silence
    # Without half characters, which cannot be written.
    text = text.encode("utf-8", "replace").decode("utf-8")
    if dialect.flat and event.native[:1].islower():
        return msgspec.json.encode({dialect.flat: text}) + b"\n"
    answer = {"hookSpecificOutput": {"hookEventName": event.native, "additionalContext": text}}
    return msgspec.json.encode(answer) + b"\n"


def can_ask(event: HookEvent) -> bool:
    """Whether the agent can be asked for something here, and was not made to go on already."""
    return event.native in dialect_of(event.client).asks and not event.continued and not event.agent


def request(event: HookEvent, text: str) -> bytes:
    """What has the agent go on and do what the text asks; silence where there is no text."""
    dialect = dialect_of(event.client)
    if not text:
        return dialect.silence
    return msgspec.json.encode({"decision": dialect.asks[event.native], "reason": text}) + b"\n"


def room_for(event: HookEvent) -> Room:
    """How much text the client takes here; nothing where it takes none, or would go on working because of it."""
    if event.native not in dialect_of(event.client).carries:
        return _NOTHING
    return _ROOMS.get(event.event, _NOTHING)


def connected_events(client: str) -> tuple[Wired, ...]:
    """The hooks that are worth their time in this client: they carry text, or say what the memory learns from."""
    return dialect_of(client).wired
