"""Keep removed entries on this machine for restore: `local/forgotten.jsonl`.

Nothing is written here: what the file is to hold next is planned as a change, for the transaction that changes the
document. Whoever applies it first makes sure of the folder with `ensure_local`: without its `.gitignore`, git would
see what someone wanted gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from quire.files.json_files import json_value
from quire.files.layout import LOCAL
from quire.files.local_files import LOCAL_BYTES, LocalFile, damaged_lines, read_local
from quire.files.transaction import FileUpdate, update_of
from quire.layers.profile.layout import FOLDER, FORGOTTEN
from quire.model.errors import InputError, StorageFailed
from quire.model.records import Problem

KEPT = 200
KEPT_BYTES = 4 * 1024 * 1024
_NAME = FORGOTTEN.removeprefix(f"{LOCAL}/")


class Incoming(msgspec.Struct, frozen=True, omit_defaults=True):
    """A link that led to the entry; the source is `category.key`."""

    source: str
    relation: str
    link: dict[str, Any] = {}
    """As it was stored, with what nobody knows about it."""


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was removed, with all that is needed to bring it back."""

    at: str
    category: str
    key: str
    fields: dict[str, Any]
    """As they were stored: every field, also those nobody knows."""
    incoming: tuple[Incoming, ...] = ()
    private: bool = False
    """Whether it stood in the document that is not shared."""


def encode(forgotten: Forgotten) -> bytes:
    """One line, with its end."""
    try:
        return msgspec.json.encode(forgotten) + b"\n"
    except UnicodeEncodeError:
        raise InputError(
            "The record holds a lone surrogate, which is not text: it could not be restored. Nothing was removed.",
            hint="Correct the record first.",
            details={"field": "fields"},
        ) from None


def read_forgotten(root: str, problems: list[Problem] | None = None) -> list[Forgotten]:
    """What can be restored, the oldest first. What is wrong with the file is added to `problems`."""
    found = read_local(root, FOLDER, _NAME)
    read = [json_value(line, Forgotten) for line in _lines(found.data)]
    damaged = read.count(None)
    if damaged:
        found = damaged_lines(found, damaged, "Correct or remove them; until then they are kept.")
    if problems is not None and found.problem is not None:
        problems.append(found.problem)
    return [item for item in read if item is not None]


def change_with(root: str, forgotten: Sequence[Forgotten]) -> FileUpdate:
    """The file with these added at the end."""
    found = _writable(root)
    return _change(found, _bounded(_lines(found.data), forgotten))


def sound_forgotten(data: bytes) -> bytes:
    """The lines that can be restored, as they stand."""
    return b"".join(line + b"\n" for line in _lines(data) if json_value(line, Forgotten) is not None)


def change_forgotten(
    root: str, forgotten: Sequence[Forgotten], restored: Sequence[Forgotten] = ()
) -> FileUpdate | None:
    """The file with what is forgotten now, and without what is restored: a transaction may name a file only once.

    None where there is nothing to do. Each of `restored` takes out one line that was there before.
    """
    found = read_local(root, FOLDER, _NAME)
    before = _lines(found.data)
    left = _without(before, restored)
    if not forgotten:
        return None if len(left) == len(before) else _change(found, left)
    return _change(_writable(root, found), _bounded(left, forgotten))


def _change(found: LocalFile, kept: Sequence[bytes]) -> FileUpdate:
    """The file's next bytes, and none of it where no line is left."""
    data = b"".join(line + b"\n" for line in kept) or None
    return update_of(FORGOTTEN, found.data, data)


def _without(kept: list[bytes], restored: Sequence[Forgotten]) -> list[bytes]:
    """The lines less one for each of these."""
    wanted = list(restored)
    left: list[bytes] = []
    for line in reversed(kept):
        item = json_value(line, Forgotten) if wanted else None
        if item is not None and item in wanted:
            wanted.remove(item)
        else:
            left.append(line)
    return left[::-1]


def _bounded(kept: list[bytes], forgotten: Sequence[Forgotten]) -> list[bytes]:
    """The lines with these at the end, and as many of the newest before them as there is room for.

    What is removed now is kept whole, however much it is: only what was removed earlier makes way.
    """
    added = [encode(item).removesuffix(b"\n") for item in forgotten]
    size = sum(len(line) + 1 for line in added)
    if size > LOCAL_BYTES:
        raise InputError(
            f"The text to remove has {size:,} bytes; up to {LOCAL_BYTES:,} can be kept for restoring it.",
            hint="Remove less at once. Nothing was removed.",
            details={"field": "key", "limit": LOCAL_BYTES},
        )
    start = len(kept)
    while start > 0 and len(kept) - start + len(added) < KEPT and size + len(kept[start - 1]) + 1 <= KEPT_BYTES:
        start -= 1
        size += len(kept[start]) + 1
    return kept[start:] + added


def _writable(root: str, found: LocalFile | None = None) -> LocalFile:
    """The file, if its next bytes can be known: nothing is replaced that could not be read."""
    found = found or read_local(root, FOLDER, _NAME)
    if found.problem is not None:
        raise StorageFailed(
            f"`{found.place}` cannot be used, and what is removed is kept there. Nothing was removed.",
            hint="Move it away, then run the command again.",
            details={"path": found.place},
        )
    return found


def _lines(data: bytes | None) -> list[bytes]:
    """The lines as they stand, also those that say nothing to us."""
    return [line for line in (data or b"").split(b"\n") if line and not line.isspace()]
