"""Create a store, or upgrade the existing one without losing anything."""

from __future__ import annotations

import os

import msgspec

from quire.files.git import Git
from quire.files.paths import storage_failed
from quire.files.world import World
from quire.layers.graph.create import create_store, planned_files, project_identity, refresh_schemas
from quire.layers.graph.layout import BACKUP, CONFIG, FOLDER
from quire.layers.graph.store import GraphStore
from quire.model.errors import InputError, InvalidConfig, InvalidStore, NotReady, QuireError
from quire.model.records import Problem
from quire.upkeep.guidance import GuidanceFile, brief_for
from quire.upkeep.ignore import ensure_ignored
from quire.upkeep.reset import backups, is_half_removed, reset_memory

_NO_TIME = "1970-01-01T00:00:00+00:00"

LOST = "The last commit holds a memory here that is missing from the working tree."


class Initialized(msgspec.Struct, kw_only=True):
    """What `init` did, or with `dry_run` would do."""

    created: bool
    dry_run: bool
    project: dict[str, str]
    files_created: list[str]
    gitignore_updated: bool
    git_available: bool
    index_built: bool = False
    """Whether there is an index already; the first question makes it otherwise."""
    guidance: list[GuidanceFile]
    backup_path: str | None
    brief: str
    warnings: list[Problem]


def initialize(
    store: GraphStore, git: Git, world: World, *, name: str | None, force: bool, dry_run: bool, declared: str = ""
) -> Initialized:
    """Create the store where there is none, or where `force` asks to begin anew; otherwise repair its schemas.

    `declared` is what the project's manifest calls it.
    """
    store.refuse_a_file()
    exists = store.exists() and not force
    if exists:
        project = _existing_identity(store, name)
    else:
        project_id, title = project_identity(store.root, name, declared)
        project = {"id": project_id, "name": title}
        _refuse_lost_store(store, git, force=force)
    clear = is_half_removed(store) or (force and os.path.isdir(store.folder))
    backup = None
    if clear:
        backup = f"{FOLDER}/{BACKUP}/…" if dry_run else reset_memory(store, world).backup_path
    if exists:
        files = [] if dry_run else refresh_schemas(store, world)
    else:
        planned = planned_files(store.root, name, _NO_TIME, declared)
        files = list(planned) if dry_run else create_store(store, world, name, declared)
    ignored, warnings = _ignore(store, git, world, dry_run=dry_run)
    return Initialized(
        created=not exists,
        dry_run=dry_run,
        project=project,
        files_created=[f"{FOLDER}/{path}" for path in files],
        gitignore_updated=ignored,
        git_available=git.available,
        guidance=[],
        backup_path=backup,
        brief=brief_for(project["id"]),
        warnings=warnings,
    )


def first_brief(store: GraphStore) -> str:
    """What to tell an agent that is to fill the memory, also before there is one."""
    try:
        return brief_for(store.config().project.id)
    except NotReady:
        return brief_for(project_identity(store.root, None)[0])


def _existing_identity(store: GraphStore, name: str | None) -> dict[str, str]:
    try:
        project = store.config().project
    except InvalidConfig as error:
        raise InvalidStore(error.message, hint=error.hint, details=error.details) from None
    if name and name != project.name:
        raise InputError(
            f"This memory is named `{project.name}` already.",
            hint=f"To rename it, save a new `title` for `{project.id}`.",
            details={"field": "name"},
        )
    return {"id": project.id, "name": project.name}


def _refuse_lost_store(store: GraphStore, git: Git, *, force: bool) -> None:
    """Where git still has a memory that is gone from the disk by accident, do not bury it under a new one."""
    command = "" if force else restoring_command(store, git)
    if command:
        raise InvalidStore(LOST, hint=f"Restore it with `{command}`, or start a new one with `memory init --force`.")


def restoring_command(store: GraphStore, git: Git) -> str:
    """What brings back a memory that the last commit holds, and the disk does not; empty where that is not so."""
    path = f"{FOLDER}/{CONFIG}"
    if not git.available or store.exists() or backups(store):
        return ""
    try:
        if not git.committed([path]):
            return ""
        # Where the deletion is staged, the index has nothing to bring back.
        return f"git restore {'' if git.staged([path]) else '--source=HEAD --staged --worktree '}{FOLDER}"
    except QuireError:
        return ""


def _ignore(store: GraphStore, git: Git, world: World, *, dry_run: bool) -> tuple[bool, list[Problem]]:
    if not git.available:
        return False, []
    try:
        return ensure_ignored(store.root, world, dry_run=dry_run), []
    except OSError as refusal:
        error: QuireError = storage_failed(refusal, "add to .gitignore", store.root)
    except QuireError as refused:
        error = refused
    return False, [Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)]
