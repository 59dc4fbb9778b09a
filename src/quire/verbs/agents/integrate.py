"""`memory integrate`: connect agents' programs to the memory, list connections, remove them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from quire.clients.capture_choice import ASKABLE, CAPTURES, Capture, capture_of, set_capture
from quire.clients.integration.types import FORGES, ClientStatus, FileDone, Integrated, IntegrationStatus
from quire.model.errors import UsageError
from quire.model.records import Problem
from quire.project import Project
from quire.verbs.agents.connections import connect_clients, connection_status, disconnect_clients
from quire.verbs.agents.git_setup import git_status, integrate_git
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb, Word

_WIDTH = 10
_GIT = "git"


class Integrate(Arguments, frozen=True, kw_only=True):
    clients: Annotated[list[str], Word(required=False)] = []
    user: Annotated[bool, Option(help="Use your own configuration, for all projects, instead of this project's.")] = (
        False
    )
    status: Annotated[bool, Option(help="Show what is connected, change nothing.")] = False
    repair: Annotated[bool, Option(help="Repair what is missing or changed in connected clients.")] = False
    remove: Annotated[bool, Option(help="Disconnect: restore every file as it was.")] = False
    source: Annotated[
        str | None,
        Option(name="--from", metavar="URL@COMMIT", help="With a forge or pre-commit: where it installs Quire from."),
    ] = None
    dry_run: Annotated[bool, Option(help="Show every change as a diff, write nothing.")] = False
    force: Annotated[bool, Option(help="Replace an entry called quire that starts another program.")] = False
    capture: Annotated[
        Capture | None,
        Option(
            metavar="WHO",
            choices=CAPTURES,
            help="agent: ask the agent once per session, at the end of a turn, to propose what should last; none: do "
            "not. For this clone alone.",
        ),
    ] = None
    yes: Annotated[bool, Option(help="Do not ask before files in your home folder are changed.")] = False


class ClientsIntegrated(Result, kw_only=True):
    """What wiring did or would do, or with --status how it is."""

    done: Integrated | None = None
    found: IntegrationStatus | None = None
    user: bool = False
    capture: Capture | None = None
    """Whether an agent is asked what should last; None where that was neither set nor asked for."""
    sets: bool = False
    """Whether that was set now."""

    def exit_code(self) -> int:
        return 1 if self.done is not None and not self.done.is_clean else 0

    def fields(self) -> dict[str, Any]:
        if self.done is not None:
            return {**integrated_fields(self.done), **({"capture": self.capture} if self.capture else {})}
        found = {"clients": msgspec.to_builtins(self.found.clients)} if self.found else {}
        return {**found, "capture": self.capture}


def integrate(project: Project, given: Integrate) -> ClientsIntegrated:
    """Connect your agents to the memory: MCP server, hooks, skill or rules, guidance.

    CLIENTS are any of claude, codex, cursor, gemini, opencode, copilot, cline, or all; without any, those whose files
    are in the project or your home folder. Their configuration files are changed in place; everything else in them
    stays. Commit the files to share them: teammates without Quire see no errors. --remove restores every file, byte
    for byte; your own later changes stay.

    `github`, `gitlab` and `pre-commit` by name set up reviews of changes in this project (`memory docs code-review`).
    `memory integrate git` sets up this clone so that branches merge the memory by record. Every clone needs it once,
    because git keeps the setting in the clone. Without it git merges the memory as text.
    """
    refuse_contradictions(given)
    if needs_consent(given):
        raise UsageError(
            "--user changes files in your home folder and asks first, and this is not a terminal.",
            hint="Repeat the command with --yes, or look first with --dry-run.",
        )
    if given.status:
        found = _status(project, given)
        chosen = capture_of(project.root)
        return ClientsIntegrated(found=found, user=given.user, capture=chosen, warnings=list(found.warnings))
    if given.capture is not None and not given.dry_run:
        project.ready()
        set_capture(project.root, given.capture, project.world.token())
    if given.capture is not None and not given.clients:
        return ClientsIntegrated(capture=given.capture, sets=not given.dry_run)
    done, capture = _done(project, given), given.capture
    if given.remove and not given.dry_run and capture_of(project.root) == "agent" and not _asks_agents(project):
        capture = "none"
        set_capture(project.root, capture, project.world.token())
    return ClientsIntegrated(done=done, capture=capture, sets=not given.dry_run, warnings=client_warnings(done))


def _asks_agents(project: Project) -> bool:
    """Whether a client that can be asked is connected, here or in the user's own configuration."""
    return any(one.wired for one in connection_status(project, ASKABLE).clients)


def _agents(given: Integrate) -> list[str]:
    return [name for name in given.clients if name != _GIT]


def _status(project: Project, given: Integrate) -> IntegrationStatus:
    agents = _agents(given)
    found = IntegrationStatus(clients=())
    if agents or not given.clients:
        found = connection_status(project, agents, user=True if given.user else None)
    git = git_status(project) if not given.user and (_GIT in given.clients or not given.clients) else None
    return found if git is None else replace(found, clients=(*found.clients, git))


def _removes_all(project: Project, given: Integrate) -> bool:
    """Whether all that is set up goes, and git is."""
    status = git_status(project) if given.remove and not given.clients and not given.user else None
    return status is not None and status.wired


