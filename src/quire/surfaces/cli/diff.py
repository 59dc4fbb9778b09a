"""`memory diff`"""

from __future__ import annotations

import sys

import click
import msgspec

from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.session import Session, json_option

_EPILOG = """\b
Examples:
  memory diff
  memory diff --json
"""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(epilog=_EPILOG)
@json_option
@click.pass_obj
def command(session: Session) -> None:
    """Show what differs from the last commit in .memory/: staged, unstaged and untracked."""
    project = session.project()
    found = project.diff()
    if session.as_json:
        answer(project, msgspec.to_builtins(found))
        return
    if not found.files:
        say("The memory is as the last commit has it.")
    for file in found.files:
        states = [name for name in ("staged", "unstaged", "untracked") if getattr(file, name)]
        say(f"{file.change}: {file.path} ({', '.join(states)})")
    if found.diff:
        say()
    on_terminal = sys.stdout.isatty()
    for line in found.diff.splitlines() if on_terminal else ():
        from quire.guard import make_safe

        click.secho(make_safe(line), fg=_COLOURS.get(line[:1]), bold=line.startswith("diff "))
    if not on_terminal and found.diff:
        say(found.diff.removesuffix("\n"))
