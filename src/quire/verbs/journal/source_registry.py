"""List and change the sources of sessions, and say which may be read on this machine."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from quire.layers.journal.sources import SourceRegistry
from quire.layers.journal.store import Journal, Writing, load_sources
from quire.layers.journal.types import SessionSource
from quire.model.errors import NotFound
from quire.project import Project
from quire.verbs.journal.journal_lines import SourceState
from quire.verbs.journal.journal_state import change_journal, read_journal, source_place, source_state
from quire.verbs.verb import Result


class SourceChange(Result, kw_only=True):
    """A source that was added or removed, or would be."""

    source: SourceState
    sources: int
    removed: bool = False
    dry_run: bool = False


def change_sources(
    project: Project,
    operation: str,
    plan: Callable[[Journal], tuple[SessionSource, SourceRegistry]],
    *,
    removed: bool = False,
    dry_run: bool = False,
) -> SourceChange:
    """Write the registry that `plan` gives, with the source that differs in it."""
    from quire.layers.journal.state_changes import counted_maintenance

    def planned(journal: Journal) -> tuple[SourceChange, Writing | None]:
        source, registry = plan(journal)
        maintenance = replace(counted_maintenance(journal), import_source_count=len(registry.entries))
        change = SourceChange(
            source=source_state(project, source), sources=len(registry.sources), removed=removed, dry_run=dry_run
        )
        return change, Writing(registry=registry, state=replace(journal.state, maintenance=maintenance))

    journal = read_journal(project)
    return planned(journal)[0] if dry_run else change_journal(project, operation, planned)


def agree_source(project: Project, name: str) -> None:
    """Whoever names a source on this machine agrees to have it read."""
    from quire.capture.trusted_sources import agree_to

    source = load_sources(project.root)[0].find(name)
    if source is not None and not source_is_agreed(project, source):
        agree_to(project.root, source, project.world)


def source_is_agreed(project: Project, source: SessionSource) -> bool:
    from quire.capture.trusted_sources import is_agreed

    return is_agreed(project.root, source, source_place(project, source) or source.path, project.world)


def no_such_source(name: str, journal: Journal) -> NotFound:
    known = ", ".join(source.id for source in journal.registry.sources)
    return NotFound(
        f"There is no source `{name[:80]}`.",
        hint=f"There is {known}." if known else "`memory journal add` registers one.",
        details={"id": name[:80]},
    )
