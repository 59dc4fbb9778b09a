"""The front door: a project's memory, opened once, asked and told through this one class.

Every surface calls only this. Methods share their names with the commands and the tools; each returns a
value that the surface prints. Rooms are loaded when a method needs them, so that a small command
stays a small process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
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
    Problem,
    QuireError,
    Verdict,
    limits,
    parse_ref,
)

if TYPE_CHECKING:
    from quire.index import Index, Progress, Written
    from quire.layers.graph import GraphSource, Inspected, Saved
    from quire.retrieval import Answer, Ask
    from quire.upkeep import (
        Background,
        Changes,
        ChangeSet,
        Checked,
        Initialized,
        Rebuilt,
        Reset,
        Status,
        Synced,
    )

Result = TypeVar("Result")
_EVERYTHING = 10_000

__all__ = ["Project"]


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

    def first_brief(self) -> str:
        """What to tell an agent that is to fill the memory, also before there is one."""
        from quire.upkeep import first_brief

        return first_brief(self.graph)

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

    def confirm(
        self, refs: list[str], *, reason: str | None = None, actor: Actor = "agent", dry_run: bool = False
    ) -> tuple[Saved, dict[str, Verdict]]:
        """Somebody looked, and these nodes are still true of the code; with the verdicts that they had before."""
        self.graph.config()
        from quire.layers.graph import node_record
        from quire.upkeep import Verdicts

        ids = [self._graph_id(ref) for ref in dict.fromkeys(refs)]
        # An unknown one is for the save to say, together with everything else that is wrong.
        nodes = [node for ref in ids if (node := self.graph.find_node(ref))]
        before = Verdicts(self.root, self.git)(list(map(node_record, nodes)))
        noted = {"reason": reason} if reason and reason.strip() else {}
        intent = {"task": "confirm after a look", "confirm": [{"id": ref, **noted} for ref in ids]}
        return self.save(intent, actor=actor, dry_run=dry_run), before

    def _graph_id(self, ref: str) -> str:
        parsed = parse_ref(ref)
        if parsed.layer != "graph":
            raise NotFound(
                f"`{ref}` belongs to the {parsed.layer} layer, which this memory does not hold.",
                hint="Graph refs look like feature.retry-queue.",
                details={"id": ref},
            )
        return parsed.id

    # -- keeping honest ---------------------------------------------------------------------

    def sync(self, *, dry_run: bool = False) -> tuple[Synced, list[Problem]]:
        """What changed in the code, and which nodes need a look; the marker moves on unless it is a dry run."""
        from quire.anchors import Look
        from quire.layers.graph import write_access
        from quire.upkeep import advance_marker, refresh_map, sync_memory

        self._settle()
        self.graph.config()
        looking = Look(self.root, self.git)
        try:
            found = self._with_index(lambda index: sync_memory(self.graph, self.git, index, looking))
        except BaseException:
            looking.differing()  # what was begun is ended
            raise
        problems: list[Problem] = []
        if not dry_run and found.head_commit:
            with write_access(self.graph, self.world, "sync"):
                advance_marker(self.graph, self.world, found.head_commit)
                found.marker_advanced = True
                _, problems = refresh_map(self.root, self.world, self._map())
        return found, problems

    # -- looking ----------------------------------------------------------------------------

    def inspect(self, ref: str) -> Inspected:
        """One node in full."""
        from quire.layers.graph import inspect_node, node_record
        from quire.upkeep import Verdicts

        self._settle()
        self.graph.config()
        found = inspect_node(self.graph, self._graph_id(ref))
        record = node_record(found.node)
        found.verdict = Verdicts(self.root, self.git)([record])[record.ref]
        return found

    def status(self) -> Status:
        from quire.upkeep import memory_status

        self._settle()
        self.graph.config()
        return self._with_index(lambda index: memory_status(self.graph, self.git, index))

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
        from quire.retrieval import Ask
        from quire.upkeep import Governor, inner_path

        self._settle()
        self.graph.config()
        if not question.strip() and path is None:
            raise InputError(
                "The question is empty.",
                hint='Ask something: memory query "why do retries run in the worker?"',
                details={"field": "question"},
            )
        asked = Ask(
            question=question[: limits.QUESTION_CHARS],
            budget=self._budget(budget),
            limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
            allowed=Filter(layers=layers, kinds=kinds, tags=tags),
            governs=Governor(self.root, [inner_path(self.root, self.world.cwd, path)]) if path is not None else None,
            about=f"what governs {path}" if path is not None else "",
            everything=everything,
        )
        return self._ask(asked)

    def brief(
        self,
        files: Sequence[str] = (),
        *,
        diff: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        limit: int = 20,
    ) -> tuple[ChangeSet, Answer]:
        """What governs the files of a change: those named, of a range of commits, of a branch, or not committed."""
        from quire.retrieval import Ask
        from quire.upkeep import ChangeSet, Governor, files_changed, inner_path

        self._settle()
        self.graph.config()
        if files:
            inner = [inner_path(self.root, self.world.cwd, file) for file in files]
            found = ChangeSet(", ".join(inner), inner)
        else:
            found = files_changed(self.git, diff=diff, branch=branch)
        asked = Ask(
            question="",
            budget=self._budget(budget),
            limit=limits.within(limit, "limit", 1, limits.RESULTS_MOST),
            governs=Governor(self.root, found.files),
            about=f"what governs {found.name}",
        )
        return found, self._ask(asked)

    def why(self, place: str, *, budget: int | None = None) -> tuple[Background, Answer]:
        """Why a file, or a line of it, is as it is: what governs it, who wrote it, what was saved with it."""
        from quire.retrieval import Ask
        from quire.upkeep import Governor, background_of, place_of

        self._settle()
        self.graph.config()
        path, line = place_of(self.root, self.world.cwd, place)
        asked = Ask(
            question="",
            budget=self._budget(budget),
            limit=_EVERYTHING,
            governs=Governor(self.root, [path], line=line),
            about=f"why {path}" + (f":{line}" if line else ""),
            everything=True,
        )
        found = self._with_index(lambda index: background_of(self.root, self.git, index, path, line))
        return found, self._ask(asked)

    def _budget(self, budget: int | None) -> int:
        tokens = self.graph.config().memory.default_token_budget if budget is None else budget
        return limits.within(tokens, "budget", limits.BUDGET_LEAST, limits.BUDGET_MOST)

    def _ask(self, asked: Ask) -> Answer:
        from quire.retrieval import ask
        from quire.upkeep import Verdicts

        def answer(index: Index) -> Answer:
            return ask(index, msgspec.structs.replace(asked, verify=Verdicts(self.root, self.git, index)))

        return self._with_index(answer)

    def rebuild(
        self, progress: Progress | None = None, *, semantic: str | None = None, taught: Progress | None = None
    ) -> Rebuilt:
        """Make the index from nothing; `progress` is told how far it is.

        With a folder in `semantic`, the documents are embedded with the full network in it; `taught` is told how far
        that is.
        """
        from quire.upkeep import rebuild_memory

        self._settle()
        self.graph.config()
        model = os.path.join(self.world.cwd, semantic) if semantic is not None else None
        return rebuild_memory(self.graph, self._source(), progress, semantic=model, taught=taught)

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

    def upgrade(self) -> str:
        """What to do about the storage version: nothing, when it is the right one."""
        config = self.graph.config()
        return f"Storage version {config.version} is current; there is nothing to upgrade."

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


def _as_warning(error: QuireError) -> Problem:
    return Problem(code=error.code, severity="warning", message=error.message, hint=error.hint)
