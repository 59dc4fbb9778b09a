"""The question of `memory journal integrate`: whether files in somebody's home may be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from quire.guard.hostile_text import make_safe
from quire.surfaces.cli.declared import run_verb
from quire.surfaces.cli.reading import agreed
from quire.verbs.journal.integrate import JournalIntegrate, JournalIntegrated, integrate_journal

if TYPE_CHECKING:
    from quire.surfaces.cli.commands import Session
    from quire.verbs.verb import Verb


def on_terminal(session: Session, verb: Verb, given: JournalIntegrate) -> int | None:
    """Ask where the configuration in the home would be changed; where nothing would be, nobody is asked."""
    if given.yes or given.dry_run or given.status:
        return None
    planned = integrate_journal(session.project(), replace(given, dry_run=True))
    paths = planned.written_in_home() if isinstance(planned, JournalIntegrated) else []
    if not paths or not agreed(make_safe(f"Change `{', '.join(paths)}`, too, for all your projects?")):
        return None
    return run_verb(session, verb, replace(given, yes=True))
