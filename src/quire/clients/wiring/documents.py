"""Parse configuration files leniently and look up values by key; refuse what cannot be edited safely."""

from __future__ import annotations

from typing import Any, Final

from quire.clients.wiring.types import KeyPath
from quire.files.jsonc_parser import (
    read_jsonc,
)

MISSING: Final = object()


def text_of(data: bytes | None) -> str:
    """The text of a file, with its mark of byte order; empty where there is none."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start + 1})") from error


def read_document(data: bytes | None) -> dict[str, Any]:
    """The object that a JSON file with comments holds; an empty file holds an empty one."""
    text = text_of(data)
    value = read_jsonc(text) if text.removeprefix("\ufeff").strip() else {}
    if not isinstance(value, dict):
        raise ValueError("it holds no object")
    return value


def find_member(value: Any, path: KeyPath) -> Any:
    """What stands at a path of keys, or MISSING. ValueError where something other than an object is on the way."""
    for count, name in enumerate(path):
        if not isinstance(value, dict):
            raise ValueError(f"`{'.'.join(path[:count])}` is no object")
        if name not in value:
            return MISSING
        value = value[name]
    return value


def has_path(value: Any, path: KeyPath) -> bool:
    return find_member(value, path) is not MISSING
