"""The types of a transcript: turns, session files, skipped files, known places."""

from __future__ import annotations

import os
from collections.abc import Collection

from msgspec import Struct

LINE_BYTES = 8 * 1024 * 1024
"""A longer line is skipped and counted: it holds pictures, not talk."""
FILE_BYTES = 4 * 1024 * 1024 * 1024
"""A larger transcript is not read, not even line by line; the same holds for what a compressed one unpacks to."""
WHOLE_BYTES = 64 * 1024 * 1024
"""A document that can only be read as a whole may have this size."""
TEXT_CHARS = 200_000
"""Of a longer text its beginning is kept."""
RESULT_CHARS = 4_000
"""Of what a tool answered, this much is kept: half from its beginning, half from its end."""
PATHS = 32
PATH_CHARS = 1_024


class Turn(Struct, frozen=True, kw_only=True):
    """One thing that was said or done. A tool that is called is a turn of the assistant, its answer one of the tool."""

    role: str
    """`user`, `assistant`, `tool` or `system`."""
    text: str = ""
    """What was said; of a call the command line, where there is one."""
    at: str = ""
    """When, in ISO 8601; empty where the transcript does not tell."""
    tool: str = ""
    paths: tuple[str, ...] = ()
    """The files that a call names, below the repository or shortened, never absolute."""
    is_error: bool = False
    is_subagent: bool = False
    is_summary: bool = False
    """It stands for an older part of the conversation, which was compacted."""


class SessionFile(Struct, frozen=True, kw_only=True):
    """One session as it was found. Another stamp means that there is something new in it."""

    source_type: str
    external_id: str
    """What it is known by: unique in one discovery, the same in the next one."""
    path: str
    """Absolute."""
    started_at: str = ""
    title: str = ""
    stamp: str = ""

    def is_at(self, path: str) -> bool:
        """Whether it is kept in this file."""
        return bool(path) and os.path.realpath(path) == os.path.realpath(self.path)


HOMES = {
    "claude-local": ".claude",
    "codex-local": ".codex",
    "gemini-local": ".gemini",
    "opencode-local": ".local/share/opencode",
}
"""Where agents keep their sessions, below the home folder, by the type of the sessions."""

Known = Collection[tuple[str, str]]
"""Sessions that were read before: what each is known by, and its stamp."""


class Skipped(Struct, frozen=True):
    """Something that looks like a session and was not taken, and why."""

    path: str
    reason: str


class KnownPlaces(Struct, frozen=True):
    """Where we are: the repository whose sessions are wanted, and the home folder. Either may be empty: not known."""

    root: str = ""
    home: str = ""
