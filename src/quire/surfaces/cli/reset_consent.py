"""What `memory reset` asks on a terminal before it removes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.declared import run_verb
from quire.surfaces.cli.reading import agreed
from quire.verbs.admin.reset import Reset, roots_to_reset

if TYPE_CHECKING:
    from quire.surfaces.cli.commands import Session
    from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: Reset) -> int | None:
    """Ask whether to remove."""
    if given.yes or given.dry_run:
        return None
    roots = roots_to_reset(session.project(), given)
    what = "DESTROY the memory, without an archive, of" if given.destroy else "Archive and remove the memory of"
    if not agreed(f"{what} {', '.join(roots) or 'no project'}?"):
        raise Cancelled("Nothing was changed.")
    return run_verb(session, verb, msgspec.structs.replace(given, yes=True))
