"""Entry point of `memory` and `agent-memory`: find the verb, run it, turn every outcome into an exit code."""

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
from quire.surfaces.cli.commands import JOURNAL_PROGRAM, PROGRAM, Command, as_called
from quire.surfaces.cli.output import begin, crashed, drop_stdout, fail, usage_failed
from quire.surfaces.cli.plain import read_plain

if TYPE_CHECKING:
    import click

SECTIONS = {
    "Everyday": {
        "add": "Record a decision, a gotcha, a question, a fact, …",
        "query": "Ask a question.",
        "status": "Show what is recorded and what is out of date.",
        "sync": "Find records whose code has changed.",
    },
    "Start": {
        "init": "Create the memory in this repository.",
        "import": "Propose records from files of other programs.",
        "docs": "Read the documentation in the terminal.",
        "doctor": "Diagnose and fix the installation.",
    },
    "Record": {
        "save": "Save many records at once, as JSON.",
        "facts": "Store, find and archive single facts.",
        "profile": "Remember who works here, and how they like to work.",
        "journal": "Keep what happened in sessions.",
        "note": "Write a note for later.",
        "notes": "Show notes; remove them or turn them into facts.",
        "inbox": "Review proposals from sessions and imports.",
    },
    "Ask": {
        "list": "List records, the newest first.",
        "inspect": "Show one record in full.",
        "brief": "Show the records about the files you change.",
        "why": "Explain why a line or file is as it is.",
    },
    "Keep it true": {
        "confirm": "Mark records as still correct.",
        "check": "Find and repair faults in the memory's files.",
    },
    "Team": {
        "review": "Show what a branch or pull request means for the records.",
        "diff": "Show what changed since the last commit.",
        "fold": "Move what merged branches wrote into the main files.",
        "merge": "Show what merging another branch's memory would do.",
        "resolve": "Settle what branches disagree on.",
        "export": "Print all records, to read or keep elsewhere.",
        "merge-driver": "Merge one file; git calls this, not people.",
    },
    "Agents": {
        "integrate": "Connect your agents, or disconnect them.",
        "receipts": "Show what hooks sent to your agents.",
        "hook": "Answer a hook; agents call this, not people.",
    },
    "Look": {
        "view": "Open the memory as a page in your browser.",
    },
    "Admin": {
        "projects": "List, add and remove projects on this machine.",
        "purge": "Remove a text, such as a secret, everywhere.",
        "rebuild": "Rebuild the search index.",
        "reset": "Archive the memory and start over.",
        "upgrade": "Show whether the storage needs an upgrade.",
        "completion": "Print the completion script for your shell.",
    },
}
"""The verbs by what one wants to do, each in a few words."""
COMMANDS = {name: text for verbs in SECTIONS.values() for name, text in verbs.items()}
_MODULES = {"import": "import_", "merge-driver": "merge_driver"}
"""Where a verb is a word of the language, or two."""
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
        return build_group(SECTIONS, find_command)
    table = {name: (verb.run.__doc__ or "").partition("\n")[0] for name, verb in _journal_verbs().items()}
    return build_group({"Commands": table}, find_journal_verb, program)


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
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n")  # the terminal shows ^C behind the question
        return 130
    except Exception as error:
        return crashed(error, as_json=as_json)


def _named(arguments: list[str], program: str) -> str:
    """The command that a line begins with, as far as it is one."""
    from quire.verbs.table import verbs_of

    words = [word for word in arguments if not word.startswith("-")][:2]
    if program != PROGRAM or not words or words[0] not in COMMANDS:
        return program
    return " ".join([program, *words[: 2 if words[-1] in verbs_of(words[0]) else 1]])


def _run_parsed(arguments: list[str], as_json: bool, program: str) -> int:
    import click

    from quire.surfaces.cli.parser import invoke

    try:
        return invoke(group(program), arguments)
    except click.UsageError as error:
        command: Any = error.ctx.command_path if error.ctx else _named(arguments, program)
        return usage_failed(error.format_message(), command, as_json=as_json)
    except click.Abort:
        sys.stderr.write("Cancelled.\n")
        return 130
