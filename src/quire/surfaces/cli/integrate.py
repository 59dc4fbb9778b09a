"""`memory integrate`"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING

from quire.model.errors import Cancelled, UsageError
from quire.model.records import Problem
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import agreed

if TYPE_CHECKING:
    from quire.clients.wiring.types import ClientStatus, FileDone, Integrated
    from quire.project import Project

_EXAMPLES = """Examples:
  memory integrate                    wire the clients that are in use here
  memory integrate claude codex       wire these
  memory integrate all --dry-run      show what would change, as a diff
  memory integrate --status           what is wired, and how
  memory integrate --repair           put right what was damaged or is missing
  memory integrate cursor --remove    take it back: every file as it was
  memory integrate claude --user      in your own configuration, for all projects
"""
_WIDTH = 10


def run(
    session: Session,
    clients: tuple[str, ...],
    user: bool,
    status: bool,
    repair: bool,
    remove: bool,
    dry_run: bool,
    force: bool,
    yes: bool,
) -> int:
    """Wire your agents' programs to the memory: MCP server, hooks, skill or rules, guidance.

    CLIENTS are any of claude, codex, cursor, gemini, opencode, copilot, cline, or all; without any, those that the
    project or your home folder shows signs of. Their configuration files are changed in place, and everything else in
    them stays as it is. What is written is meant to be committed: teammates without Quire see no failure. --remove
    takes it back, byte for byte; your own later changes stay.
    """
    from quire.verbs.agents.integrate import integrate, integrate_remove

    if sum((status, repair, remove)) > 1:
        raise UsageError("--status, --repair and --remove exclude each other.", hint="Give one of them.")
    if status and (dry_run or force):
        raise UsageError("--status changes nothing.", hint="Leave --dry-run and --force out.")
    project = session.project()
    if status:
        return _status(session, project, clients, user)
    if user and not dry_run and not yes:
        _ask(session, remove)
    if remove:
        done = integrate_remove(project, clients, user=user, dry_run=dry_run)
    else:
        done = integrate(project, clients, user=user, dry_run=dry_run, repair=repair, force=force)
    if session.as_json:
        from quire.fields.clients import integrated_fields

        answer(project, integrated_fields(done), done.warnings)
    else:
        _report(done)
    return 0 if done.is_clean else 1


def _status(session: Session, project: Project, clients: tuple[str, ...], user: bool) -> int:
    from quire.verbs.agents.integrate import integration_status

    found = integration_status(project, clients, user=True if user else None)
    if session.as_json:
        from quire.fields.clients import integration_status_fields

        answer(project, integration_status_fields(found), found.warnings)
        return 0
    for one in found.clients:
        say(f"{one.client}: {_described(one)}")
        for part in one.parts:
            if user or part.scope == "project" or part.state != "missing":
                where = "  (user)" if part.scope == "user" and not user else ""
                reason = f"  ({part.reason})" if part.reason else ""
                say(f"  {part.state:<{_WIDTH}}  {part.part:<8}  {part.path}{where}{reason}")
    warn(found.warnings)
    return 0


def _described(one: ClientStatus) -> str:
    words = ["wired" if one.wired else "not wired", "installed" if one.installed else "not found on this machine"]
    return ", ".join(words + (["in use in this project"] if one.in_project else []))


def _report(done: Integrated) -> None:
    for file in done.files:
        if file.diff:
            say(file.diff.rstrip("\n"))
    for client in done.clients:
        parts = [part for part in done.parts if part.client == client]
        if parts:
            say(client)
        for part in parts:
            reason = f"  ({part.reason})" if part.reason else ""
            say(f"  {part.status:<{_WIDTH}}  {part.part:<8}  {part.path}{reason}")
    if not done.parts:
        say("There is nothing to take back." if done.action == "remove" else "There is nothing to do.")
    warn((*done.warnings, *map(_fault, filter(attrgetter("reason"), done.files))))
    changed = [file for file in done.files if file.status in ("created", "updated")]
    if done.dry_run:
        say("Nothing was changed: this was a dry run.")
    elif changed and done.action != "remove" and done.scope == "project":
        say("Commit these files to share them. Most clients ask once whether you trust them.")


def _fault(file: FileDone) -> Problem:
    """What is wrong with a file, said as any other problem is."""
    message = f"{file.reason[:1].upper()}{file.reason[1:].rstrip('.')}."
    return Problem(code="IntegrationFailed", severity="error", path=file.path, message=message, hint=file.hint or None)


def _ask(session: Session, remove: bool) -> None:
    if session.as_json or not sys.stdin.isatty():
        raise UsageError(
            "With --user, files in your home folder are changed, and it asks before.",
            hint="Repeat the command with --yes, or look first with --dry-run.",
        )
    what = "Take Quire out of" if remove else "Wire Quire into"
    if not agreed(f"{what} your own configuration, for all projects?"):
        raise Cancelled("Nothing was changed.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="clients", required=False, many=True),),
    options=(
        Option(name="--user", into="user", help="Your own configuration, for all projects, instead of this project's."),
        Option(name="--status", into="status", help="Show what is wired, and change nothing."),
        Option(name="--repair", into="repair", help="Put right what is missing or changed, where a client is wired."),
        Option(name="--remove", into="remove", help="Take the wiring back."),
        Option(name="--dry-run", into="dry_run", help="Show every change as a diff, and make none."),
        Option(name="--force", into="force", help="Replace an entry called quire that starts another program."),
        Option(name="--yes", into="yes", help="Do not ask before files in your home folder are changed."),
    ),
)
