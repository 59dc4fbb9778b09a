"""The `memory` command and its second name for the journal: the table of verbs, every way in which a run can end."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from quire.model.errors import QuireError
from quire.surfaces.cli.commands import JOURNAL_PROGRAM, PROGRAM, as_called
from quire.surfaces.cli.output import begin, drop_stdout, fail
from quire.surfaces.cli.plain import read_plain

if TYPE_CHECKING:
    import click

    from quire.surfaces.cli.commands import Command

COMMANDS = {
    "init": "Create the memory and tell the agents about it.",
    "integrate": "Wire the memory into your agents, or take it out again.",
    "save": "Record what changed in the product.",
    "query": "Ask the memory, within a budget of tokens.",
    "sync": "Find which nodes the code has left behind.",
    "confirm": "Say that nodes are still true, after a look at the code.",
    "brief": "Show what governs the files of a change.",
    "why": "Say why a line or a file is as it is.",
    "facts": "Store, recall and tend single facts.",
    "profile": "Remember who works here and how.",
    "journal": "Keep what happened in sessions, and what is known by now.",
    "note": "Jot something down for later.",
    "notes": "Show the notes that wait; finish or promote them.",
    "inbox": "Review what sessions and imports propose.",
    "import": "Read what other programs already know.",
    "receipts": "Show what was handed to agents unasked.",
    "hook": "Answer a hook of a client; for clients, not for people.",
    "inspect": "Show one record in full, with what is connected.",
    "view": "Look at all of it in your browser.",
    "status": "Show features by stage, questions, what the code left behind.",
    "check": "Look for faults in the memory's files.",
    "export": "Print all of it, to be read or kept elsewhere.",
    "purge": "Take a text, such as a secret, out of everything that is kept.",
    "rebuild": "Make the index from nothing.",
    "diff": "Show what differs from the last commit.",
    "projects": "List, add and remove the projects on this machine.",
    "reset": "Archive the memory and start over.",
    "docs": "Read the documentation in the terminal.",
    "completion": "Print the completion script for your shell.",
    "doctor": "Say what is wrong with the installation, and mend it.",
    "upgrade": "Say whether the storage needs an upgrade.",
}
_MODULES = {"import": "import_"}
"""Where a verb is a word of the language."""
_HOOK, _HELP = "hook", "help"
_NEW_OBJECTS = 50_000
"""How many objects more there are before the interpreter looks for those that nobody holds."""


def find_command(name: str) -> Command | None:
    """A verb's declaration; its module is loaded now."""
    if name not in COMMANDS:
        return None
    from quire.verbs.table import module_of

    if module := module_of(name):
        from quire.surfaces.cli.declared import command_named

        return command_named(name, module)
    command: Command = import_module(f"quire.surfaces.cli.{_MODULES.get(name, name)}").COMMAND
    return command


def find_journal_verb(name: str) -> Command | None:
    """The same for `agent-memory`, whose verbs are those of the journal."""
    return _journal_verbs().get(name)


def _journal_verbs() -> Mapping[str, Command]:
    command: Command = import_module("quire.surfaces.cli.journal").COMMAND
    return command.subcommands


def group(program: str = PROGRAM) -> click.Group:
    """The command as click sees it."""
    from quire.surfaces.cli.parser import build_group

    if program == PROGRAM:
        return build_group(COMMANDS, find_command)
    table = {name: (verb.run.__doc__ or "").partition("\n")[0] for name, verb in _journal_verbs().items()}
    return build_group(table, find_journal_verb, program)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    _run_and_exit(arguments, PROGRAM)


def journal_main(arguments: list[str] | None = None) -> None:
    """Run `agent-memory`, which is `memory journal` by another name, and exit."""
    _run_and_exit(arguments, JOURNAL_PROGRAM)


def _run_and_exit(arguments: list[str] | None, program: str) -> NoReturn:
    if arguments is not None:
        sys.exit(run(arguments, program))
    # Most commands end before there is garbage worth looking for.
    gc.set_threshold(_NEW_OBJECTS)
    code = run(sys.argv[1:], program)
    if atexit._ncallbacks() == 0 and ("threading" not in sys.modules or _is_alone()):
        # Nobody waits for the end, and the kernel frees at once what the interpreter would take apart piece by piece.
        with contextlib.suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(code)
    sys.exit(code)


def _is_alone() -> bool:
    import threading

    return threading.active_count() == 1


def run(arguments: list[str], program: str = PROGRAM) -> int:
    """Run one command line; the exit code."""
    if arguments[:1] == [_HOOK] and program == PROGRAM and "--help" not in arguments:
        # Before anything is read that could be wrong: whoever hooked us in must never see us fail.
        from quire.surfaces.cli.hook import answer_hook

        return answer_hook(arguments[1:])
    if arguments[:1] == [_HELP]:
        arguments = [*arguments[1:], "--help"]
    begin(arguments)
    # A mistake is answered in JSON too where that was asked for; what follows `--` is not ours to read.
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        plain = read_plain(arguments, find_command if program == PROGRAM else find_journal_verb)
        if plain is None:
            return _run_parsed(arguments, as_json, program)
        command, session, values = plain
        session.program = program
        return command.call(session, dict(values)) or 0
    except QuireError as error:
        error.hint = error.hint and as_called(error.hint, program)
        return fail(error, as_json=as_json)
    except BrokenPipeError:
        drop_stdout()
        return 141
    except (KeyboardInterrupt, EOFError):
        return 130
    except Exception as error:
        from quire.surfaces.cli.output import crashed

        return crashed(error, as_json=as_json)


def _run_parsed(arguments: list[str], as_json: bool, program: str) -> int:
    import click

    from quire.surfaces.cli.output import usage_failed
    from quire.surfaces.cli.parser import invoke

    try:
        return invoke(group(program), arguments)
    except click.UsageError as error:
        command: Any = error.ctx.command_path if error.ctx else program
        return usage_failed(error.format_message(), command, as_json=as_json)
    except click.Abort:
        sys.stderr.write("Cancelled.\n")
        return 130
