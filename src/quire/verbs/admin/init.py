"""`memory init`: create the memory of this repository and connect agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from quire.clients.integration.types import Integrated
from quire.model.errors import UsageError
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.init import Initialized, first_brief
from quire.verbs.admin.first_run import refuse_unknown, take_agents, take_imports
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.agents.integrate import client_warnings, integrated_fields
from quire.verbs.inbox.host_import import ImportedHosts
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb

WRITTEN = ("created", "updated")
_NAMED = 3
"""Of more sources of one kind, only the first are named."""


class Init(Arguments, frozen=True, kw_only=True):
    name: Annotated[
        str | None,
        Option(metavar="NAME", help="The project's name; by default taken from its manifest or its folder."),
    ] = None
    brief: Annotated[bool, Option(help="Print the task for your agent to fill the memory; write nothing.")] = False
    dry_run: Annotated[bool, Option(help="Show what would be written, write nothing.")] = False
    force: Annotated[bool, Option(help="Archive the existing memory into .memory/.backup/ and start over.")] = False
    layers: Annotated[
        list[str],
        Option(
            name="--with",
            metavar="LAYERS",
            commas=True,
            help="Create these layers now: facts, profile, journal. Otherwise each is created at first use.",
        ),
    ] = []
    no_guidance: Annotated[
        bool, Option(also=("--no-agent-guidance",), help="Do not write to AGENTS.md and CLAUDE.md.")
    ] = False
    no_view: Annotated[bool, Option(help="Accepted for old scripts; has no effect.")] = False
    agents: Annotated[
        list[str],
        Option(
            metavar="CLIENTS",
            commas=True,
            help="Connect these agents in this project without asking: names with commas, `found`, `all` or `none`.",
        ),
    ] = []
    imports: Annotated[
        list[str],
        Option(
            name="--import",
            metavar="KINDS",
            commas=True,
            help="Propose records from these sources without asking: kinds from `memory import`, `all` or `none`.",
        ),
    ] = []
    yes: Annotated[bool, Option(help="Accept everything that init offers: --agents found --import all.")] = False


class FirstBrief(Result, kw_only=True):
    brief: str


class MemoryMade(Result, kw_only=True):
    done: Initialized
    folder: str
    agents: list[str]
    kinds: list[str]
    wired: Integrated | None = None
    imported: ImportedHosts | None = None

    def exit_code(self) -> int:
        return 0 if self.wired is None or self.wired.is_clean else 1

    def fields(self) -> dict[str, Any]:
        fields = initialized_fields(self.done)
        fields["next_steps"] = list(_steps(self.done, self.wired))
        if self.agents or self.kinds:
            fields["integration"] = integrated_fields(self.wired) if self.wired is not None else None
            fields["imported"] = self.imported.fields() if self.imported is not None else None
        return fields


def initialized_fields(done: Initialized) -> dict[str, Any]:
    """What was created, or would be; `agent_guidance` is the original's form of the guidance."""
    told = [{"path": one.path, "status": one.status, "reason": one.reason} for one in done.guidance]
    targets = [{"path": one.path, "status": one.status} for one in done.guidance]
    fields: dict[str, Any] = {**msgspec.structs.asdict(done), "guidance": told}
    del fields["warnings"]
    return {**fields, "agent_guidance": {"enabled": bool(targets), "targets": targets, "optional_skills": []}}


def init(project: Project, given: Init) -> FirstBrief | MemoryMade:
    """Create the memory in this repository and the guidance for your agents.

    Writes .memory/, the lines in .gitignore that keep generated files out of git, and two marked sections
    (guidance and product map) in AGENTS.md, and in CLAUDE.md where Claude Code is in use. Everything else in those
    files stays. Running it again refreshes the sections and changes nothing else. Also works without git.

    On a terminal it then offers to connect your agents and to import what other programs know; with --agents, --import
    or --yes it does not ask. Imports become proposals in `memory inbox`.
    """
    agents, kinds = wanted_by(given)
    if given.brief and (agents or kinds):
        raise UsageError("--brief writes nothing.", hint="Leave out --agents, --import and --yes.")
    if given.no_guidance and agents and "none" not in agents:
        raise UsageError(
            "Connecting agents also writes the guidance into AGENTS.md.", hint="Leave out --no-guidance, or --agents."
        )
    if given.brief:
        return FirstBrief(brief=first_brief(project.graph))
    refuse_unknown(project, agents, kinds)
    done = make_memory(project, given)
    made = MemoryMade(done=done, folder=project.graph.folder, agents=agents, kinds=kinds)
    made.wired = take_agents(project, agents, dry_run=given.dry_run)
    made.imported = take_imports(project, kinds, dry_run=given.dry_run)
    made.warnings = [
        *done.warnings,
        *(client_warnings(made.wired) if made.wired is not None else ()),
        *(made.imported.warnings if made.imported is not None else ()),
    ]
    return made


