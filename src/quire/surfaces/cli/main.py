"""The `memory` command: the table of its verbs, and every way in which a run can end."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from quire.model import QuireError
from quire.surfaces.cli.output import fail
from quire.surfaces.cli.plain import read_plain

if TYPE_CHECKING:
    import click

    from quire.surfaces.cli.commands import Command

COMMANDS = {
    "init": "Create the memory and tell the agents about it.",
    "save": "Record what changed in the product.",
    "query": "Ask the memory, within a budget of tokens.",
    "sync": "Find which nodes the code has left behind.",
    "confirm": "Say that nodes are still true, after a look at the code.",
    "brief": "Show what governs the files of a change.",
    "why": "Say why a line or a file is as it is.",
    "facts": "Store, recall and tend single facts.",
    "profile": "Remember who works here and how.",
    "note": "Jot something down for later.",
    "notes": "Show the notes that wait; finish or promote them.",
    "inspect": "Show one record in full, with what is connected.",
    "status": "Show features by stage, questions, what the code left behind.",
    "check": "Look for faults in the memory's files.",
    "rebuild": "Make the index from nothing.",
    "diff": "Show what differs from the last commit.",
    "projects": "List, add and remove the projects on this machine.",
    "reset": "Archive the memory and start over.",
    "docs": "Read the documentation in the terminal.",
    "completion": "Print the completion script for your shell.",
    "upgrade": "Say whether the storage needs an upgrade.",
}

__all__ = ["COMMANDS", "find_command", "group", "journal_main", "main"]


def find_command(name: str) -> Command | None:
    """A verb's declaration; its module is loaded now."""
    if name not in COMMANDS:
        return None
    command: Command = import_module(f"quire.surfaces.cli.{name}").COMMAND
    return command


def group() -> click.Group:
    """The command as click sees it."""
    from quire.surfaces.cli.parser import build_group

    return build_group(COMMANDS, find_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    # A mistake is answered in JSON too where that was asked for; what follows `--` is not ours to read.
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        plain = read_plain(arguments, find_command)
        if plain is None:
            return _run_parsed(arguments, as_json)
        command, session, values = plain
        return command.call(session, dict(values)) or 0
    except QuireError as error:
        return fail(error, as_json=as_json)
    except BrokenPipeError:
        _drop_stdout()
        return 141
    except (KeyboardInterrupt, EOFError):
        return 130
    except Exception as error:
        from quire.surfaces.cli.output import crashed

        return crashed(error, as_json=as_json)


def _run_parsed(arguments: list[str], as_json: bool) -> int:
    import click

    from quire.surfaces.cli.output import usage_failed
    from quire.surfaces.cli.parser import invoke

    try:
        return invoke(group(), arguments)
    except click.UsageError as error:
        command: Any = error.ctx.command_path if error.ctx else "memory"
        return usage_failed(error.format_message(), command, as_json=as_json)
    except click.Abort:
        sys.stderr.write("Cancelled.\n")
        return 130


def _drop_stdout() -> None:
    """The reader is gone: let the interpreter's own flush at exit go nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def journal_main() -> None:
    """`agent-memory` is the name of the journal, which is not here yet."""
    sys.stderr.write("agent-memory arrives with the journal layer in a later version of Quire.\n")
    sys.exit(3)
