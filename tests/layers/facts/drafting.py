"""A file of facts, and changes planned on it and written to it the way a project does."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from making import data, resolved

from quire.files.world import World
from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.lines import read_lines
from quire.layers.facts.resolve import Resolved
from quire.layers.facts.source import FactSource
from quire.layers.facts.store import commit
from quire.layers.facts.types import Fact
from quire.verbs.facts.fact_lookup import KnownFacts

NOW = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
AT = "2026-03-02T11:19:00.000Z"


class Store:
    """One file of facts in a folder of its own."""

    def __init__(self, root: Path, *lines: dict[str, Any] | str | bytes) -> None:
        self.root = str(root)
        self.path = root / ".memory" / "facts.jsonl"
        self.path.parent.mkdir(parents=True)
        self.tokens = 0
        if lines:
            self.path.write_bytes(data(*lines))
        self.world = World(
            cwd=self.root, env={}, now=lambda: NOW, token=self.token, sleep=lambda _seconds: None, pid=os.getpid()
        )

    def token(self) -> str:
        self.tokens += 1
        return f"{self.tokens:016x}"

    @property
    def data(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def draft(self, now: datetime = NOW) -> FactsDraft:
        index = Index(open_in_memory())
        index.bring_up([FactSource(self.root)], None)
        return FactsDraft(KnownFacts(index), now)

    def write(self, draft: FactsDraft) -> Resolved:
        """Write it; what the file says then."""
        commit(self.root, self.world, draft)
        return resolved(self.data)

    def lines(self) -> list[bytes]:
        return self.data.split(b"\n")

    def fact(self, name: str) -> Fact:
        """The fact as the file has it."""
        found = resolved(self.data).find(name)
        assert found is not None, name
        return found

    def stored(self) -> list[Fact]:
        """Every line about a fact, as it stands."""
        return read_lines(self.data).facts
