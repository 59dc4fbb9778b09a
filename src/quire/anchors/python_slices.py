"""Cut one definition out of a Python file by its indentation, so that the rest need not be parsed.

This is for versions of a file of which a neighbouring one was parsed. Where it is not certain where the definition
begins and ends, it is not cut out.
"""

from __future__ import annotations

import re

from quire.anchors.python_symbols import digest_alone

_HEAD = rb"^([ \t]*)(?:async[ \t]+def|def|class)[ \t]+%b(?![\w\x80-\xff])"
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")


def cut_out(data: bytes, name: str) -> tuple[bytes, str] | None:
    """The lines of the only definition of the last part of this name, and its digest as the whole file would give it.

    None where there is another such definition, or it is not certain where this one begins and ends.
    """
    parts = tuple(name.split("."))
    if not parts[-1].isascii() or b"\r" in data or b"\f" in data:
        return None
    heads = list(re.finditer(_HEAD % parts[-1].encode(), data, re.M))
    if len(heads) != 1:
        return None
    indent = heads[0][1]
    lines = data.split(b"\n")
    at = data.count(b"\n", 0, heads[0].start())
    first = _first_line(lines, at, indent)
    if first is None or not _is_within(lines[:at], indent, parts[:-1]):
        return None
    last = _end(lines, at + 1, indent)
    text = b"\n".join(lines[first:last])
    digest = digest_alone((b"if 1:\n" if indent else b"") + text + b"\n", parts)
    return (text, digest) if digest is not None else None


def _is_within(lines: list[bytes], indent: bytes, names: tuple[str, ...]) -> bool:
    """Whether these definitions are around the last line, the innermost last."""
    for name in reversed(names):
        heads = (re.match(_HEAD % rb"([^\s(:\[]+)", line) for line in reversed(lines))
        head = next((head for head in heads if head and len(head[1]) < len(indent)), None)
        if head is None or head[2] != name.encode():
            return False
        indent = head[1]
    return True


def _first_line(lines: list[bytes], at: int, indent: bytes) -> int | None:
    """Where the decorators begin; None where that cannot be distinguished from the lines alone."""
    first = place = at
    while place > 0:
        line = lines[place - 1]
        if _is_deeper(line, indent) or (line.startswith(indent) and line[len(indent) :].startswith((b"#", *_CLOSING))):
            place -= 1
        elif line.startswith(indent + b"@"):
            place -= 1
            first = place
        else:
            break
    above = _statement_above(lines, first)
    if above.lstrip().startswith(b"@") or above.endswith(b"\\"):
        return None
    begins_block = above.partition(b"#")[0].rstrip().endswith(b":")
    return first if above.startswith(indent) or begins_block else None


def _statement_above(lines: list[bytes], place: int) -> bytes:
    """The line on which the statement above began, by its brackets."""
    depth = 0
    for line in reversed(lines[:place]):
        depth += sum(line.count(sign) for sign in _CLOSING) - sum(line.count(sign) for sign in _OPENING)
        if line.strip() and depth <= 0:
            return line
    return b""


def _end(lines: list[bytes], at: int, indent: bytes) -> int:
    """Where the definition ends: before a line that is not deeper, and closes nothing."""
    end = at
    for place in range(at, len(lines)):
        line = lines[place]
        rest = line.lstrip(b" \t")
        if not rest or (rest.startswith(b"#") and not _is_deeper(line, indent)):
            continue  # it belongs to the definition only if more of that follows
        if not _is_deeper(line, indent) and not (line.startswith(indent) and rest.startswith(_CLOSING)):
            break
        end = place + 1
    return end


def _is_deeper(line: bytes, indent: bytes) -> bool:
    return line.startswith((indent + b" ", indent + b"\t")) and bool(line.strip())
