"""`memory why`"""

from __future__ import annotations

from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.reading import number

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
    from quire.verbs.ask.query import why

    project = session.project()
    background, found = why(project, place, budget=number("budget", budget))
    if session.as_json:
        from quire.fields.graph import why_fields

        answer(project, why_fields(background, found))
        return
    from quire.fields.lines import background_lines

    for line in background_lines(background):
        say(line)
    say()
    say(found.markdown.rstrip("\n") if found.hits else "Nothing in the memory is anchored here.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="place"),),
    options=(
        Option(name="--budget", into="budget", metavar="TOKENS", help="How long the answer may be; 2000 by default."),
    ),
)
