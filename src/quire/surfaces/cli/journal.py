"""`memory journal`, which is also installed as `agent-memory`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

import msgspec

from quire.surfaces.cli.commands import Command, Session
from quire.surfaces.cli.declared import command_named
from quire.surfaces.cli.journal_shown import reply
from quire.verbs.table import module_of

_EXAMPLES = """Examples:
  memory journal init                            look at the project and make the journal
  memory journal add claude-local ~/.claude      where an agent keeps its sessions
  memory journal sync --all                      import what is new in them
  memory journal recall                          work it into the memory
  memory journal query "what changed?"           ask
"""
_VERBS = {
    "init": "journal_making:MAKING",
    "update": "journal_making:MAKING",
    "recall": "journal_recalling:RECALLING",
    "query": "journal_asking:ASKING",
    "status": "journal_asking:ASKING",
    "add": "journal_importing:IMPORTING",
    "sources": "journal_importing:IMPORTING",
    "remove": "journal_importing:IMPORTING",
    "sync": "journal_importing:IMPORTING",
    "log": "journal_recalling:RECALLING",
    "diff": "journal_recalling:RECALLING",
    "restore": "journal_making:MAKING",
    "validate": "journal_asking:ASKING",
    "automate": "journal_automation:AUTOMATE",
    "integrate": "journal_integrating:INTEGRATE",
    "mcp": "journal_serving:MCP",
    "providers": "journal_asking:ASKING",
}
"""Every verb in the order of the help; where it is not declared in `quire.verbs.table`, the module that has it."""


class _Verbs(Mapping[str, Command]):
    """The verbs of the journal, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> Command:
        place = _VERBS[name]
        words = f"journal {name}"
        if module := module_of(words):
            return command_named(words, module)
        home, _, names = place.partition(":")
        found = getattr(import_module(f"quire.surfaces.cli.{home}"), names)
        command: Command = found if isinstance(found, Command) else found[name]
        return msgspec.structs.replace(command, paths=() if command.paths is None else command.paths)

    def __iter__(self) -> Iterator[str]:
        return iter(_VERBS)

    def __len__(self) -> int:
        return len(_VERBS)


def run(session: Session) -> None:
    """What happened in the sessions of this project, and what is known by now.

    Kept in .agent-memory/, with pages to read in docs/agent-memory/. Works with and without the rest of the memory,
    and needs no model. Also installed as agent-memory. Without a verb, shows the status.
    """
    from quire.surfaces.cli.journal_asking import say_status
    from quire.verbs.journal.ask import journal_status

    project = session.project()
    found = journal_status(project)
    if session.as_json:
        from quire.fields.journal import journal_status_fields

        reply(session, project, journal_status_fields(found), found.warnings)
        return
    say_status(session, found)


COMMAND = Command(run=run, examples=_EXAMPLES, subcommands=_Verbs(), alone=True)
