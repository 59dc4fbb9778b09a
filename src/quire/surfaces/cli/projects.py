"""`memory projects`"""

from __future__ import annotations

from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Examples:
  memory projects list
  memory projects add ~/code/harbor
  memory projects remove project.harbor
  memory projects prune
"""


def run(session: Session) -> None:
    """List, add and remove the projects on this machine.

    The registry ($MEMORY_HOME/projects.json, by default ~/.memory/projects.json) only says where projects are; each
    memory stays in its own repository. Alone, it shows the list.
    """
    list_projects(session)


def list_projects(session: Session) -> None:
    """Show every registered project."""
    found = session.machine().projects()
    if session.as_json:
        from quire.fields.projects import projects_fields

        answer(None, projects_fields(found))
        return
    if not found:
        say("No projects are registered. `memory init` registers one, `memory projects add` an existing one.")
    for entry in found:
        say(f"{entry.project['name']}  {entry.project['id']}  {entry.registry_id}  {entry.project_root}")


def add(session: Session, path: str | None) -> None:
    """Register the project at PATH, or the current one."""
    project = session.project(path)
    entry = session.machine().add(project.root)
    if session.as_json:
        from quire.fields.projects import project_fields

        answer(project, project_fields(entry))
        return
    say(f"Registered {entry.project['name']} ({entry.registry_id}) at {entry.project_root}")


def remove(session: Session, project: str) -> None:
    """Forget a project, named by its registry id, project id or path. Its files stay."""
    entry = session.machine().remove(project)
    if session.as_json:
        from quire.fields.projects import project_fields

        answer(None, project_fields(entry))
        return
    say(f"Forgot {entry.project['name']}; its memory in {entry.memory_root} stays.")


def prune(session: Session) -> None:
    """Forget the projects that hold no memory any more. Damaged, newer and hidden ones stay."""
    gone = session.machine().prune()
    if session.as_json:
        from quire.fields.projects import pruned_fields

        answer(None, pruned_fields(gone))
        return
    say(f"Forgot {len(gone)} projects." if gone else "Every registered project has its memory.")
    for entry in gone:
        say(f"  {entry.project['name']}  {entry.project_root}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    alone=True,
    subcommands={
        "list": Command(run=list_projects, examples="Example:\n  memory projects list --json\n"),
        "add": Command(
            run=add,
            examples="Example:\n  memory projects add ~/code/harbor\n",
            arguments=(Argument(name="path", required=False),),
        ),
        "remove": Command(
            run=remove,
            examples="Example:\n  memory projects remove project.harbor\n",
            arguments=(Argument(name="project"),),
        ),
        "prune": Command(run=prune, examples="Example:\n  memory projects prune\n"),
    },
)
