"""Parse Markdown as far as records need it: headings, lists and bold field names.

Code and comments are left out: an example of a heading is no heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quire.model.text import one_line

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_FIELD = re.compile(r"\*\*([^*:]{1,40})(?::\*\*|\*\*:)(.*)$")
_BULLET = re.compile(r"( *)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_BOX = re.compile(r"\[([ xX])\][ \t]+")


class Section(Struct, frozen=True):
    """A heading and the lines below it, up to the next heading of any level. The first may have no heading."""

    level: int
    title: str
    line: int
    lines: list[str]


def sections_of(text: str, first_line: int = 1) -> list[Section]:
    found = [Section(0, "", first_line, [])]
    for number, line in _prose(text.split("\n")):
        heading = _HEADING.match(line)
        if heading:
            found.append(Section(len(heading[1]), _heading_text(heading[2] or ""), first_line + number, []))
        else:
            found[-1].lines.append(line)
    return found


def fence_behind(line: str, fence: str) -> str:
    """The fence that is open behind a line where this one was open before it; empty where none is."""
    found = _FENCE.match(line)
    if fence:
        return "" if found and found[1].startswith(fence) and not found[2].strip() else fence
    return found[1] if found and not (found[1][0] == "`" and "`" in found[2]) else ""


def _prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that are neither code between fences nor within a comment."""
    fence, comment = "", False
    for number, line in enumerate(lines):
        if comment:
            comment = "-->" not in line
            continue
        before, fence = fence, fence_behind(line, fence)
        if before or fence:
            continue
        if line.lstrip(" ").startswith("<!--"):
            comment = "-->" not in line
        else:
            yield number, line


def _heading_text(text: str) -> str:
    bare = text.strip()
    unclosed = bare.rstrip("#")
    return one_line(unclosed if unclosed[-1:] in ("", " ", "\t") else bare)


def fields_of(lines: Iterable[str]) -> dict[str, str]:
    """The texts behind `**Name:**` by their names in lower case, each up to the next one; what precedes them is ``."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in lines:
        field = _FIELD.match(line)
        if field:
            name, line = one_line(field[1]).lower(), field[2]
        found.setdefault(name, []).append(line)
    return {name: "\n".join(texts).strip() for name, texts in found.items()}


def open_items(lines: Iterable[str], *, nested: bool) -> list[str]:
    """The items of lists, each on one line. One that is ticked off or struck out is none."""
    found = items_of(lines, nested=nested)
    return [text for text, is_ticked in found if not is_ticked and not (text.startswith("~~") and text.endswith("~~"))]


def items_of(lines: Iterable[str], *, nested: bool) -> list[tuple[str, bool]]:
    """The items of lists, each on one line without its box, and whether that is ticked.

    What is listed or said below an item belongs to it only where `nested` asks for it.
    """
    items: list[list[str]] = []
    depth, taking, after_blank = 0, False, False
    for line in lines:
        if not line.strip():
            after_blank = True
            continue
        bullet = _BULLET.match(line)
        if bullet and (not items or len(bullet[1]) < depth + 2):
            depth, taking = len(bullet[1]), True
            items.append([bullet[2]])
        else:
            if bullet:
                taking = nested and bool(items)
            elif after_blank:
                taking = taking and nested and line[0] in " \t"
            if taking:
                items[-1].append(line)
        after_blank = False
    return [item for item in map(_item, items) if item[0]]


def _item(lines: list[str]) -> tuple[str, bool]:
    text = one_line(" ".join(lines))
    box = _BOX.match(text)
    return (text[box.end() :], box[1] != " ") if box else (text, False)
