"""`memory check`, the tool `check_memory`: faults in the memory's files, and the repairs of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from quire.layers.graph.layout import NODES
from quire.model.errors import UsageError
from quire.model.records import Problem
from quire.model.text import counted
from quire.verbs.graph.similar_records import alike_findings
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.upkeep.check import Checked
    from quire.verbs.admin.repair_results import Repaired, RepairsKept, RepairUndone

_LAST = "last"


class Check(Arguments, frozen=True, kw_only=True):
    repair: Annotated[bool, Option(help="Repair what can be repaired without losing anything.", tool=False)] = False
    dry_run: Annotated[bool, Option(help="With --repair: show what would change, write nothing.", tool=False)] = False
    undo: Annotated[
        str | None,
        Option(
            metavar="NAME",
            bare=_LAST,
            help="Undo the last repair, or the one with this name or number.",
            tool=False,
        ),
    ] = None
    repairs: Annotated[bool, Option(help="List the repairs that can be undone.", tool=False)] = False


class FilesChecked(Result, kw_only=True):
    LISTED_FOR_TOOLS: ClassVar[int] = 100
    found: Checked

    def fields(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self.found)

    def exit_code(self) -> int:
        return 0 if self.found.valid else 1

    def lines(self) -> Lines:
        return checked_lines(self.found)


def check(project: Project, given: Check) -> FilesChecked | Repaired | RepairUndone | RepairsKept:
    """Find faults in the memory's files, each with its path, its line and what to do; repair what can be repaired
    safely.

    Finds damaged or conflicting files, secrets, duplicate ids, broken relations, hand edits, stray files, dead
    anchors, an outdated product map, and live records that say nearly the same or the opposite. The exit code is 1 if
    there are errors, 0 with warnings only.

    --repair repairs what can be repaired without losing anything, in every layer, and checks again. It first copies
    the files to a folder that git ignores; --undo restores them, unless one was changed since. The last 20 repairs are
    kept. Faults that only a person can settle stay; the output says what to do.
    """
    from quire.verbs.admin.repair import repair, repairs_kept, undo_repair

    if sum((given.repair, given.undo is not None, given.repairs)) > 1:
        raise UsageError("--repair, --undo and --repairs exclude each other.", hint="Give one of them.")
    if given.dry_run and not given.repair:
        raise UsageError("--dry-run works with --repair only.", hint="Give --repair, too.")
    if given.repair:
        return repair(project, dry_run=given.dry_run)
    if given.undo is not None:
        return undo_repair(project, "" if given.undo == _LAST else given.undo)
    if given.repairs:
        return repairs_kept(project)
    return FilesChecked(found=check_files(project))


def check_files(project: Project) -> Checked:
    """What is wrong with the files, and who can repair it."""
    project.recover()
    nodes = os.path.join(project.graph.folder, NODES)
    if not project.graph.exists() and not os.path.isdir(nodes) and not (project.has_profile() or project.has_journal()):
        project.need_config()
    return check_unrecovered(project)


def check_unrecovered(project: Project) -> Checked:
    """The files as they are, whatever is unfinished: also for who holds a lock."""
    from quire.upkeep.check import check_memory

    def work(index: Index) -> Checked:
        return check_memory(project, index, project.rejections(), alike_findings)

    return project.in_one_state(lambda: project.with_index(work))


def lines(done: FilesChecked | Repaired | RepairUndone | RepairsKept) -> Lines:
    return done.lines()


def checked_lines(found: Checked) -> Lines:
    """What is wrong where, and at the end who repairs it."""
    counts = [(found.files_checked, "file"), (len(found.errors), "error"), (len(found.warnings), "warning")]
    shown = ", ".join(counted(number, word) for number, word in counts)
    yield f"The memory is {'sound' if found.valid else 'not sound'}: {shown}."
    yield from _listed("Errors", found.errors)
    yield from _listed("Warnings", found.warnings)
    yield from _who_repairs(found)


def _listed(title: str, problems: list[Problem]) -> Lines:
    if problems:
        yield ""
        yield f"{title}:"
    for problem in problems:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        yield Recalled(text=f"  {place}: {problem.message} [{problem.code}]", origin="quire")
        if problem.hint:
            yield Recalled(text=f"      {problem.hint}", origin="quire")


def _who_repairs(found: Checked) -> Lines:
    """What a command does, what repairs itself, what is left for a person."""
    fixes = [problem.fixed_by for problem in (*found.errors, *found.warnings)]
    repaired, itself = fixes.count("repair"), fixes.count("itself")
    person = len(fixes) - repaired - itself
    told = []
    if repaired:
        told.append(f"`memory check --repair` repairs {_some(repaired, len(fixes))}")
    if itself:
        told.append(f"{itself:,} {'is' if itself == 1 else 'are'} repaired automatically")
    if person and (repaired or itself):
        told.append(f"{person:,} {'needs' if person == 1 else 'need'} your decision")
    if told:
        yield ""
        yield f"{'; '.join(told)}."


def _some(number: int, total: int) -> str:
    if number == total:
        return "it" if total == 1 else "all of them"
    return f"{number:,} of them"


VERB = Verb(
    takes=Check,
    run=check,
    lines=lines,
    examples="""Examples:
  memory check                   exit code 1 when there are errors
  memory check --repair --dry-run    what a repair would do, with the differences
  memory check --repair          repair what loses nothing; keeps a copy
  memory check --repairs         the repairs that can be undone
  memory check --undo            undo the last one, byte for byte
  memory check --json | jq '.data.errors[] | select(.fixed_by == "person")'
""",
    tool=Tool(
        title="Check the stored files",
        says="Faults in the memory's files, each with its place and what to do. Use it when an answer warned about "
        "unreadable files. To find records that are out of date, use sync_memory.",
    ),
)
