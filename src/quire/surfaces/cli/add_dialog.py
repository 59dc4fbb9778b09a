"""Ask on a terminal what `memory add` lacks: kind, text, and whether to add a similar record."""

from __future__ import annotations

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import run_verb, say_lines
from quire.surfaces.cli.input import agreed, asked, edited
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
    while line := asked(f"What kind of record is it? [1-{len(ADDABLE)}]"):
        word = line.strip()
        if word.isdigit() and 1 <= int(word) <= len(ADDABLE):
            return ADDABLE[int(word) - 1]
        if word in ADDABLE:
            return word
    raise Cancelled("Nothing was added.")


def _edited(kind: str) -> str:
    """A text from the editor; lines that begin with `#` are no part of it."""
    template = f"\n# Write the {kind}. The first line becomes its title.\n# Lines that begin with # are left out.\n"
    text = edited(template, "Nothing was added.", "on the command line") or ""
    kept = "\n".join(line for line in text.split("\n") if not line.startswith("#")).strip()
    if not kept:
        raise Cancelled("The text is empty. Nothing was added.")
    return kept
