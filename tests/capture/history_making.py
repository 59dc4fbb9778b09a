"""Repositories with a history that tests say commit by commit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from installed import Git as Program
from installed import empty_repository, make_environment
from quire.capture.history.findings import Wish
from quire.capture.history.propose import HistoryRead, read_history
from quire.files.git import Git
from quire.inbox.proposals import Proposal

NOW = "2026-03-02T11:19:00+00:00"
SETTINGS = "LIMIT = 10\nRETRIES_AT_MOST = 3\nBACKOFF_SECONDS = 1.5\nQUEUE_NAME = 'jobs'\n"
REASON = (
    "Use Postgres for the queue\n\n"
    "We chose Postgres instead of Redis, because the backups already cover it.\n"
    "Redis would need a second place to restore from.\n"
)


class History:
    """One repository, and what is read of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        empty_repository(self.root)
        self.env = make_environment(folder)
        self.git = Program(self.root, self.env)
        self._day = 0

    def commit(
        self, message: str | bytes, files: Mapping[str, str | bytes | None] | None = None, *, by: str = ""
    ) -> str:
        """A commit of these files, a day after the one before; without files it changes a log."""
        self._day += 1
        for name, text in (files or {"log.txt": f"{self._day}\n"}).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        at = f"2025-{1 + self._day // 28:02d}-{1 + self._day % 28:02d}T10:00:00+00:00"
        env = {**self.env, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        program = Program(self.root, env)
        program("add", "--all")
        author = [f"--author={by}"] if by else []
        said = message if isinstance(message, bytes) else message.encode()
        program("commit", "--quiet", "--allow-empty", *author, "--file=-", "--cleanup=verbatim", stdin=said)
        return program("rev-parse", "HEAD").strip()

    def read(self, *known: str, **wish: object) -> HistoryRead:
        return read_history(Git(str(self.root), self.env), Wish(**wish), NOW, known)  # type: ignore[arg-type]

    def proposals(self, **wish: object) -> list[Proposal]:
        return list(self.read(**wish).proposals)

    def titles(self, **wish: object) -> list[str]:
        return [str(item.fields.get("title", item.text)) for item in self.proposals(**wish)]
