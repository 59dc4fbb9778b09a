"""`memory init`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.first_run import begin_here, is_interactive, say_imported, say_wired, sharing
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.clients.wiring.types import Integrated
    from quire.project import Project
    from quire.upkeep.init import Initialized
    from quire.verbs.inbox.host_import import ImportedHosts

_EXAMPLES = """Examples:
  memory init                       create .memory/, guidance and product map
  memory init --dry-run             show what would be written
  memory init --brief               print the task for your agent to fill the memory
  memory init --agents found --import all --json
"""


def run(
    session: Session,
    name: str | None,
    brief: bool,
    dry_run: bool,
    force: bool,
    no_guidance: bool,
    no_view: bool,  # noqa: ARG001
    layers: str | None,
    agents: str | None,
    imports: str | None,
    yes: bool,
) -> int | None:
    """Create the memory in this repository and tell your agents about it.

    Writes .memory/, the lines in .gitignore that keep generated files out of git, and two marked sections
    (guidance and product map) in AGENTS.md, and in CLAUDE.md where Claude Code is in use. Everything else in those
    files stays as it is. Running it again refreshes the sections and changes nothing else. Works without git too.

    In a terminal it then offers to wire the agents that are found and to import what other programs know; --agents,
    --import and --yes say so beforehand, and nothing is asked. An import waits in `memory inbox`.
    """
    from quire.verbs.admin.first_run import refuse_unknown, take_agents, take_imports
    from quire.verbs.graph.changes import init

    wanted_agents = _words(agents) or (("found",) if yes and not no_guidance else ())
    wanted_kinds = _words(imports) or (("all",) if yes else ())
    _refuse_nonsense(brief, no_guidance, wanted_agents, wanted_kinds)
    project = session.project()
    if brief:
        _brief(session, project)
        return None
    refuse_unknown(project, wanted_agents, wanted_kinds)
    done = init(project, name=name, force=force, guidance=not no_guidance, dry_run=dry_run, layers=_words(layers))
    if not (session.as_json or dry_run or wanted_agents or wanted_kinds) and is_interactive():
        return begin_here(project, done, guidance=not no_guidance)
    wired = take_agents(project, wanted_agents, dry_run=dry_run)
    imported = take_imports(project, wanted_kinds, dry_run=dry_run)
    if session.as_json:
        _answer(project, done, wired, imported, asked=bool(wanted_agents or wanted_kinds))
    else:
        _report(project, done)
        if wanted_agents and "none" not in wanted_agents:
            say_wired(wired)
        say_imported(imported)
        _next(done, wired)
    return 0 if wired is None or wired.is_clean else 1


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _refuse_nonsense(brief: bool, no_guidance: bool, agents: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    if brief and (agents or kinds):
        raise UsageError("--brief writes nothing.", hint="Leave out --agents, --import and --yes.")
    if no_guidance and agents and "none" not in agents:
        raise UsageError(
            "Wiring agents puts the guidance into AGENTS.md, too.",
            hint="Leave out --no-guidance, or --agents.",
        )


def _answer(
    project: Project, done: Initialized, wired: Integrated | None, imported: ImportedHosts | None, *, asked: bool
) -> None:
    from quire.fields.graph import initialized_fields
    from quire.verbs.agents.integrate import wired_fields

    fields = initialized_fields(done)
    fields["next_steps"] = list(_steps(done, wired))
    if asked:
        fields["integration"] = wired_fields(wired) if wired is not None else None
        fields["imported"] = imported.fields() if imported is not None else None
    more = [*(wired.warnings if wired is not None else ()), *(imported.warnings if imported is not None else ())]
    answer(project, fields, [*done.warnings, *more])


def _brief(session: Session, project: Project) -> None:
    from quire.verbs.graph.changes import first_brief

    text = first_brief(project)
    if session.as_json:
        from quire.fields.graph import first_brief_fields

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


def _next(done: Initialized, wired: Integrated | None) -> None:
    if done.dry_run or not done.created:
        return
    say()
    say("Next:")
    for step in _steps(done, wired):
        say(f"  {step}")


def _steps(done: Initialized, wired: Integrated | None) -> Iterator[str]:
    yield "memory init --brief    gives your agent the task of filling the memory"
    yield "memory save --help     shows how to record something yourself"
    yield "memory view --open     shows all of it in your browser"
    line = sharing(done, wired)
    if line:
        yield f"{line}    to share it"


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(
            name="--name",
            into="name",
            metavar="NAME",
            help="The project's name; by default what its manifest or its folder is called.",
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
        Option(
            name="--no-guidance",
            into="no_guidance",
            also=("--no-agent-guidance",),
            help="Leave AGENTS.md and CLAUDE.md alone.",
        ),
        Option(name="--no-view", into="no_view", help="Accepted for old scripts: no page is ever started."),
        Option(
            name="--agents",
            into="agents",
            metavar="CLIENTS",
            help="Wire these in this project: their names with commas, found, all or none. Nothing is asked.",
        ),
        Option(
            name="--import",
            into="imports",
            metavar="KINDS",
            help="Propose what these know: kinds as `memory import` lists them, all or none. Nothing is asked.",
        ),
        Option(name="--yes", into="yes", help="Everything that would be offered: --agents found --import all."),
    ),
)
