"""The parts that Claude Code and Codex need for the journal, in the format of `agent-memory integrate`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from quire.clients.integration.entries import MISSING, find_member, read_document, text_of
from quire.clients.integration.types import FilePart, Seen
from quire.clients.integration.whole_files import MarkedSection, WholeFile
from quire.clients.texts.journal import (
    HOOKS,
    MADE_BY_OTHERS,
    ORIGINAL_SERVER,
    PROGRAM,
    SERVER,
    journal_guidance_text,
    journal_skill_text,
)
from quire.files.jsonc_edit import append_item, set_member
from quire.files.marked_sections import Markers, newline_of
from quire.files.toml_edit import set_table
from quire.files.toml_scanner import read_toml

CONFIG_VARIABLE = "AGENT_MEMORY_CODEX_CONFIG_PATH"
_GUIDANCE = Markers("<!-- agent-memory:codex-integration start -->", "<!-- agent-memory:codex-integration end -->")
_TABLE = ("mcp_servers", PROGRAM)
_TABLE_MARKERS = ("# agent-memory:codex-mcp start", "# agent-memory:codex-mcp end")
_ENTRY = ("mcpServers", PROGRAM)
_BOM = "\ufeff"
_HOOK = r"""(?:^|[\s/;&|'"])(?<!npx )agent-memory['"]?\s+automate\b"""
"""A command of ours, also by its path and through `npx --no-install`. Plain `npx` may fetch another program."""


class JournalPart(FilePart, frozen=True, kw_only=True):
    """A part that no record is kept of; its path is empty where nobody can tell it."""

    key: str
    """Its name in the report, among those of its client."""
    label: str
    subject: str
    """What a sentence calls it."""
    purpose: str
    """What writing it is for."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole file is ours: then a person's change in it goes only when that is asked for."""
        return self.key == "skills"


def journal_parts(root: str, cwd: str, env: Mapping[str, str]) -> tuple[JournalPart, ...]:
    """All of them, in the order in which they are reported."""
    skill = WholeFile(journal_skill_text(), MADE_BY_OTHERS)
    guidance = MarkedSection(journal_guidance_text(), _GUIDANCE, MADE_BY_OTHERS)
    config = _codex_config(cwd, env)
    return (
        JournalPart(
            name="claude-mcp",
            client="claude",
            key="mcpProjectConfig",
            label="project MCP",
            subject="The journal's server in the MCP configuration of Claude Code",
            purpose="Claude Code starts `agent-memory mcp`.",
            scope="project",
            path=os.path.join(root, ".mcp.json"),
            shown=".mcp.json",
            look=_look_at_entry,
            apply=_with_entry,
        ),
        JournalPart(
            name="claude-hooks",
            client="claude",
            key="settingsHooks",
            label="project hooks",
            subject="The pair of hooks for the journal in the settings of Claude Code",
            purpose="Hooks at the start of a session and at the end of a turn keep the journal.",
            scope="project",
            path=os.path.join(root, ".claude/settings.json"),
            shown=".claude/settings.json",
            look=_look_at_hooks,
            apply=_with_hooks,
        ),
        JournalPart(
            name="claude-skill",
            client="claude",
            key="skills",
            label="project skill",
            subject="The skill for Claude Code",
            purpose="A skill says when the journal is of use.",
            scope="project",
            path=os.path.join(root, ".claude/skills/agent-memory/SKILL.md"),
            shown=".claude/skills/agent-memory/SKILL.md",
            look=skill.look,
            apply=skill.apply,
        ),
        JournalPart(
            name="codex-agents",
            client="codex",
            key="agentsGuidance",
            label="AGENTS guidance",
            subject="The section about the journal in AGENTS.md",
            purpose="A section in AGENTS.md describes the journal to Codex.",
            scope="project",
            path=os.path.join(root, "AGENTS.md"),
            shown="AGENTS.md",
            look=guidance.look,
            apply=guidance.apply,
        ),
        JournalPart(
            name="codex-global-mcp",
            client="codex",
            key="globalMcpConfig",
            label="global MCP config",
            subject="The journal's server in your configuration of Codex",
            purpose="Codex starts `agent-memory mcp`, in all your projects.",
            scope="user",
            path=config,
            shown=config,
            look=_look_at_table,
            apply=_with_table,
        ),
    )


def _codex_config(cwd: str, env: Mapping[str, str]) -> str:
    """The configuration that Codex reads; empty where there is no home to look in."""
    if named := env.get(CONFIG_VARIABLE):
        return os.path.normpath(os.path.join(cwd, named))
    folder = env.get("CODEX_HOME") or (os.path.join(env["HOME"], ".codex") if env.get("HOME") else "")
    return os.path.join(cwd, folder, "config.toml") if folder else ""


# -- the server -------------------------------------------------------------------------------


def _starts_server(found: Any) -> bool:
    """Whether an entry leads to a server of this name: ours, the original's, or one that listens somewhere."""
    if not isinstance(found, dict):
        return False
    command, more = found.get("command"), found.get("args", [])
    if command is None:
        return isinstance(found.get("url"), str)
    words = (command, *more) if isinstance(more, list) else ()
    if not words or not all(isinstance(word, str) for word in words):
        return False
    program = words[0].replace("\\", "/").rpartition("/")[2]
    return words == ORIGINAL_SERVER or (program, *words[1:2]) == SERVER


def _look_at_server(found: Any) -> Seen:
    return Seen("missing" if found is MISSING else "present" if _starts_server(found) else "changed")


def _server_fields() -> dict[str, Any]:
    program, *arguments = SERVER
    return {"command": program, "args": arguments}


def _look_at_entry(data: bytes | None) -> Seen:
    return _look_at_server(find_member(read_document(data), _ENTRY))


def _with_entry(data: bytes | None, _force: bool) -> bytes:
    text, fields = text_of(data), _server_fields()
    if not isinstance(find_member(read_document(data), _ENTRY), dict):
        return set_member(text, _ENTRY, fields).encode()
    # What else the user has in it (`env`, above all) stays.
    for name, value in fields.items():
        text = set_member(text, (*_ENTRY, name), value)
    return text.encode()


def _look_at_table(data: bytes | None) -> Seen:
    return _look_at_server(find_member(read_toml(text_of(data)), _TABLE))


def _with_table(data: bytes | None, _force: bool) -> bytes:
    text = text_of(data)
    is_there = find_member(read_toml(text), _TABLE) is not MISSING
    if is_there or any(line in text for line in _TABLE_MARKERS):
        return set_table(text, _TABLE, _server_fields()).encode()
    # Between these lines the original finds the table, and takes nothing else for a part of it.
    start, end = _TABLE_MARKERS
    program, *arguments = SERVER
    words = ", ".join(f'"{word}"' for word in arguments)
    lines = [start, f"[{'.'.join(_TABLE)}]", f'command = "{program}"', f"args = [{words}]", end]
    newline = newline_of(data or b"").decode()
    gap = "" if not text.removeprefix(_BOM) else newline if text.endswith("\n") else newline * 2
    result = text + gap + newline.join(lines) + newline
    read_toml(result)
    return result.encode()


# -- hooks ------------------------------------------------------------------------------------


def _hook_commands(data: bytes | None, event: str) -> list[str]:
    """Every command that runs at an event."""
    hooks = find_member(read_document(data), ("hooks",))
    if hooks is MISSING:
        return []
    if not isinstance(hooks, dict):
        raise ValueError("`hooks` is not an object")
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise ValueError(f"`hooks.{event}` is not a list")
    inner = [group.get("hooks") for group in groups if isinstance(group, dict)]
    found = [hook for hooks in inner if isinstance(hooks, list) for hook in hooks if isinstance(hook, dict)]
    return [hook["command"] for hook in found if isinstance(hook.get("command"), str)]


def _missing_hooks(data: bytes | None) -> dict[str, str]:
    return {event: command for event, command in HOOKS.items() if not _runs(data, event, command.rpartition(" ")[2])}


def _runs(data: bytes | None, event: str, verb: str) -> bool:
    pattern = rf"{_HOOK}\s+{verb}(?![\w-])"
    return any(re.search(pattern, command) for command in _hook_commands(data, event))


def _look_at_hooks(data: bytes | None) -> Seen:
    if not _missing_hooks(data):
        return Seen("present")
    # One of the two, or one that was changed.
    is_begun = any(re.search(_HOOK, command) for event in HOOKS for command in _hook_commands(data, event))
    return Seen("changed" if is_begun else "missing")


def _with_hooks(data: bytes | None, _force: bool) -> bytes:
    text = text_of(data)
    for event, command in _missing_hooks(data).items():
        text = append_item(text, ("hooks", event), {"hooks": [{"type": "command", "command": command}]})
    return text.encode()
