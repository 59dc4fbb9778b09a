"""Tell which records a person has reviewed, and note that one was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from quire.model.records import Record

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.upkeep.reviewed import Reviews


def reviews(project: Project, index: Index) -> Reviews:
    """Which of any records a person has reviewed as they are now."""
    from quire.upkeep.reviewed import Reviews

    return Reviews(project.root, project.git, index)


def note_reviewed(project: Project, refs: Iterable[str]) -> None:
    """Note that a person has looked at these records as they are now."""
    named = [ref for ref in refs if ref]
    found = project.with_index(lambda index: [index.find(ref) for ref in named]) if named else []
    note_records_reviewed(project, [record for record in found if record is not None])


def note_records_reviewed(project: Project, records: Sequence[Record]) -> None:
    """The same for records that are at hand, such as notes, which the index does not hold."""
    from quire.inbox.reviewed_records import note_reviewed, review_mark
    from quire.upkeep.reviewed import local_folder

    if records:
        note_reviewed(project.root, local_folder(project.root), map(review_mark, records), project.world.token())
