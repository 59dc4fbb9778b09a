"""`memory doctor`"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say

if TYPE_CHECKING:
    from quire.upkeep.findings import Finding
    from quire.verbs.admin.doctor import Doctored

_EXAMPLES = """Examples:
  memory doctor                exit code 1 when there is an error
  memory doctor --fix          mend what can be mended without losing anything
  memory doctor --json | jq '.data.findings[] | select(.state == "error")'
"""
_COLOURS = {"error": "31", "warning": "33", "note": "2"}


def run(session: Session, fix: bool) -> int:
    """Say what is wrong with the installation: program, machine, project, agents, sessions, server.

    Starts the MCP server once to see whether it answers; asks no network. With --fix it completes what a dead writer
    left, adds missing lines to .gitignore, makes a damaged index anew, mends what loses nothing in the memory's files
    (as `memory check --repair` does), writes damaged wiring of this project again, forgets listed projects that are
    gone, and reads sessions that wait. Everything else is said with what to do about it. Works without a memory, too.
    """
    from quire.verbs.admin.doctor import doctor

    project = session.project()
    found = doctor(project, fix=fix)
    if session.as_json:
        from quire.fields.doctor import doctored_fields

        answer(project, doctored_fields(found))
    else:
        _show(found, fix=fix)
    return 0 if found.is_healthy else 1


def _show(found: Doctored, *, fix: bool) -> None:
    for item in found.fixed:
        say(item.message, "31" if item.failed else "32")
    if found.fixed:
        say()
    for section, findings in groupby(found.findings, attrgetter("section")):
        say(section, "1")
        for finding in findings:
            _line(finding)
    counts = [
        (sum(finding.state == state for finding in found.findings), state) for state in ("error", "warning", "note")
    ]
    said = ", ".join(counted(count, state) for count, state in counts if count)
    say()
    say(f"Found: {said}." if said else "Everything is well.")
    fixable = sum(finding.fixable for finding in found.findings)
    if fixable and not fix:
        say(f"`memory doctor --fix` mends {'one of them' if fixable == 1 else f'{fixable} of them'}.")


def _line(finding: Finding) -> None:
    say(f"  {finding.state:<7}  {finding.name}: {finding.message}", _COLOURS.get(finding.state))
    if finding.hint and finding.state != "ok":
        say(f"           {finding.hint}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(Option(name="--fix", into="fix", help="Mend what can be mended without losing anything."),),
)
