"""Lines that the verbs of the automation share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.verbs.journal.shown import told
from quire.verbs.verb import Line


def as_word(value: bool) -> str:
    return "yes" if value else "no"


def prune_lines(prune: dict[str, Any], path: str, skipped: str) -> Iterator[Line]:
    """What retention did in a cycle."""
    yield told(f"- prune attempted: {as_word(prune['attempted'])}")
    yield told(f"- archived events: {prune['archivedEventCount']}")
    yield told(f"- archived checkpoints: {prune['archivedCheckpointCount']}")
    yield told(f"- expired archive batches: {prune['expiredArchiveBatchCount']}")
    if prune["archiveBatchPath"]:
        yield told(f"{path}: {prune['archiveBatchPath']}")
    if prune["skippedReason"]:
        yield told(f"{skipped}: {prune['skippedReason']}")
