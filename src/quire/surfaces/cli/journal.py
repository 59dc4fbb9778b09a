"""The `agent-memory` command: `memory journal` under the original program's name."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quire.surfaces.cli.commands import Command
from quire.surfaces.cli.declared import Subcommands, command_of
from quire.verbs.table import load, verbs_of

_MCP = "mcp"
"""The one that is not declared in `quire.verbs.table`: it becomes the server."""


class _Verbs(Subcommands):
    """The verbs of the journal, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> Command:
        if name != _MCP:
            return super().__getitem__(name)
        from quire.surfaces.cli.journal_mcp import MCP

        return MCP

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            yield from ((_MCP, name) if name == "providers" else (name,))

    def __len__(self) -> int:
        return super().__len__() + 1


COMMAND = msgspec.structs.replace(
    command_of(load("journal.status:GROUP"), "journal"), subcommands=_Verbs("journal", verbs_of("journal"))
)