def wanted_by(given: Init) -> tuple[list[str], list[str]]:
    """Which agents are to be wired, and which kinds of sources to be imported."""
    agents = given.agents or (["found"] if given.yes and not given.no_guidance else [])
    return agents, given.imports or (["all"] if given.yes else [])


def make_memory(project: Project, given: Init) -> Initialized:
    """The memory itself, without agents and imports."""
    return init_memory(
        project,
        name=given.name,
        force=given.force,
        guidance=not given.no_guidance,
        dry_run=given.dry_run,
        layers=tuple(given.layers),
    )


def lines(made: FirstBrief | MemoryMade) -> Lines:
    if isinstance(made, FirstBrief):
        yield made.brief
        return
    done = made.done
    would = "Would create" if done.dry_run else "Created"
    if done.created:
        yield f"{would} the memory of {done.project['name']} in {made.folder}"
    else:
        yield exists_already(done)
    if done.backup_path:
        yield f"The earlier memory is archived in {done.backup_path}"
    # What lies in the folder is of interest before it is written.
    listed = [path for path in done.files_created if done.dry_run or not path.startswith(".memory/")]
    for path in listed:
        yield f"  {path}"
    if done.gitignore_updated:
        yield "  .gitignore (generated files are ignored)"
    for target in done.guidance:
        reason = f": {target.reason}" if target.reason else ""
        yield f"  {target.path} ({target.status}{reason})"
    if made.agents and "none" not in made.agents:
        yield from _wired_lines(made.wired)
    if made.imported is not None:
        yield from _imported_lines(made.imported)
    if done.created and not done.dry_run:
        yield ""
        yield "Next:"
        for step in _steps(done, made.wired):
            yield f"  {step}"


def exists_already(done: Initialized) -> str:
    """That there is a memory, and whether something around it was brought up to date."""
    touched = done.files_created or done.gitignore_updated or any(one.status in WRITTEN for one in done.guidance)
    would = "would be" if done.dry_run else "were"
    said = f"these files {would} updated:" if touched else "nothing was changed."
    return f"The memory of {done.project['name']} already exists; {said}"


def _wired_lines(done: Integrated | None) -> Iterator[str]:
    if done is None:
        yield "No agents were found. `memory integrate CLIENT` connects one by name."
        return
    yield f"{'Would connect' if done.dry_run else 'Connected'}: {', '.join(done.clients)}"
    for file in done.files:
        yield f"  {file.path} ({file.status})"


def _imported_lines(done: ImportedHosts) -> Iterator[str]:
    would = "Would propose" if done.dry_run else "Proposed"
    them = "it" if len(done.proposals) == 1 else "them"
    where = f"; `memory inbox` shows {them}" if done.proposals and not done.dry_run else ""
    yield f"{would}: {counted(len(done.proposals), 'record')}{where}."
    for line in import_lines(done):
        yield f"  {line}"


def import_lines(done: ImportedHosts) -> list[str]:
    """Per kind how much is new, and where it stands."""
    counts: dict[str, int] = {}
    places: dict[str, list[str]] = {}
    for found in done.sources:
        if found.new:
            counts[found.source.kind] = counts.get(found.source.kind, 0) + found.new
            places.setdefault(found.source.kind, []).append(found.source.shown)
    width = max(map(len, counts), default=0)
    return [
        f"{kind:<{width}}  {count:>3}  {', '.join(places[kind][:_NAMED])}{' …' if len(places[kind]) > _NAMED else ''}"
        for kind, count in counts.items()
    ]


def _steps(done: Initialized, wired: Integrated | None) -> Iterator[str]:
    yield "memory add --help      shows how to record something"
    yield "memory init --brief    prints a task: your agent fills the memory"
    yield "memory view --open     shows everything in your browser"
    line = sharing(done, wired)
    if line:
        yield f"{line}    to share it"


def sharing(done: Initialized, wired: Integrated | None = None) -> str:
    """The command that shares what was written; empty where there is nothing, or no git."""
    written = [target.path for target in done.guidance if target.status in WRITTEN]
    written += [".gitignore"] if done.gitignore_updated else []
    written += [path for path in done.files_created if not path.startswith(".memory/")]
    if wired is not None and not wired.dry_run:
        written += [file.path for file in wired.files if file.status in WRITTEN]
    if not done.git_available or done.dry_run or not (done.created or written):
        return ""
    return f"git add {' '.join(dict.fromkeys(['.memory', *written]))} && git commit"


VERB = Verb(
    takes=Init,
    run=init,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory init                       create .memory/, guidance and product map
  memory init --dry-run             show what would be written
  memory init --brief               print the task for your agent to fill the memory
  memory init --agents found --import all --json
""",
)
