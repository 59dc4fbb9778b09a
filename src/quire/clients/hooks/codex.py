"""Hooks of Codex CLI: Claude's format, parsed strictly; unknown keys in a reply are an error there.

Silence is an empty standard output. A text of more than 2,500 tokens goes into a file. Stop, the compactions and the
end of a session take no text at all, and their answers know no `hookSpecificOutput`.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

DIALECT = Dialect(
    name="Codex",
    natives={
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before-edit",
        "PreCompact": "before-compaction",
        "PostCompact": "after-compaction",
        "Stop": "turn-end",
        "SessionEnd": "session-end",
        "SubagentStart": "session-start",
        "SubagentStop": "turn-end",
    },
    carries=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart"}),
    asks={"Stop": "block"},
    subagents=frozenset({"SubagentStart", "SubagentStop"}),
    editors=frozenset({"apply_patch", "Edit", "Write"}),
    paths=("file_path", "path"),
    patches=("command", "input", "patch"),
    # PostCompact brings no summary and takes no text: the session start that follows is the one to answer.
    wired=(
        Wired(event="session-start", native="SessionStart", seconds=10),
        Wired(event="prompt", native="UserPromptSubmit", seconds=5),
        Wired(event="before-edit", native="PreToolUse", matcher="apply_patch", seconds=5),
        Wired(event="before-compaction", native="PreCompact", seconds=10),
        Wired(event="turn-end", native="Stop", seconds=10),
        Wired(event="session-end", native="SessionEnd", seconds=3),
    ),
)
