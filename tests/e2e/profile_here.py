"""A repository with a profile, and the command run in it: what it holds, byte for byte, and what the disk holds."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commanding import Here, Said

__all__ = [
    "CATEGORIES",
    "EVERY",
    "NOW",
    "READING",
    "RELATIONS",
    "RESULT",
    "SAMPLE",
    "SOURCES",
    "STATUSES",
    "THEN",
    "Profile",
    "document_of",
    "entry_of",
    "pretty",
    "profile_in",
    "snapshot",
]

NOW = "2026-03-02T11:19:00Z"
"""The moment at which the tests' clock stands, as documents write it."""
THEN = "2026-02-09T14:00:00Z"
CATEGORIES = ("user", "assistant", "project", "relationships", "tools", "learnings")
STATUSES = ("active", "archived", "superseded")
RELATIONS = ("supersedes", "elaborates", "contradicts", "related-to", "depends-on")
SOURCES = ("session", "user-stated", "inferred", "codebase")
RESULT = {"ref", "id", "key", "kind", "title", "score", "verdict"}
"""What every result of a question says of itself."""


def entry_of(value: str, **fields: Any) -> dict[str, Any]:
    """An entry as a document holds it, every field in its place."""
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
    memories: dict[str, dict[str, Any]] = {name: {} for name in CATEGORIES}
    return {"schema_version": "1.2", "session_count": session_count, "memories": {**memories, **categories}}


def pretty(document: Any) -> bytes:
    """A document as it is written: two spaces, literal letters, one newline at the end."""
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


SAMPLE = document_of(
    12,
    user={
        "username": entry_of(
            "@tess",
            tags=["identity", "personal"],
            importance=8,
            source={"type": "user-stated", "detail": None},
            links=[{"target": "user.email", "relation": "related-to"}],
        ),
        "email": entry_of("tess@example.com", tags=["identity", "personal"], importance=7),
        "timezone": entry_of("Europe/Madrid", source={"type": "user-stated", "detail": "said at the start"}),
    },
    assistant={
        "name": entry_of("Wren", tags=["identity"], confidence=0.9),
        "response_style": entry_of("Concise and direct.", tags=["communication"], confidence=0.9, importance=7),
    },
    project={"repo_name": entry_of("harbor books berths in a marina", source={"type": "codebase", "detail": None})},
    relationships={
        "collaboration_style": entry_of(
            "Pragmatic; wants small steps.", tags=["collaboration", "user-facing"], confidence=0.85, importance=6
        )
    },
    tools={
        "clipboard": entry_of("pbcopy and pbpaste", tags=["cli", "user-preference"], importance=4),
        "package_manager": entry_of(
            "uv, never pip",
            tags=["python", "user-preference"],
            importance=8,
            links=[{"target": "tools.old_manager", "relation": "supersedes"}],
        ),
        "old_manager": entry_of("pip with requirement files", tags=["python"], status="archived"),
    },
    learnings={
        "flaky_ci": entry_of(
            "The end-to-end job needs two cores.",
            tags=["ci", "gotcha"],
            confidence=0.6,
            access_count=2,
            last_accessed="2026-02-10T11:00:00Z",
            links=[{"target": "project.repo_name", "relation": "elaborates"}],
        )
    },
)
"""A document with something in every category, a link within one, one across, and one entry put away."""


class Profile(Here):
    """A repository with a profile, and the command run in it."""

    @property
    def file(self) -> Path:
        return self.root / ".ai-state/memory.json"

    @property
    def local(self) -> Path:
        return self.root / ".ai-state/local"

    @property
    def twin(self) -> Path:
        return self.local / "memory.json"

    @property
    def home(self) -> Path:
        """The private document that all projects share."""
        return Path(self.env["MEMORY_HOME"]) / "profile/memory.json"

    @property
    def data(self) -> Any:
        """The document as it stands on the disk."""
        return json.loads(self.file.read_bytes())

    def stored(self, name: str, file: Path | None = None) -> Any:
        """An entry as it stands on the disk, every field."""
        category, _, key = name.partition(".")
        return json.loads((file or self.file).read_bytes())["memories"][category][key]

    def hold(self, document: Any) -> None:
        """Make the document anew."""
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(document if isinstance(document, bytes) else pretty(document))

    def profile(self, *arguments: str, **options: Any) -> Said:
        return self("profile", *arguments, **options)

    def remember(self, name: str, *arguments: str, **options: Any) -> Any:
        """Remember something; it must work. What the command says of it."""
        category, _, key = name.partition(".")
        run = self.profile("remember", category, key, *arguments, "--json", **options)
        assert run.code == 0, run.out
        return run.data

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        line = ["git", *arguments]
        done = subprocess.run(line, cwd=cwd or self.root, env=self.env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def commit(self, message: str = "work") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)


def profile_in(root: Path, env: Mapping[str, str], document: Any = None, *, git: bool = True) -> Profile:
    """A new folder with a profile, under git unless told otherwise; the clock stands still."""
    root.mkdir(parents=True, exist_ok=True)
    found = Profile(root, {"MEMORY_NOW": NOW, **env})
    if git:
        found.git("init", "--quiet")
    if document is not None:
        found.hold(document)
    return found


EVERY: dict[str, list[str]] = {
    "": [],
    "session-start": [],
    "remember": ["tools", "editor", "vim"],
    "forget": ["user", "timezone"],
    "restore": [],
    "link": ["tools.clipboard", "tools.package_manager", "related-to"],
    "unlink": ["tools.package_manager", "tools.old_manager"],
    "recall": ["tools"],
    "search": ["package manager"],
    "connections": ["tools", "package_manager"],
    "about-me": [],
    "about-us": [],
    "index": [],
    "context": [],
    "status": [],
    "reflect": [],
    "export": [],
    "private": [],
}
"""Every verb with arguments that make sense for the sample."""
READING = (
    "",
    "restore",
    "recall",
    "search",
    "connections",
    "about-me",
    "about-us",
    "index",
    "context",
    "status",
    "reflect",
    "export",
    "private",
)
"""Those that change no entry."""


def snapshot(*tops: Path, without: tuple[str, ...] = ()) -> dict[str, tuple[int, int, bytes]]:
    """Everything below these folders: mode, time of the last change, bytes. `without` are folders left out."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for top in tops:
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if os.path.relpath(os.path.join(folder, name), top) not in without]
            for name in (".", *files, *folders):
                path = Path(folder, name)
                state = path.lstat()
                data = b""
                if stat.S_ISREG(state.st_mode):
                    data = path.read_bytes()
                elif stat.S_ISLNK(state.st_mode):
                    data = os.fsencode(os.readlink(path))
                found[str(path)] = (state.st_mode, state.st_mtime_ns, data)
    return found
