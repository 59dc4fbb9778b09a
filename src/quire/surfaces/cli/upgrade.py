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
    was found and how to go on. To upgrade Quire itself, use the tool you installed it with.
    """
    project = session.part("Keeping")
    message = project.upgrade()
    if session.as_json:
        from quire.fields import upgraded_fields

        answer(project, upgraded_fields(message))
        return
    say(message)
    say("To upgrade Quire itself, use the tool you installed it with: `pip install -U quire-memory`.")


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
)
