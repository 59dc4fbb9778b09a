"""Write the entry block: a few lines in an instruction file that point to the journal.

The file belongs to someone else. Everything outside the block stays byte for byte, apart from blank lines around the
place where the block goes. Markers and headings shown in a code fence, in front matter or in a comment are examples.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from msgspec import Struct

from quire.files.marked_sections import newline_of
from quire.layers.journal.layout import CHECKPOINTS, ENTRY_VERSION, EVENTS, FOLDER, PROJECTIONS, STATE
from quire.layers.journal.projections import reading_order

_BOM = b"\xef\xbb\xbf"
_START = re.compile(rb"<!-- agent-memory:entry version=([0-9]{1,9}) bundleHash=([0-9a-f]+) start -->")
_OPENING = b"<!-- agent-memory:entry "
_END = b"<!-- agent-memory:entry end -->"
_MARK_BYTES = 1024
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)$")
_TITLE = re.compile(rb"# +\S")
_FRONT_MATTER_ENDS = (b"---", b"...")


class EntryMarker(Struct, frozen=True):
    """Which bundle an entry block leads to."""

    version: int
    bundle_hash: str


class _Line(Struct, frozen=True):
    begin: int
    end: int
    """Behind the line and its end."""
    bare: bytes


def render_entry(bundle_hash: str) -> str:
    """The block for a bundle, without an end of line behind it."""
    body = [
        "## Project Memory",
        "",
        f"What is known of this project is kept in `{FOLDER}/{STATE}`.",
        "",
        f"What happened is in `{FOLDER}/{EVENTS}`, and how the memory was before in `{FOLDER}/{CHECKPOINTS}/`.",
        "",
        f"Pages to read are in `{PROJECTIONS}/`, in this order:",
        *reading_order(),
        "",
        "`agent-memory query` asks the memory, `agent-memory sync` imports sessions into it, and `agent-memory recall` "
        "works them in.",
    ]
    start = f"<!-- agent-memory:entry version={ENTRY_VERSION} bundleHash={bundle_hash} start -->"
    return "\n".join([start, *body, _END.decode()])


def entry_marker(data: bytes) -> EntryMarker | None:
    """The first start marker of a file."""
    hidden = _hidden(data)
    for found in _START.finditer(data):
        if not _is_within(found.start(), hidden):
            return EntryMarker(int(found[1]), found[2].decode("ascii"))
    return None


def place_entry(data: bytes | None, block: str) -> bytes:
    """The file with this block: in the place of the one it has, below its title, or at its top."""
    newline = newline_of(data or b"")
    put = newline.join(line.encode("utf-8") for line in block.strip("\n").split("\n"))
    if data is None or not data.removeprefix(_BOM):
        return (data or b"") + put + newline
    held = _find_block(data)
    if held is not None:
        return data[: held[0]] + put + newline + data[held[1] :]
    title = next((line for line in _prose(data) if _TITLE.match(line.bare)), None)
    if title is not None:
        head = data[: title.end].rstrip(b"\r\n")
        return head + newline * 2 + put + newline * 2 + data[title.end :].lstrip(b"\r\n")
    top = _top_of(data)
    head = data[:top]
    if head.removeprefix(_BOM):
        head = head.rstrip(b"\r\n") + newline * 2
    rest = data[top:].rstrip()
    return head + put + newline + (newline + rest + newline if rest else b"")


def remove_entry(data: bytes) -> bytes:
    """The file without its first block and without one of the blank lines around it."""
    held = _find_block(data)
    if held is None:
        return data
    head, tail = data[: held[0]], data[held[1] :]
    for end in (b"\r\n", b"\n"):
        if tail.startswith(end):
            return head + tail.removeprefix(end)
        if head.endswith(end * 2):
            return head.removesuffix(end) + tail
    return head + tail


def _find_block(data: bytes) -> tuple[int, int] | None:
    """Where the first block begins and ends, with the end of its last line."""
    hidden = _hidden(data)
    begin = -1
    position = data.find(_OPENING)
    while position >= 0:
        is_end = data.startswith(_END, position)
        if not _is_within(position, hidden):
            if is_end and begin >= 0:
                end = position + len(_END)
                following = next((mark for mark in (b"\r\n", b"\n") if data.startswith(mark, end)), b"")
                return begin, end + len(following)
            if not is_end and _is_start(data, position):
                # A start without an end before the next one is no block; it is left to whoever wrote it.
                begin = position
        position = data.find(_OPENING, position + 1)
    return None


def _is_start(data: bytes, position: int) -> bool:
    mark, arrow, _ = data[position : position + _MARK_BYTES].partition(b"-->")
    return bool(arrow) and b"\n" not in mark and mark.endswith(b" start ")


def _lines(data: bytes) -> Iterator[_Line]:
    position = len(_BOM) if data.startswith(_BOM) else 0
    while position < len(data):
        end = data.find(b"\n", position) + 1 or len(data)
        yield _Line(position, end, data[position:end].rstrip(b"\r\n"))
        position = end


def _top_of(data: bytes) -> int:
    """Where the text begins: behind a byte order mark and behind front matter."""
    top = len(_BOM) if data.startswith(_BOM) else 0
    for number, line in enumerate(_lines(data)):
        if number == 0:
            if line.bare.rstrip() != b"---":
                return top
        elif line.bare.rstrip() in _FRONT_MATTER_ENDS:
            return line.end
    return top


def _hidden(data: bytes) -> list[tuple[int, int]]:
    """The stretches between closed code fences. One that is left open hides nothing, or it would hide our own block."""
    found: list[tuple[int, int]] = []
    top, fence, begin = _top_of(data), b"", 0
    for line in _lines(data):
        mark = _FENCE.match(line.bare) if line.begin >= top else None
        if mark is None:
            continue
        if fence and mark[1].startswith(fence) and not mark[2].strip():
            found.append((begin, line.end))
            fence = b""
        elif not fence and not (mark[1][:1] == b"`" and b"`" in mark[2]):
            fence, begin = mark[1], line.begin
    return found


def _is_within(position: int, stretches: list[tuple[int, int]]) -> bool:
    """Whether a place lies in one of these, which stand in their order; a file may have thousands of them."""
    before = bisect_right(stretches, position, key=itemgetter(0))
    return before > 0 and position < stretches[before - 1][1]


def _prose(data: bytes) -> Iterator[_Line]:
    """The lines that are neither code between fences, nor front matter, nor within a comment."""
    top, hidden, in_comment = _top_of(data), _hidden(data), False
    for line in _lines(data):
        if line.begin < top or _is_within(line.begin, hidden):
            continue
        if in_comment or line.bare.lstrip(b" ").startswith(b"<!--"):
            in_comment = b"-->" not in line.bare
            continue
        yield line
