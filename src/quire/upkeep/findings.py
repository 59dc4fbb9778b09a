"""The type of a doctor's finding: one line, with what to do about it."""

from __future__ import annotations

from typing import Literal

import msgspec

Section = Literal["program", "machine", "project", "agents", "sessions", "server"]
State = Literal["ok", "note", "warning", "error"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    section: Section
    name: str
    state: State = "ok"
    message: str
    hint: str = ""
    fixable: bool = False
    """Whether `doctor --fix` can repair it without losing anything."""


def finding(
    section: Section, name: str, message: str, state: State = "ok", hint: str = "", *, fixable: bool = False
) -> Finding:
    """A finding, its parts in the order in which they are read."""
    return Finding(section=section, name=name, state=state, message=message, hint=hint, fixable=fixable)
