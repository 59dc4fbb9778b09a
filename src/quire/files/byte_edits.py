"""Store the difference of two files as byte edits, enough to undo the change exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from quire.files.shortest_edit import Range, differences

_TOKEN = re.compile(rb"[0-9A-Za-z_]+|[\x80-\xff]+|[ \t]+|.", re.S)
_LINES = 600
_TOKENS = 200
"""How many lines or words may differ before a whole stretch counts as changed: looking takes the square of it."""


class ByteEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One edit: its offset in the bytes after the change, the bytes removed and the bytes inserted."""

    at: int
    removed: str
    inserted: str
    form: Literal["text", "base64"] = "text"
    """How both are written: as they are, or in base64 where one of them is not UTF-8."""


def find_edits(before: bytes, after: bytes) -> tuple[ByteEdit, ...]:
    """Find the edits that turn `before` into `after`; equal parts are left out as far as that is cheap."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    found: list[ByteEdit] = []
    for begin, end, new_begin, new_end in _in_bytes(old, new, _changed_lines(old, new)):
        old_words, new_words = _TOKEN.findall(before[begin:end]), _TOKEN.findall(after[new_begin:new_end])
        for first, last, at, stop in _in_bytes(old_words, new_words, differences(old_words, new_words, _TOKENS)):
            removed, inserted = before[begin + first : begin + last], after[new_begin + at : new_begin + stop]
            found.append(_splice(new_begin + at, removed, inserted))
    return tuple(found)


def undo_edits(after: bytes, found: Sequence[ByteEdit]) -> bytes:
    """The bytes before the change; ValueError where these are not the ones after it."""
    pieces: list[bytes] = []
    end = 0
    for splice in found:
        removed, inserted = _bytes(splice.removed, splice.form), _bytes(splice.inserted, splice.form)
        if splice.at < end or after[splice.at : splice.at + len(inserted)] != inserted:
            raise ValueError(f"The file does not hold what was put in at byte {splice.at}.")
        pieces += [after[end : splice.at], removed]
        end = splice.at + len(inserted)
    if end > len(after):
        raise ValueError("The file is shorter than it was.")
    return b"".join([*pieces, after[end:]])


def _splice(at: int, removed: bytes, inserted: bytes) -> ByteEdit:
    try:
        return ByteEdit(at=at, removed=removed.decode(), inserted=inserted.decode())
    except UnicodeDecodeError:
        from base64 import b64encode

        written = b64encode(removed).decode(), b64encode(inserted).decode()
        return ByteEdit(at=at, removed=written[0], inserted=written[1], form="base64")


def _bytes(text: str, form: str) -> bytes:
    if form == "text":
        return text.encode()
    from base64 import b64decode

    return b64decode(text, validate=True)


def _in_bytes(old: list[bytes], new: list[bytes], ranges: list[Range]) -> list[Range]:
    """Ranges of pieces as ranges of bytes."""
    old_at, new_at = _offsets(old), _offsets(new)
    return [(old_at[a], old_at[b], new_at[c], new_at[d]) for a, b, c, d in ranges]


def _offsets(pieces: list[bytes]) -> list[int]:
    found = [0]
    for piece in pieces:
        found.append(found[-1] + len(piece))
    return found


def _changed_lines(old: list[bytes], new: list[bytes]) -> list[Range]:
    """The ranges of lines in which two texts differ; a line that got or lost a comma is a range of its own."""
    changed = differences([line.replace(b",", b"") for line in old], [line.replace(b",", b"") for line in new], _LINES)
    found: list[Range] = []
    at = new_at = 0
    for first, last, new_first, new_last in [*changed, (len(old), len(old), len(new), len(new))]:
        alike = zip(range(at, first), range(new_at, new_first), strict=True)
        found += [(one, one + 1, other, other + 1) for one, other in alike if old[one] != new[other]]
        found.append((first, last, new_first, new_last))
        at, new_at = last, new_last
    return found
