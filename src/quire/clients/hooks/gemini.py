"""Gemini CLI: text is taken at the start and before the agent works on a prompt; standard output is JSON or fails.

Silence is an empty object. Gemini writes `<` and `>` of a text as entities. Nothing can be said before a tool or
around a compression, and the end of a session is not waited for. Its settings count a hook's time in milliseconds.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name="Gemini CLI",
    natives={
        "SessionStart": "session-start",
        "BeforeAgent": "prompt",
        "BeforeTool": "before-edit",
        "PreCompress": "before-compaction",
        "AfterAgent": "turn-end",
        "SessionEnd": "session-end",
    },
    carries=frozenset({"SessionStart", "BeforeAgent"}),
    silence=b"{}\n",
    editors=frozenset({"write_file", "replace"}),
    paths=("file_path",),
    wired=(
        Wired(event="session-start", native="SessionStart", seconds=10),
        Wired(event="prompt", native="BeforeAgent", seconds=5),
        Wired(event="turn-end", native="AfterAgent", seconds=10),
        Wired(event="before-compaction", native="PreCompress", seconds=10),
        Wired(event="session-end", native="SessionEnd", seconds=5),
    ),
)
