"""`memory doctor`: find problems of an installation, and repair those that lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec

from quire.files.write_access import write_access
from quire.index.catalog import Index
from quire.index.open_index import with_index
from quire.layers.graph.layout import FOLDER
from quire.model.errors import QuireError
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.check import Checked, check_memory
from quire.upkeep.doctor import (
    ignored_entries,
    look_at_git,
    look_at_index,
    look_at_layers,
    look_at_lock,
    look_at_transactions,
    told_check,
    unfinished_folders,
)
from quire.upkeep.findings import Finding, Section
from quire.upkeep.ignore import ensure_ignored
from quire.upkeep.installation import dead_projects, link_commands, look_at_machine, look_at_program
from quire.upkeep.projects import ProjectRegistry
from quire.verbs.admin.doctor_agents import agent_findings, fix_agents, server_findings, session_findings
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.admin.repair import repair
from quire.verbs.agents.session_end import collect_sessions
from quire.verbs.verb import Arguments, Lines, Option, Result, Styled, Verb


class FixDone(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `--fix` did, or could not do."""

    name: str
    message: str
    failed: bool = False


class Doctor(Arguments, frozen=True, kw_only=True):
    fix: Annotated[bool, Option(help="Repair what can be repaired without losing anything.")] = False


class Doctored(Result, kw_only=True):
    """Everything that was looked at, as it is after what was repaired."""

    findings: list[Finding]
    fixed: list[FixDone] = []
    fix: bool = False
    """Whether it was to repair what it can."""

    @property
    def is_healthy(self) -> bool:
        return not any(finding.state == "error" for finding in self.findings)

    def exit_code(self) -> int:
        return 0 if self.is_healthy else 1

    def fields(self) -> dict[str, Any]:
        states = [finding.state for finding in self.findings]
        return {
            "healthy": self.is_healthy,
            "findings": self.findings,
            "counts": {state: states.count(state) for state in ("ok", "note", "warning", "error")},
            "fixed": self.fixed,
        }


def doctor(project: Project, given: Doctor) -> Doctored:
    """Diagnose and fix the installation: program, machine, project, agents, sessions, server.

    Starts the MCP server once to see whether it answers; uses no network. With --fix it completes interrupted changes,
    adds missing lines to .gitignore, rebuilds a damaged index, repairs what loses nothing in the memory's files (as
    `memory check --repair` does), repairs damaged connections of this project, removes projects that are gone from the
    list, and reads sessions that ended. For everything else it says what to do. Works without a memory, too.
    """
    findings = _findings(project)
    if not given.fix or not any(finding.fixable for finding in findings):
        return Doctored(findings=findings, fix=given.fix)
    fixed = _fix(project, findings)
    return Doctored(findings=_findings(project), fixed=fixed, fix=True)


def _findings(project: Project) -> list[Finding]:
    return [
        *_looked("program", lambda: look_at_program(project.world.env)),
        *_looked("machine", lambda: look_at_machine(project.world)),
        *_looked("project", partial(_project_findings, project)),
        *_looked("agents", partial(agent_findings, project)),
        *_looked("sessions", partial(session_findings, project)),
        *_looked("server", partial(server_findings, project)),
    ]


# -- the project --------------------------------------------------------------------------


def _project_findings(project: Project) -> list[Finding]:
    found = [Finding(section="project", name="root", message=project.root)]
    layers = look_at_layers(project)
    if not layers:
        said = "There is no memory here yet."
        hint = "`memory init` creates one; `-C FOLDER` chooses another folder."
        return [*found, Finding(section="project", name="memory", state="note", message=said, hint=hint)]
    index = look_at_index(project.index_folder())
    found += look_at_git(project)
    found += [*layers, *look_at_transactions(project.root), *look_at_lock(project.root), index]
    if not any(finding.state == "error" for finding in layers):
        found += _check_findings(project, is_index_usable=index.state == "ok")
    return found


def _check_findings(project: Project, *, is_index_usable: bool) -> list[Finding]:
    """What `memory check` would say, without what it does on the way: nothing is settled, no index thrown away."""
    if unfinished_folders(project.root):
        said = "The files are checked once the unfinished change is completed."
        return [Finding(section="project", name="check", state="note", message=said)]
    rejections = project.rejections()

    def work(index: Index) -> Checked:
        return check_memory(project, index, rejections)

    folder = project.index_folder() if is_index_usable else None
    return told_check(project.in_one_state(lambda: with_index(folder, project.sources(), work)))


# -- repairing ------------------------------------------------------------------------------


