"""`memory why`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.reading import number

if TYPE_CHECKING:
    from quire.files import Commit

_EXAMPLES = """Examples:
  memory why src/queue.ts:42
  memory why src/queue.ts
  memory why src/queue.ts:42 --json
"""


def run(session: Session, place: str, budget: str | None) -> None:
    """Say why a line, or a file, is as it is.

    Shows what governs it (decisions, traps and features, also those that were replaced), the commit that wrote the
    line, and what was saved to the memory in that commit. PLACE is a path, or a path and a line: src/queue.ts:42.
    """
    project = session.project()
    background, found = project.why(place, budget=number("budget", budget))
    if session.as_json:
        from quire.fields import why_fields

        answer(project, why_fields(background, found))
        return
    if background.line is not None:
        say(f"{background.path}:{background.line}: {(background.text or '').strip()}")
    if not background.committed:
        say(f"No commit to show: {background.note.rstrip('.')}.")
    for commit in background.commits:
        say(_said(commit))
        for save in background.saves:
            if save.commit == commit.id:
                say(f"  saved in it: {save.ref} — {save.title} ({save.change})")
    say()
    say(found.markdown.rstrip("\n") if found.hits else "Nothing in the memory is anchored here.")


def _said(commit: Commit) -> str:
    return f"{commit.id[:9]} {commit.date[:10]} {commit.author}: {commit.subject}"


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="place"),),
    options=(
        Option(name="--budget", into="budget", metavar="TOKENS", help="How long the answer may be; 2000 by default."),
    ),
)
