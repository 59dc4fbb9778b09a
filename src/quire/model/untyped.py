"""Read values of unknown type, such as other programs' JSON: the expected type, or its empty value."""

from __future__ import annotations

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
