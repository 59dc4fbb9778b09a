"""`memory journal`, which is also installed as `agent-memory`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

import msgspec

from quire.surfaces.cli.commands import Command
from quire.surfaces.cli.declared import command_named, command_of
from quire.verbs.table import load, module_of

_VERBS = {
    "init": "",
    "update": "",
    "recall": "",
    "query": "",
    "status": "",
    "add": "",
    "sources": "",
    "remove": "",
    "sync": "",
    "log": "",
    "diff": "",
    "restore": "",
    "validate": "",
    "automate": "",
    "integrate": "journal_integrating:INTEGRATE",
    "mcp": "journal_mcp:MCP",
    "providers": "",
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


COMMAND = msgspec.structs.replace(command_of(load("journal.overview"), "journal"), subcommands=_Verbs())
