"""`memory upgrade`"""

from __future__ import annotations

import click

from quire.surfaces.cli.output import answer, say
from quire.surfaces.cli.session import Session, json_option

_EPILOG = """\b
Example:
  memory upgrade
"""


@click.command(epilog=_EPILOG)
@json_option
@click.pass_obj
def command(session: Session) -> None:
    """Say whether the storage needs an upgrade, and what to do.

    Storage of another version is never changed by any command: the error says which version was found and how to go
    on. To upgrade Quire itself, use the tool you installed it with, for example `pip install -U quire-memory`.
    """
    project = session.project()
    message = project.upgrade()
    if session.as_json:
        answer(project, {"message": message, "upgraded": False})
        return
    say(message)
    say("To upgrade Quire itself, use the tool you installed it with: `pip install -U quire-memory`.")
