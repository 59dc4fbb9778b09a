"""`memory check`"""

from __future__ import annotations

from quire.model import Problem
from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Examples:
  memory check                 exit code 1 when there are errors
  memory check --json | jq .data.errors
"""


def run(session: Session) -> int:
    """Look for faults in the memory's files: each with its path, its line and what to do.

    Finds damaged or conflicting files, secrets, duplicate ids, relations that lead nowhere, hand edits, stray
    files, dead anchors and an outdated product map. Exit code 1 when there are errors, 0 with warnings only.
    """
    project = session.part("Keeping")
    found = project.check()
    if session.as_json:
        from quire.fields import checked_fields

        answer(project, checked_fields(found))
    else:
        verdict = "sound" if found.valid else "not sound"
        counts = [(found.files_checked, "file"), (len(found.errors), "error"), (len(found.warnings), "warning")]
        shown = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts)
        say(f"The memory is {verdict}: {shown}.")
        _list("Errors", found.errors)
        _list("Warnings", found.warnings)
    return 0 if found.valid else 1


def _list(title: str, problems: list[Problem]) -> None:
    if problems:
        say()
        say(f"{title}:")
    for problem in problems:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        say(f"  {place}: {problem.message} [{problem.code}]")
        if problem.hint:
            say(f"      {problem.hint}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
)
