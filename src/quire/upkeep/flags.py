"""Which records read like orders to a model: worked out once for each text, and kept in the index."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from quire.index import Index
from quire.model import Record

_RULES = b"2"
"""Another number where the rules find other things."""

__all__ = ["flagged_records"]


def flagged_records(index: Index, records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """By ref, what a record's text tries; only of those that try anything."""
    names = {f"flags {record.ref}": record for record in records}
    known = index.memos(names)
    found: dict[str, tuple[str, ...]] = {}
    new: dict[str, bytes] = {}
    for name, record in names.items():
        text = f"{record.title}\n{record.text}"
        mark = hashlib.sha256(_RULES + text.encode("utf-8", "surrogatepass")).digest()[:16]
        memo = known.get(name, b"")
        if memo[:16] == mark:
            flags = tuple(memo[16:].decode().split())
        else:
            from quire.guard import find_instructions

            flags = tuple(find_instructions(text))
            new[name] = mark + " ".join(flags).encode()
        if flags:
            found[record.ref] = flags
    if new:
        index.note(new)
    return found
