"""What became of each id that was to be put away or brought back."""

from __future__ import annotations

from collections.abc import Iterator

from quire.layers.facts.archive import ArchiveOutcome
from quire.verbs.verb import Line, Recalled, Result


class ArchiveChanged(Result, kw_only=True):
    outcomes: list[ArchiveOutcome]
    changed: int
    dry_run: bool = False

    def is_incomplete(self) -> bool:
        return any(item.outcome in ("not found", "refused") for item in self.outcomes)


def outcome_lines(done: ArchiveChanged) -> Iterator[Line]:
    """One line for each id."""
    for item in done.outcomes:
        yield Recalled(text=f"{'Would be: ' if done.dry_run and item.done else ''}{item.message}")
