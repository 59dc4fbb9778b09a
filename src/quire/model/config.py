"""The stored configuration of a memory, which every command reads first."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from quire.model.ids import PROJECT_ID_PATTERN

STORAGE_VERSION = 5


class ProjectIdentity(Struct, frozen=True):
    id: Annotated[str, Meta(pattern=PROJECT_ID_PATTERN, description="must be project.<slug>")]
    name: Annotated[str, Meta(min_length=1)]


_NAMES = {
    "default_token_budget": "defaultTokenBudget",
    "auto_index": "autoIndex",
    "default_branch": "defaultBranch",
}


class Settings(Struct, frozen=True, rename=_NAMES):
    default_token_budget: Annotated[int, Meta(ge=501, le=50_000)] = 2000
    auto_index: bool = True
    unreviewed: Literal["line", "send", "hold"] = "line"
    """What hooks send of a record that nobody has looked at: one line, all of it, nothing."""
    reviewed: Literal["head", "default-branch"] = "head"
    """Which commit counts as looked at."""
    map: Literal["default-branch", "always", "never"] = "default-branch"
    """Where a save or a sync writes the product map into the instruction files."""
    fragments: Literal["branches", "never"] = "branches"
    """Where what is appended to logs goes into files of its own: on all branches but the default one, or nowhere."""
    default_branch: str = ""
    """The branch that others merge into, where the remote does not tell."""


ReviewLevel = Literal["off", "note", "warn", "block"]
"""What comes of a finding of a review: it is left out, told, told with a warning, or stops the change."""


class Config(Struct, frozen=True, kw_only=True):
    version: Literal[5]
    project: ProjectIdentity
    memory: Settings = msgspec.field(default_factory=Settings)
    review: dict[str, ReviewLevel] = {}
    """By the code of a finding; codes that are not named have their usual level."""


class _Held(Struct, frozen=True):
    memory: Settings = msgspec.field(default_factory=Settings)


def settings_in(data: bytes) -> Settings:
    """The settings in a configuration file; the usual ones where it is none, or says something that is not known."""
    try:
        return msgspec.json.decode(data, type=_Held).memory
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Settings()
