"""Ask on a terminal before something is removed, or a file in the user's home is changed.

Each function is what a command asks; it returns an exit code, or None to go on as without a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from quire.model.errors import Cancelled
from quire.surfaces.cli.commands import Session
from quire.surfaces.cli.declared import run_verb, say_lines
from quire.surfaces.cli.input import agreed
from quire.verbs.verb import Verb

if TYPE_CHECKING:
    from quire.verbs.admin.purge import Purge
    from quire.verbs.admin.reset import Reset
    from quire.verbs.agents.integrate import Integrate
    from quire.verbs.journal.integrate import JournalIntegrate


def before_integrate(session: Session, verb: Verb, given: Integrate) -> int | None:
    """Ask where someone's own configuration would be changed."""
    from quire.verbs.agents.integrate import needs_consent, refuse_contradictions

    refuse_contradictions(given)
    if not needs_consent(given):
        return None
    session.project()
    what = "Disconnect Quire from" if given.remove else "Connect Quire to"
    _need_consent(f"{what} your own configuration, for all projects?")
    return run_verb(session, verb, replace(given, yes=True))


def before_journal_integrate(session: Session, verb: Verb, given: JournalIntegrate) -> int | None:
    """Ask where the configuration in the home would be changed; where nothing would be, nobody is asked."""
    from quire.guard.hostile_text import make_safe
    from quire.verbs.journal.integrate import JournalIntegrated, integrate_journal

    if given.yes or given.dry_run or given.status:
        return None
    planned = integrate_journal(session.project(), replace(given, dry_run=True))
    paths = planned.written_in_home() if isinstance(planned, JournalIntegrated) else []
    if not paths or not agreed(make_safe(f"Also change `{', '.join(paths)}`, for all your projects?")):
        return None
    return run_verb(session, verb, replace(given, yes=True))


def before_purge(session: Session, verb: Verb, given: Purge) -> int | None:
    """Show where the text stands, and ask whether it goes."""
    from quire.verbs.admin.purge import lines, purge_memory

    if given.dry_run or given.yes:
        return None
    found = purge_memory(session.project(), replace(given, dry_run=True))
    say_lines(lines(found))
    if not found.places:
        return 0
    _need_consent("Remove it from all of them?")
    return run_verb(session, verb, replace(given, yes=True))


def before_reset(session: Session, verb: Verb, given: Reset) -> int | None:
    """Ask whether to remove."""
    from quire.verbs.admin.reset import roots_to_reset

    if given.yes or given.dry_run:
        return None
    roots = roots_to_reset(session.project(), given)
    what = "DESTROY the memory, without an archive, of" if given.destroy else "Archive and remove the memory of"
    _need_consent(f"{what} {', '.join(roots) or 'no project'}?")
    return run_verb(session, verb, replace(given, yes=True))


def _need_consent(question: str) -> None:
    if not agreed(question):
        raise Cancelled("Nothing was changed.")
