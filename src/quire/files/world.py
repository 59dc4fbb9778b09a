"""The outside world: working directory, clock, randomness, environment; injected, so that tests are exact."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec

from quire.model.errors import UsageError
from quire.model.times import instant

_AGENTS = (
    "AGENT",
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
)
"""Variables that agents set for the commands that they run."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a package may know of its surroundings; tests pass their own."""

    cwd: str
    env: Mapping[str, str]
    now: Callable[[], datetime]
    token: Callable[[], str]
    sleep: Callable[[float], None]
    pid: int

    @property
    def home(self) -> str:
        """The user's home folder, or an empty string where there is none."""
        return self.env.get("HOME", "")

    @property
    def memory_home(self) -> str:
        """`$MEMORY_HOME`, or `~/.memory`."""
        named = self.env.get("MEMORY_HOME", "")
        if named:
            return os.path.join(self.cwd, named)
        return os.path.join(self.home, ".memory") if self.home else ""

    @property
    def is_agents(self) -> bool:
        """Whether an agent says that it runs this command."""
        return any(self.env.get(name) for name in _AGENTS)

    @property
    def lock_seconds(self) -> float:
        """How long to wait for another writer."""
        try:
            return min(max(0.0, float(self.env.get("MEMORY_LOCK_TIMEOUT", "30"))), 3600.0)
        except ValueError:
            return 30.0


def real_world(cwd: str | None = None) -> World:
    """This process's world. `MEMORY_NOW` pins the clock, for examples whose output must repeat."""
    env = dict(os.environ)

    def now() -> datetime:
        pinned = env.get("MEMORY_NOW")
        if not pinned:
            return datetime.now(UTC)
        moment = instant(pinned)
        if moment is None:
            raise UsageError(
                f"MEMORY_NOW is `{pinned[:40]}`, which is not a date.",
                hint="Unset it, or give a date-time such as 2026-03-02T11:19:00+00:00.",
            )
        return moment

    return World(
        cwd=os.path.abspath(cwd or os.getcwd()),
        env=env,
        now=now,
        token=lambda: os.urandom(8).hex(),
        sleep=time.sleep,
        pid=os.getpid(),
    )
