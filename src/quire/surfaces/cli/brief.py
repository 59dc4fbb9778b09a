"""`memory brief`"""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.model.text import one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import number

_EXAMPLES = """Examples:
  memory brief                        what governs the files you have changed
  memory brief --diff main...HEAD     what governs a pull request
  memory brief --branch               what governs everything on this branch
  memory brief --path src/queue.ts    what governs a file you are about to change
  memory brief src/queue.ts src/worker/ --budget 800
"""


def run(
    session: Session,
    files: tuple[str, ...],
    diff: str | None,
    branch: str | None,
    path: str | None,
    budget: str | None,
    limit: str | None,
) -> None:
    """Show what governs the files of a change: decisions, traps, features, open questions, each with its verdict.

    Without an option, the change is what is not committed. Everything fits into a budget of tokens.
    """
    from quire.verbs.ask.query import brief

    named = [*files, *([path] if path is not None else [])]
    if sum([bool(named), diff is not None, branch is not None]) > 1:
        raise UsageError("Give files, --diff or --branch, not several of them.")
    project = session.project()
    most = number("limit", limit)
    change, found = brief(
        project, named, diff=diff, branch=branch, budget=number("budget", budget), limit=20 if most is None else most
    )
    if session.as_json:
        from quire.fields.graph import brief_fields

        answer(project, brief_fields(change, found), found.warnings)
        return
    warn(found.warnings)
    if not change.files:
        say(f"No file has changed in {change.name}." if diff or branch is not None else "No file has changed.")
        return
    if not found.hits:
        say(f"Nothing in the memory is anchored to {_shown(change.files)}.")
        return
    say(found.markdown.rstrip("\n"))


def _shown(files: list[str]) -> str:
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return one_line(", ".join(files[:3])) + more


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="files", required=False, many=True),),
    options=(
        Option(
            name="--diff",
            into="diff",
            metavar="[RANGE]",
            bare="",
            help="The files of a range of commits; what is not committed where none is given.",
        ),
        Option(
            name="--branch",
            into="branch",
            metavar="[NAME]",
            bare="",
            help="What a branch changed since it left the main one; the current branch where none is named.",
        ),
        Option(name="--path", into="path", metavar="FILE", help="A file or a folder."),
        Option(name="--budget", into="budget", metavar="TOKENS", help="How long the answer may be; 2000 by default."),
        Option(name="--limit", into="limit", metavar="NUMBER", help="At most so many results; 20 by default."),
    ),
)
