"""`memory projects`: the registry of projects on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from quire.files.world import World
from quire.project import Project
from quire.upkeep.projects import ProjectRegistry, Registered
from quire.verbs.verb import Arguments, Lines, Result, Verb, Word


class AddProject(Arguments, frozen=True, kw_only=True):
    path: Annotated[str | None, Word(required=False, is_path=True)] = None


class Remove(Arguments, frozen=True, kw_only=True):
    project: Annotated[str, Word(is_path=True)]


class RegisteredProjects(Result, kw_only=True):
    projects: list[Registered]


class ProjectAdded(Result, kw_only=True):
    project: Registered

    def about(self, _project: Project | None) -> Project | None:
        return Project.open(self.project.project_root)


class ProjectRemoved(Result, kw_only=True):
    project: Registered


class ProjectsPruned(Result, kw_only=True):
    projects_removed: list[Registered]


def projects(world: World, given: Arguments) -> RegisteredProjects:
    """List, add and remove the projects on this machine.

    The registry ($MEMORY_HOME/projects.json, by default ~/.memory/projects.json) only lists where projects are; each
    memory stays in its repository. Without a verb, shows the list.
    """
    return list_projects(world, given)


def list_projects(world: World, _given: Arguments) -> RegisteredProjects:
    """Show every registered project."""
    return RegisteredProjects(projects=registered_projects(world))


def registered_projects(world: World) -> list[Registered]:
    """Every project of the user's registry, whether it is still there or not."""
    return ProjectRegistry(world).known_projects()


def list_lines(done: RegisteredProjects) -> Lines:
    if not done.projects:
        yield "No projects are registered. `memory init` registers a new one, `memory projects add` an existing one."
    for entry in done.projects:
        yield f"{entry.project['name']}  {entry.project['id']}  {entry.registry_id}  {entry.project_root}"


def add(world: World, given: AddProject) -> ProjectAdded:
    """Register the project at PATH, or the current one."""
    return ProjectAdded(project=ProjectRegistry(world).add(Project.open(given.path, world).root))


def add_lines(done: ProjectAdded) -> Lines:
    entry = done.project
    yield f"Registered {entry.project['name']} ({entry.registry_id}) at {entry.project_root}"


def remove(world: World, given: Remove) -> ProjectRemoved:
    """Remove a project from the list, by registry id, project id or path. Its files stay."""
    return ProjectRemoved(project=ProjectRegistry(world).remove(given.project))


def remove_lines(done: ProjectRemoved) -> Lines:
    yield f"Forgot {done.project.project['name']}. Its memory in {done.project.memory_root} was not changed."


def prune(world: World, _given: Arguments) -> ProjectsPruned:
    """Remove projects without a memory from the list. Damaged, newer and hidden ones stay."""
    return ProjectsPruned(projects_removed=ProjectRegistry(world).prune())


def prune_lines(done: ProjectsPruned) -> Lines:
    gone = done.projects_removed
    yield f"Forgot {len(gone)} projects." if gone else "Every registered project has its memory."
    for entry in gone:
        yield f"  {entry.project['name']}  {entry.project_root}"


def _verb(
    run: Callable[..., Result], lines: Callable[[Any], Lines], example: str, takes: type[Arguments] = Arguments
) -> Verb:
    return Verb(takes=takes, run=run, lines=lines, over="machine", examples=f"Example:\n  {example}\n")


VERB = Verb(
    run=projects,
    lines=list_lines,
    over="machine",
    alone=True,
    examples="""Examples:
  memory projects list
  memory projects add ~/code/harbor
  memory projects remove project.harbor
  memory projects prune
""",
)
LIST = _verb(list_projects, list_lines, "memory projects list --json")
ADD = _verb(add, add_lines, "memory projects add ~/code/harbor", AddProject)
REMOVE = _verb(remove, remove_lines, "memory projects remove project.harbor", Remove)
PRUNE = _verb(prune, prune_lines, "memory projects prune")
