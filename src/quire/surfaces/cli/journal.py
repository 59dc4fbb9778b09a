"""`memory journal`, which is also installed as `agent-memory`"""

from __future__ import annotations

import msgspec

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.journal_asking import ASKING, say_status
from quire.surfaces.cli.journal_automation import AUTOMATE
from quire.surfaces.cli.journal_importing import IMPORTING
from quire.surfaces.cli.journal_integrating import INTEGRATE
from quire.surfaces.cli.journal_making import MAKING
from quire.surfaces.cli.journal_recalling import RECALLING
from quire.surfaces.cli.journal_serving import MCP
from quire.surfaces.cli.journal_shown import reply

_EXAMPLES = """Examples:
  memory journal init                            look at the project and make the journal
  memory journal add claude-local ~/.claude      where an agent keeps its sessions
  memory journal sync --all                      import what is new in them
  memory journal recall                          work it into the memory
  memory journal query "what changed?"           ask
"""


def run(session: Session) -> None:
    """What happened in the sessions of this project, and what is known by now.

    Kept in .agent-memory/, with pages to read in docs/agent-memory/. Works with and without the rest of the memory,
    and needs no model. Also installed as agent-memory. Without a verb, shows the status.
    """
    from quire.verbs.journal.ask import journal_status

    project = session.project()
    found = journal_status(project)
    if session.as_json:
        from quire.fields.journal import journal_status_fields

        reply(session, project, journal_status_fields(found), found.warnings)
        return
    say_status(session, found)


_VERBS = {
    "init": MAKING["init"],
    "update": MAKING["update"],
    "recall": RECALLING["recall"],
    "query": ASKING["query"],
    "status": ASKING["status"],
    **IMPORTING,
    "log": RECALLING["log"],
    "diff": RECALLING["diff"],
    "restore": MAKING["restore"],
    "validate": ASKING["validate"],
    "automate": AUTOMATE,
    "integrate": INTEGRATE,
    "mcp": MCP,
    "providers": ASKING["providers"],
}

COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    subcommands={
        name: msgspec.structs.replace(verb, paths=() if verb.paths is None else verb.paths)
        for name, verb in _VERBS.items()
    },
    alone=True,
)
