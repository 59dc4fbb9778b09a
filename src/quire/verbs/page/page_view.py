"""How a question of the page is declared: what it takes, and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from quire.project import Project

PageRef = Annotated[str, msgspec.Meta(max_length=4_000)]


class PageArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a question or an action of the page takes, by the names that the page sends."""


class PageView(msgspec.Struct, frozen=True):
    """A question that the page asks."""

    takes: type[msgspec.Struct]
    run: Callable[[Project, Any], Any]
