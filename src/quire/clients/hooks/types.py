"""Types of hooks: the seven events, the parsed payload, the reply."""

from __future__ import annotations

import msgspec

EVENTS = ("session-start", "prompt", "before-edit", "before-compaction", "after-compaction", "turn-end", "session-end")
"""Our names, as the second word of `quire hook`, in the order in which they happen."""
CLIENTS = ("claude", "codex", "cursor", "gemini", "opencode", "copilot", "cline")


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What a client said at an event; "" where it did not say it."""

    client: str
    event: str
    native: str
    """The client's own name of the event."""
    session: str = ""
    cwd: str = ""
    """Absolute, or ""."""
    transcript: str = ""
    source: str = ""
    """How a session began, in the client's word: startup, resume, clear, compact, …"""
    prompt: str = ""
    tool: str = ""
    files: tuple[str, ...] = ()
    """What the tool is about to write: absolute where the client said where it works, else as the tool names it."""
    reason: str = ""
    """Why a session, a turn or a compaction came: the client's word (manual, auto, end_turn, clear, …)."""
    summary: str = ""
    """The text of a compaction."""
    agent: str = ""
    """The id of the subagent that speaks; "" is the session itself."""
    continued: bool = False
    """Whether a hook made the agent go on already."""


class Room(msgspec.Struct, frozen=True):
    """How much text a client takes at an event."""

    tokens: int
    chars: int


class Wired(msgspec.Struct, frozen=True, kw_only=True):
    """One hook to be wired: the client's event, what it is narrowed to, and how long it may take."""

    event: str
    native: str
    matcher: str = ""
    """Which tools, in the client's own form; "" is everything."""
    seconds: int = 10


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one client speaks."""

    name: str
    natives: dict[str, str]
    """Our event by the client's name of it. The first name of an event is the one that is meant by ours."""
    carries: frozenset[str] = frozenset()
    """The native events at which the client takes text."""
    flat: str = ""
    """The key of a text in a flat answer, at events with a small letter; at others it is nested, as Claude has it."""
    asks: dict[str, str] = {}
    """The native events at which a hook can have the agent go on, and the word for it."""
    silence: bytes = b""
    """The answer that adds nothing."""
    subagents: frozenset[str] = frozenset()
    """The native events that a subagent begins or ends with."""
    editors: frozenset[str] = frozenset()
    """The tools that write files."""
    paths: tuple[str, ...] = ()
    """The arguments of these tools that name a file, or several."""
    patches: tuple[str, ...] = ()
    """The arguments of these tools that hold a patch."""
    echo: str = ""
    """The tag around what hooks said, where the client puts it before what the person wrote in a prompt."""
    wired: tuple[Wired, ...] = ()
    refusal: str = ""
    """Why there is nothing to read, for a client without hooks of this kind."""
