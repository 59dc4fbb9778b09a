"""Find the code that a text is about: existing files and folders it names, and the globs of its head."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.capture.front_matter import Value
from quire.capture.hosts.structured_files import code_paths
from quire.model.anchors import anchor_fault, normal_anchor

ANCHORS_MOST = 5
_KEYS = ("paths", "globs", "applyTo")
_ITEM = re.compile(r"[ \t]+-[ \t]+(.*)$")
_WILD = re.compile(r"[*?\[{(]")


def anchors_for(text: str, root: str, globs: Iterable[str] = ()) -> list[str]:
    """The anchors of a claim, the paths it names first."""
    found = [*code_paths(text, root), *globs]
    return list(dict.fromkeys(found))[:ANCHORS_MOST]


def patterns_of(head: dict[str, Value], head_text: str) -> list[str]:
    """The patterns of files that a rule's head names.

    Cursor writes them bare and with commas, which is no YAML: then the line is read as it stands.
    """
    values: list[str] = []
    for key in _KEYS:
        value = head.get(key)
        if isinstance(value, list):
            values += value
        else:
            values += _split(value) if value else _raw(head_text, key)
    return list(dict.fromkeys(value for value in values if value.isprintable()))


def globs_of(head: dict[str, Value], head_text: str) -> list[str]:
    """Those of the patterns that tie a rule to a part of the project."""
    return [glob for glob in map(normal_anchor, patterns_of(head, head_text)) if _is_telling(glob)]


def _raw(head_text: str, key: str) -> list[str]:
    lines = head_text.split("\n")
    for number, line in enumerate(lines):
        name, colon, rest = line.partition(":")
        if name.strip() != key or not colon or name != name.lstrip():
            continue
        if rest.strip():
            return _split(rest.strip().strip("[]"))
        items = []
        for below in lines[number + 1 :]:
            found = _ITEM.match(below)
            if not found:
                break
            items.append(found[1].strip().strip("\"'"))
        return items
    return []


def _split(text: str) -> list[str]:
    """What stands between commas, those in braces left alone."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip().strip("\"'") for part in parts if part.strip()]


def _is_telling(glob: str) -> bool:
    """Whether a pattern names a place: one that begins with a star is of everywhere."""
    if not glob or anchor_fault(glob) or glob.startswith("!"):
        return False
    wild = _WILD.search(glob)
    return wild is None or "/" in glob[: wild.start()]
