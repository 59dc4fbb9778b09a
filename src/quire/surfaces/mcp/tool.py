"""The type of a tool: name, description, arguments, result, and how it affects the memory.

One declaration serves the list that clients read, the check of what they send, and the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.records import Problem
from quire.verbs.verb import Arguments, Tool

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary
    from quire.project import Project

Told = Callable[[float, float | None, str], None]
"""Where a call says how far it is: done, of how much, and what it is at."""


def unheard(*_: object) -> None:
    """Nobody asked how far a call is."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call under way: the fence for what it recalls, where it says how far it is, whether it is still wanted."""

    fence: Boundary
    progress: Told = unheard
    wanted: Callable[[], None] = lambda: None
    """Raises where the client has withdrawn the call: asked before anything is written, and amid long work."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool found: fields for programs, a text for readers, and warnings."""

    fields: dict[str, Any]
    text: str
    """Already fenced."""
    warnings: Iterable[Problem] = ()
    failed: bool = False
    """Whether the call did not do what it was asked, though it has something to tell (some of many refs unknown)."""


class ServedTool(Tool, frozen=True, kw_only=True):
    """A tool as the server has it. `run` takes the project, the arguments and the call."""

    name: str
    takes: type[Arguments]
    run: Callable[[Project, Arguments, Call], Given]
    left_out: tuple[str, ...] = ()
    """Fields of `takes` that only the command line has, or that every call has."""
    writes: bool = False
