"""`memory profile`"""

from __future__ import annotations

import msgspec

from quire.model.text import counted
from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.profile_asking import ASKING
from quire.surfaces.cli.profile_telling import TELLING
from quire.surfaces.cli.profile_tending import TENDING

_EXAMPLES = """Examples:
  memory profile remember user timezone "Europe/Madrid" --source user-stated
  memory profile remember tools package_manager "uv, never pip" --tag user-preference --importance 8
  memory profile search "which package manager?"
  memory profile session-start                        count a session, and hear what matters now
"""


def run(session: Session) -> None:
    """Who works here and how: user, assistant, project, relationships, tools, learnings.

    Kept in .ai-state/memory.json. Works with and without the rest of the memory. Without a verb, shows the counts.
    """
    status(session)


def status(session: Session) -> None:
    """Show how many entries there are in which category, where they are, and what state the document is in."""
    from quire.verbs.profile.overview import profile_status

    project = session.project()
    found = profile_status(project)
    if session.as_json:
        from quire.fields.profile import profile_status_fields

        answer(project, profile_status_fields(found), found.warnings)
        return
    if not found.exists:
        say('There is no profile yet. `memory profile remember user timezone "…"` begins one.')
        warn(found.warnings)
        return
    others = ", ".join(f"{count} {name}" for name, count in found.statuses.items() if count and name != "active")
    say(
        f"Profile: {counted(found.statuses.get('active', 0), 'active entry', 'active entries')}"
        + (f" (and {others})" if others else "")
        + f", {counted(found.links, 'link')}."
    )
    for name, count in found.categories.items():
        if count:
            say(f"  {name}: {count}")
    say(f"Sessions: {found.session_count}. Readings not written down yet: {found.pending_readings}.")
    say(f"File: {found.path}, schema {found.schema_version or 'none'}, {found.file_size}.")
    if found.private != "shared":
        say(f"Private, in {found.private_path}: {found.private_entries}.")
    if found.shadowed:
        say(f"In both documents, the private one counts: {', '.join(found.shadowed[:5])}")
    if found.forgotten:
        say(f"Forgotten, and restorable: {found.forgotten} (`memory profile restore`).")
    warn(found.warnings)


STATUS = Command(run=status, examples="Example:\n  memory profile status --json\n")
_VERBS = {**TELLING, **ASKING, "status": STATUS, **TENDING}

COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    subcommands={name: msgspec.structs.replace(verb, paths=()) for name, verb in _VERBS.items()},
    alone=True,
)
