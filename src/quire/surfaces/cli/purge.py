"""`memory purge`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from quire.model.errors import Cancelled, UsageError
from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.reading import agreed, read_text

if TYPE_CHECKING:
    from quire.verbs.admin.purge import Purged

_EXAMPLES = """Examples:
  memory purge                          asks for the text without showing it, says where it stands, asks again
  memory purge --secrets --dry-run      where secrets stand that `memory check` names
  memory purge --yes < text.txt         a text from a file; its last line end does not count
"""
_SHOWN = 40


def run(session: Session, secrets: bool, yes: bool, dry_run: bool) -> None:
    """Take a text out of every file that is ours, the kept copies included; it cannot be undone.

    For what should never have been written down. The text is read from standard input, or asked for, and never from
    the command line, which shells remember. [purged] takes its place in nodes, facts, profile, journal, inbox, notes,
    logs, backups and recovery copies; digests are made anew; copies of repairs that hold it go; the index is made
    anew. What git has in its history is said, and is for you to rewrite. A secret that was written down has to be
    replaced, whatever is done here.
    """
    from quire.verbs.admin.purge import purge

    at_terminal = sys.stdin.isatty()
    texts = [] if secrets else [_asked() if at_terminal else read_text("The text")]
    if not dry_run and not yes and (session.as_json or not at_terminal):
        raise UsageError("A purge asks before it changes anything.", hint="Repeat the command with --yes or --dry-run.")
    project = session.project()
    if not dry_run and not yes:
        found: Purged = purge(project, texts, secrets=secrets, dry_run=True)
        _show(found)
        if not found.places:
            return
        if not agreed("Take it out of all of them, for good?"):
            raise Cancelled("Nothing was changed.")
    done = purge(project, texts, secrets=secrets, dry_run=dry_run)
    if session.as_json:
        from quire.fields.purging import purged_fields

        answer(project, purged_fields(done))
        return
    _show(done)
    if done.places and not dry_run:
        _what_is_left(done)


def _asked() -> str:
    from getpass import getpass

    return getpass("The text (it is not shown): ", stream=sys.stderr)


def _show(done: Purged) -> None:
    if not done.places and not done.left:
        say("No secret was found." if not done.texts else "It stands in no file of the memory.")
        return
    total = sum(place.count for place in done.places)
    if done.places:
        verb = "It stands there" if done.dry_run else "Taken out"
        say(f"{verb} {counted(total, 'time')}, in {counted(len(done.places), 'file')}:")
    for place in done.places[:_SHOWN]:
        action = "" if place.action == "replaced" else f" ({'goes' if done.dry_run else 'removed'}: {place.reason})"
        say(f"  {place.path}: {counted(place.count, 'time')}{action}")
    if len(done.places) > _SHOWN:
        say(f"  and {len(done.places) - _SHOWN:,} more")
    for place in done.left:
        say(f"  {place.path}: left as it is: {place.reason}", "33")


def _what_is_left(done: Purged) -> None:
    say()
    say("Replace it where it is in use: whoever had the files may have it.")
    if done.has_history:
        say("Git keeps it in every commit that has it. With the text in a file outside the repository:")
        say("  git filter-repo --replace-text FILE")
    say("Other clones and branches, and the sessions of your agents, are not reached from here.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(name="--secrets", into="secrets", help="Every certain secret that `memory check` names."),
        Option(name="--yes", into="yes", help="Do not ask."),
        Option(name="--dry-run", into="dry_run", help="Say where it stands, change nothing."),
    ),
)
