"""Ask on a terminal what `memory add` lacks: kind, text, and whether to add a similar record."""

from __future__ import annotations

import sys

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import run_verb, say_lines
from quire.surfaces.cli.input import agreed
from quire.surfaces.cli.output import say, warn
from quire.verbs.graph.add import ADDABLE, Add, add, named
from quire.verbs.verb import Verb

_SIMILAR = frozenset({"SimilarNode", "SaysNearlyTheSame", "SaysTheOpposite", "SimilarRecord"})


def on_terminal(session: Session, verb: Verb, given: Add) -> int | None:
    """Ask for what is missing, then show similar records before anything is written."""
    kind, text = named(given)
    if kind is None:
        kind = _asked_kind()
    given = msgspec.structs.replace(given, kind=kind, text=text or _edited(kind))
    if given.dry_run:
        return run_verb(session, verb, given)
    planned = add(session.project(), msgspec.structs.replace(given, dry_run=True))
    similar = [problem for problem in planned.warnings if problem.code in _SIMILAR]
    warn(similar)
    if similar and not agreed("Add it anyway?"):
        raise Cancelled("Nothing was added.")
    done = add(session.project(), given)
    say_lines(verb.lines(done), session.program)
    warn(problem for problem in done.warnings if problem not in similar)
    return done.exit_code()


def _asked_kind() -> str:
    for number, kind in enumerate(ADDABLE, start=1):
        say(f"  {number}  {kind}")
    while True:
        sys.stderr.write(f"What kind of record is it? [1-{len(ADDABLE)}] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise Cancelled("Nothing was added.")
        word = line.strip().lower()
        if word.isdigit() and 1 <= int(word) <= len(ADDABLE):
            return ADDABLE[int(word) - 1]
        if word in ADDABLE:
            return word


def _edited(kind: str) -> str:
    """A text from the editor; lines that begin with `#` are no part of it."""
    import click

    template = f"\n# Write the {kind}. The first line becomes its title.\n# Lines that begin with # are left out.\n"
    try:
        text = click.edit(template, extension=".md") or ""
    except click.ClickException as error:
        raise Cancelled(
            f"The editor could not be used ({error.format_message().rstrip('.')}). Nothing was added.",
            hint="Set EDITOR to your editor, or give the text on the command line.",
        ) from None
    kept = "\n".join(line for line in text.split("\n") if not line.startswith("#")).strip()
    if not kept:
        raise Cancelled("The text is empty. Nothing was added.")
    return kept
