"""The types of an import: kinds of sources, where a source lies, and what was read from it."""

from __future__ import annotations

from typing import Literal

import msgspec

from quire.inbox.proposals import Proposal
from quire.model.records import Problem

Scope = Literal["project", "user"]

HISTORY = "git"
"""The kind whose source is no file: the repository's own history."""
KINDS = {
    "claude-md": "Claude Code's instructions: CLAUDE.md, CLAUDE.local.md and those in folders",
    "claude-rules": "Claude Code's rules: .claude/rules/*.md",
    "claude-memory": "Claude Code's own notes on this project, in your home folder",
    "agents-md": "AGENTS.md, at the top and in folders",
    "codex-memories": "Codex's own notes that name this project, in your home folder",
    "gemini-md": "Gemini CLI's context: GEMINI.md",
    "cursor-rules": "Cursor's rules: .cursor/rules/*.mdc and .cursorrules",
    "cline-memory-bank": "The memory bank: memory-bank/*.md",
    "cline-rules": "Cline's rules: .clinerules, a file or a folder",
    "copilot-instructions": "Copilot's instructions: .github/copilot-instructions.md and .github/instructions/",
    "copilot-memories": "Copilot's memories of this repository in VS Code, in your home folder",
    "serena": "Serena's memories: .serena/memories/*.md",
    "mcp-memory": "The memory file of the MCP memory server: memory.json or memory.jsonl",
    "basic-memory": "Notes of Basic Memory whose project is this one",
    "adr": "Architecture decision records: folders adr, docs/decisions and the like",
    "beads": "Issues and memories of Beads: .beads/*.jsonl",
    "okf": "Concepts of the Open Knowledge Format: folders called okf",
    "entire": "What Entire's checkpoints learned: the branch entire/checkpoints/v1",
    "git": "The history of this repository: reasons, reverts, traps, habits; read when it is named",
}
"""The kinds of sources, in the order they are looked for, each with a line for people."""

FILE_BYTES = 1024 * 1024
"""A larger file is not read."""
FILES_MOST = 500
"""So many sources are named at most; each kind finds no more than this."""


class HostSource(msgspec.Struct, frozen=True, kw_only=True):
    """One file that a host keeps knowledge in."""

    kind: str
    path: str
    """Absolute."""
    shown: str
    """As people are shown it: from the project's folder, or `~/…`."""
    scope: Scope
    size: int


class HostRead(msgspec.Struct, frozen=True, kw_only=True):
    """What one source came to."""

    source: HostSource
    proposals: tuple[Proposal, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What could not be read, was too large, or may not be kept."""
    skipped: int = 0
    """Sections that are no knowledge."""
    known: int = 0
    """What it says that was decided on, or is pending, by where it comes from."""
    is_one_record: bool = False
    """The file is one record: edited, it says something new of that record, and nothing beside it."""
