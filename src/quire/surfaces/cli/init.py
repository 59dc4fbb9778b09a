"""`memory init`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.session import Session, json_option

if TYPE_CHECKING:
    from quire.project import Initialized, Project

_EPILOG = """\b
Examples:
  memory init                       create .memory/, guidance and product map
  memory init --dry-run             show what would be written
  memory init --brief               print the task for your agent to fill the memory
"""


@click.command(epilog=_EPILOG)
@click.option("--name", help="The project's name; by default made from the folder's.")
@click.option("--brief", is_flag=True, help="Print only the indexing brief for your agent; writes nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@click.option("--force", is_flag=True, help="Archive the memory that is there into .memory/.backup/ and begin anew.")
@click.option("--no-guidance", is_flag=True, help="Leave AGENTS.md and CLAUDE.md alone.")
@json_option
@click.pass_obj
def command(session: Session, name: str | None, brief: bool, dry_run: bool, force: bool, no_guidance: bool) -> None:
    """Create the memory in this repository and tell your agents about it.

    Writes .memory/, the lines in .gitignore that keep generated files out of git, and two marked sections
    (guidance and product map) in AGENTS.md, and in CLAUDE.md where Claude Code is in use. Everything else in those
    files stays as it is. Running it again refreshes the sections and changes nothing else. Works without git too.
    """
    project = session.project()
    if brief:
        text = project.brief()
        answer(project, {"brief": text}) if session.as_json else say(text)
        return
    done = project.init(name=name, force=force, guidance=not no_guidance, dry_run=dry_run)
    if session.as_json:
        data = msgspec.to_builtins(done)
        data.pop("warnings")
        answer(project, data, done.warnings)
    else:
        _report(project, done)


def _brief(session: Session, project: Project) -> None:
    text = project.brief()
    if session.as_json:
        answer(project, {"brief": text})
    else:
        say(text)


def _report(project: Project, done: Initialized) -> None:
    would = "Would create" if done.dry_run else "Created"
    if done.created:
        say(f"{would} the memory of {done.project['name']} in {project.graph.folder}")
    else:
        say(f"The memory of {done.project['name']} is already here; nothing in it was changed.")
    if done.backup_path:
        say(f"The earlier one is archived in {done.backup_path}")
    for path in done.files_created:
        say(f"  {path}")
    if done.gitignore_updated:
        say("  .gitignore (generated files are ignored)")
    for target in done.guidance:
        reason = f": {target.reason}" if target.reason else ""
        say(f"  {target.path} ({target.status}{reason})")
    warn(done.warnings)
    if not done.dry_run and done.created:
        say()
        say("Next:")
        say("  memory init --brief    gives your agent the task of filling the memory")
        say("  memory save --help     shows how to record something yourself")
        say("  git add .memory AGENTS.md .gitignore && git commit    to share it" if done.git_available else "")
