"""Read JSON and TOML files of other programs; broken or unexpected content gives an empty value."""

from __future__ import annotations

from typing import Any

from quire.files.json_files import json_value
from quire.model.text import one_line
from quire.model.untyped import as_dict, as_list, as_text, at_path

DOCUMENT_BYTES = 1024 * 1024
TEXT_CHARS = 2_000
_ITEMS_MOST = 500
# A key of TOML with thousands of parts costs its reader the square of them.
_KEY_DOTS, _LINE_DOTS = 200, 2_000


def json_object(text: str) -> dict[str, Any]:
    found = json_value(text)
    return found if isinstance(found, dict) else {}


def toml_table(text: str) -> dict[str, Any]:
    import tomllib

    for line in text.split("\n"):
        if line.count(".") > _KEY_DOTS and (
            line.partition("=")[0].count(".") > _KEY_DOTS or line.count(".") > _LINE_DOTS
        ):
            return {}
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def text_at(value: Any, *path: str) -> str:
    """The text at a path, on one line; empty where there is none."""
    return one_line(as_text(at_path(value, *path))[:TEXT_CHARS])


def texts_at(value: Any, *path: str) -> list[str]:
    items = as_list(at_path(value, *path))[:_ITEMS_MOST]
    return [text for item in items if (text := text_at({"": item}, ""))]


def table_at(value: Any, *path: str) -> dict[str, Any]:
    return as_dict(at_path(value, *path))
