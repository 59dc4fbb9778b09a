"""Answer a hook in the client's own form: parse its payload, do what the event asks for, encode the reply.

Each event loads only what it needs: most hooks run where there is no memory, or only leave a note.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.clients.hooks.types import HookEvent
    from quire.files.world import World

_ERROR_CHARS = 400


def reply_to_hook(
    client: str,
    event: str,
    read_payload: Callable[[int], bytes],
    world: World,
    until: float,
    found: Callable[[str], None],
) -> tuple[bytes, bool]:
    """The bytes for the client, and whether work is left for later: sessions to read, documents to ingest.

    `read_payload` gets the most bytes to keep; `found` is called with the root of the project as soon as it is known.
    """
    from quire.clients.hooks.payload import PAYLOAD_BYTES
    from quire.clients.hooks.read_event import read_event
    from quire.clients.hooks.reply import reply, room_for

    heard = read_event(client, event, read_payload(PAYLOAD_BYTES + 1))
    silence = reply(heard, "")
    from quire.clients.ended_sessions import ENDING, note_session

    root = root_with_memory(heard.cwd or world.cwd)
    if not root:
        return silence, False
    found(root)
    try:
        room = room_for(heard)
        if heard.event in ENDING and not room.tokens:
            is_noted = note_session(root, heard, world)
            asked = _request(root, heard, world) if heard.event == "turn-end" else b""
            return asked or silence, is_noted and heard.event == "session-end"
        from quire.project import Project
        from quire.verbs.agents.hook_answer import answer_hook, work_waits

        project = Project.open(heard.cwd or None, world)
        project.deadline = until  # half of the time is for verdicts; what they leave open the next one finds out
        text = answer_hook(project, heard, room.tokens, room.chars)
        waits = heard.event == "session-start" and work_waits(project)
        return reply(heard, text), waits
    except Exception as error:
        log_failure(root, world, client, event, error)
        return silence, False


def _request(root: str, heard: HookEvent, world: World) -> bytes:
    """What asks the agent for what should last; nothing where nobody chose that, or there is nothing to ask for."""
    from quire.clients.hooks.reply import can_ask, request

    if not heard.session or not can_ask(heard):
        return b""
    from quire.clients.capture_choice import capture_of

    if capture_of(root) != "agent":
        return b""
    from quire.project import Project
    from quire.verbs.agents.capture_request import capture_request

    return request(heard, capture_request(Project.open(heard.cwd or None, world), heard))


def silent_reply(client: str, event: str) -> bytes:
    """What the client takes for no answer."""
    from quire.clients.hooks.reply import reply
    from quire.clients.hooks.types import CLIENTS, HookEvent

    return reply(HookEvent(client=client, event=event, native=""), "") if client in CLIENTS else b""


def root_with_memory(start: str) -> str:
    """The root of the project that holds a folder; empty where it has no memory."""
    from quire.layers.presence import memory_root

    return memory_root(start) or ""


def log_failure(root: str, world: World, client: str, event: str, error: BaseException | str) -> None:
    """Add a line to the log of hooks, which git ignores; there is none without a memory."""
    if not root:
        return
    from quire.clients.lines import log_line

    said = error
    if isinstance(error, BaseException):
        text = getattr(error, "message", "") or str(error) or type(error).__name__
        said = f"{type(error).__name__}: {' '.join(text.split())[:_ERROR_CHARS]}"
    log_line(root, world, f"{client} {event}: {said}")
