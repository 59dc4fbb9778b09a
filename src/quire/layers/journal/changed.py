"""Which parts of the journal differ between two versions of one of its files."""

from __future__ import annotations

import contextlib

from quire.layers.journal.bundle_diff import diff_bundles
from quire.layers.journal.documents import parse_document, read_state
from quire.layers.journal.events import read_history
from quire.layers.journal.layout import CHECKPOINTS, EVENTS, SECTION_KEYS, STATE
from quire.layers.journal.types import Bundle
from quire.model.errors import QuireError


def changed_parts(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Refs of sections, events and checkpoints that a changed file is about; `path` is below the journal."""
    if path == STATE:
        old, new = _bundle(before), _bundle(after)
        changed = diff_bundles(old, new).changed_sections if old and new else tuple(SECTION_KEYS)
        return [f"bundle:{name}" for name in changed]
    if path == EVENTS:
        lines = [{line.raw: line.event for line in read_history(data or b"").lines} for data in (before, after)]
        differing = [event for old, new in (lines, lines[::-1]) for raw, event in new.items() if raw not in old]
        return list(dict.fromkeys(f"event:{event.id}" for event in differing if event is not None))
    if path.startswith(f"{CHECKPOINTS}/") and path.endswith(".json"):
        return [f"checkpoint:{path.rpartition('/')[2].removesuffix('.json')}"]
    return []


def _bundle(data: bytes | None) -> Bundle:
    with contextlib.suppress(QuireError):
        return read_state(parse_document(data or b"", STATE)).bundle
    return {}
