"""Types of connecting a client: parts of files, their state, and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from quire.model.records import Problem

CLIENTS = ("claude", "codex", "cursor", "gemini", "opencode", "copilot", "cline")

FORGES = ("github", "gitlab", "pre-commit")
"""What reviews changes, and is set up in a project alone."""
TARGETS = (*CLIENTS, *FORGES)

Scope = Literal["project", "user"]
Form = Literal["jsonc", "toml", "text", "section"]
State = Literal["present", "missing", "changed", "unreadable"]
Status = Literal["created", "updated", "unchanged", "removed", "kept", "refused", "unreadable", "failed"]
Action = Literal["install", "repair", "remove"]
KeyPath = tuple[str, ...]
Made = frozenset[KeyPath]
"""The keys that a file has only since we wrote them."""

FAULTS: tuple[Status, ...] = ("refused", "unreadable", "failed")
"""What a person has to look at: the command ends with 1."""


class Commands(msgspec.Struct, frozen=True):
    """How the two programs are started: by their names in what is committed, by absolute paths in a home."""

    quire: tuple[str, ...] = ("quire",)
    server: tuple[str, ...] = ("memory-mcp",)


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where clients are looked for: the project, the user's home and the environment."""

    root: str
    home: str
    env: Mapping[str, str]
    source: str = ""
    """Where forges get Quire from, as `URL@COMMIT`; empty where the files that are there say it."""


class Seen(msgspec.Struct, frozen=True):
    """What a file holds of a part."""

    state: State
    ours: bool = False
    """Whether there is something that nobody but us wrote."""
    foreign: bool = False
    """Whether someone else's entry stands where ours would."""


class FilePart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a client needs in one file. Its functions are pure; ValueError where a file is not understood."""

    name: str
    client: str
    scope: Scope
    path: str
    shown: str
    apply: Callable[[bytes | None, bool], bytes]
    """The file with this part; someone else's entry is replaced only where the second argument says so."""
    look: Callable[[bytes | None], Seen]


class Part(FilePart, frozen=True, kw_only=True):
    """A part that can be taken back."""

    form: Form
    strip: Callable[[bytes, Made | None], bytes]
    """The file without what is ours; without knowledge of what we made, only what nobody else can have written."""
    keys: Callable[[bytes | None], Made]
    """Which of the places of this part the file has."""
    is_void: Callable[[bytes], bool]
    """Whether nothing that says anything is left in a file."""


class PartDone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one part of one client."""

    client: str
    part: str
    scope: Scope
    path: str
    status: Status
    reason: str = ""


class FileDone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file; in a dry run with the difference that it would make."""

    path: str
    scope: Scope
    status: Status
    clients: tuple[str, ...]
    reason: str = ""
    hint: str = ""
    diff: str = ""


class Integrated(msgspec.Struct, frozen=True, kw_only=True):
    """What wiring did, or would do."""

    action: Action
    scope: Scope
    dry_run: bool
    clients: tuple[str, ...]
    parts: tuple[PartDone, ...]
    files: tuple[FileDone, ...]
    warnings: tuple[Problem, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether everything was done that was asked for."""
        return not {*FAULTS} & {*(part.status for part in self.parts), *(file.status for file in self.files)}


class PartSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One part as it is now."""

    part: str
    scope: Scope
    path: str
    state: State
    reason: str = ""


class ClientStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One client: whether it seems to be here, and what of its wiring is."""

    client: str
    installed: bool
    """Whether the user seems to have it: a folder of its own in the home, or its program on the path."""
    in_project: bool
    """Whether the project has files of it."""
    wired: bool
    parts: tuple[PartSeen, ...]


class IntegrationStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Every client that was asked about."""

    clients: tuple[ClientStatus, ...]
    warnings: tuple[Problem, ...] = ()
