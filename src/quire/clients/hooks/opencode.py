"""Hooks of opencode: it has no shell hooks, so our plugin sends a format that is defined here.

The plugin runs `quire hook opencode <event>` and writes one flat JSON object to its standard input:

    event       our name of the event, or opencode's (session.created, chat.message, tool.execute.before, …)
    sessionID   the session
    parentID    the session that started this one, where it is a subagent's
    directory   the project's folder, absolute
    source      session-start: startup or resume
    prompt      prompt: what the person wrote
    tool        before-edit: the tool's name
    args        before-edit: the tool's arguments, of which `filePath` and `patchText` are read
    reason      session-end: why
    summary     after-compaction: its text, where the plugin knows it

Everything but `event` may be missing, and anything else is ignored. The answer is `{"context": "…"}` and a line end,
or nothing at all. Where opencode takes no text at the moment of an event, the plugin keeps it: the start's stands in
the system prompt, an edit's goes with the tool's result, one before a compaction into the prompt that summarises.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

DIALECT = Dialect(
    name="opencode",
    natives={
        "session.created": "session-start",
        "chat.message": "prompt",
        "tool.execute.before": "before-edit",
        "experimental.session.compacting": "before-compaction",
        "session.compacted": "after-compaction",
        "session.idle": "turn-end",
        "session.deleted": "session-end",
    },
    carries=frozenset(
        {
            "session.created",
            "chat.message",
            "tool.execute.before",
            "experimental.session.compacting",
            "session.compacted",
        }
    ),
    flat="context",
    editors=frozenset({"edit", "multiedit", "write", "patch", "apply_patch"}),
    paths=("filePath",),
    patches=("patchText", "patch"),
    wired=(
        Wired(event="session-start", native="session.created", seconds=5),
        Wired(event="prompt", native="chat.message", seconds=2),
        Wired(
            event="before-edit",
            native="tool.execute.before",
            matcher="edit|multiedit|write|patch|apply_patch",
            seconds=2,
        ),
        Wired(event="before-compaction", native="experimental.session.compacting", seconds=5),
        Wired(event="after-compaction", native="session.compacted", seconds=5),
        Wired(event="turn-end", native="session.idle", seconds=5),
        Wired(event="session-end", native="session.deleted", seconds=3),
    ),
)
