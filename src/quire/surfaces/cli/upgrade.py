"""`memory upgrade`"""

from __future__ import annotations

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.output import answer, say

_EXAMPLES = """Example:
  memory upgrade
"""


def run(session: Session) -> None:
    """Say whether the storage needs an upgrade, and what to do.

    Storage of another version is not read or changed, only archived by `memory reset`: the error says which version
    was found and how to go on. For a newer Quire, it names the command that fits how this one was installed.
    """
    from quire.verbs.graph.changes import upgrade

    project = session.project()
    message = upgrade(project)
    from quire.upkeep.upgrade_command import upgrade_advice

    if session.as_json:
        from quire.fields.graph import upgraded_fields

        answer(project, {**upgraded_fields(message), "advice": upgrade_advice()})
        return
    say(message)
    say(f"To upgrade Quire itself: {upgrade_advice()}")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
)
