"""Short ways to make documents of the profile, and a project that holds some, changed the way a project does it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quire.files.world import World
from quire.layers.profile.access import note_reading
from quire.layers.profile.document import ProfileDocument, parse_document
from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.places import ProfilePlaces, find_places
from quire.layers.profile.store import ProfileWritten, commit, open_draft

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
AT = "2026-03-02T11:19:00Z"
BEFORE = "2026-02-09T14:00:00Z"
SHARED, TWIN = ".ai-state/memory.json", ".ai-state/local/memory.json"
EMPTY = """{
  "schema_version": "1.2",
  "session_count": 0,
  "memories": {
    "user": {},
    "assistant": {},
    "project": {},
    "relationships": {},
    "tools": {},
    "learnings": {}
  }
}
"""


def entry(value: str = "A text.", /, **fields: Any) -> dict[str, Any]:
    """An entry with every field, in the order in which documents hold them."""
    return {
        "value": value,
        "created_at": BEFORE,
        "updated_at": BEFORE,
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


def link(target: str, relation: str = "related-to", **more: Any) -> dict[str, Any]:
    return {"target": target, "relation": relation, **more}


def document(version: str = "1.2", /, **memories: Any) -> dict[str, Any]:
    return {"schema_version": version, "session_count": 3, "memories": memories}


def written(value: Any) -> bytes:
    """A document as it must stand in the file; by the standard library, so that it is not ours that is the measure."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def parsed(value: Any) -> ProfileDocument:
    return parse_document(value if isinstance(value, bytes) else written(value), SHARED)


class Store:
    """A project with a profile in a folder of its own."""

    def __init__(self, root: Path, shared: Any = None, twin: Any = None, home: Any = None) -> None:
        self.root = root / "harbor"
        self.root.mkdir()
        self.home = root / "home" / "registry"
        self.tokens = 0
        env = {"HOME": str(root / "home"), "MEMORY_HOME": str(self.home)}
        self.world = World(
            cwd=str(self.root),
            env=env,
            now=lambda: NOW,
            token=self.token,
            sleep=lambda _seconds: None,
            pid=os.getpid(),
        )
        for path, value in ((self.shared, shared), (self.twin, twin), (self.at_home, home)):
            if value is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(value if isinstance(value, bytes) else written(value))
        if home is not None:
            (self.root / ".ai-state" / "local").mkdir(parents=True, exist_ok=True)
            (self.root / ".ai-state" / "local" / "private.json").write_text('{"version": 1, "place": "home"}')

    def token(self) -> str:
        self.tokens += 1
        return f"{self.tokens:016x}"

    @property
    def shared(self) -> Path:
        return self.root / SHARED

    @property
    def twin(self) -> Path:
        return self.root / TWIN

    @property
    def at_home(self) -> Path:
        return self.home / "profile" / "memory.json"

    @property
    def places(self) -> ProfilePlaces:
        return find_places(str(self.root), self.world.memory_home, self.world.home)

    def draft(self) -> ProfileDraft:
        return open_draft(self.places, self.world)[0]

    def write(self, draft: ProfileDraft) -> ProfileWritten:
        return commit(draft, self.world, "")

    def read(self, *names: str, at: str = AT) -> None:
        assert note_reading(str(self.root), names, at, self.token())

    def stored(self, path: Path | None = None) -> Any:
        """What a document says now; its form is checked on the way."""
        data = (path or self.shared).read_bytes()
        value = json.loads(data)
        assert data == written(value)
        return value

    def memories(self, path: Path | None = None) -> Any:
        return self.stored(path)["memories"]

    def names(self) -> list[str]:
        """Every file below the profile's folder."""
        top = self.root / ".ai-state"
        return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())
