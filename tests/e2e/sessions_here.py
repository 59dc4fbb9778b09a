"""A session of Claude Code as it lies on the disk, made of turns."""

from __future__ import annotations

import json
import re
from pathlib import Path

SESSION = "5f0c2a7e-9b1d-4c3e-8a6f-1d2e3f4a5b6c"


class Recording:
    """A session in the home folder, written turn by turn."""

    def __init__(self, home: Path, root: Path, session: str = SESSION) -> None:
        folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root))
        folder.mkdir(parents=True, exist_ok=True)
        self.session, self.root = session, root
        self.path = folder / f"{session}.jsonl"
        self._minute = 0

    def user(self, text: str) -> Recording:
        return self._add("user", {"role": "user", "content": text})

    def agent(self, text: str, *, edits: str = "") -> Recording:
        parts: list[dict[str, object]] = [{"type": "text", "text": text}]
        if edits:
            tool = {"file_path": str(self.root / edits), "old_string": "1", "new_string": "2"}
            parts.append({"type": "tool_use", "id": f"t{self._minute}", "name": "Edit", "input": tool})
        self._add("assistant", {"role": "assistant", "content": parts})
        if edits:
            result = {"type": "tool_result", "tool_use_id": f"t{self._minute - 1}", "content": "The file was updated."}
            self._add("user", {"role": "user", "content": [result]})
        return self

    def _add(self, kind: str, message: dict[str, object]) -> Recording:
        line = {
            "type": kind,
            "uuid": f"{self.session[:8]}-{self._minute}",
            "sessionId": self.session,
            "cwd": str(self.root),
            "timestamp": f"2026-03-02T10:{self._minute:02}:00.000Z",
            "message": message,
        }
        self._minute += 1
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return self

    def payload(self, event: str, **fields: object) -> bytes:
        """What the client says at an event of this session."""
        said = {
            "session_id": self.session,
            "transcript_path": str(self.path),
            "cwd": str(self.root),
            "hook_event_name": event,
            **fields,
        }
        return json.dumps(said).encode()
