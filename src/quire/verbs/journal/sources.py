"""Where sessions come from: `add`, `sources`, `remove`, and which of them may be read on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.layers.journal.layout import ALL_FOLDERS
from quire.model import limits
from quire.model.errors import Conflict, InputError, NotFound
from quire.project import Project
from quire.verbs.journal.journal_state import change_journal, journal_time, read_journal, source_place, source_state
from quire.verbs.journal.results import AddedSource, SourceState

if TYPE_CHECKING:
    from quire.layers.journal.store import Journal, Writing
    from quire.layers.journal.types import SessionSource


def journal_sources(project: Project) -> list[SourceState]:
    """The sources there are."""
    return [source_state(project, source) for source in read_journal(project).registry.sources]


def journal_add(
    project: Project, kind: str, path: str, *, name: str | None = None, all_folders: bool = False, dry_run: bool = False
) -> AddedSource:
    """Register a folder, or a file, that an agent keeps sessions in.

    Of a folder with the sessions of many projects, those of this one count; with `all_folders`, all of them.
    """
    from msgspec.structs import replace

    from quire.capture.transcripts.places import source_path
    from quire.files.paths import is_text
    from quire.guard.admission import refuse_secret
    from quire.layers.journal.layout import (
        SOURCE_TYPES,
    )
    from quire.layers.journal.sources import source_id, with_source
    from quire.layers.journal.state_changes import counted_maintenance
    from quire.layers.journal.store import Writing
    from quire.layers.journal.types import SessionSource

    if kind not in SOURCE_TYPES:
        raise InputError(
            f"`{kind[:40]}` is no type of source.",
            hint=f"It is one of {', '.join(SOURCE_TYPES)}.",
            details={"field": "type", "allowed": list(SOURCE_TYPES)},
        )
    if len(name or "") > limits.ID_CHARS:
        raise InputError(
            f"The name is {len(name or ''):,} characters long; the limit is {limits.ID_CHARS}.",
            hint="Give it a shorter one.",
            details={"field": "name", "limit": limits.ID_CHARS},
        )
    place = source_path(path, cwd=project.world.cwd, home=project.world.home)
    if not is_text(place):
        raise InputError("The path is not UTF-8 text.", hint="Rename the folder.", details={"field": "path"})
    if not os.path.exists(place):
        raise NotFound(
            f"There is nothing at `{path[:200]}`.",
            hint="Name the folder in which the agent keeps its sessions, or one session's file.",
            details={"field": "path"},
        )
    stored = _portable(project, place)
    wanted = source_id(kind, place, name or "")
    for field, text in (("path", stored), ("name", name or "")):
        refuse_secret(text, field)

    def plan(journal: Journal) -> tuple[AddedSource, Writing | None]:
        if journal.registry.find(wanted) is not None:
            raise Conflict(
                f"There is a source `{wanted}` already.",
                hint="Give this one a name with --name, or remove the other with `memory journal remove`.",
                details={"id": wanted},
            )
        now = journal_time(project)
        extra = {ALL_FOLDERS: True} if all_folders else {}
        source = SessionSource(id=wanted, type=kind, path=stored, created_at=now, updated_at=now, extra=extra)
        registry = with_source(journal.registry, source)
        maintenance = replace(counted_maintenance(journal), import_source_count=len(registry.entries))
        added = AddedSource(source=source_state(project, source), sources=len(registry.sources), dry_run=dry_run)
        writing = Writing(registry=registry, state=replace(journal.state, maintenance=maintenance))
        return added, None if dry_run else writing

    if dry_run:
        return plan(read_journal(project))[0]
    added = _changed(project, "add a source", plan)
    agree_source(project, added.source.id)
    return added


def agree_source(project: Project, name: str) -> None:
    """Whoever names a source on this machine agrees to have it read."""
    from quire.capture.trusted_sources import agree_to
    from quire.layers.journal.store import load_sources

    source = load_sources(project.root)[0].find(name)
    if source is not None and not source_is_agreed(project, source):
        agree_to(project.root, source, project.world)


def source_is_agreed(project: Project, source: SessionSource) -> bool:
    from quire.capture.trusted_sources import is_agreed

    return is_agreed(project.root, source, source_place(project, source) or source.path, project.world)


def journal_remove(project: Project, name: str, *, dry_run: bool = False) -> AddedSource:
    """Forget a source. What was imported from it stays."""
    from msgspec.structs import replace

    from quire.layers.journal.sources import without_source
    from quire.layers.journal.state_changes import counted_maintenance
    from quire.layers.journal.store import Writing

    def plan(journal: Journal) -> tuple[AddedSource, Writing | None]:
        source = journal.registry.find(name)
        if source is None:
            raise no_such_source(name, journal)
        registry = without_source(journal.registry, name)
        maintenance = replace(counted_maintenance(journal), import_source_count=len(registry.entries))
        done = AddedSource(
            source=source_state(project, source), sources=len(registry.sources), removed=True, dry_run=dry_run
        )
        writing = Writing(registry=registry, state=replace(journal.state, maintenance=maintenance))
        return done, None if dry_run else writing

    return plan(read_journal(project))[0] if dry_run else _changed(project, "remove a source", plan)


def _changed(
    project: Project, operation: str, plan: Callable[[Journal], tuple[AddedSource, Writing | None]]
) -> AddedSource:
    read_journal(project)
    return change_journal(project, operation, plan)


def _portable(project: Project, place: str) -> str:
    """A path as others can use it too: below the home folder as `~`, below the project relative."""
    home = project.world.home.rstrip("/")
    if place == project.root or place.startswith(project.root + "/"):
        return os.path.relpath(place, project.root)
    if home and (place == home or place.startswith(home + "/")):
        return "~" + place[len(home) :]
    return place


def no_such_source(name: str, journal: Journal) -> NotFound:
    known = ", ".join(source.id for source in journal.registry.sources)
    return NotFound(
        f"There is no source `{name[:80]}`.",
        hint=f"There is {known}." if known else "`memory journal add` registers one.",
        details={"id": name[:80]},
    )
