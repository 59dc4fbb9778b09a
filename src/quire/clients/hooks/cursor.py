"""Hooks of Cursor: text is accepted at session start only; other replies would only allow or stop.

Silence is an empty object. There is no working folder in most payloads, so the first root of the workspace is it. A
follow-up at `stop` would be a new prompt, so none is ever sent.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

DIALECT = Dialect(
    name="Cursor",
    natives={
        "sessionStart": "session-start",
        "beforeSubmitPrompt": "prompt",
        "preToolUse": "before-edit",
        "preCompact": "before-compaction",
        "stop": "turn-end",
        "sessionEnd": "session-end",
        "subagentStart": "session-start",
        "subagentStop": "turn-end",
    },
    carries=frozenset({"sessionStart"}),
    flat="additional_context",
    silence=b"{}\n",
    subagents=frozenset({"subagentStart", "subagentStop"}),
    editors=frozenset({"Write", "Edit", "MultiEdit", "StrReplace", "Delete", "EditNotebook", "ApplyPatch"}),
    paths=("file_path", "path", "target_file", "target_notebook", "notebook_path"),
    patches=("patch", "input"),
    wired=(
        Wired(event="session-start", native="sessionStart", seconds=10),
        Wired(event="before-compaction", native="preCompact", seconds=10),
        Wired(event="turn-end", native="stop", seconds=10),
        Wired(event="session-end", native="sessionEnd", seconds=5),
    ),
)
