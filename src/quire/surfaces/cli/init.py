"""`memory init`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.project import Project
    from quire.upkeep import Initialized

_EXAMPLES = """Examples:
  memory init                       create .memory/, guidance and product map
  memory init --dry-run             show what would be written
  memory init --brief               print the task for your agent to fill the memory
"""


def run(
    session: Session, name: str | None, brief: bool, dry_run: bool, force: bool, no_guidance: bool, layers: str | None
) -> None:
    """Create the memory in this repository and tell your agents about it.

    Writes .memory/, the lines in .gitignore that keep generated files out of git, and two marked sections
    (guidance and product map) in AGENTS.md, and in CLAUDE.md where Claude Code is in use. Everything else in those
    files stays as it is. Running it again refreshes the sections and changes nothing else. Works without git too.
    """
    project = session.project()
    if brief:
        _brief(session, project)
        return
    wanted = tuple(word.strip() for word in (layers or "").split(",") if word.strip())
    done = project.init(name=name, force=force, guidance=not no_guidance, dry_run=dry_run, layers=wanted)
    if session.as_json:
        from quire.fields import initialized_fields

        answer(project, initialized_fields(done), done.warnings)
    else:
        _report(project, done)


def _brief(session: Session, project: Project) -> None:
    text = project.first_brief()
    if session.as_json:
        from quire.fields import first_brief_fields

        answer(project, first_brief_fields(text))
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
        if done.git_available:
            written = [target.path for target in done.guidance if target.status in ("created", "updated")]
            written += [".gitignore"] if done.gitignore_updated else []
            written += [path for path in done.files_created if not path.startswith(".memory/")]
            say(f"  git add {' '.join(['.memory', *written])} && git commit    to share it")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(
            name="--name", into="name", metavar="NAME", help="The project's name; by default made from the folder's."
        ),
        Option(name="--brief", into="brief", help="Print only the indexing brief for your agent; writes nothing."),
        Option(name="--dry-run", into="dry_run", help="Show what would be written, write nothing."),
        Option(
            name="--force", into="force", help="Archive the memory that is there into .memory/.backup/ and begin anew."
        ),
        Option(
            name="--with",
            into="layers",
            metavar="LAYERS",
            help="Create these layers, too: facts, profile, journal. Else each comes at first use.",
        ),
        Option(name="--no-guidance", into="no_guidance", help="Leave AGENTS.md and CLAUDE.md alone."),
    ),
)
