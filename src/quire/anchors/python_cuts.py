"""One definition of a Python file, cut out by its indentation and read alone: the rest need not be parsed.

This is for versions of a file of which a neighbouring one was parsed. Where it is not certain where the definition
begins and ends, it is not cut out.
"""

from __future__ import annotations

import re

from quire.anchors.python_symbols import digest_alone

_CLOSING = (b")", b"]", b"}")

__all__ = ["cut_out"]


def cut_out(data: bytes, name: str) -> tuple[bytes, str] | None:
    """The lines of the only definition of the last part of this name, and its digest as the whole file would give it.

    None where there is another such definition, or it is not certain where this one begins and ends.
    """
    parts = tuple(name.split("."))
    if not parts[-1].isascii() or b"\r" in data or b"\f" in data:
        return None
    heads = list(re.finditer(rb"^([ \t]*)(?:async[ \t]+def|def|class)[ \t]+%b\b" % parts[-1].encode(), data, re.M))
    if len(heads) != 1:
        return None
    indent = heads[0][1]
    lines = data.split(b"\n")
    at = data.count(b"\n", 0, heads[0].start())
    first = _first_line(lines, at, indent)
    if first is None:
        return None
    last = _end(lines, at + 1, indent)
    text = b"\n".join(lines[first:last])
    digest = digest_alone((b"if 1:\n" if indent else b"") + text + b"\n", parts)
    return (text, digest) if digest is not None else None


def _first_line(lines: list[bytes], at: int, indent: bytes) -> int | None:
    """Where the decorators begin; None where that cannot be told from the lines alone."""
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
    above = next((line for line in reversed(lines[:place]) if line.strip()), b"")
    return None if above.lstrip().startswith(b"@") or above.endswith(b"\\") else first


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
