"""Types of a command: its function, options and arguments.

One declaration serves two readers. A command line in its plain form is read directly from it (`plain.py`), which
keeps a cold call cheap; everything else (help, completion, mistakes) goes to click, built from the same (`parser.py`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.errors import UsageError

if TYPE_CHECKING:
    from quire.project import Project

PROGRAM = "memory"
JOURNAL_PROGRAM = "agent-memory"
"""The second name of `memory journal`, for those who know the journal by it."""
_JOURNAL_NAMES = r"(?<![\w./-])(?:memory journal|agent-memory)(?=[ `\n]|$)"


class CliOption(msgspec.Struct, frozen=True, kw_only=True):
    """`--name`, a switch, or with a `metavar` one that takes a value."""

    name: str
    into: str
    help: str
    metavar: str | None = None
    short: str | None = None
    also: tuple[str, ...] = ()
    """Other names of it, which the original program had."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    many: bool = False
    """Whether it may be given more than once; the values are a list then."""
    bare: str | None = None
    """The value where the option stands alone, if it may."""


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """A word that stands by itself."""

    name: str
    required: bool = True
    choices: tuple[str, ...] = ()
    many: bool = False
    """Whether it takes all the words that are left, as a list."""
    metavar: str | None = None
    """What help calls it, where that is not its name."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A verb. Its help text is the function's docstring, followed by the examples."""

    run: Callable[..., int | None]
    examples: str
    options: tuple[CliOption, ...] = ()
    arguments: tuple[Argument, ...] = ()
    subcommands: Mapping[str, Command] = {}
    alone: bool = False
    """Whether it does something of its own where no subcommand is named."""
    hidden: bool = False
    """Whether help leaves it out: it is for the program itself."""
    paths: tuple[str, ...] | None = None
    """Where it takes texts: which of its values are paths, the only ones that may hold bytes that are no text."""

    def call(self, session: Session, values: dict[str, Any]) -> int | None:
        """Run it, if every text is one."""
        if self.paths is not None:
            for name, value in values.items():
                texts = value if isinstance(value, tuple) else (value,)
                if name not in self.paths and any(isinstance(text, str) and _is_no_text(text) for text in texts):
                    shown = next((option.name for option in self.options if option.into == name), name.upper())
                    raise UsageError(f"The value of {shown} is not UTF-8 text.", hint="Give it in UTF-8.")
        return self.run(session, **values)


def _is_no_text(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


class Session(msgspec.Struct):
    """One run of the command: how it answers, and the folder it was pointed to."""

    as_json: bool = False
    start: str | None = None
    program: str = PROGRAM
    """The name it was called by."""

    def project(self, start: str | None = None) -> Project:
        from quire.project import Project

        project = Project.open(start or self.start)
        # Whether a person sits at a terminal: what is written then counts as reviewed.
        project.by_person = sys.stdout is not None and sys.stdout.isatty() and not project.world.is_agents
        return project


JSON = CliOption(name="--json", into="as_json", help="Answer with one JSON object.")


def as_called(text: str, program: str) -> str:
    """A text of ours that names commands of the journal, with the name that the user knows them by."""
    return re.sub(_JOURNAL_NAMES, JOURNAL_PROGRAM if program == JOURNAL_PROGRAM else "memory journal", text)
