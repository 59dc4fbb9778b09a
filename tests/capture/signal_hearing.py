"""Sessions in a few words, for the tests of what they leave behind."""

from __future__ import annotations

from collections.abc import Iterable

from quire.capture.signals.extraction import SessionSignals, extract
from quire.capture.transcripts.types import Turn
from quire.layers.journal.types import Signals


def user(text: str) -> Turn:
    return Turn(role="user", text=text)


def agent(text: str) -> Turn:
    return Turn(role="assistant", text=text)


def summary(text: str) -> Turn:
    return Turn(role="system", text=text, is_summary=True)


def edits(*paths: str, tool: str = "Edit") -> Turn:
    return Turn(role="assistant", tool=tool, paths=paths)


def reads(*paths: str) -> Turn:
    return Turn(role="assistant", tool="Read", paths=paths)


def runs(command: str, output: str = "", *, failed: bool = False, tool: str = "Bash") -> list[Turn]:
    """A command and its answer."""
    return [
        Turn(role="assistant", tool=tool, text=command),
        Turn(role="tool", tool=tool, text=output, is_error=failed),
    ]


def by_helper(turn: Turn) -> Turn:
    return Turn(role=turn.role, text=turn.text, tool=turn.tool, paths=turn.paths, is_subagent=True)


def heard(*turns: Turn | Iterable[Turn], root: str = "", most: int = 12) -> SessionSignals:
    flat: list[Turn] = []
    for item in turns:
        flat += [item] if isinstance(item, Turn) else list(item)
    return extract(flat, root=root, most=most)


def signals(*turns: Turn | Iterable[Turn], root: str = "") -> Signals:
    return heard(*turns, root=root).signals
