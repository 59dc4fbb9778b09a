"""Find, write and remove marked sections in files we do not own; the rest stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

State = Literal["missing", "present", "damaged"]
_BOM = b"\xef\xbb\xbf"
# Seven signs, or more: git adds one where both sides renamed a file, and as many as its attributes say.
_BEGIN, _END = re.compile(rb"<{7,} "), re.compile(rb">{7,} ")


class Markers(msgspec.Struct, frozen=True):
    """The two comment lines around a section."""

    start: str
    end: str


class FoundSection(msgspec.Struct, frozen=True):
    """Where a section stands in a file, and what it says."""

    state: State
    begin: int = 0
    finish: int = 0
    body: str = ""
    reason: str = ""
    line: int | None = None
    in_conflict: bool = False
    """A merge conflict stands open in it or around it."""


def find_section(data: bytes, markers: Markers) -> FoundSection:
    """The section between the markers. Markers shown inside a code fence do not count."""
    starts, ends = _marker_lines(data, markers)
    if not starts and not ends:
        return FoundSection("missing")
    if len(starts) != 1 or len(ends) != 1:
        reason = f"{len(starts)} start and {len(ends)} end markers instead of one each"
        return FoundSection("damaged", reason=reason, line=min(starts + ends)[2])
    (begin, body_begin, line), (body_end, finish, end_line) = starts[0], ends[0]
    if body_begin > body_end:
        return FoundSection("damaged", reason="the end marker is before the start marker", line=line)
    body = data[body_begin:body_end].decode("utf-8", "replace").replace("\r\n", "\n")
    in_conflict = False
    for first, last in conflicts(data):
        if last < line or first > end_line:
            continue
        if first == last or first < line or last > end_line:
            # Who replaced it would take one end of the conflict away, and leave the other.
            reason = "a merge conflict overlaps them"
            return FoundSection("damaged", reason=reason, line=first, in_conflict=True)
        in_conflict = True
    return FoundSection("present", begin, finish, body.strip("\n"), line=line, in_conflict=in_conflict)


def conflicts(data: bytes) -> Iterator[tuple[int, int]]:
    """Where merge conflicts begin and end, by lines; a mark that has lost its other end stands for itself.

    Marks that are shown inside a code fence do not count, nor does a line of equals signs alone.
    """
    if b"<<<<<<<" not in data and b">>>>>>>" not in data:
        return
    lines = data.splitlines()
    fenced = _fenced(lines)
    begin = 0
    for number, line in enumerate(lines, start=1):
        if number in fenced:
            continue
        if _BEGIN.match(line):
            begin = begin or number
        elif _END.match(line):
            yield begin or number, number
            begin = 0
    if begin:
        yield begin, begin


def _fenced(lines: list[bytes]) -> set[int]:
    """The lines inside code fences that are closed."""
    found: set[int] = set()
    fence, opened = b"", 0
    for number, line in enumerate(lines, start=1):
        bare = line.strip().removeprefix(_BOM)
        if bare.startswith((b"```", b"~~~")):
            if not fence:
                fence, opened = bare[:3], number
            elif bare[:3] == fence:
                found.update(range(opened, number + 1))
                fence = b""
    return found


def place_section(data: bytes, markers: Markers, body: str) -> bytes:
    """The file with this section: replaced where it stands, otherwise added at the end."""
    newline = newline_of(data)
    lines = [markers.start, *body.strip("\n").split("\n"), markers.end]
    block = newline.join(line.encode("utf-8") for line in lines) + newline
    found = find_section(data, markers)
    if found.state == "damaged":
        raise ValueError(found.reason)
    if found.state == "present":
        if found.finish == len(data) and not data.endswith(b"\n"):
            block = block.removesuffix(newline)
        return data[: found.begin] + block + data[found.finish :]
    if not data.removeprefix(_BOM):
        return data + block
    gap = newline if data.endswith(b"\n") else newline * 2
    return data + gap + block


def remove_section(data: bytes, markers: Markers) -> bytes:
    """The file without this section and without the blank line that set it off."""
    found = find_section(data, markers)
    if found.state != "present":
        return data
    head, tail = data[: found.begin], data[found.finish :]
    if head.endswith(b"\n\r\n"):
        head = head[:-2]
    elif head.endswith(b"\n\n"):
        head = head[:-1]
    return head + tail


def _marker_lines(data: bytes, markers: Markers) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    starts: list[tuple[int, int, int]] = []
    ends: list[tuple[int, int, int]] = []
    lines = data.splitlines(keepends=True)
    # Only a fence that is closed hides what it holds: one left open would hide our own section for ever.
    position, fenced = 0, _fenced(lines)
    for number, line in enumerate(lines, start=1):
        following = position + len(line)
        begin = position + len(_BOM) if line.startswith(_BOM) else position
        bare = line.strip().removeprefix(_BOM)
        if number in fenced:
            pass
        elif bare == markers.start.encode():
            starts.append((begin, following, number))
        elif bare == markers.end.encode():
            ends.append((begin, following, number))
        position = following
    return starts, ends


def newline_of(data: bytes) -> bytes:
    """The file's own line ending, by majority."""
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf * 2 > data.count(b"\n") else b"\n"
