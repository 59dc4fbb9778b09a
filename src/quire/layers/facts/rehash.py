"""Recompute the digests of facts after a purge, only where they were correct before."""

from __future__ import annotations

from quire.files.jsonc_edit import set_member
from quire.layers.facts.lines import read_lines


def rehash_facts(before: bytes, after: bytes) -> bytes:
    """The file of facts, line by line."""
    if before.count(b"\n") != after.count(b"\n"):
        return after
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=True)
    return b"\n".join(now if was == now else _rehashed(was, now) for was, now in pairs)


def _rehashed(before: bytes, after: bytes) -> bytes:
    was, now = read_lines(before), read_lines(after)
    if len(was.facts) != 1 or len(now.facts) != 1 or was.problems:
        return after
    try:
        return set_member(after.decode("utf-8"), ["content_hash"], now.facts[0].content_hash).encode("utf-8")
    except ValueError:
        return after
