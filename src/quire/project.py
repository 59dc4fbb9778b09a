"""The front door: a project's memory, opened once, asked and told through this one class.

Every surface calls only this. Methods share their names with the commands and the tools; each returns a
value that the surface prints. Rooms are loaded when a method needs them, so that a small command
stays a small process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from quire.files import Git, World, find_root, real_world
from quire.layers.graph import GraphStore
from quire.layers.graph.layout import CONFIG, FOLDER, INDEX, NODES
from quire.model import (
    Actor,
    InputError,
    InvalidStore,
    NotFound,
    NotInitialized,
    NotReady,
    Problem,
    QuireError,
    Record,
    anchor_fault,
    limits,
    parse_ref,
)

if TYPE_CHECKING:
    from quire.index import Index, Progress, Written
    from quire.layers.graph import GraphSource, Inspected, Saved
    from quire.retrieval import Answer
    from quire.upkeep import Changes, Checked, Initialized, Registered, Reset, Status

Result = TypeVar("Result")

__all__ = ["Project", "ProjectRow", "Rebuilt"]


class Rebuilt(msgspec.Struct, kw_only=True):
    """What the new index holds, and the files that it could not read."""

    records: int
    edges: int
    vectors: dict[str, int]
    """How many passages have a vector in which space."""
    unreadable: list[str]


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
        from quire.upkeep import initialize

        if not force:
            self._settle()
        done = initialize(self.graph, self.git, self.world, name=name, force=force, dry_run=dry_run)
        if guidance:
            self._install_guidance(done)
        if not dry_run:
            done.warnings += self._register()
        return done

    def _install_guidance(self, done: Initialized) -> None:
        from quire.upkeep import install_guidance

        map_text = "…" if done.dry_run and done.created else self._map()
        done.guidance, problems = install_guidance(self.root, self.world, map_text, dry_run=done.dry_run)
        done.warnings += problems

    def brief(self) -> str:
        """The indexing brief for an agent, also before there is a memory."""
        from quire.layers.graph import project_identity
        from quire.upkeep import brief_for

        try:
            return brief_for(self.graph.config().project.id)
        except NotReady:
            return brief_for(project_identity(self.root, None)[0])

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
        if not dry_run:
            from quire.index import Written

            # Also when nothing changed: an earlier save may have died before it came this far.
            written = Written(before, files.indexed_files(saved.files_changed))
            saved.warnings += self._after_save(written, saved.files_changed)
        return saved

    def _after_save(self, written: Written, files: list[str]) -> list[Problem]:
        """Take the change over into the index and the map. The save stands even if this fails."""
        from quire.layers.graph import write_access
        from quire.upkeep import refresh_map

        try:
            # Under the lock again: a map that was rendered earlier must not replace a newer one.
            with write_access(self.graph, self.world, "refresh the map"):
                refreshed, problems = refresh_map(self.root, self.world, self._map(written))
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
        from quire.layers.graph import inspect_node

        self._settle()
        self.graph.config()
        parsed = parse_ref(ref)
        if parsed.layer != "graph":
            raise NotFound(
                f"`{ref}` belongs to the {parsed.layer} layer, which this memory does not hold.",
                hint="Graph refs look like feature.retry-queue.",
                details={"id": ref},
            )
        return inspect_node(self.graph, parsed.id)

    def status(self) -> Status:
        from quire.upkeep import memory_status

        self._settle()
        self.graph.config()
        return self._with_index(lambda index: memory_status(self.graph, self.git, index))

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

    def query(
        self,
        question: str,
        *,
        budget: int | None = None,
        limit: int = 10,
        kinds: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        layers: tuple[str, ...] = (),
        path: str | None = None,
        everything: bool = False,
    ) -> Answer:
        """What the memory knows about a question, or about a file, within a budget of tokens."""
        from quire.index import Filter
        from quire.retrieval import Ask, ask

        self._settle()
        config = self.graph.config()
        if not question.strip() and path is None:
            raise InputError(
                "The question is empty.",
                hint='Ask something: memory query "why do retries run in the worker?"',
                details={"field": "question"},
            )
        tokens = config.memory.default_token_budget if budget is None else budget
        asked = Ask(
            question=question[: limits.QUESTION_CHARS],
            budget=_within(tokens, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST),
            limit=_within(limit, "limit", 1, limits.RESULTS_MOST),
            allowed=Filter(layers=layers, kinds=kinds, tags=tags),
            governs=self._governing(path) if path is not None else None,
            about=f"what governs {path}" if path is not None else "",
            everything=everything,
        )
        return self._with_index(lambda index: ask(index, asked))

    def _governing(self, path: str) -> Callable[[Record], float]:
        """How closely a record's anchors cover a file, named from where we stand, from the root, or in full."""
        from quire.upkeep import closeness

        here = os.path.normpath(os.path.join(self.world.cwd, path))
        at_root = os.path.normpath(os.path.join(self.root, path))
        full = at_root if os.path.lexists(at_root) and not os.path.lexists(here) else here
        relative = os.path.relpath(full, self.root)
        fault = anchor_fault(relative)
        if fault:
            raise InputError(f"`{path}` {fault}.", hint="Name a file of this project.", details={"field": "path"})
        return lambda record: max((closeness(anchor, relative) for anchor in record.anchors), default=0.0)

    def rebuild(
        self, progress: Progress | None = None, *, semantic: str | None = None, taught: Progress | None = None
    ) -> Rebuilt:
        """Make the index from nothing; `progress` is told how far it is.

        With a folder in `semantic`, the documents are embedded with the full network in it; `taught` is told how far
        that is.
        """
        from quire.index import rebuild_index

        self._settle()
        self.graph.config()
        model = os.path.join(self.world.cwd, semantic) if semantic is not None else None
        folder = os.path.join(self.graph.folder, INDEX)
        index = rebuild_index(folder, [self._source()], progress, semantic=model, taught=taught)
        try:
            problems = [f"{FOLDER}/{path}" for _, path, _, _ in index.problems()]
            return Rebuilt(
                records=sum(index.counts("graph").values()),
                edges=index.edge_count("graph"),
                vectors=index.spaces(),
                unreadable=problems,
            )
        finally:
            index.close()

    def check(self) -> Checked:
        from quire.upkeep import check_memory

        self._settle()
        if not self.graph.exists() and not os.path.isdir(os.path.join(self.graph.folder, NODES)):
            self.graph.config()
        return self._with_index(lambda index: check_memory(self.graph, self.git, index))

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

    def _with_index(self, work: Callable[[Index], Result], written: Written | None = None) -> Result:
        from quire.index import with_index

        return with_index(os.path.join(self.graph.folder, INDEX), [self._source()], work, written)

    def _map(self, written: Written | None = None) -> str:
        from quire.upkeep import render_map

        return self._with_index(lambda index: render_map(index, self.root, self.git), written)


def _within(number: int, name: str, least: int, most: int) -> int:
    if not least <= number <= most:
        raise InputError(
            f"The {name} must be a whole number from {least} to {most:,}, not {number}.",
            hint=f"Leave --{name} out for the usual one.",
            details={"field": name, "minimum": least, "maximum": most},
        )
    return number


def _as_warning(error: QuireError) -> Problem:
    return Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)
