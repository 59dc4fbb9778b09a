"""A repository with a profile, and the tools of the profile called in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from checking import check_result

from quire.files.world import World
from quire.surfaces.mcp.catalogue import chosen_tools
from quire.surfaces.mcp.tool_calls import ToolCalls

NOW = "2026-03-02T11:19:00Z"
"""The moment at which the tests' clock stands, as documents write it."""
THEN = "2026-02-09T14:00:00Z"
CATEGORIES = ("user", "assistant", "project", "relationships", "tools", "learnings")
PRIVATE = ".ai-state/local/memory.json"

__all__ = ["CATEGORIES", "NOW", "PRIVATE", "THEN", "Profile", "document_of", "entry_of", "fenced"]


def entry_of(value: str, **fields: Any) -> dict[str, Any]:
    """An entry as a document holds it."""
    return {
        "value": value,
        "created_at": THEN,
        "updated_at": THEN,
        "tags": [],
        "confidence": None,
        "importance": 5,
        "source": {"type": "session", "detail": None},
        "access_count": 0,
        "last_accessed": None,
        "status": "active",
        "links": [],
        **fields,
    }


def document_of(session_count: int = 0, **categories: dict[str, Any]) -> dict[str, Any]:
    memories: dict[str, Any] = {name: {} for name in CATEGORIES}
    return {"schema_version": "1.2", "session_count": session_count, "memories": {**memories, **categories}}


def fenced(result: dict[str, Any]) -> tuple[str, str]:
    """What stands between the marks of a result's text, and what stands outside of them."""
    boundary = result["structuredContent"]["meta"]["boundary"]
    inside, outside, is_open = [], [], False
    for line in result["content"][0]["text"].split("\n"):
        if line.startswith(f"<{boundary}"):
            is_open = True
        elif line == f"</{boundary}>":
            is_open = False
        else:
            (inside if is_open else outside).append(line)
    assert not is_open
    return "\n".join(inside), "\n".join(outside)


class Profile:
    """The tools, called in this process; every result is held against what its tool promises."""

    def __init__(self, root: Path, world: World) -> None:
        self.root = root
        self.tools = chosen_tools(["profile"])
        self.tool_calls = ToolCalls(self.tools, world, str(root))

    def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        result = self.tool_calls.call(name, arguments).result()
        check_result(self.tools[name], arguments, result)
        sent: dict[str, Any] = json.loads(json.dumps(result))
        return sent

    def data(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        result = self(name, **arguments)
        assert result["isError"] is False, result["content"][0]["text"]
        return result["structuredContent"]["data"]

    def text(self, name: str, /, **arguments: Any) -> str:
        return self(name, **arguments)["content"][0]["text"]

    def error(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        result = self(name, **arguments)
        assert result["isError"] is True, result["content"][0]["text"]
        return result["structuredContent"]["error"]

    @property
    def file(self) -> Path:
        return self.root / ".ai-state" / "memory.json"

    @property
    def document(self) -> Any:
        return json.loads(self.file.read_bytes())

    def write(self, document: Any, path: str = ".ai-state/memory.json") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def entry(self, category: str, key: str) -> Any:
        """An entry as it is stored."""
        return self.document["memories"][category][key]
