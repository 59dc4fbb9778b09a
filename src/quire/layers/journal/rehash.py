"""Recompute the digests of bundles after a purge, only where they were correct before."""

from __future__ import annotations

import json

from quire.files.jsonc_edit import set_member
from quire.layers.journal.canonical import content_hash


def rehash_bundle(before: bytes, after: bytes) -> bytes:
    """A state or a checkpoint: whatever holds a bundle and its digest."""
    try:
        was, now = json.loads(before), json.loads(after)
        if not isinstance(was, dict) or was.get("bundleHash") != content_hash(was["bundle"]):
            return after
        return set_member(after.decode("utf-8"), ["bundleHash"], content_hash(now["bundle"])).encode("utf-8")
    except (KeyError, TypeError, ValueError, RecursionError):
        return after
