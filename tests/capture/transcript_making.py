"""Transcripts as the agents write them, for the tests that read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.read_session import SessionReader, read
from quire.capture.transcripts.types import SessionFile, Turn

PROJECT = "/home/dev/orders"


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """A file with one record per line; bytes stand as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def write_document(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def session_at(path: Path, source_type: str = "claude-local") -> SessionFile:
    return SessionFile(source_type=source_type, external_id=path.stem, path=str(path))


def found(source_type: str, path: Path, root: str = "") -> list[SessionFile]:
    return list(discover(source_type, str(path), root=root))


def names(source_type: str, path: Path, root: str = "") -> list[str]:
    return [session.external_id for session in found(source_type, path, root)]


def read_all(session: SessionFile, offset: int = 0, **places: str) -> tuple[list[Turn], SessionReader]:
    reading = read(session, offset, **places)
    return list(reading), reading


def turns_of(path: Path, source_type: str = "claude-local", **places: str) -> list[Turn]:
    return read_all(session_at(path, source_type), **places)[0]


def said(turns: Iterable[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]


# -- Claude Code ------------------------------------------------------------------------------


def claude(kind: str, said: Any, number: int = 0, /, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    return {
        "parentUuid": None if number == 0 else f"00000000-0000-4000-8000-{number - 1:012}",
        "isSidechain": False,
        "userType": "external",
        "cwd": PROJECT,
        "sessionId": "2e2cb7b6-10da-4411-8cd2-4aa7b569dbd9",
        "version": "2.1.240",
        "gitBranch": "main",
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "timestamp": f"2026-03-01T10:00:{number:02}.000Z",
        "message": {"role": kind, "content": said},
        **more,
    }


def uses(name: str, tool: str, number: int = 0, **given: Any) -> dict[str, Any]:
    return claude("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}], number)


def answers(name: str, text: Any, number: int = 0, *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": failed}
    return claude("user", [block], number, toolUseResult={"stdout": text})


CLAUDE_TALK = [
    {"type": "summary", "summary": "Caching the order list", "leafUuid": "f0f5ab58"},
    {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {"trackedFileBackups": {}}},
    claude("user", "The order list is slow. Can we cache it?", 1),
    claude("assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "x"}], 2),
    claude("assistant", [{"type": "text", "text": "Decision: cache it for 30 seconds."}], 3),
    uses("toolu_1", "Read", 4, file_path=f"{PROJECT}/src/cache.ts"),
    answers("toolu_1", "export {};\n", 5),
    uses("toolu_2", "Bash", 6, command="npm test", description="Run the tests"),
    answers("toolu_2", [{"type": "text", "text": "1 failed"}], 7, failed=True),
    claude("user", "Sub task", 8, isSidechain=True, agentId="a1"),
    claude("assistant", [{"type": "text", "text": "Done below."}], 9, isSidechain=True, agentId="a1"),
    claude("system", "", 10, subtype="compact_boundary", content="Conversation compacted"),
    claude("user", "This session is being continued from a previous conversation.", 11, isCompactSummary=True),
    claude("user", "And now the runbook.", 12),
]

# -- Codex ------------------------------------------------------------------------------------


def codex(kind: str, payload: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": f"2026-03-01T11:00:{number:02}.000Z", "type": kind, "payload": payload}


def codex_said(role: str, text: str, number: int = 0) -> dict[str, Any]:
    block = "output_text" if role == "assistant" else "input_text"
    return codex("response_item", {"type": "message", "role": role, "content": [{"type": block, "text": text}]}, number)


CODEX_META = {
    "id": "0199a3c4-0000-7000-8000-00000000000a",
    "timestamp": "2026-03-01T11:00:00.000Z",
    "cwd": PROJECT,
    "originator": "codex_cli_rs",
    "cli_version": "0.120.0",
    "source": "cli",
    "git": {"commit_hash": "0f0f0f0", "branch": "main"},
}
CODEX_TALK = [
    codex("session_meta", CODEX_META),
    codex_said("developer", "<permissions instructions>Ask first.</permissions instructions>", 1),
    codex_said("user", f"<environment_context>\n  <cwd>{PROJECT}</cwd>\n</environment_context>", 1),
    codex("turn_context", {"cwd": PROJECT, "model": "gpt-5"}, 2),
    codex("event_msg", {"type": "user_message", "message": "Make the worker idempotent", "kind": "plain"}, 3),
    codex_said("user", "Make the worker idempotent", 3),
    codex("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "zzz"}, 4),
    codex(
        "response_item",
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", "rg idempot src"], "workdir": PROJECT}),
            "call_id": "call_1",
        },
        5,
    ),
    codex(
        "response_item",
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": json.dumps({"output": "nothing found", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}),
        },
        6,
    ),
    codex(
        "response_item",
        {
            "type": "custom_tool_call",
            "name": "apply_patch",
            "input": "*** Begin Patch\n*** Update File: src/queue/worker.ts\n@@\n-a\n+b\n*** End Patch",
            "call_id": "call_2",
        },
        7,
    ),
    codex("response_item", {"type": "custom_tool_call_output", "call_id": "call_2", "output": "Success."}, 8),
    codex_said("assistant", "Decision: the order id is the key.", 9),
    codex("event_msg", {"type": "agent_message", "message": "Decision: the order id is the key."}, 9),
    codex("event_msg", {"type": "token_count", "info": {}}, 9),
    codex("compacted", {"message": "The worker is idempotent now."}, 10),
    codex("event_msg", {"type": "user_message", "message": "Make the worker idempotent"}, 11),
    codex_said("user", "Make the worker idempotent", 11),
]
