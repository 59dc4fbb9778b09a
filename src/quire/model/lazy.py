"""Public names of a room that are loaded on first use, so that a small command stays a small process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def loader(room: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """The room's `__getattr__`: `homes` says which of its modules holds each name."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return load
