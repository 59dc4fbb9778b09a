"""Hooks of GitHub Copilot: its own camelCase format, or Claude's where an event has Claude's name.

The command line and the cloud agent take a flat `additionalContext` at the start of a session and of a subagent. The
editor sends Claude's names and takes a nested one, also before a tool. Silence is an empty object. A prompt's answer
is dropped. A `preToolUse` hook that fails denies the tool, so none is wired: it would have nothing to say there.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

DIALECT = Dialect(
    name="Copilot",
    natives={
        "sessionStart": "session-start",
        "userPromptSubmitted": "prompt",
        "preToolUse": "before-edit",
        "preCompact": "before-compaction",
        "agentStop": "turn-end",
        "sessionEnd": "session-end",
        "subagentStart": "session-start",
        "subagentStop": "turn-end",
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before-edit",
        "PreCompact": "before-compaction",
        "Stop": "turn-end",
        "SessionEnd": "session-end",
        "SubagentStart": "session-start",
        "SubagentStop": "turn-end",
    },
    carries=frozenset({"sessionStart", "subagentStart", "SessionStart", "PreToolUse", "SubagentStart"}),
    flat="additionalContext",
    silence=b"{}\n",
    subagents=frozenset({"subagentStart", "subagentStop", "SubagentStart", "SubagentStop"}),
    editors=frozenset(
        {
            "edit",
            "create",
            "str_replace_editor",
            "apply_patch",
            "Edit",
            "Write",
            "editFiles",
            "create_file",
            "insert_edit_into_file",
            "replace_string_in_file",
        }
    ),
    paths=("path", "file_path", "filePath", "files"),
    patches=("input", "patch"),
    wired=(
        Wired(event="session-start", native="sessionStart", seconds=10),
        Wired(event="before-compaction", native="preCompact", seconds=10),
        Wired(event="turn-end", native="agentStop", seconds=10),
        Wired(event="session-end", native="sessionEnd", seconds=5),
    ),
)
