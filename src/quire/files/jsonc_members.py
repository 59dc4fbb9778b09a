"""Insert or remove one part of an object or array in a JSON text; removing leaves no trace.

Where a part is added and how it is removed fit together: what `with_part` adds, `without_part` finds by the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from quire.files.jsonc_layout import Style, begins_line, has_own_lines, line_indent, style_of, written
from quire.files.jsonc_parser import JsoncNode, JsoncPart, solid_end

_BLANKS = re.compile(r"[ \t]*")
_NEWLINE = re.compile(r"\r?\n")
Edit = tuple[int, int, str]


def with_part(text: str, chain: Sequence[JsoncNode], key: str | None, value: Any, *, exact: bool) -> str:
    """The text with a new last part in the last of the nodes, each of which holds the next one.

    Where `exact` is set, the blanks of an empty object can be found in the result, so that removal gives them back.
    """
    holder, style = chain[-1], style_of(text, chain)
    if holder.parts:
        return _spliced(text, _after_last(text, holder, key, value, style))
    start, close = holder.begin + 1, holder.end - 1
    blanks = text[start:close]
    solid, to_line_end = solid_end(text, start, close)
    if solid > start:
        indent = _comment_indent(text, solid, style) if to_line_end or "\n" in text[solid:close] else None
        lead = " " if indent is None else style.newline + indent
        return _spliced(text, [(solid, solid, lead + _part_text(key, value, style, indent))])
    if "\n" not in blanks and (blanks or not has_own_lines(text, chain)):
        return _spliced(text, [(start, start, blanks + _part_text(key, value, style, None))])
    added = style.newline + style.below + _part_text(key, value, style, style.below)
    if blanks:
        return _spliced(text, [(start, start, added + style.newline * exact)])
    return _spliced(text, [(start, start, added + style.newline + line_indent(text, holder.begin))])


def with_value(text: str, chain: Sequence[JsoncNode], value: Any) -> str:
    """The text with another value instead of the last of the nodes."""
    node, holder = chain[-1], chain[-2]
    part = next(part for part in holder.parts if part.node is node)
    indent = line_indent(text, part.begin) if begins_line(text, part.begin) else None
    return _spliced(text, [(node.begin, node.end, written(value, style_of(text, chain[:-1]), indent))])


def without_part(text: str, holder: JsoncNode, index: int) -> str:
    """The text without one part of this node; comments stay, also those that stand in its line."""
    part, is_last = holder.parts[index], index == len(holder.parts) - 1
    start = holder.begin + 1 if index == 0 else holder.parts[index - 1].comma + 1
    if len(holder.parts) == 1:
        emptied = _emptied(text, holder, part)
        if emptied is not None:
            return _spliced(text, [(start, holder.end - 1, emptied)])
    edits: list[Edit] = []
    if is_last and index > 0 and part.comma < 0:
        edits.append((start - 1, start, ""))
    if part.comma >= 0 and text[part.node.end : part.comma].strip():
        # A comment between the member and its comma stays.
        solid, _ = solid_end(text, start, part.begin)
        begin = part.begin if "\n" in text[solid : part.begin] else solid
        return _spliced(text, [(begin, part.node.end, ""), (part.comma, part.comma + 1, "")])
    return _spliced(text, [*edits, (*_extent(text, start, part, is_last), "")])


def _after_last(text: str, holder: JsoncNode, key: str | None, value: Any, style: Style) -> list[Edit]:
    """What makes a part the last one: a comma after the one before, and the part after all comments."""
    last = holder.parts[-1]
    end = last.node.end if last.comma < 0 else last.comma + 1
    solid, to_line_end = solid_end(text, end, holder.end - 1)
    indent = style.below if style.indent is None and to_line_end else style.indent
    lead = style.gap if indent is None else style.newline + indent
    added = lead + _part_text(key, value, style, indent)
    if last.comma >= 0:
        return [(solid, solid, added + ",")]
    return [(end, end, ","), (solid, solid, added)]


def _part_text(key: str | None, value: Any, style: Style, indent: str | None) -> str:
    name = "" if key is None else written(key, style, None) + style.colon
    return name + written(value, style, indent)


def _comment_indent(text: str, end: int, style: Style) -> str:
    """The indentation of the comment that ends here if it has a line of its own, or that of a member."""
    line = text.rfind("\n", 0, end) + 1
    indent = line_indent(text, end)
    return indent if line and text.startswith(("//", "/*"), line + len(indent)) else style.below


def _emptied(text: str, holder: JsoncNode, part: JsoncPart) -> str | None:
    """What an object holds without its only member, if it has no comments: the reverse of what `with_part` makes."""
    before, behind = text[holder.begin + 1 : part.begin], text[part.node.end : holder.end - 1]
    if part.comma >= 0:
        behind = text[part.node.end : part.comma] + text[part.comma + 1 : holder.end - 1]
    if before.strip() or behind.strip():
        return None
    if "\n" not in before and before == behind:
        return before
    first = _NEWLINE.match(behind)
    rest = behind[first.end() :] if first else ""
    return rest if "\n" in before and "\n" in rest else ""


def _extent(text: str, start: int, part: JsoncPart, is_last: bool) -> tuple[int, int]:
    """From where to where a part goes: all since the comma or comment before it, if nothing shares its line."""
    solid, after_line_comment = solid_end(text, start, part.begin)
    end = part.node.end if part.comma < 0 else part.comma + 1
    blanks = _BLANKS.match(text, end)
    following = blanks.end() if blanks else end
    ends_line = text.startswith(("\n", "\r\n"), following)
    commented = text.startswith(("//", "/*"), following)
    keeps_line = begins_line(text, part.begin) and (commented or not (ends_line or is_last))
    if keeps_line or (after_line_comment and not ends_line):
        return part.begin, following
    # Blanks that would become part of a comment go too.
    return solid, following if after_line_comment else end


def _spliced(text: str, edits: list[Edit]) -> str:
    """The text with each range replaced; the ranges are in order and do not overlap."""
    pieces, at = [], 0
    for begin, end, new in edits:
        pieces += [text[at:begin], new]
        at = end
    return "".join([*pieces, text[at:]])
