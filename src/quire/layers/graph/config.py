"""The stored shape of a memory's configuration, which every command reads first."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from quire.model import PROJECT_ID_PATTERN

STORAGE_VERSION = 5

__all__ = ["STORAGE_VERSION", "Config", "ProjectIdentity", "Settings"]


class ProjectIdentity(Struct, frozen=True):
    id: Annotated[str, Meta(pattern=PROJECT_ID_PATTERN, description="must be project.<slug>")]
    name: Annotated[str, Meta(min_length=1)]


class Settings(Struct, frozen=True, rename={"default_token_budget": "defaultTokenBudget", "auto_index": "autoIndex"}):
    default_token_budget: Annotated[int, Meta(ge=501, le=50_000)] = 2000
    auto_index: bool = True


class Config(Struct, frozen=True, kw_only=True):
    version: Literal[5]
    project: ProjectIdentity
    memory: Settings = msgspec.field(default_factory=Settings)
