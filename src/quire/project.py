"""The front door: a project's memory, opened once, asked and told through this one class.

Every surface calls only this. Methods share their names with the commands and the tools; each returns a
value that the surface prints. Rooms are loaded when a method needs them, so that a small command
stays a small process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files import Git, World, find_root, real_world
from quire.layers.graph import GraphStore, StoredNode, StoredRelation
from quire.layers.graph.layout import BACKUP, CONFIG, FOLDER, INDEX
from quire.model import (
    Actor,
    InputError,
    InvalidStore,
    NotFound,
    NotInitialized,
    NotReady,
    Problem,
    QuireError,
    parse_ref,
)

if TYPE_CHECKING:
    from quire.index import Index, Written
    from quire.layers.graph import GraphSource, Saved
    from quire.upkeep import Changes, Checked, Registered, Reset, Status, Target

__all__ = ["Initialized", "Inspected", "Project", "ProjectRow"]


class Initialized(msgspec.Struct, kw_only=True):
    """What `init` did, or with `dry_run` would do."""

    created: bool
    dry_run: bool
    project: dict[str, str]
    files_created: list[str]
    gitignore_updated: bool
    git_available: bool
    guidance: list[Target]
    backup_path: str | None
    brief: str
    warnings: list[Problem]


class Inspected(msgspec.Struct, kw_only=True):
    """One node in full, with the relations that touch it."""

    node: StoredNode
    outgoing: list[StoredRelation]
    incoming: list[StoredRelation]


class ProjectRow(msgspec.Struct, kw_only=True):
    """One line of `status --all`: a registered project and its state, or why it has none."""

    entry: Registered
    status: Status | None
    error: QuireError | None


class Project:
    """One project as seen from a folder of it."""

    def __init__(self, root: str, world: World) -> None:
        self.root = root
        self.world = world
        self.git = Git(root, world.env)
        self.graph = GraphStore(root)

    @classmethod
    def open(cls, start: str | None = None, world: World | None = None) -> Project:
        """The project that holds `start`, or the current folder."""
        world = world or real_world()
        where = os.path.join(world.cwd, start) if start else world.cwd
        return cls(find_root(where, f"{FOLDER}/{CONFIG}"), world)

    # -- init -------------------------------------------------------------------------------

    def init(
        self, *, name: str | None = None, force: bool = False, guidance: bool = True, dry_run: bool = False
    ) -> Initialized:
        """Create the memory where there is none; bring guidance, map and schemas up to date where there is one."""
        from quire.layers.graph import create_store, planned_files, project_identity, refresh_schemas
        from quire.upkeep import ensure_ignored, install_guidance

        if not force:
            self._settle()
        warnings: list[Problem] = []
        backup: str | None = None
        exists = self.graph.exists()
        if force and os.path.isdir(self.graph.folder):
            backup = self._clear(dry_run=dry_run)
            exists = False
        if exists:
            config = self.graph.config()
            project = {"id": config.project.id, "name": config.project.name}
            if name and name != config.project.name:
                raise InputError(
                    f"This memory is named `{config.project.name}` already.",
                    hint=f"To retitle its node, save a new `title` for `{config.project.id}`.",
                    details={"field": "name"},
                )
            created = [] if dry_run else [f"{FOLDER}/{path}" for path in refresh_schemas(self.graph, self.world)]
        else:
            self._refuse_lost_store(force=force)
            project_id, title = project_identity(self.root, name)
            project = {"id": project_id, "name": title}
            if dry_run:
                files = list(planned_files(self.root, name, "1970-01-01T00:00:00+00:00"))
            else:
                files = create_store(self.graph, self.world, name)
            created = [f"{FOLDER}/{path}" for path in files]
        try:
            ignored = self.git.available and ensure_ignored(self.root, self.world, dry_run=dry_run)
        except QuireError as error:
            ignored = False
            warnings.append(_as_warning(error))
        targets: list[Target] = []
        if guidance:
            map_text = self._map() if not (dry_run and not exists) else "…"
            targets, problems = install_guidance(self.root, self.world, map_text, dry_run=dry_run)
            warnings += problems
        if not dry_run:
            warnings += self._register()
        return Initialized(
            created=not exists,
            dry_run=dry_run,
            project=project,
            files_created=created,
            gitignore_updated=ignored,
            git_available=self.git.available,
            guidance=targets,
            backup_path=backup,
            brief=self.brief_for(project["id"]),
            warnings=warnings,
        )

    @staticmethod
    def brief_for(project_id: str) -> str:
        """The indexing brief for an agent."""
        from quire.upkeep import BRIEF

        return BRIEF % {"project_id": project_id}

    def brief(self) -> str:
        """The indexing brief, also before there is a memory."""
        from quire.layers.graph import project_identity

        try:
            return self.brief_for(self.graph.config().project.id)
        except NotReady:
            return self.brief_for(project_identity(self.root, None)[0])

    def _clear(self, *, dry_run: bool) -> str | None:
        """`--force`: what is there is archived, never thrown away."""
        from quire.upkeep import reset_memory

        return f"{FOLDER}/{BACKUP}/…" if dry_run else reset_memory(self.graph, self.world).backup_path

    def _refuse_lost_store(self, *, force: bool) -> None:
        """Where git still has a memory that is gone from the disk by accident, do not bury it under a new one."""
        from quire.upkeep import backups

        if force or not self.git.available or backups(self.graph):
            return
        try:
            lost = self.git.committed([f"{FOLDER}/{CONFIG}"])
        except QuireError:
            return
        if lost:
            raise InvalidStore(
                "The last commit holds a memory here that is missing from the working tree.",
                hint=f"Bring it back with `git restore {FOLDER}`, or start a new one with `memory init --force`.",
            )

    # -- save -------------------------------------------------------------------------------

    def save(
        self,
        intent: bytes | dict[str, Any],
        *,
        source: str = "the input",
        actor: Actor = "agent",
        dry_run: bool = False,
    ) -> Saved:
        """Carry out a save intent, as JSON or decoded: all of it, or nothing and every reason why."""
        from quire.layers.graph import parse_intent, save_intent

        self._settle()
        self.graph.config()
        value = parse_intent(intent, source) if isinstance(intent, bytes) else intent
        files = self._source()
        before = files.folder_stamps()
        saved = save_intent(self.graph, self.world, self.git, value, actor=actor, dry_run=dry_run)
        if saved.changed and not dry_run:
            from quire.index import Written

            written = Written(before, files.indexed_files(saved.files_changed))
            saved.warnings += self._after_save(written, saved.files_changed)
        return saved

    def _after_save(self, written: Written, files: list[str]) -> list[Problem]:
        """Take the change over into the index and the map. The save stands even if this fails."""
        from quire.upkeep import refresh_map

        try:
            with self._index(written) as index:
                refreshed, problems = refresh_map(self.root, self.world, self._render(index))
                files += refreshed
                return problems
        except (QuireError, OSError) as error:
            return [
                Problem(
                    code="ProductMapNotRefreshed",
                    severity="warning",
                    message=f"The save is complete, but the product map could not be refreshed: {error}.",
                    hint="Run `memory init` when the cause is mended.",
                )
            ]

    # -- looking ----------------------------------------------------------------------------

    def inspect(self, ref: str) -> Inspected:
        """One node in full."""
        self._settle()
        self.graph.config()
        parsed = parse_ref(ref)
        if parsed.layer != "graph":
            raise NotFound(
                f"`{ref}` belongs to the {parsed.layer} layer, which this memory does not hold.",
                hint="Graph refs look like feature.retry-queue.",
                details={"id": ref},
            )
        stored = self.graph.find_node(parsed.id) or self._found_elsewhere(parsed.id)
        if stored is None:
            similar = self.graph.similar_ids(parsed.id)
            gone = self.graph.deletion_of(parsed.id)
            hint = f"Did you mean {' or '.join(similar)}?" if similar else "`memory status` lists what there is."
            if gone is not None:
                hint = f"It was deleted on {gone.timestamp[:10]}: {gone.reason or 'no reason given'}."
            raise NotFound(f"`{ref}` is not in the memory.", hint=hint, details={"id": ref, "similar": similar})
        touching = sorted(self.graph.relations_touching(parsed.id), key=lambda item: item.relation.id)
        return Inspected(
            node=stored,
            outgoing=[item for item in touching if item.relation.source == parsed.id],
            incoming=[item for item in touching if item.relation.source != parsed.id],
        )

    def _found_elsewhere(self, node_id: str) -> StoredNode | None:
        """A node whose file does not have the name its id asks for."""
        stored = (self.graph.read_node(path) for path in self.graph.node_paths())
        return next((found for found in stored if isinstance(found, StoredNode) and found.node.id == node_id), None)

    def status(self) -> Status:
        from quire.upkeep import memory_status

        self._settle()
        self.graph.config()
        with self._index() as index:
            return memory_status(self.graph, self.git, index)

    def status_all(self) -> list[ProjectRow]:
        """Every registered project, the most recently active first."""
        rows = []
        for entry in self.projects():
            try:
                other = Project(entry.project_root, self.world)
                rows.append(ProjectRow(entry=entry, status=other.status(), error=None))
            except QuireError as error:
                rows.append(ProjectRow(entry=entry, status=None, error=error))
        return sorted(rows, key=lambda row: (row.status.last_activity or "") if row.status else "", reverse=True)

    def check(self) -> Checked:
        from quire.upkeep import check_memory

        self._settle()
        if not os.path.isdir(self.graph.folder) or not os.listdir(self.graph.folder):
            self.graph.config()
        with self._index() as index:
            return check_memory(self.graph, self.git, index)

    def diff(self) -> Changes:
        """What differs from the last commit: staged, unstaged and untracked."""
        from quire.upkeep import uncommitted_changes

        self._settle()
        return uncommitted_changes(self.git)

    # -- starting over ----------------------------------------------------------------------

    def reset(self, *, destroy: bool = False) -> Reset:
        from quire.upkeep import Registry, reset_memory

        done = reset_memory(self.graph, self.world, destroy=destroy)
        with contextlib.suppress(QuireError):
            Registry(self.world).remove(self.root)
        return done

    def reset_all(self, *, destroy: bool = False) -> tuple[list[Reset], list[tuple[str, QuireError]]]:
        """Reset every registered project; those that could not be, with the reason."""
        done: list[Reset] = []
        failed: list[tuple[str, QuireError]] = []
        for entry in self.projects():
            try:
                done.append(Project(entry.project_root, self.world).reset(destroy=destroy))
            except QuireError as error:
                failed.append((entry.project_root, error))
        return done, failed

    def upgrade(self) -> str:
        """What to do about the storage version: nothing, when it is the right one."""
        config = self.graph.config()
        return f"Storage version {config.version} is current; there is nothing to upgrade."

    # -- projects ---------------------------------------------------------------------------

    def projects(self) -> list[Registered]:
        from quire.upkeep import Registry

        return Registry(self.world).projects()

    def projects_add(self) -> Registered:
        from quire.upkeep import Registry

        return Registry(self.world).add(self.root)

    def projects_remove(self, name: str) -> Registered:
        from quire.upkeep import Registry

        return Registry(self.world).remove(name)

    def projects_prune(self) -> list[Registered]:
        from quire.upkeep import Registry

        return Registry(self.world).prune()

    def _register(self) -> list[Problem]:
        """Note the project for the commands that look across repositories; a failure is a warning."""
        from quire.upkeep import Registry

        try:
            Registry(self.world).add(self.root, source="auto")
        except QuireError as error:
            return [_as_warning(error)]
        return []

    # -- the rooms behind -------------------------------------------------------------------

    def _settle(self) -> None:
        """Complete what a dead writer left; of storage of another version nothing is read or written."""
        from quire.layers.graph import settle

        # A configuration that is missing or damaged is for each command to judge.
        with contextlib.suppress(InvalidStore, NotInitialized):
            self.graph.config()
        settle(self.graph, self.world)

    def _source(self) -> GraphSource:
        from quire.layers.graph import GraphSource

        return GraphSource(self.graph)

    @contextlib.contextmanager
    def _index(self, written: Written | None = None) -> Iterator[Index]:
        from quire.index import open_index

        index = open_index(os.path.join(self.graph.folder, INDEX), [self._source()], written)
        try:
            yield index
        finally:
            index.close()

    def _render(self, index: Index) -> str:
        from quire.upkeep import render_map

        return render_map(index, self.root, self.git)

    def _map(self) -> str:
        with self._index() as index:
            return self._render(index)


def _as_warning(error: QuireError) -> Problem:
    return Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)
