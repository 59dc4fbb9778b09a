"""Hooks of Claude Code: JSON in both directions; text at the start, at a prompt, and before a tool runs.

Silence is an empty standard output. A text is cut at 10,000 characters. A compaction takes no text before
it; what comes after it is sent at the session start that follows, and PostCompact brings its summary. Text at Stop
makes Claude go on, so none is sent there but the one request of `--capture agent`.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

DIALECT = Dialect(
    name="Claude Code",
    natives={
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before-edit",
        "Stop": "turn-end",
        "PreCompact": "before-compaction",
        "PostCompact": "after-compaction",
        "SessionEnd": "session-end",
        "SubagentStart": "session-start",
        "SubagentStop": "turn-end",
    },
    carries=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart"}),
    asks={"Stop": "block"},
    subagents=frozenset({"SubagentStart", "SubagentStop"}),
    editors=frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"}),
    # `path`: another client that reads Claude's settings calls its own tools by Claude's names.
    paths=("file_path", "notebook_path", "path"),
    wired=(
        Wired(event="session-start", native="SessionStart", seconds=10),
        Wired(event="prompt", native="UserPromptSubmit", seconds=5),
        Wired(event="before-edit", native="PreToolUse", matcher="Edit|Write|MultiEdit|NotebookEdit", seconds=5),
        Wired(event="turn-end", native="Stop", seconds=10),
        Wired(event="before-compaction", native="PreCompact", seconds=10),
        Wired(event="after-compaction", native="PostCompact", seconds=10),
        # Claude waits 1.5 seconds at the end, or as long as the longest limit that is set.
        Wired(event="session-end", native="SessionEnd", seconds=3),
    ),
)
