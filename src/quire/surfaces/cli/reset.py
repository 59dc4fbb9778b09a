"""`memory reset`"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from quire.model.errors import Cancelled, UsageError
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.reading import agreed

if TYPE_CHECKING:
    from quire.upkeep.reset import Reset

_EXAMPLES = """Examples:
  memory reset                  asks, archives, removes; prints how to undo it
  memory reset --yes            the same without asking
  memory reset --all            every project on this machine
"""


def run(session: Session, everywhere: bool, destroy: bool, yes: bool, dry_run: bool) -> None:
    """Archive the memory into .memory/.backup/ and remove it, so that `memory init` can begin anew.

    Also takes the guidance and map sections out of AGENTS.md and CLAUDE.md. The profile, the journal, lines in
    .gitignore and the wiring of agents stay, and are named. A later `memory init`, also with --force, never removes an
    archive.
    """
    from quire.verbs.graph.changes import reset

    project = session.project()
    roots = [entry.project_root for entry in session.machine().projects()] if everywhere else [project.root]
    if dry_run:
        if session.as_json:
            from quire.fields.projects import reset_planned_fields

            answer(project, reset_planned_fields(roots, destroy=destroy))
        else:
            say("Would reset: " + (", ".join(roots) or "nothing"))
        return
    if not yes:
        _ask(roots, destroy, session)
    if not everywhere:
        done = reset(project, destroy=destroy)
        if session.as_json:
            from quire.fields.graph import reset_fields

            answer(project, reset_fields(done))
        else:
            _report(done)
        return
    every, failed = session.machine().reset(destroy=destroy)
    if session.as_json:
        from quire.fields.projects import resets_fields

        answer(None, resets_fields(every, failed))
        return
    for done in every:
        _report(done)
    for root, error in failed:
        say(f"Could not reset {root}: {error.message}")


def _report(done: Reset) -> None:
    if not done.entries_removed:
        say(f"There was no memory in {done.project_root}")
    elif done.backup_path:
        say(f"Reset {done.project_root}; archived in {done.backup_path}")
        say(f"  To undo: cd {shlex.quote(done.project_root)} && tar -xzf {shlex.quote(done.backup_path)}")
    else:
        say(f"Destroyed the memory in {done.project_root}")
    if done.left:
        say(f"  Left as they are: {', '.join(done.left)}")
    if done.wired:
        say("  To take the wiring of your agents out: memory init && memory integrate --remove && memory reset")


def _ask(roots: list[str], destroy: bool, session: Session) -> None:
    if session.as_json or not sys.stdin.isatty():
        raise UsageError("A reset asks before it removes anything.", hint="Repeat the command with --yes.")
    what = "DESTROY the memory, without an archive, of" if destroy else "Archive and remove the memory of"
    if not agreed(f"{what} {', '.join(roots) or 'no project'}?"):
        raise Cancelled("Nothing was changed.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(name="--all", into="everywhere", help="Reset every registered project."),
        Option(name="--destroy", into="destroy", help="Keep no archive, and remove earlier ones: cannot be undone."),
        Option(name="--yes", into="yes", help="Do not ask."),
        Option(name="--dry-run", into="dry_run", help="Say what would be removed, remove nothing."),
    ),
)
