"""Show and ask on a terminal for `memory confirm`: each record beside the change in its code."""

from __future__ import annotations

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import run_verb
from quire.surfaces.cli.input import agreed
from quire.surfaces.cli.output import say
from quire.verbs.graph.confirm import Confirm, confirm
from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: Confirm) -> int | None:
    """Ask about each record that is out of date; for the others there is nothing to compare."""
    if given.yes or given.dry_run:
        return None
    found = confirm(session.project(), msgspec.structs.replace(given, dry_run=True))
    chosen = []
    for number, look in enumerate(found.looks, start=1):
        if look.verdict in ("fresh", "unanchored"):
            chosen.append(look.ref)
            continue
        say(f"[{number}/{len(found.looks)}] {look.ref}  {look.verdict}", "1")
        say(look.said)
        say("\n".join(look.changes))
        if agreed("Is the record still correct?"):
            chosen.append(look.ref)
    if not chosen:
        raise Cancelled("Nothing was confirmed.")
    return run_verb(session, verb, msgspec.structs.replace(given, ids=chosen, commit=None, yes=True))
