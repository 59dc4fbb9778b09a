"""List the files that a repair of the journal changes, before it runs."""

from __future__ import annotations

import os

from quire.files.paths import follow_inside
from quire.files.transaction import FileUpdate, update_of
from quire.layers.journal.bundles import entry_file
from quire.layers.journal.checks.findings import REPAIRS_IT
from quire.layers.journal.pages import earlier_entries, planned_pages
from quire.layers.journal.repair import JournalRepair
from quire.layers.journal.store import planned_changes
from quire.layers.journal.types import State
from quire.model.records import Problem

_PAGES = ("projection:", "entry:")
_EDITED = ":edited"
_SOURCES = "sources:missing"
_ITSELF = (
    "archive:expiry:",
    "automation:daemon:read",
    "automation:latest-run:read",
    "automation:lock:",
    "history:torn",
    "local:",
    "pages:due",
    "recovery:interrupted",
)


def repaired_files(repairing: JournalRepair) -> tuple[list[FileUpdate], list[FileUpdate]]:
    """The changes below the journal's folder, which are one transaction; and of the pages, below the project.

    Who writes the pages does so after the transaction, which leaves a note that they are due.
    """
    journal = repairing.journal
    if journal is None or not repairing.said:
        return [], []
    changes, _ = planned_changes(journal, repairing.writing)
    pages = _pages(journal.root, repairing.writing.state or journal.state) if repairing.writing.pages else []
    return changes, pages


def _pages(root: str, state: State) -> list[FileUpdate]:
    found = [_change(root, file.path, file.before, file.after) for file in planned_pages(root, state)]
    formerly = [entry_file(state.bundle)]
    found += [_change(root, name, before, rest) for name, before, rest in earlier_entries(root, state, formerly)]
    return [change for change in found if change is not None]


def _change(root: str, path: str, before: bytes | None, after: bytes) -> FileUpdate | None:
    """A file of the project's own; one that would hold nothing goes."""
    real = os.path.relpath(follow_inside(root, path), os.path.realpath(root)).replace(os.sep, "/")
    if before == after:
        return None
    return update_of(real, before, after if after.strip() else None)


def who_repairs_journal(finding: Problem, repairing: JournalRepair) -> str:
    """Who sets right what a check of the journal found: `repair`, `person` or `itself`."""
    if finding.code.startswith(_ITSELF):
        return "itself"
    is_named = REPAIRS_IT in (finding.hint or "") or finding.code.endswith(_EDITED)
    if not is_named or not repairing.said or repairing.journal is None:
        return "person"
    if finding.code == _SOURCES and repairing.writing.registry is None:
        return "person"
    if finding.code.startswith(_PAGES) and not repairing.writing.pages:
        return "person"
    return "repair"
