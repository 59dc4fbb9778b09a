"""Read the hook payload of any client into one event."""

from __future__ import annotations

import os

from quire.clients.hooks.dialects import dialect_of
from quire.clients.hooks.payload import Fields, decode, flag, inner, line, path, paths_of, texts, words
from quire.clients.hooks.types import EVENTS, Dialect, HookEvent

# Lines of a file stand behind a sign or a blank, so a line that begins with stars is always a mark.
_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")

_FILES_MOST = 200
# Clients differ in how they write a name and not in what they mean by it.
_EVENT = ("hook_event_name", "hookEventName", "event")
_SESSION = ("session_id", "sessionId", "sessionID", "conversation_id")
_CWD = ("cwd", "directory", "workspace_roots")
_TRANSCRIPT = ("transcript_path", "transcriptPath")
_PROMPT = ("prompt", "initialPrompt", "initial_prompt")
_TOOL = ("tool_name", "toolName", "tool")
_ARGUMENTS = ("tool_input", "toolArgs", "args")
_REASON = ("reason", "trigger", "stopReason", "stop_reason", "status")
_CONTINUED = "stop_hook_active"
_AGENT = ("agent_id", "agentId", "subagent_id")
_AGENT_KIND = ("agent_type", "agentName", "agent_name", "subagent_type")
_COPILOT_ALONE = "timestamp"
"""Copilot runs the hooks in Claude's settings, too, and speaks as Claude does there; this, Claude never says."""


def read_event(client: str, event: str, payload: bytes) -> HookEvent:
    """What a client says in a payload; `event` is our name or the client's, and the payload's own name comes first.

    Raises ValueError with a sentence where nothing can be made of it.
    """
    dialect = dialect_of(client)
    if dialect.refusal:
        raise ValueError(dialect.refusal)
    fields = decode(payload)
    if client == "claude" and _COPILOT_ALONE in fields:
        client, dialect = "copilot", dialect_of("copilot")
    source = line(fields, "source")
    native = _native(dialect, event, line(fields, *_EVENT), source)
    ours = dialect.natives[native]
    if ours == "session-start" and source == "compact":
        ours = "after-compaction"
    begins = ours in ("session-start", "after-compaction")
    cwd = path(fields, *_CWD)
    session, agent = _speaker(dialect, native, fields)
    tool = line(fields, *_TOOL) if ours == "before-edit" else ""
    return HookEvent(
        client=client,
        event=ours,
        native=native,
        session=session,
        cwd=cwd,
        transcript=path(fields, *_TRANSCRIPT),
        source=source if begins else "",
        prompt=_written(dialect, words(fields, *_PROMPT)),
        tool=tool,
        files=_files(dialect, tool, fields, cwd),
        reason="" if ours in ("prompt", "before-edit", "session-start") else line(fields, *_REASON),
        summary=words(fields, "compact_summary", "summary") if ours == "after-compaction" else "",
        agent=agent,
        continued=flag(fields, _CONTINUED),
    )


def _native(dialect: Dialect, asked: str, named: str, source: str) -> str:
    """The client's name of what happened."""
    if named:
        if found := _find(dialect, named):
            return found
        raise ValueError(f"{dialect.name} named its event {named[:60]!r}, which Quire does not listen to.")
    if asked == "after-compaction" and source == "compact":
        asked = "session-start"
    if found := _find(dialect, asked):
        return found
    if asked in EVENTS:
        raise ValueError(f"{dialect.name} has no event for {asked}.")
    raise ValueError(f"{asked[:60]!r} is not an event of {dialect.name}, and none of: {', '.join(EVENTS)}.")


def _find(dialect: Dialect, name: str) -> str:
    """The client's event that is meant by a name, ours or its own, however it is spelled."""
    if name in dialect.natives:
        return name
    folded = name.casefold()
    return next((native for native, ours in dialect.natives.items() if folded in (ours, native.casefold())), "")


def _written(dialect: Dialect, prompt: str) -> str:
    """What the person wrote of a prompt: what we said ourselves is no question to us."""
    start, end = f"<{dialect.echo}>", f"</{dialect.echo}>"
    if dialect.echo and prompt.startswith(start) and end in prompt:
        return prompt.partition(end)[2].lstrip()
    return prompt


def _speaker(dialect: Dialect, native: str, fields: Fields) -> tuple[str, str]:
    """The session, and the subagent that speaks in it."""
    session, agent = line(fields, *_SESSION), line(fields, *_AGENT)
    if parent := line(fields, "parentID"):
        # There a subagent is a session of its own that knows which one started it.
        return parent, agent or session
    if not agent and native in dialect.subagents:
        agent = line(fields, *_AGENT_KIND) or "subagent"
    return session, agent


def _files(dialect: Dialect, tool: str, fields: Fields, cwd: str) -> tuple[str, ...]:
    """What the tool is about to write, each once."""
    if tool not in dialect.editors:
        return ()
    name = next((name for name in _ARGUMENTS if name in fields), "")
    arguments = inner(fields, name)
    if line(arguments, "command") == "view":
        # An editor that also shows files.
        return ()
    named = [each for key in dialect.paths for each in texts(arguments, key)]
    patches = [each for key in dialect.patches for each in texts(arguments, key)] if arguments else texts(fields, name)
    if patches:
        named += [each for patch in patches for each in patched_files(patch)]
    found = dict.fromkeys(os.path.join(cwd, each) for each in paths_of(named))
    return tuple(found)[:_FILES_MOST]


def patched_files(patch: str) -> list[str]:
    """The files that a patch changes, adds, deletes or moves, in its order."""
    found = []
    for row in patch.split("\n"):
        for mark in _MARKS:
            if row.startswith(mark):
                found.append(row[len(mark) :].strip())
    return found
