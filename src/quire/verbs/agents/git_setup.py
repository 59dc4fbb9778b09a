"""`memory integrate git`: set this clone up so that git merges the memory by record, show it, take it back."""

from __future__ import annotations

from typing import Literal

from quire.clients.integration.commands import commands_for
from quire.clients.integration.diffs import unified
from quire.clients.integration.types import ClientStatus, FileDone, Integrated, PartDone, PartSeen, Status
from quire.model.errors import GitRequired, UsageError
from quire.project import Project
from quire.upkeep.merge.git_setup import SetUpPart, look_at_setup, set_up, take_back, why_not

GIT = "git"
_CONFIG = ".git/config"
_FOREIGN = "another program merges these files for git here; its setting was not changed"


def integrate_git(
    project: Project, *, remove: bool = False, user: bool = False, repair: bool = False, dry_run: bool = False
) -> Integrated:
    """Tell git which program merges the memory, in this clone; the attributes go into folders of ours."""
    if user:
        raise UsageError("`git` is set up for one clone at a time.", hint="Leave --user out.")
    project.ready_to_ask()
    program = _program(project)
    before = look_at_setup(project, program)
    if not dry_run and remove:
        take_back(project, before)
    elif not dry_run:
        set_up(project, program, before)
    action: Literal["install", "repair", "remove"] = "remove" if remove else "repair" if repair else "install"
    parts = [_done(part, remove=remove) for part in before]
    changed = [] if remove else [part for part in before if part.part == "rules" and part.state != "present"]
    files = tuple(_file_done(part, dry_run=dry_run) for part in changed)
    return Integrated(
        action=action,
        scope="project",
        dry_run=dry_run,
        clients=(GIT,),
        parts=tuple(part for part in parts if part),
        files=files,
    )


def _program(project: Project) -> tuple[str, ...]:
    """By its path: settings of a clone are of one machine, and git is started by programs with a short PATH."""
    why = why_not(project)
    if why:
        raise GitRequired(f"Git cannot be set up: {why}.", hint="Run `git init`, or see `memory doctor`.")
    return commands_for("user", project.world.env).quire


def _done(part: SetUpPart, *, remove: bool) -> PartDone | None:
    status: Status = "unchanged" if part.state == "present" else "created" if part.state == "missing" else "updated"
    reason = ""
    if part.state == "foreign":
        status, reason = "kept", _FOREIGN
    elif remove:
        if part.part == "rules" and part.state != "missing":
            status, reason = "kept", "other clones go by it, and git can do without"
        elif part.state != "missing":
            status = "removed"
        else:
            return None
    return PartDone(client=GIT, part=part.part, scope="project", path=_shown(part), status=status, reason=reason)


def _file_done(part: SetUpPart, *, dry_run: bool) -> FileDone:
    status: Status = "updated" if part.now else "created"
    diff = unified(part.now or None, part.after, part.path) if dry_run else ""
    return FileDone(path=part.path, scope="project", status=status, clients=(GIT,), diff=diff)


def _shown(part: SetUpPart) -> str:
    return f"{_CONFIG} ({part.path})" if part.part == "driver" else part.path


def git_status(project: Project) -> ClientStatus | None:
    """How this clone is set up; None where there is no git, or no memory."""
    if why_not(project):
        return None
    seen = [_seen(part) for part in look_at_setup(project, _program(project))]
    if not any(part.part == "rules" for part in seen):
        return None
    is_set_up = seen[0].state in ("present", "changed") and not seen[0].reason
    return ClientStatus(client=GIT, installed=True, in_project=True, wired=is_set_up, parts=tuple(seen))


def _seen(part: SetUpPart) -> PartSeen:
    is_foreign = part.state == "foreign"
    return PartSeen(
        part=part.part,
        scope="project",
        path=_shown(part),
        state="changed" if part.state == "foreign" else part.state,
        reason=_FOREIGN if is_foreign else "",
    )


def lacks_git_setup(project: Project) -> bool:
    """Whether this clone could be set up, and is not."""
    return not why_not(project) and any(part.state == "missing" for part in look_at_setup(project, _program(project)))