def _fix(project: Project, findings: Iterable[Finding]) -> list[FixDone]:
    """Each step only where it was found to be needed, the storage first."""
    wanted = {(finding.section, finding.name) for finding in findings if finding.fixable}
    agents = [name for section, name in wanted if section == "agents"]
    steps: list[tuple[bool, str, Callable[[Project], str]]] = [
        (any(section == "program" for section, _ in wanted), "commands", _repair_commands),
        (("project", "transactions") in wanted, "transactions", _repair_transactions),
        (("project", "lock") in wanted, "lock", _repair_lock),
        (("project", "gitignore") in wanted, "gitignore", _repair_ignore),
        (("project", "index") in wanted, "index", _repair_index),
        (("project", "check") in wanted, "check", _repair_files),
        (bool(agents), "agents", lambda project: fix_agents(project, agents)),
        (("machine", "projects") in wanted, "projects", _repair_projects),
        (("sessions", "waiting") in wanted, "sessions", _repair_sessions),
    ]
    done = []
    for is_wanted, name, step in steps:
        if not is_wanted:
            continue
        try:
            done.append(FixDone(name=name, message=step(project)))
        except (QuireError, OSError) as error:
            done.append(FixDone(name=name, message=f"Not repaired: {_said(error)}", failed=True))
    return done


def _repair_commands(project: Project) -> str:
    made = link_commands(project.world.env)
    return f"Linked the commands: {', '.join(made)}." if made else "Nothing to link."


def _repair_transactions(project: Project) -> str:
    project.recover()
    return "Completed a change that was interrupted."


def _repair_lock(project: Project) -> str:
    with write_access(project.root, FOLDER, project.world, "doctor", seconds=0.0):
        pass
    return "Removed the lock of a process that no longer runs."


def _repair_ignore(project: Project) -> str:
    ensure_ignored(project.root, project.world, ignored_entries(project.root))
    return "Added the missing lines to .gitignore."


def _repair_index(project: Project) -> str:
    done = rebuild(project, Rebuild())
    return f"Rebuilt the index: {done.found.records:,} records."


def _repair_files(project: Project) -> str:
    done = repair(project)
    said = [f"{len(done.fixes):,} fault{'' if len(done.fixes) == 1 else 's'} in the memory's files"]
    if done.warnings:
        said.append(f"not everything could be repaired ({done.warnings[0].message})")
    if not done.name:
        return f"Nothing in the memory's files was repaired: {'; '.join(said[1:]) or 'no repair was needed'}."
    return f"Repaired {'; '.join(said)}. `memory check --undo {done.name}` undoes it."


def _repair_projects(project: Project) -> str:
    gone = dead_projects(project.world)
    for entry in gone:
        ProjectRegistry(project.world).remove(entry.registry_id)
    return f"Took {len(gone):,} project{'' if len(gone) == 1 else 's'} without a memory from the list."


def _repair_sessions(project: Project) -> str:
    done = collect_sessions(project, running=False)
    if done.busy:
        return "Another process is reading the sessions."
    unread = f"; {len(done.failed):,} could not be read" if done.failed else ""
    return f"Read {done.sessions:,} session{'' if done.sessions == 1 else 's'}: {done.proposed:,} proposed{unread}."


def _looked(section: Section, look: Callable[[], list[Finding]]) -> list[Finding]:
    """A section; what keeps it from being looked at is a finding, too, and keeps no other."""
    try:
        return look()
    except (QuireError, OSError) as error:
        hint = error.hint if isinstance(error, QuireError) else ""
        return [Finding(section=section, name=section, state="error", message=_said(error), hint=hint or "")]


def _said(error: QuireError | OSError) -> str:
    return error.message if isinstance(error, QuireError) else error.strerror or str(error)


# -- what is read --------------------------------------------------------------------------

_STYLES: dict[str, Literal["red", "yellow", "dim"]] = {"error": "red", "warning": "yellow", "note": "dim"}


def lines(found: Doctored) -> Lines:
    for item in found.fixed:
        yield Styled(text=item.message, style="red" if item.failed else "green")
    if found.fixed:
        yield ""
    for section, findings in groupby(found.findings, attrgetter("section")):
        yield Styled(text=section, style="bold")
        for finding in findings:
            yield from _finding_lines(finding)
    counts = [(sum(finding.state == state for finding in found.findings), state) for state in _STYLES]
    said = ", ".join(counted(count, state) for count, state in counts if count)
    yield ""
    yield f"Found: {said}." if said else "No problems found."
    fixable = sum(finding.fixable for finding in found.findings)
    if fixable and not found.fix:
        yield f"`memory doctor --fix` repairs {'one of them' if fixable == 1 else f'{fixable} of them'}."


def _finding_lines(finding: Finding) -> Lines:
    text = f"  {finding.state:<7}  {finding.name}: {finding.message}"
    style = _STYLES.get(finding.state)
    yield Styled(text=text, style=style) if style else text
    if finding.hint and finding.state != "ok":
        yield f"           {finding.hint}"


VERB = Verb(
    takes=Doctor,
    run=doctor,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory doctor                exit code 1 when there is an error
  memory doctor --fix          repair what can be repaired without losing anything
  memory doctor --json | jq '.data.findings[] | select(.state == "error")'
""",
)
