"""`memory integrate --user` at a terminal: a question before files in the home folder are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import Cancelled
from quire.surfaces.cli.declared import run_verb
from quire.surfaces.cli.reading import agreed
from quire.verbs.agents.integrate import Integrate, needs_consent, refuse_contradictions

if TYPE_CHECKING:
    from quire.surfaces.cli.commands import Session
    from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: Integrate) -> int | None:
    """Ask where somebody's own configuration would be changed."""
    refuse_contradictions(given)
    if not needs_consent(given):
        return None
    session.project()
    what = "Take Quire out of" if given.remove else "Wire Quire into"
    if not agreed(f"{what} your own configuration, for all projects?"):
        raise Cancelled("Nothing was changed.")
    return run_verb(session, verb, msgspec.structs.replace(given, yes=True))
