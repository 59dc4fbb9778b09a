"""`memory diff`"""

from __future__ import annotations

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Examples:
  memory diff
  memory diff --json
"""
_COLOURS = {"+": "32", "-": "31", "@": "36", "d": "1"}


def run(session: Session) -> None:
    """Show what differs from the last commit in .memory/, profile and journal: staged, unstaged and untracked."""
    from quire.verbs.graph.changes import diff

    project = session.project()
    found = diff(project)
    if session.as_json:
        from quire.fields.graph import changes_fields

        answer(project, changes_fields(found))
        return
    if not found.files:
        say("The memory is as the last commit has it.")
    for file in found.files:
        states = [name for name in ("staged", "unstaged", "untracked") if getattr(file, name)]
        say(f"{file.change}: {file.path} ({', '.join(states)})")
    if found.diff:
        say()
    for line in found.diff.splitlines():
        say(line, colour=_COLOURS.get(line[:1]))


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
)
