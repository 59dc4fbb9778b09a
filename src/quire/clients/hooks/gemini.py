"""Hooks of Gemini CLI: text at session start and before a prompt; standard output must be JSON.

Silence is an empty object. Gemini writes `<` and `>` of a text as entities. Nothing can be said before a tool or
around a compression, and the end of a session is not waited for. Its settings count a hook's time in milliseconds.
Where it runs one prompt and ends, the prompt comes with the text of the start before it.
"""

from __future__ import annotations

from quire.clients.hooks.types import Dialect, Wired

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
    asks={"AfterAgent": "deny"},
    silence=b"{}\n",
    editors=frozenset({"write_file", "replace"}),
    paths=("file_path",),
    echo="hook_context",
    # PreCompress comes before every request to the model, whether anything is compressed or not, and is waited for.
    wired=(
        Wired(event="session-start", native="SessionStart", seconds=10),
        Wired(event="prompt", native="BeforeAgent", seconds=5),
        Wired(event="turn-end", native="AfterAgent", seconds=10),
        Wired(event="session-end", native="SessionEnd", seconds=5),
    ),
)
