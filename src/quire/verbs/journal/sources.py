"""`memory journal sources`, `… add`, `… remove`: list, register and forget the sources of sessions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

from quire.capture.transcripts.places import source_path
from quire.files.paths import is_text
from quire.guard.admission import refuse_secret
from quire.layers.journal.layout import ALL_FOLDERS, SOURCE_TYPES
from quire.layers.journal.sources import SourceRegistry, source_id, with_source, without_source
from quire.layers.journal.store import Journal
from quire.layers.journal.types import SessionSource
from quire.model import limits
from quire.model.errors import Conflict, InputError, NotFound, not_one_of
from quire.project import Project
from quire.verbs.journal.journal_lines import SourceState, source_text
from quire.verbs.journal.journal_state import journal_time, read_journal, source_state
from quire.verbs.journal.options import DryRun
from quire.verbs.journal.recorded_lines import source_state_text
from quire.verbs.journal.source_registry import SourceChange, agree_source, change_sources, no_such_source
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word


class JournalSources(Result, kw_only=True):
    sources: list[SourceState]


def sources(project: Project, given: Arguments) -> JournalSources:
    """List the sources, and how the last sync of each went."""
    return JournalSources(sources=[source_state(project, source) for source in read_journal(project).registry.sources])


def lines(found: JournalSources) -> Lines:
    yield from _lines(found, source_text)


def recorded_lines(found: JournalSources) -> Lines:
    yield from _lines(found, source_state_text)


def _lines(found: JournalSources, say: Callable[[SourceState], str]) -> Lines:
    for source in found.sources:
        notes = [("all folders", source.all_folders), ("not on this machine", not source.exists)]
        said = ", ".join(text for text, is_so in notes if is_so)
        yield f"- {source.id} ({source.type}) -> {source.path}{f' ({said})' if said else ''}"
        yield f"  {say(source)}"
    if not found.sources:
        yield "No sources. `memory journal add claude-local ~/.claude` registers one."


VERB = Verb(
    run=sources,
    lines=lines,
    recorded_lines=recorded_lines,
    examples="Example:\n  memory journal sources\n",
)


class JournalRemove(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Word()]
    dry_run: DryRun = False


def remove(project: Project, given: JournalRemove) -> SourceChange:
    """Remove a source. What was imported from it is kept."""

    def plan(journal: Journal) -> tuple[SessionSource, SourceRegistry]:
        source = journal.registry.find(given.name)
        if source is None:
            raise no_such_source(given.name, journal)
        return source, without_source(journal.registry, given.name)

    return change_sources(project, "remove a source", plan, removed=True, dry_run=given.dry_run)


def removed_lines(done: SourceChange) -> Lines:
    said = "Would remove" if done.dry_run else "Removed"
    yield f"{said}: source {done.source.id}. What was imported from it is kept."


REMOVE = Verb(
    takes=JournalRemove,
    run=remove,
    lines=removed_lines,
    writes=True,
    examples="Example:\n  memory journal remove codex\n",
)


class JournalAdd(Arguments, frozen=True, kw_only=True):
    source_type: Annotated[str, Word()]
    path: Annotated[str, Word(is_path=True)]
    name: Annotated[str | None, Option(metavar="ID", help="A name for the source.")] = None
    all_folders: Annotated[bool, Option(help="Import sessions of all projects, not only of this one.")] = False
    dry_run: DryRun = False


def add(project: Project, given: JournalAdd) -> SourceChange:
    """Register a place where an agent keeps its sessions.

    PATH is a folder, or one session's file. SOURCE_TYPE is claude-local, codex-local or another agent's; a wrong one
    prints the list. From a folder with sessions of many projects only those of this project are imported. Nothing is
    imported yet.
    """
    name = given.name or ""
    _check_names(given.source_type, name)
    place = source_path(given.path, cwd=project.world.cwd, home=project.world.home)
    _check_place(place, given.path)
    stored = _portable(project, place)
    wanted = source_id(given.source_type, place, name)
    for field, text in (("path", stored), ("name", name)):
        refuse_secret(text, field)

    def plan(journal: Journal) -> tuple[SessionSource, SourceRegistry]:
        if journal.registry.find(wanted) is not None:
            raise Conflict(
                f"The source `{wanted}` already exists.",
                hint="Give this one a name with --name, or remove the other with `memory journal remove`.",
                details={"id": wanted},
            )
        now = journal_time(project)
        extra = {ALL_FOLDERS: True} if given.all_folders else {}
        source = SessionSource(
            id=wanted, type=given.source_type, path=stored, created_at=now, updated_at=now, extra=extra
        )
        return source, with_source(journal.registry, source)

    done = change_sources(project, "add a source", plan, dry_run=given.dry_run)
    if not given.dry_run:
        agree_source(project, done.source.id)
    return done


def _check_names(kind: str, name: str) -> None:
    if kind not in SOURCE_TYPES:
        raise not_one_of(f"`{kind[:40]}` is not a source type.", "type", SOURCE_TYPES)
    if len(name) > limits.ID_CHARS:
        raise InputError(
            f"The name is {len(name):,} characters long; the limit is {limits.ID_CHARS}.",
            hint="Give it a shorter one.",
            details={"field": "name", "limit": limits.ID_CHARS},
        )


def _check_place(place: str, path: str) -> None:
    if not is_text(place):
        raise InputError("The path is not UTF-8 text.", hint="Rename the folder.", details={"field": "path"})
    if not os.path.exists(place):
        raise NotFound(
            f"There is nothing at `{path[:200]}`.",
            hint="Give the folder where the agent keeps its sessions, or one session's file.",
            details={"field": "path"},
        )


def _portable(project: Project, place: str) -> str:
    """A path as others can use it too: below the home folder as `~`, below the project relative."""
    home = project.world.home.rstrip("/")
    if place == project.root or place.startswith(project.root + "/"):
        return os.path.relpath(place, project.root)
    if home and (place == home or place.startswith(home + "/")):
        return "~" + place[len(home) :]
    return place


def added_lines(done: SourceChange) -> Lines:
    said = "Would add" if done.dry_run else "Added"
    yield f"{said}: source {done.source.id} ({done.source.type}) -> {done.source.path}"
    if not done.dry_run:
        yield f"`memory journal sync {done.source.id}` imports its sessions."


ADD = Verb(
    takes=JournalAdd,
    run=add,
    lines=added_lines,
    writes=True,
    examples="""Examples:
  memory journal add claude-local ~/.claude
  memory journal add codex-local ~/.codex --name codex
""",
)
