"""`memory check`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.model.errors import UsageError
from quire.model.records import Mend, Problem
from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.upkeep.check import Checked
    from quire.verbs.admin.repair import Repaired, Repairs

_EXAMPLES = """Examples:
  memory check                   exit code 1 when there are errors
  memory check --repair --dry-run    what a repair would do, with the differences
  memory check --repair          mend what loses nothing; a copy is kept
  memory check --repairs         the repairs that can be taken back
  memory check --undo            take the last one back, byte for byte
  memory check --json | jq '.data.errors[] | select(.mend == "person")'
"""
_LAST = "last"
_LISTED = 40


def run(session: Session, repair: bool, dry_run: bool, undo: str | None, repairs: bool) -> int:
    """Look for faults in the memory's files: each with its path, its line and what to do; mend what loses nothing.

    Finds damaged or conflicting files, secrets, duplicate ids, relations that lead nowhere, hand edits, stray
    files, dead anchors, an outdated product map, and live records that say nearly the same or the opposite. Exit code
    1 when there are errors, 0 with warnings only.

    --repair mends what can be mended without losing anything, in every layer, and checks again. The files are copied
    first, to where git does not look; --undo puts them back as they were, unless somebody changed one since. The last
    20 repairs are kept. What only a person can decide is left as it is, with what to do about it.
    """
    from quire.verbs.graph.changes import check

    if sum((repair, undo is not None, repairs)) > 1:
        raise UsageError("--repair, --undo and --repairs exclude each other.", hint="Give one of them.")
    if dry_run and not repair:
        raise UsageError("--dry-run shows what --repair would do.", hint="Give --repair, too.")
    if repair:
        return _repair(session, dry_run)
    if undo is not None:
        return _undo(session, "" if undo == _LAST else undo)
    if repairs:
        return _kept(session)
    project = session.project()
    found = check(project)
    if session.as_json:
        from quire.fields.graph import checked_fields

        answer(project, checked_fields(found))
    else:
        _show(found)
        _who_mends(found)
    return 0 if found.valid else 1


def _repair(session: Session, dry_run: bool) -> int:
    from quire.verbs.admin.repair import repair as repair_of

    project = session.project()
    done: Repaired = repair_of(project, dry_run=dry_run)
    if session.as_json:
        from quire.fields.mending import repaired_fields

        answer(project, repaired_fields(done), done.warnings)
        return 0 if done.checked.valid else 1
    warn(done.warnings)
    if not done.mends:
        say("There is nothing that a repair could mend.")
    elif dry_run:
        say(f"A repair would mend {counted(len(done.mends), 'fault')}:")
        _list_mends(done.mends)
        _list_files(done)
        say()
        say("Nothing was changed. `memory check --repair` does it.")
    else:
        say(f"Mended {counted(len(done.mends), 'fault')}:", "32")
        _list_mends(done.mends)
        say()
        say(f"The files as they were: {', '.join(done.copies)}")
        say(f"To take it back: memory check --undo {done.name}")
        if done.pruned:
            say(f"Repairs that can no longer be taken back, since only the last 20 are kept: {', '.join(done.pruned)}")
    if not dry_run:
        say()
        _show(done.checked)
        _who_mends(done.checked)
    return 0 if done.checked.valid else 1


def _undo(session: Session, name: str) -> int:
    from quire.verbs.admin.repair import undo_repair

    project = session.project()
    done = undo_repair(project, name)
    if session.as_json:
        from quire.fields.mending import taken_back_fields

        answer(project, taken_back_fields(done))
        return 0
    if not done.files:
        say(f"The files were as before the repair {done.name} already; its copies are removed.")
        return 0
    say(f"Took the repair {done.name} back: {counted(len(done.files), 'file')} as before.")
    for path in done.files[:_LISTED]:
        say(f"  {path}")
    if len(done.files) > _LISTED:
        say(f"  … and {len(done.files) - _LISTED:,} more")
    return 0


def _kept(session: Session) -> int:
    from quire.verbs.admin.repair import repairs as repairs_of

    project = session.project()
    found: Repairs = repairs_of(project)
    if session.as_json:
        from quire.fields.mending import repairs_fields

        answer(project, repairs_fields(found))
        return 0
    if not found.repairs:
        say("No repair is kept here.")
    for one in found.repairs:
        say(f"{one.name}  {counted(len(one.mends), 'fault')} mended, {counted(one.files, 'file')}")
        for place in one.copies:
            say(f"    {place}")
        if one.changed_since:
            shown = ", ".join(one.changed_since[:5])
            say(f"    Changed since, so that it is not taken back: {shown}", "33")
    return 0


# -- showing -----------------------------------------------------------------------------------


def _show(found: Checked) -> None:
    verdict = "sound" if found.valid else "not sound"
    counts = [(found.files_checked, "file"), (len(found.errors), "error"), (len(found.warnings), "warning")]
    shown = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts)
    say(f"The memory is {verdict}: {shown}.")
    _list("Errors", found.errors)
    _list("Warnings", found.warnings)


def _list(title: str, problems: list[Problem]) -> None:
    if problems:
        say()
        say(f"{title}:")
    for problem in problems:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        say(f"  {place}: {problem.message} [{problem.code}]")
        if problem.hint:
            say(f"      {problem.hint}")


def _who_mends(found: Checked) -> None:
    """At the end: what a command does, what mends itself, what is left for a person."""
    mends = [problem.mend for problem in (*found.errors, *found.warnings)]
    repaired, itself = mends.count("repair"), mends.count("itself")
    person = len(mends) - repaired - itself
    told = []
    if repaired:
        told.append(f"`memory check --repair` mends {_some(repaired, len(mends))}")
    if itself:
        told.append(f"{itself:,} mend{'s itself' if itself == 1 else ' themselves'}")
    if person and (repaired or itself):
        told.append(f"{person:,} {'is' if person == 1 else 'are'} for you to decide")
    if told:
        say()
        say(f"{'; '.join(told)}.")


def _some(number: int, total: int) -> str:
    if number == total:
        return "it" if total == 1 else "all of them"
    return f"{number:,} of them"


def _list_mends(mends: tuple[Mend, ...]) -> None:
    for mend in mends[: 5 * _LISTED]:
        place = f"{mend.path}:{mend.line}" if mend.line else mend.path
        say(f"  {place}: {mend.message} [{mend.code}]")
    if len(mends) > 5 * _LISTED:
        say(f"  … and {len(mends) - 5 * _LISTED:,} more")


def _list_files(done: Repaired) -> None:
    for file in done.files[:_LISTED]:
        say()
        say(f"{file.action:<8} {file.path}", "1")
        for line in file.diff.split("\n") if file.diff else ():
            say(f"  {line}", {"+": "32", "-": "31"}.get(line[:1]))
    if len(done.files) > _LISTED:
        say()
        say(f"… and {len(done.files) - _LISTED:,} files more")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(name="--repair", into="repair", help="Mend what can be mended without losing anything."),
        Option(name="--dry-run", into="dry_run", help="With --repair: only show what would be done."),
        Option(
            name="--undo",
            into="undo",
            metavar="NAME",
            bare=_LAST,
            help="Take the last repair back, or the one with this name or number.",
        ),
        Option(name="--repairs", into="repairs", help="List the repairs that can be taken back."),
    ),
)
