"""`memory reset`: archive the memory and remove it, here or in every project of this machine."""

from __future__ import annotations

import contextlib
import shlex
from typing import Annotated, Any

from quire.model.errors import QuireError, UsageError
from quire.project import Project
from quire.upkeep.projects import ProjectRegistry
from quire.upkeep.reset import MemoryReset, reset_memory
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb


class Reset(Arguments, frozen=True, kw_only=True):
    everywhere: Annotated[bool, Option(name="--all", help="Reset every registered project.")] = False
    destroy: Annotated[bool, Option(help="Keep no archive and remove earlier ones. This cannot be undone.")] = False
    yes: Annotated[bool, Option(help="Do not ask.")] = False
    dry_run: Annotated[bool, Option(help="Show what would be removed, remove nothing.")] = False


class ResetPlanned(Result, kw_only=True):
    dry_run: bool = True
    project_roots: list[str]
    destroy: bool


class ProjectReset(Result, kw_only=True):
    done: MemoryReset

    def fields(self) -> MemoryReset:
        return self.done


class AllReset(Result, kw_only=True):
    done: list[MemoryReset] = []
    failed: list[tuple[str, QuireError]] = []

    def fields(self) -> dict[str, Any]:
        failed = [{"project_root": root, "code": error.code, "message": error.message} for root, error in self.failed]
        return {"projects_reset": self.done, "projects_failed": failed}

    def about(self, _project: Project | None) -> None:
        return None


def reset(project: Project, given: Reset) -> ResetPlanned | ProjectReset | AllReset:
    """Archive the memory into .memory/.backup/ and remove it, so that `memory init` can start over.

    Also removes the guidance and map sections from AGENTS.md and CLAUDE.md. The profile, the journal, lines in
    .gitignore and the connections of agents stay, and are listed. A later `memory init`, also with --force, never
    removes an archive.
    """
    roots = roots_to_reset(project, given)
    if given.dry_run:
        return ResetPlanned(project_roots=roots, destroy=given.destroy)
    if not given.yes:
        raise UsageError(
            "A reset asks before it removes anything, and this is not a terminal.",
            hint="Repeat the command with --yes.",
        )
    if not given.everywhere:
        return ProjectReset(done=reset_project(project, destroy=given.destroy))
    every = AllReset()
    for root in roots:
        try:
            every.done.append(reset_project(Project(root, project.world), destroy=given.destroy))
        except QuireError as error:
            every.failed.append((root, error))
    return every


def roots_to_reset(project: Project, given: Reset) -> list[str]:
    """The folders of the projects that a reset would take."""
    if not given.everywhere:
        return [project.root]
    return [entry.project_root for entry in ProjectRegistry(project.world).known_projects()]


def reset_project(project: Project, *, destroy: bool = False) -> MemoryReset:
    """Archive the memory of a project and remove it; with `destroy`, keep no archive."""
    done = reset_memory(project.graph, project.world, destroy=destroy)
    with contextlib.suppress(QuireError):
        ProjectRegistry(project.world).remove(project.root)
    return done


def lines(result: ResetPlanned | ProjectReset | AllReset) -> Lines:
    if isinstance(result, ResetPlanned):
        yield "Would reset: " + (", ".join(result.project_roots) or "nothing")
    elif isinstance(result, ProjectReset):
        yield from _reset_lines(result.done)
    else:
        for done in result.done:
            yield from _reset_lines(done)
        for root, error in result.failed:
            yield f"Could not reset {root}: {error.message}"


def _reset_lines(done: MemoryReset) -> Lines:
    if not done.entries_removed:
        yield f"There was no memory in {done.project_root}"
    elif done.backup_path:
        yield f"Reset {done.project_root}; archived in {done.backup_path}"
        yield f"  To undo: cd {shlex.quote(done.project_root)} && tar -xzf {shlex.quote(done.backup_path)}"
    else:
        yield f"Deleted the memory in {done.project_root}"
    if done.left:
        yield f"  Not changed: {', '.join(done.left)}"
    if done.wired:
        yield "  To disconnect your agents: memory init && memory integrate --remove && memory reset"


VERB = Verb(
    takes=Reset,
    run=reset,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory reset                  asks, archives, removes; prints how to undo it
  memory reset --yes            without asking
  memory reset --all            every project on this machine
""",
)
