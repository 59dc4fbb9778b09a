"""Read values of unknown type, such as other programs' JSON: the expected type, or its empty value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def at_path(value: Any, *path: str) -> Any:
    """What stands at a path of keys, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_texts(value: Any, change: Callable[[str], str], *, names: bool = False) -> Any:
    """A value with every text in it changed, however deep; with `names` the names of fields, too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {
            with_texts(name, change) if names else name: with_texts(item, change, names=names)
            for name, item in value.items()
        }
    return [with_texts(item, change, names=names) for item in value] if isinstance(value, list | tuple) else value
