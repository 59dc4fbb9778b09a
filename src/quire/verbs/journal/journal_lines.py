"""Lines that show parts of the journal to people and agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from quire.model.text import counted, cut, one_line
from quire.verbs.verb import Lines, Recalled

_SHORT = 400
_TOLD = (
    ("imported", "session imported", "sessions imported"),
    ("recalledEvents", "event recalled", "events recalled"),
    ("archivedEvents", "event archived", "events archived"),
    ("archivedCheckpoints", "checkpoint archived", "checkpoints archived"),
    ("expiredBatches", "batch expired", "batches expired"),
    ("failedSessions", "session failed", "sessions failed"),
    ("warnings", "warning", "warnings"),
)


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


def cycle_text(note: dict[str, Any]) -> str:
    """`recalled: 2 sessions imported, 3 events recalled`."""
    parts = [counted(note[name], one, many) for name, one, many in _TOLD if note.get(name)]
    parts += note.get("errors", [])
    if note.get("times", 1) > 1:
        parts.append(f"{note['times']} times since {note['startedAt']}")
    return f"{note['status']}{': ' if parts else ''}{', '.join(parts)}"


def source_text(source: SourceState) -> str:
    """How the last sync of a source went, in a sentence."""
    if source.last_sync_status == "failed":
        return f"The last sync failed: {source.last_sync_error or 'no reason was given'}"
    if source.last_synced_at is None:
        return "Never synced."
    return f"Imported {counted(int(source.last_imported_count), 'session')} at {source.last_synced_at}."


def archived_text(prune: dict[str, Any]) -> str:
    """What retention archived in a cycle; empty where it was nothing."""
    counts = ((prune["archivedEventCount"], "event"), (prune["archivedCheckpointCount"], "checkpoint"))
    said = " and ".join(counted(number, thing) for number, thing in counts if number)
    return f"Archived {said} in `{prune['archiveBatchPath']}`." if said else ""


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
