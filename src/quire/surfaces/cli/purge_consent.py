"""`memory purge` at a terminal: it is said where the text stands, and asked whether it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.declared import run_verb, say_lines
from quire.surfaces.cli.reading import agreed
from quire.verbs.admin.purge import Purge, lines, purge_memory

if TYPE_CHECKING:
    from quire.surfaces.cli.commands import Session
    from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: Purge) -> int | None:
    """Show what would go and ask; without a question where `--yes` or `--dry-run` makes it superfluous."""
    if given.dry_run or given.yes:
        return None
    found = purge_memory(session.project(), msgspec.structs.replace(given, dry_run=True))
    say_lines(lines(found))
    if not found.places:
        return 0
    if not agreed("Take it out of all of them, for good?"):
        raise Cancelled("Nothing was changed.")
    return run_verb(session, verb, msgspec.structs.replace(given, yes=True))