def _done(project: Project, given: Integrate) -> Integrated:
    agents, git = _agents(given), None
    if _GIT in given.clients or _removes_all(project, given):
        git = integrate_git(project, remove=given.remove, user=given.user, repair=given.repair, dry_run=given.dry_run)
        if given.clients and not agents:
            return git
    if given.remove:
        done = disconnect_clients(project, agents, user=given.user, dry_run=given.dry_run)
    else:
        done = connect_clients(
            project,
            agents,
            user=given.user,
            dry_run=given.dry_run,
            repair=given.repair,
            force=given.force,
            source=given.source or "",
        )
    if git is None:
        return done
    return replace(
        done,
        clients=(*done.clients, *git.clients),
        parts=(*done.parts, *git.parts),
        files=(*done.files, *git.files),
    )


def refuse_contradictions(given: Integrate) -> None:
    """Raise UsageError where two options exclude each other."""
    if sum((given.status, given.repair, given.remove)) > 1:
        raise UsageError("--status, --repair and --remove exclude each other.", hint="Give one of them.")
    forges = [name for name in given.clients if name in FORGES]
    if given.user and forges:
        raise UsageError(f"`{forges[0]}` is set up in one project at a time.", hint="Leave --user out.")
    if given.source and not forges:
        raise UsageError("--from goes with github, gitlab or pre-commit.", hint="Name one of them, or leave it out.")
    if given.capture is not None and (given.status or given.repair or given.remove or given.user):
        raise UsageError(
            "--capture is a setting of this clone.", hint="Leave --status, --repair, --remove and --user out."
        )
    if given.status and (given.dry_run or given.force):
        raise UsageError("--status changes nothing.", hint="Leave --dry-run and --force out.")


def needs_consent(given: Integrate) -> bool:
    """Whether files in the home folder would be changed, and nobody said yes to that."""
    return given.user and not (given.status or given.dry_run or given.yes)


def integrated_fields(done: Integrated) -> dict[str, Any]:
    """Each part of each client, and each file; in a dry run with the difference it would make."""
    fields: dict[str, Any] = msgspec.to_builtins(done)
    del fields["warnings"]
    if not done.dry_run:
        for file in fields["files"]:
            del file["diff"]
    return {**fields, "complete": done.is_clean}


def client_warnings(done: Integrated) -> list[Problem]:
    """Warnings of the whole, and what is wrong with single files."""
    return [*done.warnings, *(_fault(file) for file in done.files if file.reason)]


def _fault(file: FileDone) -> Problem:
    message = f"{file.reason[:1].upper()}{file.reason[1:].rstrip('.')}."
    return Problem(code="IntegrationFailed", severity="error", path=file.path, message=message, hint=file.hint or None)


def lines(result: ClientsIntegrated) -> Lines:
    if result.found is not None:
        yield from _status_lines(result.found, user=result.user)
    if result.done is not None:
        yield from _done_lines(result.done)
    if result.capture is not None:
        yield from _capture_lines(result)


def _capture_lines(result: ClientsIntegrated) -> Iterator[str]:
    if result.found is not None and result.capture == "none":
        return
    if result.found is None and not result.sets:
        yield f"Would set capture to {result.capture}."
    elif result.capture == "agent":
        yield "Capture: where a session says what should last and saved nothing, the agent is asked once to propose it."
        yield "The request is about 130 tokens, the answer comes on top: `memory receipts` shows what was sent."
        yield f"Clients that can be asked: {', '.join(ASKABLE)}. `memory integrate --capture none` turns it off."
    else:
        yield "Capture: no agent is asked."


def _status_lines(found: IntegrationStatus, *, user: bool) -> Iterator[str]:
    for one in found.clients:
        yield f"{one.client}: {_described(one)}"
        for part in one.parts:
            if user or part.scope == "project" or part.state != "missing":
                where = "  (user)" if part.scope == "user" and not user else ""
                reason = f"  ({part.reason})" if part.reason else ""
                yield f"  {part.state:<{_WIDTH}}  {part.part:<8}  {part.path}{where}{reason}"


def _described(one: ClientStatus) -> str:
    words = [
        "connected" if one.wired else "not connected",
        "installed" if one.installed else "not found on this machine",
    ]
    return ", ".join(words + (["in use in this project"] if one.in_project else []))


def _done_lines(done: Integrated) -> Iterator[str]:
    yield from (file.diff.rstrip("\n") for file in done.files if file.diff)
    for client in done.clients:
        parts = [part for part in done.parts if part.client == client]
        if parts:
            yield client
        for part in parts:
            reason = f"  ({part.reason})" if part.reason else ""
            yield f"  {part.status:<{_WIDTH}}  {part.part:<8}  {part.path}{reason}"
    if not done.parts:
        yield "Nothing to disconnect." if done.action == "remove" else "Nothing to do."
    changed = [file for file in done.files if file.status in ("created", "updated")]
    if done.dry_run:
        yield "Dry run: nothing was changed."
    elif changed and done.action != "remove" and done.scope == "project":
        trust = "" if not {*done.clients} - {_GIT, *FORGES} else " Most clients ask once whether you trust them."
        yield f"Commit these files to share them.{trust}"


VERB = Verb(
    takes=Integrate,
    run=integrate,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory integrate                    connect the agents that are used here
  memory integrate claude codex       connect these
  memory integrate all --dry-run      show what would change, as a diff
  memory integrate --status           what is connected, and how
  memory integrate --repair           repair what is damaged or missing
  memory integrate cursor --remove    disconnect: every file as it was
  memory integrate claude --user      in your own configuration, for all projects
  memory integrate github --from https://github.com/OWNER/quire@COMMIT
  memory integrate --capture agent    ask agents, once per session, to propose what should last
  memory integrate git                merge the memory by record, in this clone
""",
)
