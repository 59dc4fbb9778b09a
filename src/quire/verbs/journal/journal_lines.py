"""Lines that show parts of the journal to people and agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from quire.model.text import cut, one_line
from quire.verbs.verb import Lines, Recalled

_SHORT = 400
_ITEMS = (
    ("changedSections", "changed sections"),
    ("addedGotchas", "added gotchas"),
    ("removedGotchas", "removed gotchas"),
    ("addedNextSteps", "added next steps"),
    ("removedNextSteps", "removed next steps"),
    ("mergedGotchas", "merged gotchas"),
    ("mergedNextSteps", "merged next steps"),
)
_ONLY_IF_ANY = (("changedGotchas", "changed gotchas"), ("changedNextSteps", "changed next steps"))


def told(text: str, ref: str = "") -> Recalled:
    """A line that repeats what the journal holds."""
    return Recalled(text=text, ref=ref, origin="journal")


def for_people(text: str) -> Recalled:
    """A line that an agent does without."""
    return Recalled(text=text, origin="journal", is_news=False)


def short(text: str) -> str:
    """One line of a text that may be long."""
    return cut(one_line(text), _SHORT)


def listed(items: Iterable[str]) -> str:
    return ", ".join(items) or "none"


def source_state_text(source: SourceState) -> str:
    """How the last sync of a source went."""
    at = source.last_synced_at or "never"
    return f"status={source.last_sync_status} lastSyncedAt={at} imported={source.last_imported_count:g}"


def difference_lines(value: dict[str, Any], *, capital: bool = True) -> Iterator[Recalled]:
    """What changed between two states of the memory, item by item."""
    items = [(label, listed(value.get(key) or ())) for key, label in _ITEMS]
    items += [(label, listed(value[key])) for key, label in _ONLY_IF_ANY if value.get(key)]
    for label, names in items:
        yield told(f"- {label[0].upper() + label[1:] if capital else label}: {names}")


def planned_lines(planned: Iterable[FileChange]) -> Lines:
    """Each file that is written, or would be."""
    yield "Planned changes:"
    for item in planned:
        yield told(f"- {item.kind} {item.path}: {item.note}")


def file_diff_lines(files: Iterable[FileChange], heading: str = "File diffs:") -> Iterator[Recalled]:
    """How files change, line by line."""
    yield told("")
    yield told(heading)
    shown = [item.diff for item in files if item.diff]
    for diff in shown:
        yield told(diff.rstrip("\n"))
    if not shown:
        yield told("- none")


def cost_lines(cost_usd: float, provider: str) -> Iterator[str]:
    if cost_usd:
        yield f"Cost: ${cost_usd:.4f} ({provider})"


def as_word(value: bool) -> str:
    return "yes" if value else "no"


def prune_lines(prune: dict[str, Any], path: str, skipped: str) -> Lines:
    """What retention did in a cycle."""
    yield told(f"- prune attempted: {as_word(prune['attempted'])}")
    yield told(f"- archived events: {prune['archivedEventCount']}")
    yield told(f"- archived checkpoints: {prune['archivedCheckpointCount']}")
    yield told(f"- expired archive batches: {prune['expiredArchiveBatchCount']}")
    if prune["archiveBatchPath"]:
        yield told(f"{path}: {prune['archiveBatchPath']}")
    if prune["skippedReason"]:
        yield told(f"{skipped}: {prune['skippedReason']}")


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is written, or would be."""

    kind: str
    """CREATE, OVERWRITE, or PATCH where only a part of it is ours."""
    path: str
    note: str
    diff: str | None = None
    """Line by line, where it was asked for and something differs."""


class SourceState(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    type: str
    path: str
    last_synced_at: str | None
    last_sync_status: str
    last_sync_error: str | None
    last_imported_count: float
    exists: bool
    """Whether there is something at its path on this machine."""
    all_folders: bool = False
    """Whether sessions that ran in other folders count, too."""
