"""Fields of a result as indented lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORD_CHARS = 80


def outline_lines(value: Mapping[str, Any] | list[Any], depth: int = 0) -> list[str]:
    """Fields as indented lines; what is empty is left out."""
    pad = "  " * depth
    lines: list[str] = []
    named = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for name, item in named:
        head = f"{pad}{name}:" if name is not None else f"{pad}-"
        if item is None or item == "" or (isinstance(item, Mapping | list | tuple) and not item):
            continue
        if isinstance(item, Mapping):
            inner = outline_lines(item, depth + 1)
            lines += [head, *inner] if name is not None else [f"{head} {inner[0].strip()}", *inner[1:]] if inner else []
        elif isinstance(item, list | tuple):
            if all(isinstance(part, str | int | float | bool) and _is_word(str(part)) for part in item):
                lines.append(f"{head} {', '.join(_word(part) for part in item)}")
            else:
                lines += [head, *outline_lines(list(item), depth + 1)]
        elif isinstance(item, str) and "\n" in item:
            lines += [head, *(f"{pad}  {line}".rstrip() for line in item.split("\n"))]
        else:
            lines.append(f"{head} {_word(item)}")
    return lines


def _is_word(text: str) -> bool:
    """Whether it can stand in a row with others, separated by commas."""
    return "\n" not in text and len(text) <= _WORD_CHARS and not text.endswith(".")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
