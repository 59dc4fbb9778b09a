"""`memory status`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.upkeep.status import Status

_EXAMPLES = """Examples:
  memory status
  memory status --all
  memory status --json
"""


def run(session: Session, everywhere: bool) -> None:
    """Show features by stage, open questions, what the code has left behind, and the last activity."""
    from quire.verbs.ask.status import status as status_of
    from quire.verbs.ask.status import status_warnings

    if everywhere:
        _all(session)
        return
    project = session.project()
    found = status_of(project)
    warnings = status_warnings(project, found)
    if session.as_json:
        from quire.fields.graph import status_fields

        answer(project, status_fields(found), warnings)
    else:
        from quire.fields.lines import status_lines

        for line in status_lines(found, project.graph.folder, "`memory sync --all`"):
            say(line)
        warn(warnings)


def _all(session: Session) -> None:
    machine = session.machine()
    rows = machine.status()
    if session.as_json:
        from quire.fields.projects import statuses_fields

        answer(None, statuses_fields(rows, machine.registry_path))
        return
    if not rows:
        say("No projects are registered. `memory init` registers one, `memory projects add` an existing one.")
    from quire.fields.lines import moment, stage_counts

    for row in rows:
        name = row.entry.project["name"]
        if row.status is None:
            say(f"{name} — {row.entry.project_root} — {row.error}")
        else:
            status = row.status
            say(
                f"{name} — {stage_counts(status)} · questions {len(status.open_questions)}"
                f" · need a look {_needy(status)} · last activity {moment(status.last_activity)}"
                f" — {row.entry.project_root}"
            )


def _needy(status: Status) -> int:
    return sum(row.verdict != "unverifiable" for row in status.attention)


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(Option(name="--all", into="everywhere", help="One line for every project on this machine."),),
)
