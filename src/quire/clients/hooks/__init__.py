"""Hooks of coding agents: what they say at an event, what they are answered, and how much of it they take."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.hooks.payload import PAYLOAD_BYTES
    from quire.clients.hooks.reading import read_event
    from quire.clients.hooks.replying import reply, room_for, wired_events
    from quire.clients.hooks.types import CLIENTS, EVENTS, HookEvent, Room, Wired

__all__ = [
    "CLIENTS",
    "EVENTS",
    "PAYLOAD_BYTES",
    "HookEvent",
    "Room",
    "Wired",
    "read_event",
    "reply",
    "room_for",
    "wired_events",
]

# Which module holds what.
_HOMES = {
    "CLIENTS": "types",
    "EVENTS": "types",
    "HookEvent": "types",
    "PAYLOAD_BYTES": "payload",
    "Room": "types",
    "Wired": "types",
    "read_event": "reading",
    "reply": "replying",
    "room_for": "replying",
    "wired_events": "replying",
}

__getattr__ = loader(__name__, _HOMES)
