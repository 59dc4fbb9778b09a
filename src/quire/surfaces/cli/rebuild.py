"""`memory rebuild`"""

from __future__ import annotations

import sys
from collections.abc import Callable

from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Examples:
  memory rebuild
  memory rebuild --semantic ~/models/all-MiniLM-L6-v2
"""
_WIDTH = 32


def run(session: Session, semantic: str | None) -> None:
    """Make the index from nothing, out of the files.

    It is never needed: the index follows the files by itself, and is made again when it is missing or damaged.
    With --semantic, every passage is embedded with a full language model, so that questions in other words find more;
    `memory docs semantic` says how. That takes minutes; interrupted, the same command goes on where it was.
    """
    from quire.verbs.graph.changes import rebuild

    project = session.project()
    on_terminal = sys.stderr.isatty() and not session.as_json
    shown = {"progress": _bar("files"), "taught": _bar("passages")} if on_terminal else {}
    done = rebuild(project, semantic=semantic, **shown)
    if on_terminal:
        sys.stderr.write("\r\x1b[K")
    if session.as_json:
        from quire.fields.graph import rebuilt_fields

        answer(project, rebuilt_fields(done))
        return
    say(f"Indexed {counted(done.records, 'record')} and {counted(done.edges, 'relation')}.")
    if semantic is not None:
        say("Vectors: " + ", ".join(f"{number:,} in {space}" for space, number in done.vectors.items()) + ".")
    for path in done.unreadable:
        say(f"  could not be read: {path} (`memory check` says why)")


def _bar(things: str) -> Callable[[int, int], None]:
    """One line that fills up."""

    def show(done: int, total: int) -> None:
        filled = _WIDTH * done // max(total, 1)
        sys.stderr.write(f"\r\x1b[K[{'#' * filled}{'.' * (_WIDTH - filled)}] {done:,} of {total:,} {things}")
        sys.stderr.flush()

    return show


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(
            name="--semantic",
            into="semantic",
            metavar="FOLDER",
            help="Embed the documents with the model all-MiniLM-L6-v2 in this folder.",
        ),
    ),
)
