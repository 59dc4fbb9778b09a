"""What wiring to the journal is made of: components of files, what is seen of them, what was done to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from quire.model.records import Problem

CLIENTS = ("claude", "codex")
ALL = "all"
TARGETS = (*CLIENTS, ALL)

Scope = Literal["project", "user"]
State = Literal["present", "missing", "managed_mismatch", "unreadable"]
Action = Literal["CREATE", "UPDATE", "UNCHANGED", "KEPT", "SKIPPED", "UNREADABLE", "FAILED"]

FAULTS: tuple[Action, ...] = ("UNREADABLE", "FAILED")
"""What a person has to look at: the command ends with 1."""
WRITES: tuple[Action, ...] = ("CREATE", "UPDATE")


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in one file. The functions are pure; ValueError where a file cannot be understood."""

    name: str
    client: str
    key: str
    """Its name in the report, among those of its client."""
    label: str
    subject: str
    """What a sentence calls it."""
    purpose: str
    """What writing it is for."""
    scope: Scope
    path: str
    """Where it is; empty where nobody can tell."""
    shown: str
    is_whole: bool = False
    """Whether the whole file is ours: then a person's change in it goes only when that is asked for."""
    look: Callable[[bytes | None], State]
    apply: Callable[[bytes | None], bytes]


class ComponentSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A component as it is now."""

    component: str
    client: str
    key: str
    label: str
    status: State
    path: str
    scope: Scope
    note: str

    @property
    def name(self) -> str:
        return f"{self.client}.{self.key}"


class JournalIntegration(msgspec.Struct, frozen=True, kw_only=True):
    """How both clients are wired; health, warnings and advice are of the one that was asked about, or of both."""

    target: str
    parts: tuple[ComponentSeen, ...]
    advice: str

    @property
    def asked(self) -> tuple[ComponentSeen, ...]:
        return tuple(part for part in self.parts if self.target in (ALL, part.client))

    @property
    def healthy(self) -> bool:
        return all(part.status == "present" for part in self.asked)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(f"{part.name}: {part.note}" for part in self.asked if part.status not in ("present", "missing"))

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.asked if part.status == "missing")

    @property
    def health(self) -> dict[str, str | bool]:
        """In a word for each client: whether it has all that there is to write."""
        found: dict[str, str | bool] = {}
        for client in CLIENTS:
            is_whole = all(part.status == "present" for part in self.parts if part.client == client)
            found[client] = "healthy" if is_whole else "attention"
        return {**found, "healthy": self.healthy}

    @property
    def damaged(self) -> tuple[ComponentSeen, ...]:
        """What was wired once and is not as it should be. A client that nobody wired is no fault."""
        begun = {part.client for part in self.parts if part.scope == "project" and part.status in _BEGUN}
        return tuple(part for part in self.parts if part.client in begun and part.status not in ("present", "missing"))


_BEGUN = ("present", "managed_mismatch")


class ComponentDone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one component, or would become of it."""

    component: str
    client: str
    scope: Scope
    action: Action
    path: str
    note: str
    reason: str = ""
    hint: str = ""


class JournalIntegrated(msgspec.Struct, frozen=True, kw_only=True):
    """What wiring did, or would do."""

    target: str
    repair: bool
    dry_run: bool
    files: tuple[ComponentDone, ...]
    config: Literal["there", "missing", "made"] = "there"
    """Whether the journal had settings of its own, and whether the defaults were written."""
    advice: str = ""
    warnings: tuple[Problem, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not any(item.action in FAULTS for item in self.files)

    def writes(self, scope: Scope) -> tuple[ComponentDone, ...]:
        return tuple(item for item in self.files if item.scope == scope and item.action in WRITES)
