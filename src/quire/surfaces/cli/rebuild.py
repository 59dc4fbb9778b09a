"""`memory rebuild`"""

from __future__ import annotations

import sys

import msgspec

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Example:
  memory rebuild
"""
_WIDTH = 32


def run(session: Session) -> None:
    """Make the index from nothing, out of the files.

    It is never needed: the index follows the files by itself, and is made again when it is missing or damaged.
    """
    project = session.project()
    on_terminal = sys.stderr.isatty() and not session.as_json
    done = project.rebuild(_show if on_terminal else None)
    if on_terminal:
        sys.stderr.write("\r\x1b[K")
    if session.as_json:
        answer(project, msgspec.to_builtins(done))
        return
    say(f"Indexed {done.records} nodes and {done.edges} relations.")
    for path in done.unreadable:
        say(f"  could not be read: {path} (`memory check` says why)")


def _show(done: int, total: int) -> None:
    """One line that fills up."""
    filled = _WIDTH * done // max(total, 1)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {done:,} of {total:,} files")
    sys.stderr.flush()


COMMAND = Command(run=run, examples=_EXAMPLES)
