"""`memory journal remove`: remove a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from quire.layers.journal.sources import SourceRegistry, without_source
from quire.verbs.journal.options import DryRun
from quire.verbs.journal.source_registry import SourceChange, change_sources, no_such_source
from quire.verbs.verb import Arguments, Lines, Verb, Word

if TYPE_CHECKING:
    from quire.layers.journal.store import Journal
    from quire.layers.journal.types import SessionSource
    from quire.project import Project


class JournalRemove(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Word()]
    dry_run: DryRun = False


def remove(project: Project, given: JournalRemove) -> SourceChange:
    """Forget a source. What was imported from it stays."""

    def plan(journal: Journal) -> tuple[SessionSource, SourceRegistry]:
        source = journal.registry.find(given.name)
        if source is None:
            raise no_such_source(given.name, journal)
        return source, without_source(journal.registry, given.name)

    return change_sources(project, "remove a source", plan, removed=True, dry_run=given.dry_run)


def lines(done: SourceChange) -> Lines:
    said = "Would be removed" if done.dry_run else "Removed"
    yield f"{said}: source {done.source.id}. What was imported from it stays."


VERB = Verb(
    takes=JournalRemove, run=remove, lines=lines, writes=True, examples="Example:\n  memory journal remove codex\n"
)
